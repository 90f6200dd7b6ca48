//! The way out: the only room that dials.
//!
//! A request goes through one funnel. Its URL was parsed once ([`Target`]); the rules ([`Rules`]) admit its host before
//! any name is looked up; a name is resolved once, with bounds; every address is judged ([`judge`]); and what is dialled is
//! one of those addresses ([`Pinned`]), with the name as SNI and as `Host`. Bodies, headers, time, and what a principal may
//! have are bounded while they are read. Credentials are put in on the way out ([`InjectedHeader`]) and taken out of what comes back.
//!
//! Absent here: the gate, which asked before; records, which the caller keeps ([`Observe`]); the environment, and so any
//! proxy; a pool of connections; a way to skip the verification of certificates.

mod address;
mod body;
mod decode;
mod dial;
mod egress;
mod error;
mod exchange;
mod exchange_raw;
mod explain;
mod header;
mod host;
mod limits;
mod message;
mod nowhere;
mod observe;
mod pin;
mod quota;
mod raw;
mod redirect;
mod refusal;
mod request;
mod resolve;
mod rule;
mod secret;
mod target;
mod tls;

pub use address::{Forbidden, judge};
pub use body::Body;
pub use dial::{Connection, Datagrams, Dial, TcpDialler};
pub use egress::{Egress, Parts};
pub use error::{FetchError, known_code};
pub use exchange_raw::{RawEnd, RawReply};
pub use explain::{AddressVerdict, Explanation};
pub use host::{BadHost, Host, HostName};
/// The types of headers, methods and status codes that requests and answers are made of.
pub use hyper::{HeaderMap, Method, StatusCode, header::HeaderName, header::HeaderValue};
pub use limits::Limits;
pub use nowhere::Nowhere;
pub use observe::{Attempt, NotRecorded, Observation, Observe, Unobserved};
pub use pin::Pinned;
pub use quota::{QuotaError, QuotaLimits};
pub use raw::{RawConnection, RawSink, RawSource};
pub use refusal::{FailureKind, Refusal};
pub use request::{Caller, Decoding, Policy, Redirects, Request, Response};
pub use resolve::{Pending, Resolve, SystemResolver};
pub use rule::{HostRule, ParseRuleError, PrivateRule, Rules, UrlRule, is_below};
pub use secret::{
    BadSecret, InjectedHeader, ParseInjectionError, REDACTED, SECRET_BYTES_MAX, SECRET_BYTES_MIN, Secret,
    Secrets,
};
pub use target::{ParseUrlError, Scheme, Target, URL_BYTES_MAX};
pub use tls::{Trust, WorldRoots};

/// The readers of what servers send, for the fuzzers and nobody else.
#[doc(hidden)]
pub mod foreign {
    use std::sync::Arc;

    use crate::{
        Secret,
        decode::{Decoder, Encoding},
        secret::{Needles, Redactor},
    };

    /// Unpacks a body that comes in pieces: gzip, or deflate. The code of what is wrong with it otherwise.
    pub fn unpack<'a>(
        gzip: bool,
        pieces: impl Iterator<Item = &'a [u8]>,
        bytes_max: u64,
    ) -> Result<Vec<u8>, &'static str> {
        let mut decoder = Decoder::new(if gzip { Encoding::Gzip } else { Encoding::Deflate }, bytes_max);
        let mut out = Vec::new();
        for piece in pieces {
            out.extend_from_slice(&decoder.push(piece).map_err(|error| error.code())?);
        }
        out.extend_from_slice(&decoder.finish().map_err(|error| error.code())?);
        Ok(out)
    }

    /// Takes a secret out of a body that comes in pieces; nothing where the bytes are no secret.
    pub fn redact<'a>(secret: &[u8], pieces: impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
        let secret = Secret::new(secret.to_vec()).ok()?;
        let needles = Arc::new(Needles::of([&secret].into_iter())?);
        let mut redactor = Redactor::new(&needles);
        let mut out = Vec::new();
        for piece in pieces {
            out.extend_from_slice(&redactor.push(piece));
        }
        out.extend_from_slice(&redactor.finish());
        Some(out)
    }
}
