//! A request of `browse.fetch`, read once: where it goes is what `egress` makes of its URL.

use drydock_abi::{
    broker::parse,
    browse::{BROWSE, Browse, LINKS_MAX, TEXT_BYTES_MAX},
};
use drydock_contract::{Cap, Denial};
use drydock_egress::{ParseUrlError, Target};

use super::policy::Bounds;
use crate::net::subject_of;

/// A page that is asked for.
#[derive(Debug)]
pub struct Request {
    pub(super) target: Target,
    /// What a grant names.
    pub(super) subject: String,
    pub(super) timeout_ms: Option<u64>,
    pub(super) bounds: Bounds,
    /// The same for whoever wrote it with other blanks.
    pub(super) json: Vec<u8>,
}

impl Request {
    /// Reads one that a caller in this process made.
    pub fn of(browse: &Browse) -> Result<Self, Denial> {
        let refused = |why| Denial::HostNotGranted { cap: Cap::Browse, host: "".into(), why, rules: None };
        let target: Target = browse.url.parse().map_err(|error| match error {
            ParseUrlError::Userinfo => refused(": a URL with a user before its host is not fetched"),
            ParseUrlError::Scheme { .. } => refused(": only http and https are fetched"),
            other => Denial::Malformed(format!("no request of `{BROWSE}`: {other}")),
        })?;
        let bounds = Bounds {
            text_bytes_max: browse.text_bytes_max.unwrap_or(TEXT_BYTES_MAX).min(TEXT_BYTES_MAX),
            links_max: browse.links_max.unwrap_or(LINKS_MAX).min(LINKS_MAX),
        };
        // Texts and numbers: there is nothing in it that JSON cannot say.
        let json = serde_json::to_vec(browse).unwrap_or_default();
        Ok(Self { subject: subject_of(&target), target, timeout_ms: browse.timeout_ms, bounds, json })
    }
}

pub(super) fn decode(payload: &[u8]) -> Result<Request, Denial> {
    Request::of(&parse(BROWSE, payload)?)
}
