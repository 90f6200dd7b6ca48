//! `@csv` and the other formats.

use super::collection::text_of;
use super::{encode, wrong};
use crate::run::Exit;
use crate::value::Value;
use crate::write;

/// How a value becomes a part of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Text,
    Json,
    Csv,
    Tsv,
    Html,
    Uri,
    Urid,
    Sh,
    Base64,
    Base64d,
    Base32,
    Base32d,
}

impl Format {
    /// By its name with the `@`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "@text" => Self::Text,
            "@json" => Self::Json,
            "@csv" => Self::Csv,
            "@tsv" => Self::Tsv,
            "@html" => Self::Html,
            "@uri" => Self::Uri,
            "@urid" => Self::Urid,
            "@sh" => Self::Sh,
            "@base64" => Self::Base64,
            "@base64d" => Self::Base64d,
            "@base32" => Self::Base32,
            "@base32d" => Self::Base32d,
            _ => return None,
        })
    }

    /// Appends the value.
    pub fn append(self, out: &mut String, value: &Value) -> Result<(), Exit> {
        if let (Self::Text, Value::Str(text)) = (self, value) {
            out.push_str(text);
            return Ok(());
        }
        match self {
            Self::Text => out.push_str(&text_of(value)),
            Self::Json => out.push_str(&write::compact(value)),
            Self::Csv => row(out, value, "csv", ",", &|out, text| {
                out.push('"');
                out.push_str(&text.replace('"', "\"\""));
                out.push('"');
            })?,
            Self::Tsv => row(out, value, "tsv", "\t", &|out, text| {
                for sign in text.chars() {
                    match sign {
                        '\t' => out.push_str("\\t"),
                        '\r' => out.push_str("\\r"),
                        '\n' => out.push_str("\\n"),
                        '\\' => out.push_str("\\\\"),
                        other => out.push(other),
                    }
                }
            })?,
            Self::Html => {
                for sign in text_of(value).chars() {
                    match sign {
                        '<' => out.push_str("&lt;"),
                        '>' => out.push_str("&gt;"),
                        '&' => out.push_str("&amp;"),
                        '\'' => out.push_str("&apos;"),
                        '"' => out.push_str("&quot;"),
                        other => out.push(other),
                    }
                }
            }
            Self::Uri => encode::to_uri(out, &text_of(value)),
            Self::Urid => {
                let text = text_of(value);
                let bytes =
                    encode::from_uri(&text).ok_or_else(|| wrong(value, "is not a valid uri encoding"))?;
                let decoded =
                    String::from_utf8(bytes).map_err(|_| wrong(value, "is not a valid uri encoding"))?;
                out.push_str(&decoded);
            }
            Self::Sh => shell(out, value)?,
            Self::Base64 => encode::to_base64(out, text_of(value).as_bytes()),
            Self::Base64d => {
                let text = Value::from(text_of(value));
                let bytes = encode::from_base64(text.as_str().unwrap_or_default())
                    .map_err(|what| wrong(&text, what))?;
                out.push_str(&String::from_utf8_lossy(&bytes));
            }
            Self::Base32 => encode::to_base32(out, text_of(value).as_bytes()),
            Self::Base32d => {
                let text = Value::from(text_of(value));
                let bytes = encode::from_base32(text.as_str().unwrap_or_default())
                    .ok_or_else(|| wrong(&text, "is not valid base32 data"))?;
                out.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        Ok(())
    }
}

fn row(
    out: &mut String,
    value: &Value,
    name: &str,
    separator: &str,
    quote: &dyn Fn(&mut String, &str),
) -> Result<(), Exit> {
    let Value::Arr(items) = value else {
        return Err(wrong(value, &format!("cannot be {name}-formatted, only array")));
    };
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        match item {
            Value::Null => {}
            Value::Num(number) if number.is_nan() => {}
            Value::Bool(_) | Value::Num(_) | Value::Lit(_) => out.push_str(&write::compact(item)),
            Value::Str(text) => quote(out, text),
            other => return Err(wrong(other, "is not valid in a csv row")),
        }
    }
    Ok(())
}

fn shell(out: &mut String, value: &Value) -> Result<(), Exit> {
    let one = std::slice::from_ref(value);
    let items = match value {
        Value::Arr(items) => items.as_slice(),
        _ => one,
    };
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        match item {
            Value::Str(text) => {
                out.push('\'');
                out.push_str(&text.replace('\'', "'\\''"));
                out.push('\'');
            }
            Value::Arr(_) | Value::Obj(_) => return Err(wrong(item, "can not be escaped for shell")),
            scalar => out.push_str(&write::compact(scalar)),
        }
    }
    Ok(())
}
