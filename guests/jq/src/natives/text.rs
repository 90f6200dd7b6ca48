//! Strings.

use super::collection::text_of;
use super::{Format, Row, wrong};
use crate::run::{self, Exit};
use crate::syntax::ast::Operator;
use crate::value::Value;
use std::path::PathBuf;

pub(super) const TABLE: &[Row] = &[
    ("startswith", 1, |value, args| match (&value, &args[0]) {
        (Value::Str(text), Value::Str(part)) => Ok(Value::Bool(text.starts_with(part.as_str()))),
        _ => Err(Exit::error("startswith() requires string inputs")),
    }),
    ("endswith", 1, |value, args| match (&value, &args[0]) {
        (Value::Str(text), Value::Str(part)) => Ok(Value::Bool(text.ends_with(part.as_str()))),
        _ => Err(Exit::error("endswith() requires string inputs")),
    }),
    ("ltrimstr", 1, |value, args| Ok(trimmed_start(value, &args[0]))),
    ("rtrimstr", 1, |value, args| Ok(trimmed_end(value, &args[0]))),
    ("trimstr", 1, |value, args| Ok(trimmed_end(trimmed_start(value, &args[0]), &args[0]))),
    ("trim", 0, |value, _| trim(&value, str::trim)),
    ("ltrim", 0, |value, _| trim(&value, str::trim_start)),
    ("rtrim", 0, |value, _| trim(&value, str::trim_end)),
    ("ascii_downcase", 0, |value, _| case(&value, str::to_ascii_lowercase)),
    ("ascii_upcase", 0, |value, _| case(&value, str::to_ascii_uppercase)),
    ("explode", 0, |value, _| match &value {
        Value::Str(text) => Ok(text.chars().map(|sign| Value::Num(f64::from(u32::from(sign)))).collect()),
        _ => Err(Exit::error("explode input must be a string")),
    }),
    ("implode", 0, |value, _| implode(&value)),
    ("utf8bytelength", 0, |value, _| match &value {
        Value::Str(text) => Ok(Value::from(text.len())),
        other => Err(wrong(other, "only strings have UTF-8 byte length")),
    }),
    ("split", 1, |value, args| match (&value, &args[0]) {
        (Value::Str(_), Value::Str(_)) => run::arithmetic(Operator::Divide, value, args[0].clone()),
        _ => Err(Exit::error("split input and separator must be strings")),
    }),
    ("join", 1, |value, args| join(&value, &args[0])),
    ("ascii", 0, |value, _| implode(&Value::arr(vec![value]))),
    ("format", 1, |value, args| {
        let Value::Str(name) = &args[0] else { return Err(wrong(&args[0], "is not a valid format")) };
        let Some(format) = Format::named(&format!("@{}", name.as_str())) else {
            return Err(Exit::error(format!("{} is not a valid format", name.as_str())));
        };
        let mut text = String::new();
        format.append(&mut text, &value)?;
        Ok(Value::from(text))
    }),
    // `modulemeta`, told where to look.
    ("_modulemeta", 1, |value, args| match (&value, &args[0]) {
        (Value::Str(name), Value::Arr(folders)) => {
            let mut folders: Vec<PathBuf> =
                folders.iter().filter_map(Value::as_str).map(PathBuf::from).collect();
            if folders.is_empty() {
                folders.push(PathBuf::from("."));
            }
            crate::compile::describe(name.as_str(), &folders).map_err(Exit::error)
        }
        _ => Err(Exit::error("modulemeta input module name must be a string")),
    }),
    ("have_literal_numbers", 0, |_, _| Ok(Value::Bool(true))),
    ("have_decnum", 0, |_, _| Ok(Value::Bool(true))),
    ("toboolean", 0, |value, _| match value.as_str() {
        _ if matches!(value, Value::Bool(_)) => Ok(value),
        Some("true") => Ok(Value::Bool(true)),
        Some("false") => Ok(Value::Bool(false)),
        _ => Err(wrong(&value, "cannot be parsed as a boolean")),
    }),
];

fn trimmed_start(value: Value, part: &Value) -> Value {
    match (value.as_str(), part.as_str()) {
        (Some(text), Some(part)) => text.strip_prefix(part).map_or_else(|| value.clone(), Value::str),
        _ => value,
    }
}

fn trimmed_end(value: Value, part: &Value) -> Value {
    match (value.as_str(), part.as_str()) {
        (Some(text), Some(part)) => text.strip_suffix(part).map_or_else(|| value.clone(), Value::str),
        _ => value,
    }
}

fn trim(value: &Value, how: fn(&str) -> &str) -> Result<Value, Exit> {
    match value {
        Value::Str(text) => Ok(Value::str(how(text))),
        _ => Err(Exit::error("trim input must be a string")),
    }
}

fn case(value: &Value, how: fn(&str) -> String) -> Result<Value, Exit> {
    match value {
        Value::Str(text) => Ok(Value::from(how(text))),
        _ => Err(Exit::error("explode input must be a string")),
    }
}

fn implode(value: &Value) -> Result<Value, Exit> {
    let Value::Arr(items) = value else { return Err(Exit::error("implode input must be an array")) };
    let mut text = String::with_capacity(items.len());
    for item in items.iter() {
        let Some(code) = item.as_f64().filter(|code| !code.is_nan()) else {
            return Err(wrong(item, "can't be imploded, unicode codepoint needs to be numeric"));
        };
        text.push(
            (if code < 0.0 { None } else { char::from_u32(code as u32) })
                .unwrap_or(char::REPLACEMENT_CHARACTER),
        );
    }
    Ok(Value::from(text))
}

fn join(value: &Value, separator: &Value) -> Result<Value, Exit> {
    let mut joined = Value::Null;
    super::collection::each_item(value, &mut |item| {
        let so_far = match std::mem::replace(&mut joined, Value::Null) {
            Value::Null => Value::EMPTY_STR,
            text => run::add(text, separator.clone())?,
        };
        let piece = match item {
            Value::Null => Value::EMPTY_STR,
            Value::Bool(_) | Value::Num(_) | Value::Lit(_) => Value::from(text_of(item)),
            other => other.clone(),
        };
        joined = run::add(so_far, piece)?;
        Ok(())
    })?;
    Ok(if joined.is_true() { joined } else { Value::EMPTY_STR })
}
