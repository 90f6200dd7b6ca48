//! What a scalar is: the core schema of YAML 1.2, as Go's parser applies it.

use jq::value::{Literal, Value as Val};
use saphyr_parser::Tag;
use std::rc::Rc;

/// A scalar without quotes, whose type its spelling tells.
pub(super) fn plain(text: &str, tag: Option<&Tag>) -> Val {
    if tag.is_some_and(|tag| tag.suffix == "str") {
        return Val::str(text);
    }
    resolve(text).unwrap_or_else(|| Val::str(text))
}

/// A scalar in quotes or a block: text, unless its tag says otherwise.
pub(super) fn quoted(text: &str, tag: Option<&Tag>) -> Val {
    let typed = tag.is_some_and(|tag| matches!(tag.suffix.as_str(), "int" | "float" | "bool" | "null"));
    typed.then(|| resolve(text)).flatten().unwrap_or_else(|| Val::str(text))
}

/// The value that is not a string; `None` for strings.
pub fn resolve(text: &str) -> Option<Val> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Val::Null),
        "true" | "True" | "TRUE" => return Some(Val::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Val::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return Some(Val::from(f64::NAN)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(Val::from(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    for (start, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = unsigned.strip_prefix(start) {
            let number = i64::from_str_radix(digits, base).ok()?;
            let number = if text.starts_with('-') { -number } else { number };
            return Some(Val::from(number as f64));
        }
    }
    let first = unsigned.bytes().next()?;
    let begins = first.is_ascii_digit() || (first == b'.' && unsigned.len() > 1);
    if !begins {
        return None;
    }
    // A number with zeros in front is a code of some kind; it stays as it is.
    let leading = unsigned.len() > 1 && first == b'0' && unsigned.as_bytes()[1].is_ascii_digit();
    let legal = unsigned
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    if leading || !legal || unsigned.parse::<f64>().is_err() {
        return None;
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let spelled = text.strip_prefix('+').unwrap_or(text);
        return jq::read::parse_literal(spelled.as_bytes());
    }
    // Kept in the spelling it has, as long as JSON has it too.
    let json = !first.is_ascii_punctuation() && !unsigned.ends_with('.') && !text.starts_with('+');
    let float: f64 = text.parse().ok()?;
    Some(if json {
        Val::Lit(Rc::new(Literal { spelled: text.into(), nearest: float }))
    } else {
        Val::from(float)
    })
}
