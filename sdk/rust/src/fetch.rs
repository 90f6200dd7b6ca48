//! Requests to the outside, by the host, to hosts that it allows.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use std::{collections::BTreeMap, fmt};

use crate::Response;

/// A request to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    url: String,
    method: String,
    headers: BTreeMap<String, String>,
    body: Option<Vec<u8>>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The host does not allow it.
    Denied,
    /// It is no request that can be sent.
    Invalid,
    /// No connection, or it broke.
    Transport,
    /// Request or answer is too large.
    TooLarge,
    /// It took too long.
    Timeout,
    /// Too many requests.
    Quota,
    /// Something that this crate does not know.
    Other(i32),
}

impl From<i32> for FetchError {
    fn from(code: i32) -> Self {
        match code {
            1 => Self::Denied,
            2 => Self::Invalid,
            3 => Self::Transport,
            4 => Self::TooLarge,
            5 => Self::Timeout,
            6 => Self::Quota,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Denied => "the host does not allow this request",
            Self::Invalid => "the request cannot be sent",
            Self::Transport => "no connection, or it broke",
            Self::TooLarge => "request or answer is too large",
            Self::Timeout => "it took too long",
            Self::Quota => "too many requests",
            Self::Other(code) => return write!(f, "the fetch failed with {code}"),
        })
    }
}

impl std::error::Error for FetchError {}

#[derive(Serialize)]
struct Wire<'a> {
    url: &'a str,
    method: &'a str,
    headers: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_b64: Option<String>,
}

impl Fetch {
    /// A request of any method.
    pub fn new(method: &str, url: &str) -> Self {
        Self { url: url.to_owned(), method: method.to_owned(), headers: BTreeMap::new(), body: None }
    }

    /// A GET.
    pub fn get(url: &str) -> Self {
        Self::new("GET", url)
    }

    /// A POST with a body.
    pub fn post(url: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { body: Some(body.into()), ..Self::new("POST", url) }
    }

    /// With a header, in the place of another of its name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_ascii_lowercase(), value.to_owned());
        self
    }

    /// With a body.
    #[must_use]
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: Some(body.into()), ..self }
    }

    fn to_json(&self) -> Vec<u8> {
        let body_b64 = self.body.as_ref().map(|it| STANDARD.encode(it));
        let wire = Wire { url: &self.url, method: &self.method, headers: &self.headers, body_b64 };
        serde_json::to_vec(&wire).unwrap_or_default()
    }

    /// Sends it and waits for the answer. Redirects are answers.
    pub fn send(&self) -> Result<Response, FetchError> {
        send(&self.to_json())
    }
}

#[cfg(target_family = "wasm")]
mod host {
    #[link(wasm_import_module = "alga")]
    unsafe extern "C" {
        #[link_name = "http.fetch"]
        pub(super) fn http_fetch(request: *const u8, size: u32, out: *mut [u32; 2]) -> i32;
    }
}

#[cfg(target_family = "wasm")]
fn send(request: &[u8]) -> Result<Response, FetchError> {
    let mut place = [0_u32; 2];
    // SAFETY: the host reads the request and writes the two words before it returns.
    let code = unsafe { host::http_fetch(request.as_ptr(), request.len() as u32, &mut place) };
    if code != 0 {
        return Err(code.into());
    }
    let [at, size] = place;
    let at = at as usize as *mut u8;
    // SAFETY: the host put the answer where our own `alloc` said, with this size.
    let bytes = unsafe { std::slice::from_raw_parts(at, size as usize) };
    let answer = Response::from_json(bytes);
    // SAFETY: as above; the answer is ours to give back, and was read.
    unsafe { crate::abi::dealloc(at, size) };
    answer.ok_or(FetchError::Invalid)
}

#[cfg(not(target_family = "wasm"))]
fn send(_: &[u8]) -> Result<Response, FetchError> {
    Err(FetchError::Denied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_as_the_abi_reads_it() {
        let get = String::from_utf8(Fetch::get("http://a.test/").to_json()).unwrap_or_default();
        assert_eq!(get, r#"{"url":"http://a.test/","method":"GET","headers":{}}"#);
        let post = Fetch::post("http://a.test/", "hi").header("X-A", "1").to_json();
        assert_eq!(
            String::from_utf8(post).unwrap_or_default(),
            r#"{"url":"http://a.test/","method":"POST","headers":{"x-a":"1"},"body_b64":"aGk="}"#
        );
        assert_eq!(Fetch::get("http://a.test/").send(), Err(FetchError::Denied), "there is no host here");
        assert_eq!((FetchError::from(6), FetchError::from(-9)), (FetchError::Quota, FetchError::Other(-9)));
    }
}
