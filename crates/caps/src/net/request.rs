//! A request of `http.fetch`, read once: where it goes is what `egress` makes of its URL, and nobody reads the text again.

use drydock_abi::fetch::{BadFetch, FETCH_BODY_BYTES_MAX, FetchRequest};
use drydock_contract::{Cap, Denial, host::PRIVATE};
use drydock_egress::{HeaderMap, HeaderName, HeaderValue, Method, ParseUrlError, Target, judge};

/// One HTTP request.
#[derive(Debug)]
pub struct Fetch {
    pub(super) method: Method,
    pub(super) target: Target,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) max_bytes: Option<u64>,
    pub(super) decode: bool,
    /// What a grant names.
    pub(super) subject: String,
}

pub(super) fn decode(payload: &[u8]) -> Result<Fetch, Denial> {
    let bad = |text: String| Denial::Malformed(format!("no request of `http.fetch`: {text}"));
    let sent = FetchRequest::parse(payload).map_err(|error| match error {
        BadFetch::Malformed(_) => Denial::Malformed(error.to_string()),
        BadFetch::BodyTooLarge(bytes) => {
            Denial::TooLarge { what: "body of a fetch", bytes, max: FETCH_BODY_BYTES_MAX }
        }
    })?;
    let FetchRequest { url, method, headers, body, timeout_ms, max_bytes, decode } = sent;
    let target: Target = url.parse().map_err(|error| match error {
        ParseUrlError::Userinfo => refused(": a URL with a user before its host is not fetched"),
        ParseUrlError::Scheme { .. } => refused(": only http and https are fetched"),
        other => bad(other.to_string()),
    })?;
    let method = Method::from_bytes(method.as_bytes()).map_err(|_| bad("its method is none".into()))?;
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(&value)) else {
            return Err(bad(format!("the header `{}` cannot be sent", name.escape_debug())));
        };
        map.append(name, value);
    }
    let subject = subject_of(&target);
    Ok(Fetch { method, target, headers: map, body, timeout_ms, max_bytes, decode, subject })
}

/// A URL that no grant could name.
fn refused(why: &'static str) -> Denial {
    Denial::HostNotGranted { cap: Cap::Net, host: "".into(), why, rules: None }
}

/// What a grant names of a target: `host:port`; of an address that only a grant of its own opens, that grant's word.
pub fn subject_of(target: &Target) -> String {
    let place = format!("{}:{}", target.host(), target.port());
    match target.literal().map(judge) {
        Some(Err(_)) => format!("{PRIVATE}{place}"),
        Some(Ok(())) | None => place,
    }
}
