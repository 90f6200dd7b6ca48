//! Fills the placeholders of a sentence.
//!
//! Known are `{ $name }`, `{ "text" }` with `\"`, `\\` and `\uXXXX`, and a choice by number:
//! `{ $count -> [one] … *[other] … }`. English has two plural forms, so `one` means exactly 1,
//! and so does `1`.

use crate::{FluentArgs, FluentValue};
use std::borrow::Cow;

/// `pattern` with its placeholders replaced; the pattern itself when it has none.
pub(crate) fn fill<'a>(pattern: &'a str, args: Option<&FluentArgs<'_>>) -> Cow<'a, str> {
    if !pattern.contains('{') {
        return Cow::Borrowed(pattern);
    }
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        let Some(close) = closing(&rest[open..]) else {
            break;
        };
        out.push_str(&rest[..open]);
        place(rest[open + 1..open + close].trim(), args, &mut out);
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Where the brace that opens `text` is closed, not counting braces inside quotes.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0u32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn place(inside: &str, args: Option<&FluentArgs<'_>>, out: &mut String) {
    if let Some(quoted) = inside.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
        return unquote(quoted, out);
    }
    let Some(name) = inside.strip_prefix('$') else {
        return raw(inside, out);
    };
    let value = |name: &str| args.and_then(|args| args.get(name.trim()));
    if let Some((name, choices)) = name.split_once("->") {
        return out.push_str(&fill(choose(choices, value(name)), args));
    }
    match value(name) {
        Some(value) => out.push_str(&value.to_string()),
        None => raw(inside, out),
    }
}

fn raw(inside: &str, out: &mut String) {
    out.push('{');
    out.push_str(inside);
    out.push('}');
}

/// The text of the choice that fits; the one marked `*` when none does.
fn choose<'a>(choices: &'a str, value: Option<&FluentValue<'_>>) -> &'a str {
    // A number may be named by its plural form or by itself.
    let form = if matches!(value, Some(FluentValue::Number(1.0))) { "one" } else { "" };
    let wanted = value.map(ToString::to_string).unwrap_or_default();
    let mut fallback = "";
    for choice in choices.lines().map(str::trim) {
        let plain = choice.trim_start_matches('*');
        let Some((key, text)) = plain.strip_prefix('[').and_then(|it| it.split_once(']')) else {
            continue;
        };
        let key = key.trim();
        if key == wanted || (key == form && !form.is_empty()) {
            return text.trim();
        }
        if plain.len() < choice.len() {
            fallback = text.trim();
        }
    }
    fallback
}

fn unquote(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let code = |len: usize| {
            let digits = escape.get(1..1 + len)?;
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)
        };
        let (sign, used) = match escape.as_bytes().first() {
            Some(b'u') => (code(4), 5),
            Some(b'U') => (code(6), 7),
            _ => (escape.chars().next(), 1),
        };
        out.extend(sign);
        rest = escape.get(used..).unwrap_or("");
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_choices_and_quotes_are_filled() {
        let files = "{ $count ->\n    [one] one file\n   *[other] { $count } files\n}";
        let cases = [
            ("plain", 2, "plain"),
            ("{ $count } of {$name}", 2, "2 of disk"),
            (files, 1, "one file"),
            (files, 3, "3 files"),
            ("{ $count ->\n    [1] { $count } sum\n   *[other] { $count } sums\n}", 1, "1 sum"),
            (r#"a { "{" } b { "\u000A\u0009" }c"#, 0, "a { b \n\tc"),
            ("left { $absent } alone", 0, "left {$absent} alone"),
            ("open { brace", 0, "open { brace"),
        ];
        for (pattern, count, want) in cases {
            let mut args = FluentArgs::new();
            args.set("count", count);
            args.set("name", "disk");
            assert_eq!(fill(pattern, Some(&args)), want, "{pattern:?}");
        }
    }
}
