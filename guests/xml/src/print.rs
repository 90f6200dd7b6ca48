//! Documents and nodes as text, as libxml2 writes them.

use std::collections::BTreeMap;

use sxd_document::dom::{ChildOfElement, ChildOfRoot, Document, Element};
use sxd_xpath::nodeset::Node;

/// What the parser drops and libxml2 writes first.
const HEAD: &str = "<?xml version=\"1.0\"?>\n";

/// As it was read.
pub(crate) fn plain(document: &Document<'_>, kind: Option<&str>) -> String {
    whole(document, kind, false)
}

/// Two spaces for each level; elements with text in them are left as they are.
pub(crate) fn formatted(document: &Document<'_>, kind: Option<&str>) -> String {
    whole(document, kind, true)
}

fn whole(document: &Document<'_>, kind: Option<&str>, format: bool) -> String {
    let mut text = HEAD.to_owned();
    if let Some(kind) = kind {
        text.push_str(kind);
        text.push('\n');
    }
    for child in document.root().children() {
        match child {
            ChildOfRoot::Element(it) => element(it, &mut text, format.then_some(0)),
            ChildOfRoot::Comment(it) => text.push_str(&format!("<!--{}-->", it.text())),
            ChildOfRoot::ProcessingInstruction(it) => instruction(it.target(), it.value(), &mut text),
        }
        text.push('\n');
    }
    text
}

fn instruction(target: &str, value: Option<&str>, text: &mut String) {
    match value {
        Some(value) => text.push_str(&format!("<?{target} {value}?>")),
        None => text.push_str(&format!("<?{target}?>")),
    }
}

/// The prefixes that are declared anywhere, for expressions.
pub(crate) fn namespaces(document: &Document<'_>) -> Vec<(String, String)> {
    let mut all = BTreeMap::new();
    let mut left: Vec<Element<'_>> =
        document.root().children().iter().filter_map(|it| it.element()).collect();
    while let Some(it) = left.pop() {
        for space in it.namespaces_in_scope() {
            all.entry(space.prefix().to_owned()).or_insert_with(|| space.uri().to_owned());
        }
        left.extend(it.children().iter().filter_map(|it| it.element()));
    }
    all.into_iter().filter(|it| it.0 != "xml").collect()
}

fn name_of(prefix: Option<&str>, local: &str) -> String {
    prefix.map_or_else(|| local.to_owned(), |it| format!("{it}:{local}"))
}

/// Declarations that the parent does not have yet.
fn declared(it: Element<'_>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let parent = it.parent().and_then(|it| it.element());
    if let Some(uri) = it.default_namespace_uri()
        && parent.and_then(|it| it.recursive_default_namespace_uri()) != Some(uri)
    {
        all.push(("xmlns".to_owned(), uri.to_owned()));
    }
    for space in it.namespaces_in_scope() {
        let known = parent.is_some_and(|it| {
            it.namespaces_in_scope().iter().any(|it| it.prefix() == space.prefix() && it.uri() == space.uri())
        });
        if !known && space.prefix() != "xml" && !space.prefix().is_empty() {
            all.push((format!("xmlns:{}", space.prefix()), space.uri().to_owned()));
        }
    }
    all.sort();
    all
}

fn element(it: Element<'_>, text: &mut String, indent: Option<usize>) {
    let prefix = it.preferred_prefix().or_else(|| {
        it.name()
            .namespace_uri()
            .and_then(|uri| it.prefix_for_namespace_uri(uri, None))
            .filter(|it| !it.is_empty())
    });
    let name = name_of(prefix, it.name().local_part());
    text.push_str(&format!("<{name}"));
    for (key, value) in declared(it) {
        text.push_str(&format!(" {key}=\"{}\"", escaped(&value, true)));
    }
    for attribute in it.attributes() {
        let prefix = attribute
            .name()
            .namespace_uri()
            .and_then(|uri| it.prefix_for_namespace_uri(uri, attribute.preferred_prefix()));
        text.push_str(&format!(
            " {}=\"{}\"",
            name_of(prefix, attribute.name().local_part()),
            escaped(attribute.value(), true)
        ));
    }
    let children = it.children();
    if children.is_empty() {
        text.push_str("/>");
        return;
    }
    text.push('>');
    let blank = |it: &ChildOfElement<'_>| it.text().is_some_and(|it| it.text().trim().is_empty());
    let mixed = children.iter().any(|it| it.text().is_some() && !blank(it)) || children.iter().all(blank);
    let inner = indent.filter(|_| !mixed).map(|it| it + 1);
    for child in children.iter().filter(|it| inner.is_none() || !blank(it)) {
        if let Some(depth) = inner {
            text.push('\n');
            text.push_str(&"  ".repeat(depth));
        }
        match child {
            ChildOfElement::Element(it) => element(*it, text, inner),
            ChildOfElement::Text(it) => text.push_str(&escaped(it.text(), false)),
            ChildOfElement::Comment(it) => text.push_str(&format!("<!--{}-->", it.text())),
            ChildOfElement::ProcessingInstruction(it) => instruction(it.target(), it.value(), text),
        }
    }
    if let Some(depth) = inner {
        text.push('\n');
        text.push_str(&"  ".repeat(depth - 1));
    }
    text.push_str(&format!("</{name}>"));
}

/// A node that an expression found.
pub(crate) fn node(found: Node<'_>) -> String {
    let mut text = String::new();
    match found {
        Node::Element(it) => element(it, &mut text, None),
        Node::Attribute(it) => text.push_str(&format!(
            " {}=\"{}\"",
            name_of(it.preferred_prefix(), it.name().local_part()),
            escaped(it.value(), true)
        )),
        Node::Text(it) => text.push_str(&escaped(it.text(), false)),
        Node::Comment(it) => text.push_str(&format!("<!--{}-->", it.text())),
        Node::ProcessingInstruction(it) => instruction(it.target(), it.value(), &mut text),
        Node::Namespace(it) => text.push_str(&format!("xmlns:{}=\"{}\"", it.prefix(), it.uri())),
        Node::Root(it) => text.push_str(plain(&it.document(), None).trim_end()),
    }
    text
}

fn escaped(value: &str, attribute: bool) -> String {
    let text = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    if attribute { text.replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;") } else { text }
}
