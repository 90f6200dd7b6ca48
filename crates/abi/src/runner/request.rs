//! The request: as a caller sends it, where much may be left out, and as the guest is shown it, where nothing is.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::{REQUEST_BODY_BYTES_MAX, body};

/// What a caller sends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecuteRequest {
    /// Who and what.
    #[serde(deserialize_with = "or_default")]
    pub context: Context,
    /// The HTTP request.
    #[serde(deserialize_with = "or_default")]
    pub http: Http,
    /// What the call may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<AskedLimits>,
}

/// Who asks for what. What is missing is the door's to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Context {
    /// The request's own id.
    pub request_id: Option<String>,
    /// Whose extension.
    pub tenant_id: Option<String>,
    /// Which extension.
    pub extension_id: Option<String>,
    /// Which version of it.
    pub version_id: Option<String>,
    /// Another place for limits; those beside `context` count first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<AskedLimits>,
}

/// The HTTP request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Http {
    /// `GET` unless it is said.
    pub method: String,
    /// `/` unless it is said.
    pub path: String,
    /// The last value of each key.
    #[serde(deserialize_with = "or_default")]
    pub query: BTreeMap<String, String>,
    /// The last value of each name.
    #[serde(deserialize_with = "or_default")]
    pub headers: BTreeMap<String, String>,
    /// The body in base64.
    pub body_b64: Option<String>,
}

/// `null` is what was left out.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

impl Default for Http {
    fn default() -> Self {
        Self {
            method: "GET".into(),
            path: "/".into(),
            query: BTreeMap::new(),
            headers: BTreeMap::new(),
            body_b64: None,
        }
    }
}

/// What a caller would like. More than the installation allows is cut to that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AskedLimits {
    /// Wall clock.
    pub timeout_ms: Option<u64>,
    /// Guest memory in MiB.
    pub memory_mb: Option<u64>,
    /// Instructions, roughly.
    pub fuel: Option<u64>,
}

impl AskedLimits {
    /// These, and the others where these say nothing.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            timeout_ms: self.timeout_ms.or(others.timeout_ms),
            memory_mb: self.memory_mb.or(others.memory_mb),
            fuel: self.fuel.or(others.fuel),
        }
    }
}

/// What the call really may take, as the guest is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EffectiveLimits {
    /// Wall clock.
    pub timeout_ms: u64,
    /// Guest memory in MiB.
    pub memory_mb: u64,
    /// Instructions, if they are bounded.
    pub fuel: Option<u64>,
}

/// The bytes are no request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// They do not parse.
    #[error("no request of an extension: {0}")]
    Malformed(String),
    /// The body is larger than it may be.
    #[error("request body of {0} bytes exceeds the limit of {REQUEST_BODY_BYTES_MAX}")]
    BodyTooLarge(u64),
}

impl ExecuteRequest {
    /// Reads a request. Members that nobody knows are left out of it.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadRequest> {
        let bad = |text: String| BadRequest::Malformed(text);
        // A list would be read as the members in their order.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(bad("it is not a JSON object".into()));
        }
        let request: Self = serde_json::from_slice(bytes).map_err(|error| bad(error.to_string()))?;
        if let Some(text) = &request.http.body_b64 {
            let bytes =
                body::decoded_bytes(text).map_err(|error| bad(format!("`http.body_b64`: {error}")))?;
            if bytes > REQUEST_BODY_BYTES_MAX {
                return Err(BadRequest::BodyTooLarge(bytes));
            }
        }
        Ok(request)
    }

    /// The limits that were asked for, in either place.
    pub fn asked(&self) -> AskedLimits {
        self.limits.unwrap_or_default().or(self.context.limits.unwrap_or_default())
    }

    /// Renders what may be large of it; the context is rendered when the limits are known.
    pub fn prepare(self) -> PreparedRequest {
        let asked = self.asked();
        // Strings and maps of strings: there is nothing in it that JSON cannot say.
        let http = serde_json::to_vec(&self.http).unwrap_or_default();
        PreparedRequest { context: self.context, asked, http }
    }
}

/// A request that was read, its `http` as the guest is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedRequest {
    /// Who and what, as it was sent.
    pub context: Context,
    /// The limits that were asked for.
    pub asked: AskedLimits,
    http: Vec<u8>,
}

impl PreparedRequest {
    /// How many bytes of the host it holds, roughly.
    pub fn bytes(&self) -> u64 {
        self.http.len() as u64
    }

    /// As the guest is shown it.
    pub fn shown(&self, tenant: &str, extension: &str, limits: EffectiveLimits) -> Vec<u8> {
        let context = ShownContext {
            request_id: self.context.request_id.as_deref(),
            tenant_id: tenant,
            extension_id: extension,
            version_id: self.context.version_id.as_deref(),
            limits,
        };
        // Strings and numbers, as above.
        let context = serde_json::to_vec(&context).unwrap_or_default();
        [br#"{"context":"#, &context[..], br#","http":"#, &self.http, b"}"].concat()
    }
}

#[derive(Serialize)]
struct ShownContext<'a> {
    request_id: Option<&'a str>,
    tenant_id: &'a str,
    extension_id: &'a str,
    version_id: Option<&'a str>,
    limits: EffectiveLimits,
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};

    use super::*;

    const LIMITS: EffectiveLimits = EffectiveLimits { timeout_ms: 5_000, memory_mb: 64, fuel: None };

    #[test]
    fn what_is_left_out_or_null_is_shown_as_null_or_as_the_door_says() {
        let nulls = br#"{"context":null,"limits":null,"http":{"query":null,"headers":null,"body_b64":null}}"#;
        for sent in [&b"{}"[..], br#"{"http":null}"#, nulls] {
            let shown = ExecuteRequest::parse(sent).unwrap().prepare().shown("dev", "echo", LIMITS);
            assert_eq!(
                String::from_utf8(shown).unwrap(),
                r#"{"context":{"request_id":null,"tenant_id":"dev","extension_id":"echo","version_id":null,"#
                    .to_owned()
                    + r#""limits":{"timeout_ms":5000,"memory_mb":64,"fuel":null}},"#
                    + r#""http":{"method":"GET","path":"/","query":{},"headers":{},"body_b64":null}}"#
            );
        }
    }

    #[test]
    fn what_is_said_is_shown_as_it_was_said() {
        let sent = r#"{"context":{"request_id":"r1","tenant_id":"t","extension_id":"e","version_id":"v","x":1},
            "http":{"method":"POST","path":"/a?b","query":{"k":"v"},"headers":{"H":"é\u0000"},"body_b64":"AAE="}}"#;
        let shown = ExecuteRequest::parse(sent.as_bytes()).unwrap().prepare().shown("dev", "echo", LIMITS);
        let shown: serde_json::Value = serde_json::from_slice(&shown).unwrap();
        // Who may say which tenant and extension it is, is the gate's affair.
        assert_eq!(
            (&shown["context"]["tenant_id"], &shown["context"]["version_id"]),
            (&"dev".into(), &"v".into())
        );
        assert_eq!(shown["context"]["request_id"], "r1");
        assert_eq!(shown["http"]["headers"]["H"], "é\0");
        assert_eq!(shown["http"]["body_b64"], "AAE=");
    }

    #[test]
    fn limits_are_taken_from_the_top_and_then_from_the_context() {
        let sent = br#"{"limits":{"timeout_ms":1},"context":{"limits":{"timeout_ms":2,"memory_mb":3}}}"#;
        let asked = ExecuteRequest::parse(sent).unwrap().asked();
        assert_eq!(asked, AskedLimits { timeout_ms: Some(1), memory_mb: Some(3), fuel: None });
    }

    #[test]
    fn bodies_are_base64_of_bounded_size_and_everything_has_its_type() {
        let sent = |body: &str| format!(r#"{{"http":{{"body_b64":"{body}"}}}}"#);
        let most = usize::try_from(REQUEST_BODY_BYTES_MAX).unwrap();
        assert!(ExecuteRequest::parse(sent(&STANDARD.encode(vec![7; most])).as_bytes()).is_ok());
        let over = ExecuteRequest::parse(sent(&STANDARD.encode(vec![7; most + 1])).as_bytes());
        assert_eq!(over, Err(BadRequest::BodyTooLarge(REQUEST_BODY_BYTES_MAX + 1)));
        for bad in [
            sent("a"),
            sent("%%%%"),
            r#"{"http":{"query":{"a":1}}}"#.into(),
            r#"{"http":{"method":7}}"#.into(),
            r#"{"limits":{"timeout_ms":-1}}"#.into(),
            r#"{"limits":{"memory_mb":"64"}}"#.into(),
            "[]".into(),
            String::new(),
        ] {
            assert!(matches!(ExecuteRequest::parse(bad.as_bytes()), Err(BadRequest::Malformed(_))), "{bad}");
        }
    }
}
