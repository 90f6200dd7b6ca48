//! What a browser must not do: a page of another origin, or one whose name leads here by a trick of DNS, drives no server on
//! loopback. Names of the server are compared with a list; a page of ours is one whose origin is that name.

use axum::http::{HeaderMap, StatusCode, Uri, header};

use crate::{app::ServeSettings, error::ApiError};

/// The names of this machine.
const LOCAL: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

/// Refuses what comes by another name, or from a page of another origin.
pub(crate) fn check(settings: &ServeSettings, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    let named = headers.get(header::HOST).and_then(|it| it.to_str().ok());
    let Some(host) = uri.authority().map(|it| it.as_str()).or(named) else {
        return Err(ApiError::bad("no_host", "the request names no host"));
    };
    let name = without_port(host);
    let names = settings.host_names.iter().map(String::as_str);
    if !LOCAL.iter().copied().chain(names).any(|it| it.eq_ignore_ascii_case(name)) {
        let text = "this server is called by another name; `--host-name` adds one";
        return Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "unknown_host", text));
    }
    own_page(uri, headers)
}

/// Refuses what a page of another origin asks for. Who asks is no page, most of the time, and names no origin.
pub(crate) fn own_page(uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    let named = headers.get(header::HOST).and_then(|it| it.to_str().ok());
    let host = uri.authority().map(|it| it.as_str()).or(named).unwrap_or_default();
    let origin = headers.get(header::ORIGIN).map(|it| it.to_str().unwrap_or_default());
    let same = |origin: &str| {
        let place = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        place.is_some_and(|it| it.eq_ignore_ascii_case(host))
    };
    let site = headers.get("sec-fetch-site").map(|it| it.as_bytes());
    let foreign = matches!(site, Some(b"cross-site" | b"same-site"));
    if foreign || origin.is_some_and(|it| !same(it)) {
        return Err(ApiError::forbidden("cross_origin", "pages of other origins may not use this server"));
    }
    Ok(())
}

/// The host without its port; of an address in brackets all of it.
fn without_port(host: &str) -> &str {
    match (host.rfind(':'), host.rfind(']')) {
        (Some(colon), bracket) if bracket.is_none_or(|it| it < colon) => &host[..colon],
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_names_and_our_own_pages_are_let_in() {
        let settings = ServeSettings { host_names: vec!["dock.test".into()], ..ServeSettings::default() };
        let cases: &[(&[(&str, &str)], &str)] = &[
            (&[("host", "localhost:8080")], ""),
            (&[("host", "127.0.0.1")], ""),
            (&[("host", "[::1]:80")], ""),
            (&[("host", "LOCALHOST")], ""),
            (&[("host", "dock.test:1")], ""),
            (&[], "no_host"),
            (&[("host", "evil.test")], "unknown_host"),
            (&[("host", "localhost.evil.test")], "unknown_host"),
            (&[("host", "127.0.0.1.evil.test:8080")], "unknown_host"),
            (&[("host", "")], "unknown_host"),
            (&[("host", "localhost:8080"), ("origin", "http://localhost:8080")], ""),
            (&[("host", "localhost:8080"), ("origin", "http://localhost:3000")], "cross_origin"),
            (&[("host", "localhost:8080"), ("origin", "http://evil.test")], "cross_origin"),
            (&[("host", "localhost:8080"), ("origin", "null")], "cross_origin"),
            (&[("host", "localhost:8080"), ("sec-fetch-site", "cross-site")], "cross_origin"),
            (&[("host", "localhost:8080"), ("sec-fetch-site", "same-origin")], ""),
            (&[("host", "localhost:8080"), ("sec-fetch-site", "none")], ""),
        ];
        for (headers, want) in cases {
            let mut map = HeaderMap::new();
            for (name, value) in *headers {
                map.insert(*name, value.parse().unwrap());
            }
            let code = check(&settings, &Uri::from_static("/x"), &map).err().map(|it| it.code);
            assert_eq!(code.as_deref().unwrap_or(""), *want, "{headers:?}");
        }
    }
}
