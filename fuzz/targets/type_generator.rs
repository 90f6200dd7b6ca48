//! Declarations of any JSON as a schema: ends, and nothing of it leaves its comment or its quotes.
#![no_main]

use std::sync::Arc;

use drydock_codemode::types::{Declared, namespace};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(schema) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
    let description = schema.get("description").and_then(|it| it.as_str()).map(Arc::from);
    let schema = Some(Arc::new(schema));
    let tool = Declared { name: "f".into(), description, input: schema.clone(), output: schema };
    let text = namespace("n", &[tool]);
    if let Err(why) = closed(&text) {
        panic!("{why}: {text}");
    }
});

/// Whether brackets match outside of strings and comments, and those end.
fn closed(text: &str) -> Result<(), &'static str> {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("/*") {
            rest = &rest[rest.find("*/").ok_or("a comment without end")? + 2..];
            continue;
        }
        rest = &rest[first.len_utf8()..];
        match first {
            '"' => rest = after_string(rest)?,
            '{' | '[' | '(' | '<' => open.push(first),
            '}' | ']' | ')' | '>' => {
                let opened = open.pop().ok_or("a bracket that closes nothing")?;
                if !matches!((opened, first), ('{', '}') | ('[', ']') | ('(', ')') | ('<', '>')) {
                    return Err("brackets that do not match");
                }
            }
            _ => {}
        }
    }
    if open.is_empty() { Ok(()) } else { Err("an open bracket") }
}

fn after_string(text: &str) -> Result<&str, &'static str> {
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => return Ok(&text[at + 1..]),
            '\\' => drop(signs.next()),
            '\n' | '\u{2028}' | '\u{2029}' => return Err("a string over two lines"),
            _ => {}
        }
    }
    Err("a string without end")
}
