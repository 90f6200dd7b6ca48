//! jaq's messages in jq's words.
//!
//! Scripts compare what `catch` gives them, so the sentence matters. jaq's messages carry the values
//! they are about as JSON; they are read back and put into the sentence jq has for the case. A
//! message that is not one of jaq's stays as it is.

use crate::{input, output};
use jaq_json::Val;

/// jq shows so many bytes of a value, and cuts a longer one to [`CUT_BYTES`] and three dots.
const SHOWN_BYTES_MAX: usize = 14;
const CUT_BYTES: usize = 11;

/// The message as jq would say it.
pub fn of(message: &str) -> String {
    translate(message).unwrap_or_else(|| message.to_owned())
}

/// `kind (value)`, the value cut short.
pub fn described(value: &Val) -> String {
    format!("{} ({})", kind(value), short(value))
}

/// The type's name.
pub fn kind(value: &Val) -> &'static str {
    match value {
        Val::Null => "null",
        Val::Bool(_) => "boolean",
        Val::Num(_) => "number",
        Val::TStr(_) | Val::BStr(_) => "string",
        Val::Arr(_) => "array",
        Val::Obj(_) => "object",
    }
}

fn short(value: &Val) -> String {
    let text = output::compact(value);
    if text.len() <= SHOWN_BYTES_MAX {
        return text;
    }
    let end = (0..=CUT_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}...", &text[..end])
}

fn translate(message: &str) -> Option<String> {
    if let Some(rest) = message.strip_prefix("cannot index ") {
        let (value, rest) = input::parse_prefix(rest)?;
        let (index, _) = input::parse_prefix(rest.strip_prefix(" with ")?)?;
        return Some(match &index {
            Val::TStr(text) => {
                format!("Cannot index {} with string \"{}\"", kind(&value), String::from_utf8_lossy(text))
            }
            _ => format!("Cannot index {} with {}", kind(&value), kind(&index)),
        });
    }
    if let Some(rest) = message.strip_prefix("cannot use ") {
        let (value, rest) = input::parse_prefix(rest)?;
        let shown = described(&value);
        return Some(match rest.strip_prefix(" as ")? {
            "iterable (array or object)" => format!("Cannot iterate over {shown}"),
            "rangeable (array or string)" => format!("Cannot index {} with object", kind(&value)),
            "number" | "integer" | "floating-point number" => format!("{shown} number required"),
            "array" => format!("{shown} cannot be sorted, as it is not an array"),
            "string" => format!("{shown} cannot be matched, as it is not a string"),
            _ => return None,
        });
    }
    if let Some(rest) = message.strip_prefix("cannot calculate ") {
        let (left, rest) = input::parse_prefix(rest)?;
        let mut rest = rest.strip_prefix(' ')?.splitn(2, ' ');
        let done = match rest.next()? {
            "+" => "added",
            "-" => "subtracted",
            "*" => "multiplied",
            _ => "divided",
        };
        let (right, _) = input::parse_prefix(rest.next()?)?;
        return Some(format!("{} and {} cannot be {done}", described(&left), described(&right)));
    }
    if let Some(rest) = message.strip_prefix("invalid path expression with input ") {
        return Some(format!("Invalid path expression with result {}", short(&input::parse_prefix(rest)?.0)));
    }
    if let Some(rest) = message.strip_suffix(" has no length") {
        return Some(format!("{} has no length", described(&input::parse_prefix(rest)?.0)));
    }
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_sentences_are_jqs() {
        let cases = [
            ("cannot index 1 with \"b\"", "Cannot index number with string \"b\""),
            ("cannot index {\"a\":1} with 0", "Cannot index object with number"),
            ("cannot use 1 as iterable (array or object)", "Cannot iterate over number (1)"),
            (
                "cannot calculate {\"abc\":[1,2,3]} + \"x\"",
                "object ({\"abc\":[1,2...) and string (\"x\") cannot be added",
            ),
            ("cannot use a spoon", "cannot use a spoon"),
            ("mine", "mine"),
        ];
        for (message, want) in cases {
            assert_eq!(super::of(message), want);
        }
    }
}
