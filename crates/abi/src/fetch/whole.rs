//! A request whose answer is wanted whole and alone, wherever it is in the end: what a guest's plain imports send, and how
//! they follow a redirect (RFC 9110, section 15.4).
//!
//! Where a redirect leads is only put together here. The text is read, judged and recorded like a first request's.

use serde_json::json;

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Redirects that are followed.
pub const HOPS_MAX: u32 = 5;
/// Headers that are for one host and no other.
const CREDENTIALS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// One request, and how often it was sent elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeRequest {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    timeout_ms: u64,
    max_bytes: u64,
    hops: u32,
}

/// What an answer says of where to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Follow {
    /// Nowhere: it is the answer.
    No,
    /// There.
    To(WholeRequest),
    /// There, and that would be once too often.
    TooOften,
}

impl WholeRequest {
    /// A GET without headers.
    pub fn get(url: String, timeout_ms: u64, max_bytes: u64) -> Self {
        let (method, headers, body) = ("GET".to_owned(), Vec::new(), Vec::new());
        Self { method, url, headers, body, timeout_ms, max_bytes, hops: 0 }
    }

    /// A request with headers as lines of `name: value`. No method is GET; nothing comes of a line that is no header.
    pub fn new(
        method: &str,
        url: String,
        headers: &str,
        body: Vec<u8>,
        timeout_ms: u64,
        max_bytes: u64,
    ) -> Option<Self> {
        let lines = headers.split('\n').map(str::trim).filter(|it| !it.is_empty());
        let pair = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        };
        let headers = lines.map(pair).collect::<Option<_>>()?;
        let method = if method.is_empty() { "GET" } else { method }.to_owned();
        Some(Self { method, headers, body, ..Self::get(url, timeout_ms, max_bytes) })
    }

    /// As `http.fetch` reads it.
    pub fn to_json(&self) -> Vec<u8> {
        let mut headers: serde_json::Map<String, serde_json::Value> = serde_json::Map::new();
        for (name, value) in &self.headers {
            let all = headers.entry(name.clone()).or_insert_with(|| json!([]));
            if let Some(all) = all.as_array_mut() {
                all.push(json!(value));
            }
        }
        let mut request = json!({
            "url": self.url, "method": self.method, "headers": headers, "timeout_ms": self.timeout_ms,
            "max_bytes": self.max_bytes, "decode": true,
        });
        if !self.body.is_empty() {
            request["body_b64"] = json!(STANDARD.encode(&self.body));
        }
        // Strings and numbers: there is nothing in it that JSON cannot say.
        serde_json::to_vec(&request).unwrap_or_default()
    }

    /// What to ask after this answer.
    pub fn follow(&self, status: u16, headers: &[(String, String)]) -> Follow {
        let location = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
        let (Some((_, location)), 301 | 302 | 303 | 307 | 308) = (location, status) else {
            return Follow::No;
        };
        if self.hops >= HOPS_MAX {
            return Follow::TooOften;
        }
        let mut next = Self { url: join(&self.url, location), hops: self.hops + 1, ..self.clone() };
        // As all clients do: what was sent is sent once, unless the server asks for it again.
        if !matches!(status, 307 | 308) && self.method != "HEAD" {
            (next.method, next.body) = ("GET".to_owned(), Vec::new());
            next.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
        }
        if origin(&next.url) != origin(&self.url) {
            next.headers.retain(|(name, _)| !CREDENTIALS.contains(&name.to_ascii_lowercase().as_str()));
        }
        Follow::To(next)
    }
}

/// Scheme and authority, as far as they are letters: two spellings of one origin are two, and then credentials stay behind.
fn origin(url: &str) -> String {
    let end = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(end..).unwrap_or_default();
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    format!("{}{authority}", url.get(..end).unwrap_or_default()).to_ascii_lowercase()
}

/// What a reference means at a URL (RFC 3986, section 5.2). Dots in paths are resolved by whoever reads the whole.
fn join(base: &str, reference: &str) -> String {
    let scheme_end = reference.find(':').filter(|at| !reference[..*at].contains(['/', '?', '#']));
    if scheme_end.is_some() {
        return reference.to_owned();
    }
    let origin_end = base.find("://").map_or(0, |at| at + 3);
    if reference.starts_with("//") {
        return format!("{}{reference}", base.get(..origin_end.saturating_sub(2)).unwrap_or_default());
    }
    let path_at = base
        .get(origin_end..)
        .and_then(|it| it.find(['/', '?', '#']))
        .map_or(base.len(), |at| at + origin_end);
    let (origin, rest) = base.split_at(path_at);
    if reference.starts_with('/') {
        return format!("{origin}{reference}");
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let path = rest.split('?').next().unwrap_or_default();
    match reference.chars().next() {
        None => format!("{origin}{rest}"),
        Some('#') => format!("{origin}{rest}"),
        Some('?') => format!("{origin}{path}{reference}"),
        Some(_) => {
            let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
            format!("{origin}{folder}{reference}")
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fetch::FetchRequest;

    fn to(location: &str) -> Vec<(String, String)> {
        vec![("Location".to_owned(), location.to_owned())]
    }

    #[test]
    fn a_reference_is_read_where_it_was_found() {
        for (base, reference, want) in [
            ("http://a.test", "/x", "http://a.test/x"),
            ("http://a.test", "x", "http://a.test/x"),
            ("http://a.test/b/c?q#f", "d", "http://a.test/b/d"),
            ("http://a.test/b/c?q", "?r", "http://a.test/b/c?r"),
            ("http://a.test/b/c?q#f", "", "http://a.test/b/c?q"),
            ("http://a.test/b/c?q", "../d", "http://a.test/b/../d"),
            ("http://a.test:8080/b", "//b.test/c", "http://b.test/c"),
            ("https://a.test?q", "/c", "https://a.test/c"),
            ("http://a.test/", "https://b.test/c:d", "https://b.test/c:d"),
            ("http://a.test/b", "file:///etc/passwd", "file:///etc/passwd"),
            ("http://a.test/b", "c:d", "c:d"),
            ("http://a.test/b", "./c:d", "http://a.test/./c:d"),
        ] {
            assert_eq!(join(base, reference), want, "{base} {reference}");
        }
    }

    #[test]
    fn a_redirect_keeps_what_the_status_says_and_takes_no_credentials_elsewhere() {
        let headers = "Authorization: Bearer x\nX-Plain: 1\ncontent-type: text/plain";
        let asked =
            WholeRequest::new("POST", "http://a.test/b".into(), headers, b"body".to_vec(), 1, 2).unwrap();
        let names = |request: &WholeRequest| {
            request.headers.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(" ")
        };
        for (status, location, method, body, want) in [
            (302, "/c", "GET", "", "Authorization X-Plain"),
            (307, "/c", "POST", "body", "Authorization X-Plain content-type"),
            (308, "http://b.test/", "POST", "body", "X-Plain content-type"),
            (303, "https://a.test/b", "GET", "", "X-Plain"),
            (301, "http://A.test/b", "GET", "", "Authorization X-Plain"),
        ] {
            let Follow::To(next) = asked.follow(status, &to(location)) else { panic!("{status}") };
            let sent = FetchRequest::parse(&next.to_json()).unwrap();
            assert_eq!((sent.method.as_str(), sent.body.as_slice()), (method, body.as_bytes()), "{status}");
            assert_eq!(names(&next), want, "{status} {location}");
        }
        for (status, headers) in [(200, to("/c")), (304, to("/c")), (302, Vec::new())] {
            assert_eq!(asked.follow(status, &headers), Follow::No);
        }
    }

    #[test]
    fn five_redirects_are_followed_and_a_line_that_is_no_header_is_no_request() {
        let mut asked = WholeRequest::get("http://a.test/".into(), 1, 2);
        for _ in 0..HOPS_MAX {
            let Follow::To(next) = asked.follow(302, &to("/")) else { panic!("one more") };
            asked = next;
        }
        assert_eq!(asked.follow(302, &to("/")), Follow::TooOften);
        assert_eq!(WholeRequest::new("", "u".into(), "no header", Vec::new(), 1, 2), None);
    }

    proptest! {
        #[test]
        fn any_reference_is_put_together_without_a_panic(base in "\\PC{0,40}", reference in "\\PC{0,40}") {
            let asked = WholeRequest::get(base, 1, 2);
            if let Follow::To(next) = asked.follow(301, &to(&reference)) {
                prop_assert!(FetchRequest::parse(&next.to_json()).is_ok());
            }
        }
    }
}
