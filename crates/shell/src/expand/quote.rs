//! Values as text that means them again: `printf %q`, `${x@Q}`, `declare -p`, `set -x`.

use crate::{
    text,
    vars::{Value, Var},
};

fn needs_ansi(value: &str) -> bool {
    value.chars().any(|it| it.is_control() || it as u32 >= 0x10_FF80)
}

/// `'…'`, or `$'…'` where that cannot say it.
pub(crate) fn single(value: &str) -> String {
    if needs_ansi(value) {
        return ansi(value);
    }
    format!("'{}'", value.replace('\'', "'\\''"))
}

/// As `printf %q`.
pub(crate) fn backslashed(value: &str) -> String {
    if value.is_empty() {
        return "''".into();
    }
    if needs_ansi(value) {
        return ansi(value);
    }
    let mut all = String::with_capacity(value.len());
    for (index, next) in value.chars().enumerate() {
        let special = " !\"$&'()*,;<>?[\\]^`{|}".contains(next)
            || (index == 0 && "#~".contains(next))
            || (next == '~' && all.ends_with([':', '=']));
        if special {
            all.push('\\');
        }
        all.push(next);
    }
    all
}

/// As `set -x` shows a word.
pub(crate) fn traced(value: &str) -> String {
    if value.is_empty() {
        return "''".into();
    }
    let plain = |it: char| it.is_alphanumeric() || "_-./:=@%+,^".contains(it) || !it.is_ascii();
    if value.chars().all(plain) { value.to_owned() } else { single(value) }
}

/// As `set -x` shows a value: nothing at all for an empty one.
pub(crate) fn traced_value(value: &str) -> String {
    if value.is_empty() { String::new() } else { traced(value) }
}

/// `"…"`, as `declare -p` shows a value.
pub(crate) fn double(value: &str) -> String {
    if needs_ansi(value) {
        return ansi(value);
    }
    let mut all = String::from("\"");
    for next in value.chars() {
        if matches!(next, '"' | '\\' | '$' | '`') {
            all.push('\\');
        }
        all.push(next);
    }
    all.push('"');
    all
}

fn ansi(value: &str) -> String {
    let mut all = String::from("$'");
    for next in value.chars() {
        match next {
            '\u{7}' => all.push_str("\\a"),
            '\u{8}' => all.push_str("\\b"),
            '\t' => all.push_str("\\t"),
            '\n' => all.push_str("\\n"),
            '\u{b}' => all.push_str("\\v"),
            '\u{c}' => all.push_str("\\f"),
            '\r' => all.push_str("\\r"),
            '\u{1b}' => all.push_str("\\E"),
            '\'' => all.push_str("\\'"),
            '\\' => all.push_str("\\\\"),
            other if other.is_control() || other as u32 >= 0x10_FF80 => {
                for byte in text::to_bytes(other.encode_utf8(&mut [0; 4])).iter() {
                    all.push_str(&format!("\\{byte:03o}"));
                }
            }
            other => all.push(other),
        }
    }
    all.push('\'');
    all
}

/// `-ax` and the like, without the dash; empty for none.
pub(crate) fn attribute_letters(var: &Var) -> String {
    let mut letters = String::new();
    match var.value {
        Value::Indexed(_) => letters.push('a'),
        Value::Assoc(_) => letters.push('A'),
        _ => {}
    }
    let flags = var.attributes;
    let rows = [
        (flags.integer, 'i'),
        (flags.nameref, 'n'),
        (flags.readonly, 'r'),
        (flags.exported, 'x'),
        (flags.lower && !flags.upper, 'l'),
        (flags.upper && !flags.lower, 'u'),
    ];
    letters.extend(rows.into_iter().filter(|row| row.0).map(|row| row.1));
    letters
}

/// The line of `declare -p`.
pub(crate) fn declaration(name: &str, var: &Var) -> String {
    let letters = attribute_letters(var);
    let letters = if letters.is_empty() { "-".to_owned() } else { letters };
    match value_text(&var.value).filter(|_| !(var.attributes.bare && var.value.len() == 0)) {
        None => format!("declare -{letters} {name}"),
        Some(value) => format!("declare -{letters} {name}={value}"),
    }
}

/// The text of `${name@A}`: what would make the variable again.
pub(crate) fn assignment(name: &str, var: &Var) -> Option<String> {
    let letters = attribute_letters(var);
    match &var.value {
        Value::Unset if letters.is_empty() => None,
        Value::Scalar(text) if letters.is_empty() => Some(format!("{name}={}", single(text))),
        Value::Scalar(text) => Some(format!("declare -{letters} {name}={}", single(text))),
        _ => Some(declaration(name, var)),
    }
}

fn value_text(value: &Value) -> Option<String> {
    let list = |pairs: Vec<(String, &str)>| {
        let items: Vec<String> =
            pairs.into_iter().map(|(key, value)| format!("[{key}]={}", double(value))).collect();
        items
    };
    Some(match value {
        Value::Unset => return None,
        Value::Scalar(text) => double(text),
        Value::Indexed(items) => {
            let pairs = items.iter().map(|(key, value)| (key.to_string(), value.as_str())).collect();
            format!("({})", list(pairs).join(" "))
        }
        Value::Assoc(map) => {
            let pairs = map
                .iter()
                .map(|(key, value)| {
                    let plain = |it: char| it.is_alphanumeric() || "_-./+".contains(it);
                    let key =
                        if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { double(key) };
                    (key, value)
                })
                .collect();
            let items = list(pairs);
            if items.is_empty() { "()".to_owned() } else { format!("({} )", items.join(" ")) }
        }
    })
}

/// `name=value` as plain `set` and `declare` list it.
pub(crate) fn listed(name: &str, var: &Var) -> Option<String> {
    match &var.value {
        Value::Unset => None,
        Value::Scalar(text) => {
            let plain = |it: char| it.is_alphanumeric() || "_-./:=@%+,".contains(it);
            let text = if text.chars().all(plain) { text.clone() } else { single(text) };
            Some(format!("{name}={text}"))
        }
        other => value_text(other).map(|text| format!("{name}={text}")),
    }
}
