//! The request of a tool call.

use std::borrow::Cow;

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
    let wire: Wire<'_> = serde_json::from_str(&text).map_err(|bad| BadToolRequest(bad.to_string()))?;
    Ok(ToolRequest {
        provider: wire.provider.into(),
        tool: wire.tool.into(),
        input: wire.input.0.map(|raw| Bytes::copy_from_slice(raw.get().as_bytes())),
    })
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
