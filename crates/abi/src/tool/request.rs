//! The request of a tool call.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use drydock_contract::ToolRequest;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::mend_surrogates;

/// The bytes are no request for a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no call of a tool: {0}")]
pub struct BadToolRequest(String);

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    provider: Cow<'a, str>,
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(borrow, default)]
    input: Member<'a>,
}

/// A member that may be missing. Unlike an `Option`, one that is `null` is there.
#[derive(Default)]
struct Member<'a>(Option<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Member<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(Some(raw)))
    }
}

/// Reads a request.
pub fn decode_request(bytes: &[u8]) -> Result<ToolRequest, BadToolRequest> {
    let text = std::str::from_utf8(bytes).map_err(|bad| BadToolRequest(bad.to_string()))?;
    let text = mend_surrogates(text);
    match as_we_write_it(&text) {
        Some(request) => Ok(request),
        None => in_any_spelling(&text),
    }
}

fn in_any_spelling(text: &str) -> Result<ToolRequest, BadToolRequest> {
    let wire: Wire<'_> = serde_json::from_str(text).map_err(|bad| BadToolRequest(bad.to_string()))?;
    Ok(request(wire.provider.into(), wire.tool.into(), wire.input.0))
}

/// Reads what [`encode_request`] writes, names without escapes: nearly every request there is, and read
/// twice on its way. Whatever else it is, nothing comes of it here.
fn as_we_write_it(text: &str) -> Option<ToolRequest> {
    let (provider, rest) = plain_name(text.strip_prefix(r#"{"provider":""#)?)?;
    let (tool, rest) = plain_name(rest.strip_prefix(r#","tool":""#)?)?;
    let input = match rest.strip_suffix('}')? {
        "" => None,
        // Only if all that follows is one value: no second member hides in it.
        member => Some(serde_json::from_str(member.strip_prefix(r#","input":"#)?).ok()?),
    };
    Some(request(provider.into(), tool.into(), input))
}

/// The name up to the quote that ends it, and what follows.
fn plain_name(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < b' ')?;
    Some((&text[..end], text[end..].strip_prefix('"')?))
}

fn request(provider: Arc<str>, tool: Arc<str>, input: Option<&RawValue>) -> ToolRequest {
    let input = input.map(|raw| Bytes::copy_from_slice(raw.get().as_bytes()));
    ToolRequest { provider, tool, input, span: 0, depth: 0 }
}

/// Writes a request.
pub fn encode_request(request: &ToolRequest) -> Vec<u8> {
    let input_bytes = request.input.as_ref().map_or(0, |it| it.len());
    let mut wire = Vec::with_capacity(40 + request.provider.len() + request.tool.len() + input_bytes);
    wire.extend_from_slice(br#"{"provider":"#);
    push_quoted(&mut wire, &request.provider);
    wire.extend_from_slice(br#","tool":"#);
    push_quoted(&mut wire, &request.tool);
    if let Some(input) = &request.input {
        wire.extend_from_slice(br#","input":"#);
        wire.extend_from_slice(input);
    }
    wire.push(b'}');
    wire
}

/// How many bytes [`encode_request`] would make at least: what a request weighs that is never encoded.
pub fn request_bytes(request: &ToolRequest) -> u64 {
    let input_bytes = request.input.as_ref().map_or(0, |it| it.len());
    (request.provider.len() + request.tool.len() + input_bytes) as u64
}

/// As a JSON string. Most names need no escapes.
fn push_quoted(wire: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        wire.push(b'"');
        wire.extend_from_slice(text.as_bytes());
        wire.push(b'"');
    } else {
        wire.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces that requests are made of, and that might be mistaken for others.
    const PIECES: &[&str] = &[
        r#"{"provider":""#,
        r#"","tool":""#,
        r#"","input":"#,
        r#","input":"#,
        "}",
        "{",
        "\"",
        "\\",
        "1",
        "null",
        " ",
        "\n",
        "\t",
        r#"{"a":[1,"}"]}"#,
        "é",
        "x",
        ",",
        r#""tool":"b""#,
        r#"\u0041"#,
        "[",
    ];

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![4 => proptest::sample::select(PIECES).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
    }

    proptest! {
        #[test]
        fn what_is_read_the_short_way_reads_the_same_the_long_way(
            head in prop_oneof![Just(r#"{"provider":"a","tool":"b","input":"#), Just(r#"{"provider":"a","tool":""#), Just("")],
            pieces in prop::collection::vec(piece(), 0..8),
        ) {
            let text = head.to_owned() + &pieces.concat();
            if let Some(request) = as_we_write_it(&text) {
                prop_assert_eq!(Ok(request), in_any_spelling(&text), "{}", text);
            }
        }

        #[test]
        fn what_we_write_is_read_the_short_way(tool in "[a-z_$.é ]{0,20}", number in any::<Option<i32>>()) {
            let input = number.map(|it| Bytes::from(it.to_string()));
            let wanted = ToolRequest { provider: "p".into(), tool: tool.as_str().into(), input, span: 0, depth: 0 };
            let wire = String::from_utf8(encode_request(&wanted)).unwrap();
            prop_assert_eq!(as_we_write_it(&wire), Some(wanted));
        }
    }
}
