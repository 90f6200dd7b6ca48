//! XML: an element is its text, or an object of its attributes (`+@name`), its elements and, where
//! both are there, its text (`+content`). Elements of one name are an array.

use super::{DEPTH_MAX, key, plain};
use jq::value::{Object as Map, Value as Val};
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

const ATTRIBUTE: &str = "+@";
const CONTENT: &str = "+content";

struct Element {
    name: String,
    fields: Map,
    text: String,
}

/// The one document of a text.
pub(super) fn read(text: &str) -> Result<Val, String> {
    let mut reader = Reader::from_str(text);
    let mut open = vec![Element { name: String::new(), fields: Map::new(), text: String::new() }];
    loop {
        let event = reader.read_event().map_err(|error| format!("xml: {error}"))?;
        match event {
            Event::Start(start) => {
                if open.len() > DEPTH_MAX {
                    return Err("xml: nested too deeply".to_owned());
                }
                open.push(element(&start));
            }
            Event::Empty(start) => {
                let child = element(&start);
                close(&mut open, child);
            }
            Event::End(_) => {
                if open.len() > 1
                    && let Some(child) = open.pop()
                {
                    close(&mut open, child);
                }
            }
            Event::Text(text) => {
                let text: &str = &text;
                if let Some(top) = open.last_mut() {
                    top.text.push_str(text.trim());
                }
            }
            Event::CData(text) => {
                if let Some(top) = open.last_mut() {
                    top.text.push_str(&text);
                }
            }
            Event::GeneralRef(name) => {
                let name: &str = &name;
                if let Some(top) = open.last_mut() {
                    top.text.push_str(&entity(name));
                }
            }
            Event::Decl(declaration) => {
                let text: &str = &declaration;
                let text = text.strip_prefix("xml").unwrap_or(text).trim().to_owned();
                if let Some(top) = open.first_mut() {
                    top.fields.insert(key("+p_xml"), Val::from(text));
                }
            }
            Event::Eof => break,
            Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if open.len() > 1 {
        return Err("xml: unexpected end of the text".to_owned());
    }
    Ok(open.pop().map(value).unwrap_or(Val::Null))
}

fn entity(name: &str) -> String {
    let code = |digits: &str, base| u32::from_str_radix(digits, base).ok().and_then(char::from_u32);
    match name {
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "amp" => "&".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        other => {
            let hex = other.strip_prefix("#x").and_then(|digits| code(digits, 16));
            let sign = hex.or_else(|| other.strip_prefix('#').and_then(|digits| code(digits, 10)));
            sign.map_or_else(|| format!("&{other};"), String::from)
        }
    }
}

fn element(start: &BytesStart<'_>) -> Element {
    let mut fields = Map::new();
    for attribute in start.attributes().flatten() {
        let name = format!("{ATTRIBUTE}{}", attribute.key.as_ref());
        let raw = attribute.value.into_owned();
        let text = quick_xml::escape::unescape(&raw).map_or(raw.clone(), |it| it.into_owned());
        fields.insert(key(&name), Val::from(text));
    }
    Element { name: start.name().as_ref().to_owned(), fields, text: String::new() }
}

fn value(element: Element) -> Val {
    let Element { mut fields, text, .. } = element;
    if fields.is_empty() {
        return if text.is_empty() { Val::Null } else { Val::from(text) };
    }
    if !text.is_empty() {
        let mut with_text: Map = Map::new();
        with_text.insert(key(CONTENT), Val::from(text));
        fields.take_fields().into_iter().for_each(|(key, value)| with_text.insert(key, value));
        fields = with_text;
    }
    Val::obj(fields)
}

fn close(open: &mut [Element], child: Element) {
    let Some(parent) = open.last_mut() else { return };
    let name = key(&child.name);
    let child = value(child);
    let joined = match parent.fields.get(&name).cloned() {
        None => child,
        Some(Val::Arr(items)) => items.iter().cloned().chain([child]).collect(),
        Some(one) => [one, child].into_iter().collect(),
    };
    parent.fields.insert(name, joined);
}

/// Appends a document.
pub(super) fn write(out: &mut Vec<u8>, value: &Val, indent: usize) -> Result<(), String> {
    let mut text = String::new();
    match value {
        Val::Obj(fields) => {
            for (name, item) in fields.iter() {
                let name = name.as_str();
                match name {
                    "+p_xml" => text.push_str(&format!("<?xml {}?>\n", plain(item))),
                    _ => element_text(&mut text, name, item, indent, 0)?,
                }
            }
        }
        Val::Arr(_) => return Err("cannot encode an array as XML - only maps can be encoded".to_owned()),
        scalar => text.push_str(&escape(plain(scalar))),
    }
    out.extend_from_slice(text.trim_end().as_bytes());
    Ok(())
}

fn element_text(
    out: &mut String,
    name: &str,
    value: &Val,
    indent: usize,
    level: usize,
) -> Result<(), String> {
    if level > DEPTH_MAX {
        return Err("nested too deeply for XML".to_owned());
    }
    if let Val::Arr(items) = value {
        return items.iter().try_for_each(|item| element_text(out, name, item, indent, level));
    }
    let margin = " ".repeat(indent * level);
    out.push_str(&format!("{margin}<{name}"));
    let Val::Obj(fields) = value else {
        let text = if matches!(value, Val::Null) { String::new() } else { plain(value) };
        out.push_str(&format!(">{}</{name}>\n", escape(text)));
        return Ok(());
    };
    let (mut text, mut children) = (String::new(), Vec::new());
    for (field, item) in fields.iter() {
        let field = field.as_str().to_owned();
        match field.strip_prefix(ATTRIBUTE) {
            Some(attribute) => out.push_str(&format!(" {attribute}=\"{}\"", escape(plain(item)))),
            None if field == CONTENT => text = plain(item),
            None => children.push((field, item)),
        }
    }
    out.push_str(&format!(">{}", escape(text)));
    if !children.is_empty() {
        out.push('\n');
        for (field, item) in children {
            element_text(out, &field, item, indent, level + 1)?;
        }
        out.push_str(&margin);
    }
    out.push_str(&format!("</{name}>\n"));
    Ok(())
}
