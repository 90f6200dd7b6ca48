//! JSON out of values, and text out of strings, always as well-formed UTF-8.
//!
//! JavaScript strings may hold half a character. What leaves the guest has U+FFFD in its place.

use crate::engine::{self, context};
use crate::prelude::*;
use crate::value::{Kind, Value};

const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// The value cannot be written as JSON.
#[derive(Debug, PartialEq, Eq)]
pub struct NotJson;

/// Appends the value as `JSON.stringify` would write it; false for undefined, which has no JSON. A
/// function or a symbol is no JSON either, but an error.
pub fn push(out: &mut Vec<u8>, value: &Value) -> Result<bool, NotJson> {
    if value.kind() == Kind::Undefined {
        return Ok(false);
    }
    if push_plain(out, value) {
        return Ok(true);
    }
    let nothing = Value::undefined();
    // SAFETY: the values are alive. This is the function behind JSON.stringify, not what the program may
    // have put in its place.
    let text = Value::owned(unsafe {
        engine::JS_JSONStringify(context(), value.raw(), nothing.raw(), nothing.raw())
    });
    let text = text.or_clear().ok_or(NotJson)?;
    text.with_bytes(|bytes| push_without_surrogates(out, bytes)).ok_or(NotJson)?;
    Ok(true)
}

/// Room for a value that is written without QuickJS's help.
const PLAIN_BYTES_MAX: usize = 1024;

/// Appends a small value of plain data; false, and nothing appended, if it is none.
fn push_plain(out: &mut Vec<u8>, value: &Value) -> bool {
    out.reserve(PLAIN_BYTES_MAX);
    let room = out.spare_capacity_mut();
    // SAFETY: the value is alive; at most the room's length is written, and how much is said.
    let written =
        unsafe { engine::value_plain_json(context(), value.raw(), room.as_mut_ptr().cast(), room.len()) };
    match usize::try_from(written) {
        Ok(written) => {
            // SAFETY: so many bytes were written, all of them ASCII.
            unsafe { out.set_len(out.len() + written) };
            true
        }
        Err(_) => false,
    }
}

/// Appends UTF-8 with each lone surrogate replaced.
pub fn push_clean(out: &mut Vec<u8>, bytes: &[u8]) {
    let from = out.len();
    out.extend_from_slice(bytes);
    let mut at = from;
    // A surrogate is ED A0..BF xx; what replaces it is as long.
    while let Some(found) = find(&out[at..], 0xed) {
        at += found;
        if out.get(at + 1).is_some_and(|next| *next >= 0xa0) && at + 3 <= out.len() {
            out[at..at + 3].copy_from_slice(REPLACEMENT);
        }
        at += 1;
    }
}

/// Appends JSON text with each escaped lone surrogate replaced. Pairs are never escaped.
fn push_without_surrogates(out: &mut Vec<u8>, json: &[u8]) {
    let mut rest = json;
    while let Some(at) = find(rest, b'\\') {
        let lone = matches!(rest.get(at + 1..at + 4), Some([b'u', b'd', b'8'..=b'9' | b'a'..=b'f']));
        push_clean(out, &rest[..at]);
        if lone && rest.len() >= at + 6 {
            out.extend_from_slice(REPLACEMENT);
            rest = &rest[at + 6..];
        } else {
            let end = (at + 2).min(rest.len());
            out.extend_from_slice(&rest[at..end]);
            rest = &rest[end..];
        }
    }
    push_clean(out, rest);
}

fn find(bytes: &[u8], wanted: u8) -> Option<usize> {
    bytes.iter().position(|byte| *byte == wanted)
}

/// Appends `text` as a JSON string.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => {
                let digits = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_characters_are_replaced_and_nothing_else_is() {
        let cases: [(&[u8], &str); 4] = [
            (b"a\xed\xa0\x80b", "a\u{fffd}b"),
            ("\u{d7ff}\u{e000}".as_bytes(), "\u{d7ff}\u{e000}"),
            (b"\xed\xbf\xbf\xed\xa0\xbd", "\u{fffd}\u{fffd}"),
            ("🦀".as_bytes(), "🦀"),
        ];
        for (bytes, want) in cases {
            let mut out = Vec::new();
            push_clean(&mut out, bytes);
            assert_eq!(String::from_utf8_lossy(&out), want);
        }
    }

    #[test]
    fn an_escaped_half_is_replaced_and_an_escaped_backslash_is_not_mistaken_for_one() {
        let cases = [
            (r#""\ud800""#, "\"\u{fffd}\""),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\udfffx""#, "\"\\\\\u{fffd}x\""),
            (r#""\u001f\n""#, r#""\u001f\n""#),
            (r#""\ud7ff""#, r#""\ud7ff""#),
        ];
        for (json, want) in cases {
            let mut out = Vec::new();
            push_without_surrogates(&mut out, json.as_bytes());
            assert_eq!(String::from_utf8_lossy(&out), want, "{json}");
        }
    }

    #[test]
    fn strings_are_quoted() {
        let mut out = Vec::new();
        push_string(&mut out, "a\"\\\n\u{1f}é");
        assert_eq!(String::from_utf8_lossy(&out), r#""a\"\\\u000a\u001fé""#);
    }
}
