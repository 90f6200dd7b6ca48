//! Names that are safe in JavaScript: namespaces are checked, tools are renamed.

use std::collections::HashSet;

use super::reserved::{STRICT_WORDS, WORDS, WORLD};

/// A namespace cannot have this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Invalid provider namespace: {name} ({why})")]
pub struct BadNamespace {
    /// The name.
    pub name: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// The longest namespace or tool name, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// Whether a provider may be called this.
pub fn check_namespace(name: &str) -> Result<(), BadNamespace> {
    let bad = |why| {
        let shown: String = name.chars().take(80).collect();
        Err(BadNamespace { name: shown.escape_default().to_string(), why })
    };
    if !is_identifier(name) {
        return bad("use letters, digits, _ and $, not starting with a digit");
    }
    if name.len() > NAME_BYTES_MAX {
        return bad("it is longer than 128 characters");
    }
    if WORDS.contains(&name) || STRICT_WORDS.contains(&name) {
        return bad("it is a word of JavaScript");
    }
    if WORLD.contains(&name) {
        return bad("it would hide what JavaScript has under this name");
    }
    Ok(())
}

/// Letters, digits, `_` and `$`, and no digit in front.
pub(crate) fn is_identifier(name: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
    !name.is_empty() && name.bytes().all(legal) && !name.as_bytes()[0].is_ascii_digit()
}

/// Names for tools, in their order: safe, and no two the same.
pub fn safe_names<'a>(originals: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut names = Vec::new();
    for original in originals {
        let base = safe_name(original);
        let mut name = base.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base}__{number}");
            number += 1;
        }
        names.push(name);
    }
    names
}

fn safe_name(original: &str) -> String {
    let mut name = String::new();
    for sign in original.trim().chars() {
        let legal = sign.is_ascii_alphanumeric() || matches!(sign, '_' | '$');
        match legal {
            true => name.push(sign),
            // A run of anything else is one underscore, whose marker no legal sign can be.
            false if !name.ends_with('\u{0}') => name.push('\u{0}'),
            false => {}
        }
        if name.len() >= NAME_BYTES_MAX {
            break;
        }
    }
    let name = name.replace('\u{0}', "_");
    let name = name.trim_matches('_');
    match name {
        "" => "_".to_owned(),
        _ if name.starts_with(|first: char| first.is_ascii_digit()) => format!("_{name}"),
        _ if WORDS.contains(&name) => format!("{name}_"),
        _ => name.to_owned(),
    }
}
