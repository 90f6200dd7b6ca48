//! The request: as a caller sends it, where much may be left out, and as the guest is shown it, where nothing is.

use std::{borrow::Cow, collections::BTreeMap};

use base64::{Engine as _, engine::general_purpose::STANDARD};
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
    /// One value of each name: those of a header that came more than once are joined.
    #[serde(deserialize_with = "or_default")]
    pub headers: BTreeMap<String, String>,
    /// Every parameter of the query in its order, where whoever asked kept them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_all: Option<Pairs>,
    /// Every header in its order, where whoever asked kept them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers_all: Option<Pairs>,
    /// The body in base64.
    pub body_b64: Option<String>,
}

/// Names and values in their order; a name may come more than once.
pub type Pairs = Vec<(String, String)>;

/// The map beside a list of headers: values of one name are joined as HTTP joins them, cookies as cookies are.
pub fn joined(pairs: &[(String, String)]) -> BTreeMap<String, String> {
    let mut map = BTreeMap::<String, String>::new();
    for (name, value) in pairs {
        match map.get_mut(name) {
            None => drop(map.insert(name.clone(), value.clone())),
            Some(before) => join(name, before, value),
        }
    }
    map
}

fn join(name: &str, before: &mut String, value: &str) {
    before.push_str(if name.eq_ignore_ascii_case("cookie") { "; " } else { ", " });
    before.push_str(value);
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
            query_all: None,
            headers_all: None,
            body_b64: None,
        }
    }
}

impl Http {
    /// Where only a list was sent, the map is made of it.
    fn complete(&mut self) {
        if let (true, Some(pairs)) = (self.query.is_empty(), &self.query_all) {
            self.query = pairs.iter().cloned().collect();
        }
        if let (true, Some(pairs)) = (self.headers.is_empty(), &self.headers_all) {
            self.headers = joined(pairs);
        }
    }
}

/// A request as it came by HTTP. The maps that a guest is shown beside the lists are made of them; nothing is copied
/// before it is rendered.
#[derive(Debug, Clone, Copy)]
pub struct HttpParts<'a> {
    /// The method.
    pub method: &'a str,
    /// The path.
    pub path: &'a str,
    /// Every parameter of the query.
    pub query: &'a [(Cow<'a, str>, Cow<'a, str>)],
    /// Every header.
    pub headers: &'a [(&'a str, Cow<'a, str>)],
    /// The body, if there is one.
    pub body: Option<&'a [u8]>,
}

/// Its members, in the order that [`Http`] has.
#[derive(Serialize)]
struct ShownHttp<'a> {
    method: &'a str,
    path: &'a str,
    query: BTreeMap<&'a str, &'a str>,
    headers: BTreeMap<&'a str, Cow<'a, str>>,
    query_all: &'a [(Cow<'a, str>, Cow<'a, str>)],
    headers_all: &'a [(&'a str, Cow<'a, str>)],
    body_b64: Option<String>,
}

impl HttpParts<'_> {
    fn render(&self) -> Vec<u8> {
        let mut headers = BTreeMap::<&str, Cow<'_, str>>::new();
        for (name, value) in self.headers {
            match headers.get_mut(name) {
                None => drop(headers.insert(name, Cow::Borrowed(value))),
                Some(before) => join(name, before.to_mut(), value),
            }
        }
        let shown = ShownHttp {
            method: self.method,
            path: self.path,
            query: self.query.iter().map(|(name, value)| (&**name, &**value)).collect(),
            headers,
            query_all: self.query,
            headers_all: self.headers,
            body_b64: self.body.map(|it| STANDARD.encode(it)),
        };
        let mut text = Vec::with_capacity(512 + shown.body_b64.as_ref().map_or(0, String::len));
        // Strings and maps of strings: there is nothing in it that JSON cannot say.
        let _ = serde_json::to_writer(&mut text, &shown);
        text
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
    pub fn prepare(mut self) -> PreparedRequest {
        let asked = self.asked();
        self.http.complete();
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
    /// A request that came by HTTP.
    pub fn of_http(context: Context, asked: AskedLimits, http: &HttpParts<'_>) -> Self {
        Self { context, asked, http: http.render() }
    }

    /// What the record's digest is made of where nobody sent the whole as bytes.
    pub(super) fn http(&self) -> &[u8] {
        &self.http
    }

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
    fn repeated_headers_are_joined_in_the_map_and_stay_apart_in_the_list() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers =
            vec![pair("accept", "a"), pair("cookie", "x=1"), pair("accept", "b"), pair("cookie", "y=2")];
        let query = vec![pair("k", "1"), pair("k", "2"), pair("", "")];
        let sent: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str().into())).collect();
        let asked: Vec<_> =
            query.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())).collect();
        let parts =
            HttpParts { method: "POST", path: "/p", query: &asked, headers: &sent, body: Some(b"\0\x01") };
        let http: Http = serde_json::from_slice(&parts.render()).unwrap();
        assert_eq!((http.method.as_str(), http.path.as_str()), ("POST", "/p"));
        assert_eq!((http.headers["accept"].as_str(), http.headers["cookie"].as_str()), ("a, b", "x=1; y=2"));
        assert_eq!((http.query["k"].as_str(), http.body_b64.as_deref()), ("2", Some("AAE=")));
        assert_eq!((http.headers_all.as_ref(), http.query_all.as_ref()), (Some(&headers), Some(&query)));
        // By whichever way it came, it is shown letter for letter alike.
        assert_eq!(parts.render(), serde_json::to_vec(&http).unwrap());
        // Who sends the lists alone is shown with the maps.
        let sent = br#"{"http":{"headers_all":[["a","1"],["a","2"]],"query_all":[["q","1"]]}}"#;
        let shown = ExecuteRequest::parse(sent).unwrap().prepare().shown("dev", "echo", LIMITS);
        let shown: serde_json::Value = serde_json::from_slice(&shown).unwrap();
        assert_eq!(
            (&shown["http"]["headers"]["a"], &shown["http"]["query"]["q"]),
            (&"1, 2".into(), &"1".into())
        );
        assert_eq!(shown["http"]["headers_all"][1][1], "2");
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
