//! Which headers of a guest are sent, and which of a server are passed on.
//!
//! Headers that belong to one connection, to proxies, or to how a message is framed are ours to write: a guest that wrote
//! them could speak to another virtual host than the one that was judged, or smuggle a second request into the first.

use hyper::{
    HeaderMap,
    header::{self, HeaderName, HeaderValue},
};

/// Neither sent for a guest nor passed on to it.
const OURS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];
/// Likewise whatever begins with this.
const PROXY: &str = "proxy-";
/// What names who asks: dropped where a redirect leads to somebody else.
const CREDENTIALS: [HeaderName; 2] = [header::AUTHORIZATION, header::COOKIE];

/// Whether a header is the connection's own, and never a guest's.
pub(crate) fn is_ours(name: &HeaderName) -> bool {
    OURS.contains(&name.as_str()) || name.as_str().starts_with(PROXY)
}

/// Removes what is the connection's own, and what `Connection` declares to be.
pub(crate) fn strip(headers: &mut HeaderMap) {
    let declared: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let ours = headers.keys().filter(|name| is_ours(name)).cloned();
    let drop: Vec<HeaderName> = ours.chain(declared).collect();
    for name in drop {
        headers.remove(name);
    }
}

/// The same for an answer. Its length stays: a caller wants to know it, and it frames nothing any more.
pub(crate) fn strip_answer(headers: &mut HeaderMap) {
    let length = headers.get(header::CONTENT_LENGTH).cloned();
    strip(headers);
    if let Some(length) = length {
        headers.insert(header::CONTENT_LENGTH, length);
    }
}

/// Removes what must not follow a redirect to another host, port or scheme.
pub(crate) fn drop_credentials<'a>(headers: &mut HeaderMap, injected: impl Iterator<Item = &'a HeaderName>) {
    for name in CREDENTIALS.iter().chain(injected) {
        headers.remove(name);
    }
}

/// As many bytes as the headers take on the wire.
pub(crate) fn bytes_of(headers: &HeaderMap) -> usize {
    let line = |name: &HeaderName, value: &HeaderValue| name.as_str().len() + value.len() + ": \r\n".len();
    headers.iter().map(|(name, value)| line(name, value)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(&str, &str)]) -> HeaderMap {
        let line = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
        };
        lines.iter().map(line).collect()
    }

    #[test]
    fn headers_of_the_connection_and_of_proxies_are_stripped_in_any_spelling() {
        let mut headers = map(&[
            ("Host", "other.test"),
            ("Connection", "close, X-Smuggled"),
            ("x-smuggled", "1"),
            ("KEEP-ALIVE", "1"),
            ("Proxy-Authorization", "x"),
            ("proxy-connection", "x"),
            ("TE", "trailers"),
            ("Trailer", "x"),
            ("Transfer-Encoding", "chunked"),
            ("Content-Length", "3"),
            ("Upgrade", "websocket"),
            ("Expect", "100-continue"),
            ("Via", "x"),
            ("Accept", "text/plain"),
            ("Authorization", "Bearer guest"),
        ]);
        strip(&mut headers);
        let mut left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["accept", "authorization"]);
        drop_credentials(&mut headers, [HeaderName::from_static("accept")].iter());
        assert!(headers.is_empty());
    }
}
