//! What a hop sends, and where its answer points.
//!
//! The guest's headers, ours, and those that hold secrets: here is the one place where a secret gets into a message.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    HeaderMap, Method,
    body::Incoming,
    header::{self, HeaderValue},
};

use crate::{
    error::FetchError,
    pin::Pinned,
    redirect::{Hop, is_redirect},
    request::{Decoding, Policy},
    secret::Redactor,
    target::Scheme,
};

/// What is said where a guest says nothing about itself.
const USER_AGENT: &str = concat!("drydock/", env!("CARGO_PKG_VERSION"));

/// Where the answer points, without secrets: one that a server wrote into it would go to another host.
pub(crate) fn location(policy: &Policy, response: &hyper::Response<Incoming>) -> Option<String> {
    if !is_redirect(response.status()) {
        return None;
    }
    let value = response.headers().get(header::LOCATION)?.as_bytes();
    let cleared = policy.needles().map(|needles| Redactor::redact(needles, value));
    let value = cleared.as_deref().unwrap_or(value);
    std::str::from_utf8(value).ok().map(str::to_owned)
}

/// The guest's headers, ours, and those that hold secrets.
pub(crate) fn outgoing(
    policy: &Policy,
    hop: &Hop,
    decoding: Decoding,
    pinned: &[Pinned],
) -> Result<HeaderMap, FetchError> {
    let mut headers = hop.headers.clone();
    let encodings = match (policy.needles(), decoding) {
        // Secrets are looked for in what can be read.
        (Some(_), _) => Some("identity"),
        (None, Decoding::Decode) => Some("gzip, deflate"),
        (None, Decoding::AsSent) => None,
    };
    if let Some(encodings) = encodings {
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(encodings));
    }
    if !headers.contains_key(header::USER_AGENT) {
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    }
    let injected = policy.injected().iter().filter(|it| hop.trusted && it.is_for(&hop.target));
    for (at, injection) in injected.enumerate() {
        let private = pinned.iter().all(Pinned::opened);
        let (Some(value), true) = (injection.value(), private || hop.target.scheme() == Scheme::Https) else {
            return Err(FetchError::SecretNeedsTls { host: hop.target.host().clone() });
        };
        if at == 0 {
            // A part of an answer may begin or end within a secret, where nobody would know it.
            headers.remove(header::RANGE);
            headers.remove(header::IF_RANGE);
        }
        headers.insert(injection.name().clone(), value);
    }
    Ok(headers)
}

/// The request as it goes over the wire.
pub(crate) fn message(hop: &Hop, headers: &HeaderMap) -> hyper::Request<Full<Bytes>> {
    let mut message = hyper::Request::new(Full::new(hop.body.clone()));
    *message.method_mut() = hop.method.clone();
    *message.uri_mut() = hyper::Uri::from(hop.target.path_and_query().clone());
    *message.headers_mut() = headers.clone();
    if let Ok(host) = HeaderValue::from_str(&hop.target.authority()) {
        message.headers_mut().insert(header::HOST, host);
    }
    // Some servers want to be told that nothing follows where something might; hyper does not say it.
    if hop.body.is_empty() && [Method::POST, Method::PUT, Method::PATCH].contains(&hop.method) {
        message.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    message
}
