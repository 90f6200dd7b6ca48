//! Values as types: what `const` and `enum` say.

use serde_json::Value;

/// How deep a literal is told.
const DEPTH_MAX: usize = 4;
/// How many values of an `enum` are told.
const VALUES_MAX: usize = 200;

/// The type of exactly this value.
pub(super) fn exactly(value: &Value) -> String {
    at(value, 0)
}

/// The type of exactly these values.
pub(super) fn any_of(values: &[Value]) -> String {
    match values {
        [] => "never".to_owned(),
        _ if values.len() > VALUES_MAX => "unknown".to_owned(),
        _ => {
            let mut types: Vec<String> = Vec::new();
            for value in values {
                let one = exactly(value);
                if !types.contains(&one) {
                    types.push(one);
                }
            }
            types.join(" | ")
        }
    }
}

fn at(value: &Value, depth: usize) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        _ if depth >= DEPTH_MAX => "unknown".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|it| at(it, depth + 1)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) if members.is_empty() => "Record<string, never>".to_owned(),
        Value::Object(members) => {
            let one =
                |(name, value): (&String, &Value)| format!("{}: {}", name_of(name), at(value, depth + 1));
            let members: Vec<String> = members.iter().map(one).collect();
            format!("{{ {} }}", members.join("; "))
        }
    }
}

/// A member's name, quoted where it must be.
pub(super) fn name_of(name: &str) -> String {
    match crate::provider::is_identifier(name) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// A string that TypeScript reads as it is meant. JSON's own quoting, and the two line ends that JSON does
/// not know of; nothing in it ends a comment either.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029").replace("*/", "*\\/")
}
