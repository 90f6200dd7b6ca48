//! Named types for what a schema refers to: `$ref` within its own document, also to itself.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// The types that got a name.
#[derive(Default)]
pub(super) struct Aliases {
    /// By document and pointer.
    known: HashMap<(String, String), String>,
    taken: HashSet<String>,
    /// Names and their types, in the order they were asked for.
    pub(super) written: Vec<(String, String)>,
    /// Names whose types are being written, and inside how many objects and lists that began.
    pub(super) open: Vec<(String, usize)>,
}

impl Aliases {
    pub(super) fn get(&self, document: &str, pointer: &str) -> Option<&String> {
        self.known.get(&(document.to_owned(), pointer.to_owned()))
    }

    /// A new name for what the pointer points at.
    pub(super) fn name(&mut self, document: &str, pointer: &str) -> String {
        let last = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let base = format!("{document}{}", pascal(&last));
        let mut name = base.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}__{number}");
            number += 1;
        }
        self.known.insert((document.to_owned(), pointer.to_owned()), name.clone());
        name
    }
}

/// `search_docs` as a type is called: `SearchDocs`. Only letters and digits survive.
pub(super) fn pascal(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words {
        let (first, rest) = word.split_at(1);
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    name.truncate(64);
    name
}

/// What a reference within a document points at: its pointer in plain form, and the schema there.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<(String, &'a Value)> {
    let mut pointer = pointer_of(reference)?;
    let mut target = root.pointer(&pointer)?;
    // References that only refer onwards; a ring of them refers to nothing.
    for _ in 0..32 {
        let Some(next) = target.get("$ref").and_then(Value::as_str) else {
            return Some((pointer, target));
        };
        pointer = pointer_of(next)?;
        target = root.pointer(&pointer)?;
    }
    None
}

fn pointer_of(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return None;
    }
    percent_decoded(fragment)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let digit = |at: usize| tail.get(at).and_then(|b| char::from(*b).to_digit(16));
        bytes.push((digit(0)? * 16 + digit(1)?) as u8);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).ok()
}
