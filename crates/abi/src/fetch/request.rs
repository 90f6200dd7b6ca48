//! What a guest asks for: `url`, and perhaps `method`, `headers`, `body_b64`, and bounds below the host's own.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;

use super::FETCH_BODY_BYTES_MAX;

/// Headers of one request.
const HEADERS_MAX: usize = 128;

/// A request that was read; nothing of it was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// Where to.
    pub url: String,
    /// `GET` unless it is said.
    pub method: String,
    /// In the order in which they are sent; a name may be there more than once.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Less time than the host gives, if the guest wants that.
    pub timeout_ms: Option<u64>,
    /// A shorter answer than the host gives, if the guest wants that.
    pub max_bytes: Option<u64>,
    /// Whether an answer that is packed is to be unpacked.
    pub decode: bool,
}

/// The bytes are no request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadFetch {
    /// They do not parse.
    #[error("no request of `http.fetch`: {0}")]
    Malformed(String),
    /// The body is larger than it may be.
    #[error("a body of {0} bytes exceeds the limit of {FETCH_BODY_BYTES_MAX}")]
    BodyTooLarge(u64),
}

#[derive(Deserialize)]
struct Sent {
    url: Option<String>,
    method: Option<String>,
    headers: Option<BTreeMap<String, OneOrMany>>,
    body_b64: Option<String>,
    timeout_ms: Option<u64>,
    max_bytes: Option<u64>,
    #[serde(default)]
    decode: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl FetchRequest {
    /// Reads a request. Members that nobody knows are left out of it.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadFetch> {
        let bad = |text: &str| BadFetch::Malformed(text.to_owned());
        // A list would be read as the members in their order.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(bad("it is not a JSON object"));
        }
        let sent: Sent = serde_json::from_slice(bytes).map_err(|error| bad(&error.to_string()))?;
        let url = sent.url.ok_or_else(|| bad("it has no `url`"))?;
        let mut headers = Vec::new();
        for (name, value) in sent.headers.unwrap_or_default() {
            match value {
                OneOrMany::One(value) => headers.push((name, value)),
                OneOrMany::Many(values) => {
                    headers.extend(values.into_iter().map(|value| (name.clone(), value)));
                }
            }
            if headers.len() > HEADERS_MAX {
                return Err(BadFetch::Malformed(format!("it has more than {HEADERS_MAX} headers")));
            }
        }
        let text = sent.body_b64.unwrap_or_default();
        let body =
            STANDARD.decode(text).map_err(|error| BadFetch::Malformed(format!("`body_b64`: {error}")))?;
        if body.len() as u64 > FETCH_BODY_BYTES_MAX {
            return Err(BadFetch::BodyTooLarge(body.len() as u64));
        }
        let method = sent.method.unwrap_or_else(|| "GET".to_owned());
        let (timeout_ms, max_bytes, decode) = (sent.timeout_ms, sent.max_bytes, sent.decode);
        Ok(Self { url, method, headers, body, timeout_ms, max_bytes, decode })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_needs_a_url_and_everything_else_has_a_default() {
        let plain =
            FetchRequest::parse(br#"{"url":"http://a.test/","headers":null,"body_b64":null}"#).unwrap();
        let want = FetchRequest {
            url: "http://a.test/".into(),
            method: "GET".into(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout_ms: None,
            max_bytes: None,
            decode: false,
        };
        assert_eq!(plain, want);
        let whole = FetchRequest::parse(
            br#"{"url":"u","method":"POST","headers":{"a":"1","b":["2","3"]},"body_b64":"aGk=","timeout_ms":9,"x":{}}"#,
        )
        .unwrap();
        let headers: Vec<_> = whole.headers.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(headers, [("a", "1"), ("b", "2"), ("b", "3")]);
        assert_eq!((whole.method.as_str(), &whole.body[..], whole.timeout_ms), ("POST", &b"hi"[..], Some(9)));
    }

    #[test]
    fn what_is_no_request_is_refused_by_name() {
        let many = (0..200).map(|it| format!(r#""h{it}":"v""#)).collect::<Vec<_>>().join(",");
        let many = format!(r#"{{"url":"u","headers":{{{many}}}}}"#);
        let deep = format!(r#"{{"url":"u","x":{}}}"#, "[".repeat(500));
        for (text, want) in [
            ("", "not a JSON object"),
            (r#"["http://a.test"]"#, "not a JSON object"),
            ("{}", "no `url`"),
            (r#"{"url":7}"#, "invalid type"),
            (r#"{"url":"u","headers":{"a":7}}"#, "OneOrMany"),
            (r#"{"url":"u","body_b64":"%"}"#, "body_b64"),
            (many.as_str(), "more than 128 headers"),
            (deep.as_str(), "expected value"),
        ] {
            let error = FetchRequest::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(want), "{want}: {error}");
        }
        let text = STANDARD.encode(vec![0; usize::try_from(FETCH_BODY_BYTES_MAX).unwrap() + 1]);
        let large = format!(r#"{{"url":"u","body_b64":"{text}"}}"#);
        assert_eq!(
            FetchRequest::parse(large.as_bytes()),
            Err(BadFetch::BodyTooLarge(FETCH_BODY_BYTES_MAX + 1))
        );
    }
}
