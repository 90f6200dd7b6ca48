//! An answer: the handler's own, and that of a fetch.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// One HTTP response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// 100 to 599.
    pub status: u16,
    /// Headers in their order; a name may come more than once.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    headers_all: Option<Vec<(String, String)>>,
    body_b64: Option<String>,
}

impl Response {
    /// An answer without headers and body.
    pub fn new(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// 200 with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(200).header("content-type", "text/plain; charset=utf-8").body(text.into())
    }

    /// 200 with a value as JSON; 500 where it cannot be written as JSON.
    pub fn json(value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => Self::new(200).header("content-type", "application/json").body(body),
            Err(error) => Self::new(500).body(format!("no JSON: {error}")),
        }
    }

    /// With another status.
    #[must_use]
    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With another body.
    #[must_use]
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// The first header of that name, whatever its case.
    pub fn get_header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn parse_json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        let mut headers = BTreeMap::new();
        for (name, value) in &self.headers {
            let joined = headers.entry(name.to_ascii_lowercase()).or_insert_with(String::new);
            if !joined.is_empty() {
                joined.push_str(", ");
            }
            joined.push_str(value);
        }
        // A map holds a name once; the list is for the host that takes it.
        let headers_all = (headers.len() < self.headers.len()).then(|| self.headers.clone());
        let body_b64 = (!self.body.is_empty()).then(|| STANDARD.encode(&self.body));
        // Strings and a number: there is nothing in it that JSON cannot say.
        serde_json::to_vec(&Wire { status: self.status, headers, headers_all, body_b64 }).unwrap_or_default()
    }

    #[cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "only a host answers a fetch"))]
    pub(crate) fn from_json(bytes: &[u8]) -> Option<Self> {
        let Wire { status, headers, headers_all, body_b64 } = serde_json::from_slice(bytes).ok()?;
        let headers = headers_all.unwrap_or_else(|| headers.into_iter().collect());
        Some(Self { status, headers, body: STANDARD.decode(body_b64.unwrap_or_default()).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_written_as_the_abi_reads_it_and_reads_back() {
        let text = |it: &Response| String::from_utf8(it.to_json()).unwrap_or_default();
        assert_eq!(text(&Response::new(204)), r#"{"status":204,"headers":{},"body_b64":null}"#);
        let ok = Response::json(&serde_json::json!({ "ok": true }));
        assert_eq!(
            text(&ok),
            r#"{"status":200,"headers":{"content-type":"application/json"},"body_b64":"eyJvayI6dHJ1ZX0="}"#
        );
        let twice = Response::new(200).header("Set-Cookie", "a").header("set-cookie", "b").body([0, 255]);
        assert!(text(&twice).contains(r#""headers_all":[["Set-Cookie","a"],["set-cookie","b"]]"#));
        assert_eq!(Response::from_json(&twice.to_json()), Some(twice));
        assert_eq!(Response::from_json(b"{}"), None);
    }
}
