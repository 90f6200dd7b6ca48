//! The request as the host shows it.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, de::DeserializeOwned};

/// One HTTP request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Who asks, and for whom.
    pub context: Context,
    /// `GET`, `POST`, …
    pub method: String,
    /// What follows the extension's own address.
    pub path: String,
    /// Parameters of the query; of one that is there twice the last.
    pub query: BTreeMap<String, String>,
    /// Headers; one that is there twice has both values, with a comma between them.
    pub headers: BTreeMap<String, String>,
    /// Every parameter in its order, where the host tells them.
    pub query_all: Vec<(String, String)>,
    /// Every header in its order, where the host tells them.
    pub headers_all: Vec<(String, String)>,
    /// The body; nothing where there is none.
    pub body: Vec<u8>,
}

/// Who asks, and for whom.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Context {
    /// The request's own name.
    pub request_id: Option<String>,
    /// Whose extension it is.
    pub tenant_id: String,
    /// What it is called.
    pub extension_id: String,
    /// Which of its versions it is.
    pub version_id: Option<String>,
    /// What this call may take, where the host tells it.
    pub limits: Option<Limits>,
}

/// What a call may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Limits {
    /// Milliseconds, waiting included.
    pub timeout_ms: Option<u64>,
    /// Memory in MiB.
    pub memory_mb: Option<u64>,
    /// Instructions, roughly.
    pub fuel: Option<u64>,
}

#[derive(Deserialize)]
struct Wire {
    context: Context,
    http: WireHttp,
}

#[derive(Deserialize)]
struct WireHttp {
    method: String,
    path: String,
    #[serde(default)]
    query: BTreeMap<String, String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    query_all: Option<Vec<(String, String)>>,
    headers_all: Option<Vec<(String, String)>>,
    body_b64: Option<String>,
}

impl Request {
    pub(crate) fn from_json(bytes: &[u8]) -> Result<Self, String> {
        let Wire { context, http } = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let body = STANDARD.decode(http.body_b64.unwrap_or_default()).map_err(|error| error.to_string())?;
        let WireHttp { method, path, query, headers, query_all, headers_all, .. } = http;
        let (query_all, headers_all) = (query_all.unwrap_or_default(), headers_all.unwrap_or_default());
        Ok(Self { context, method, path, query, headers, query_all, headers_all, body })
    }

    /// The header of that name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text; what is no UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_the_abi_writes_it_and_what_is_left_out_is_nothing() {
        let sent = br#"{"context":{"request_id":null,"tenant_id":"t","extension_id":"e","version_id":null,
            "limits":{"timeout_ms":5000,"memory_mb":64,"fuel":null}},
            "http":{"method":"POST","path":"/p","query":{"a":"1"},"headers":{"Accept":"x"},"body_b64":"AAEC/w=="}}"#;
        let request = Request::from_json(sent).unwrap_or_default();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/p"));
        assert_eq!((request.header("accept"), request.query["a"].as_str()), (Some("x"), "1"));
        assert_eq!(request.body, [0, 1, 2, 255]);
        assert_eq!(request.context.limits.and_then(|it| it.memory_mb), Some(64));
        let bare = br#"{"context":{"tenant_id":"t","extension_id":"e"},"http":{"method":"GET","path":"/"}}"#;
        let bare = Request::from_json(bare).unwrap_or_default();
        assert_eq!((bare.context.tenant_id.as_str(), bare.body.len()), ("t", 0));
        for bad in [&b""[..], b"{}", br#"{"context":{},"http":{}}"#, b"\xff"] {
            assert!(Request::from_json(bad).is_err());
        }
    }
}
