//! The guest `xmllint`: is it XML (`--noout`), what an XPath finds in it (`--xpath`), and the same with
//! indentation (`--format`).
//!
//! A document type is read over and never acted on: no entity is defined by a document, none is fetched, and one
//! that is used without being one of XML's five is an error. So there is nothing to expand without end.

mod doctype;
mod options;
mod print;

use std::io::{Read as _, Write as _};

use sxd_document::parser;
use sxd_xpath::{Context, Factory, Value};

use options::{Mode, Options};

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

/// A document is read whole; its tree takes several times as much.
const DOCUMENT_BYTES_MAX: u64 = 16 << 20;
/// Elements inside elements, for those who visit them.
const DEPTH_MAX: usize = 2000;
/// A longer expression would be nested deeper than its reader can follow.
const XPATH_BYTES_MAX: usize = 4096;

/// xmllint's own numbers.
const NOT_XML: i32 = 1;
const XPATH_WRONG: i32 = 10;
const XPATH_EMPTY: i32 = 11;

fn main() {
    place::enter();
    let args: Vec<String> = std::env::args_os().skip(1).map(|it| facts::name::text(&it)).collect();
    let status = match Options::parse(&args) {
        Ok(options) => run(&options),
        Err(text) => {
            say(&text);
            1
        }
    };
    let _ = std::io::stdout().flush();
    std::process::exit(status)
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn run(options: &Options) -> i32 {
    let mut status = 0;
    for file in &options.files {
        let done = read(file).and_then(|text| one(options, file, &text));
        if let Err((code, text)) = done {
            say(&text);
            status = code;
        }
    }
    status
}

type Done<T> = Result<T, (i32, String)>;

fn read(file: &str) -> Done<String> {
    let mut bytes = Vec::new();
    let got = match file {
        "-" => std::io::stdin().take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes),
        file => std::fs::File::open(facts::name::path(file))
            .and_then(|it| it.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes)),
    };
    if got.is_err() {
        return Err((NOT_XML, format!("warning: failed to load external entity \"{file}\"")));
    }
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Err((NOT_XML, format!("{file}: a document has at most {DOCUMENT_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| {
        (NOT_XML, format!("{file}:1: parser error : Input is not proper UTF-8, indicate encoding !"))
    })
}

fn one(options: &Options, file: &str, text: &str) -> Done<()> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (text, kind) =
        doctype::take(text).map_err(|why| (NOT_XML, format!("{file}:1: parser error : {why}")))?;
    if deepest(&text) > DEPTH_MAX {
        return Err((
            NOT_XML,
            format!("{file}:1: parser error : elements are nested more than {DEPTH_MAX} deep"),
        ));
    }
    let package = parser::parse(text.trim_start())
        .map_err(|cause| (NOT_XML, at_line(file, &text, cause.location(), &cause.to_string())))?;
    let document = package.as_document();
    join_texts(&document);
    let Some(expression) = &options.xpath else {
        let shown = match options.mode {
            Mode::NoOutput => return Ok(()),
            Mode::Format => print::formatted(&document, kind.as_deref()),
            Mode::Plain => print::plain(&document, kind.as_deref()),
        };
        return write(&shown);
    };
    let wrong = |text: String| (XPATH_WRONG, format!("XPath error : {text}\n{expression}"));
    if expression.len() > XPATH_BYTES_MAX {
        return Err((XPATH_WRONG, "XPath error : Expression too long".to_owned()));
    }
    let compiled =
        Factory::new().build(expression).map_err(|cause| wrong(format!("Invalid expression ({cause})")))?;
    let compiled = compiled.ok_or_else(|| wrong("Invalid expression".to_owned()))?;
    let mut context = Context::new();
    for (prefix, uri) in print::namespaces(&document) {
        context.set_namespace(&prefix, &uri);
    }
    let value = compiled.evaluate(&context, document.root()).map_err(|cause| wrong(cause.to_string()))?;
    match value {
        Value::Nodeset(nodes) if nodes.size() == 0 => Err((XPATH_EMPTY, "XPath set is empty".to_owned())),
        Value::Nodeset(nodes) => {
            let rows: Vec<String> = nodes.document_order().into_iter().map(print::node).collect();
            write(&(rows.join("\n") + "\n"))
        }
        Value::Boolean(value) => write(&format!("{value}\n")),
        Value::Number(value) => write(&format!("{}\n", Value::Number(value).string())),
        Value::String(value) => write(&format!("{value}\n")),
    }
}

/// The parser parts a text where an entity stood in it; XPath knows one text there.
fn join_texts(document: &sxd_document::dom::Document<'_>) {
    let mut left: Vec<_> = document.root().children().iter().filter_map(|it| it.element()).collect();
    while let Some(element) = left.pop() {
        let mut last = None;
        for child in element.children() {
            match (last, child.text()) {
                (Some(before), Some(text)) => {
                    let before: sxd_document::dom::Text<'_> = before;
                    before.set_text(&format!("{}{}", before.text(), text.text()));
                    text.remove_from_parent();
                }
                (_, text) => last = text,
            }
            left.extend(child.element());
        }
    }
}

fn write(text: &str) -> Done<()> {
    std::io::stdout().write_all(text.as_bytes()).map_err(|cause| (1, format!("xmllint: {cause}")))
}

fn at_line(file: &str, text: &str, location: usize, why: &str) -> String {
    let before = text.get(..location).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let shown = text.lines().nth(line - 1).unwrap_or_default();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    format!("{file}:{line}: parser error : {why}\n{shown}\n{}^", " ".repeat(column))
}

/// How deep elements nest, by their tags alone.
fn deepest(text: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for part in text.split('<').skip(1) {
        match part.as_bytes().first() {
            Some(b'/') => now = now.saturating_sub(1),
            Some(b'!' | b'?') | None => {}
            _ if part.split('>').next().is_some_and(|it| it.ends_with('/')) => {}
            _ => {
                now += 1;
                most = most.max(now);
            }
        }
    }
    most
}
