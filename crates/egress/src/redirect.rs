//! Where an answer points, and what of the request goes along.
//!
//! The next target is parsed and judged like any other. When host, port or scheme change, the guest's credentials and the injected
//! ones stay behind, and no later hop gets them back, be it one to the host that the chain began at.

use bytes::Bytes;
use hyper::{
    HeaderMap, Method, StatusCode,
    header::{self, HeaderName},
};

use crate::{
    header::drop_credentials,
    request::Policy,
    target::{ParseUrlError, Target},
};

/// Headers that describe a body.
const OF_BODY: [HeaderName; 4] =
    [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE, header::CONTENT_LOCATION];

/// What is sent at one hop.
#[derive(Clone)]
pub(crate) struct Hop {
    pub(crate) method: Method,
    pub(crate) target: Target,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether secrets of the policy may go along.
    pub(crate) trusted: bool,
}

impl Hop {
    /// The hop that a redirect asks for. `location` has been cleared of secrets.
    pub(crate) fn follow(
        &self,
        status: StatusCode,
        location: &str,
        policy: &Policy,
    ) -> Result<Self, ParseUrlError> {
        let target = self.target.join(location)?;
        let mut next = Self { target, ..self.clone() };
        if !next.target.same_origin(&self.target) {
            drop_credentials(&mut next.headers, policy.injected().iter().map(crate::InjectedHeader::name));
            next.trusted = false;
        }
        let becomes_get = match status {
            StatusCode::SEE_OTHER => self.method != Method::HEAD,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::POST,
            _ => false,
        };
        if becomes_get {
            next.method = Method::GET;
            next.body = Bytes::new();
            for name in OF_BODY {
                next.headers.remove(name);
            }
        }
        Ok(next)
    }
}

/// Whether the answer asks for another request.
pub(crate) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}
