//! `Authorization: Bearer {{secret:NAME}}` for one host and port: read once, filled in for each request that goes there.

use std::fmt;

use hyper::header::{HeaderName, HeaderValue};
use zeroize::Zeroizing;

use super::{Secret, Secrets};
use crate::{
    header::is_ours,
    host::Host,
    rule::HostRule,
    target::{Scheme, Target},
};

const OPEN: &str = "{{secret:";
const CLOSE: &str = "}}";

/// A header that egress sets for one host and port, over TLS or to an address that `--allow-private` opened.
#[derive(Clone)]
pub struct InjectedHeader {
    host: Host,
    port: u16,
    name: HeaderName,
    template: Vec<Piece>,
}

#[derive(Clone)]
enum Piece {
    Text(String),
    Secret(Secret),
}

/// The texts are no header that could be injected. Says nothing of a secret but its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseInjectionError {
    /// The place is not `host[:port]`.
    #[error("`{place}` is not a host for a secret: write HOST or HOST:PORT, without a scheme or a star")]
    Place {
        /// The text.
        place: String,
    },
    /// The header is not `Name: value`, or it is one that HTTP itself needs.
    #[error("`{name}` is not a header that can hold a secret")]
    Header {
        /// The name of the header.
        name: String,
    },
    /// The template has no secret in it, or an end is missing.
    #[error("the template of `{name}` must hold {OPEN}NAME{CLOSE}")]
    Template {
        /// The name of the header.
        name: String,
    },
    /// There is no such secret.
    #[error("there is no secret `{secret}`")]
    Unknown {
        /// Its name.
        secret: String,
    },
}

impl ParseInjectionError {
    /// The stable code that logs and tests match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Place { .. } => "bad_secret_place",
            Self::Header { .. } => "bad_secret_header",
            Self::Template { .. } => "bad_secret_template",
            Self::Unknown { .. } => "unknown_secret",
        }
    }
}

impl InjectedHeader {
    /// Reads `HOST[:PORT]` (443 where none is named) and `Name: value with {{secret:NAME}}`.
    pub fn parse(place: &str, header: &str, secrets: &Secrets) -> Result<Self, ParseInjectionError> {
        let bad_place = || ParseInjectionError::Place { place: place.chars().take(200).collect() };
        if place.contains("://") || place.contains('*') {
            return Err(bad_place());
        }
        let rule: HostRule = place.parse().map_err(|_| bad_place())?;
        let (name, template) = header.split_once(':').unwrap_or((header, ""));
        let (name, template) = (name.trim(), template.trim());
        let bad_header = || ParseInjectionError::Header { name: name.chars().take(100).collect() };
        let parsed: HeaderName = name.parse().map_err(|_| bad_header())?;
        if is_ours(&parsed) {
            return Err(bad_header());
        }
        let template = pieces(template, parsed.as_str(), secrets)?;
        Ok(Self {
            host: rule.host().clone(),
            port: rule.port().unwrap_or(Scheme::Https.port()),
            name: parsed,
            template,
        })
    }

    /// Whether requests to the target get this header. Names below the host are other hosts.
    pub(crate) fn is_for(&self, target: &Target) -> bool {
        self.host == *target.host() && self.port == target.port()
    }

    pub(crate) fn name(&self) -> &HeaderName {
        &self.name
    }

    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.template.iter().filter_map(|piece| match piece {
            Piece::Secret(secret) => Some(secret),
            Piece::Text(_) => None,
        })
    }

    /// The value, marked so that nothing prints it.
    pub(crate) fn value(&self) -> Option<HeaderValue> {
        let mut bytes = Zeroizing::new(Vec::new());
        for piece in &self.template {
            bytes.extend_from_slice(match piece {
                Piece::Text(text) => text.as_bytes(),
                Piece::Secret(secret) => secret.reveal(),
            });
        }
        let mut value = HeaderValue::from_bytes(&bytes).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

fn pieces(template: &str, name: &str, secrets: &Secrets) -> Result<Vec<Piece>, ParseInjectionError> {
    let bad = || ParseInjectionError::Template { name: name.to_owned() };
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((text, tail)) = rest.split_once(OPEN) {
        let (secret, tail) = tail.split_once(CLOSE).ok_or_else(bad)?;
        let unknown = || ParseInjectionError::Unknown { secret: secret.chars().take(100).collect() };
        pieces.push(Piece::Text(text.to_owned()));
        pieces.push(Piece::Secret(secrets.get(secret).ok_or_else(unknown)?.clone()));
        rest = tail;
    }
    if pieces.is_empty() || HeaderValue::from_str(template).is_err() {
        return Err(bad());
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

/// Host, port and header, and nothing of the value.
impl fmt::Debug for InjectedHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InjectedHeader({} for {}:{})", self.name, self.host, self.port)
    }
}
