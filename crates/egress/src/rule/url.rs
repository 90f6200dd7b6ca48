//! `--allow-url '[METHOD,… ]scheme://host[:port]/prefix'`: a host by method and by the beginning of the path.
//!
//! The host is that host and none below it. A prefix ends at a slash: `/v1` admits `/v1` and `/v1/x`, and not `/v10`. A path that a
//! server might decode into one outside of the prefix (`..` behind percent signs, backslashes, `;` parameters) is not
//! admitted by a prefix at all.

use std::{fmt, str::FromStr};

use hyper::Method;

use super::{Fit, HostRule, ParseRuleError};
use crate::target::Target;

pub(super) const FLAG: &str = "--allow-url";
/// How often a path is decoded in search of what hides in it.
const DECODINGS_MAX: usize = 4;

/// A part of a host that may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlRule {
    /// Empty: any.
    methods: Vec<Method>,
    origin: HostRule,
    prefix: String,
}

impl UrlRule {
    pub(crate) fn fits(&self, method: &Method, target: &Target) -> Fit {
        if self.origin.host() != target.host() {
            return Fit::OtherHost;
        }
        match self.origin.fits(target) {
            Fit::Admitted => {}
            other => return other,
        }
        if !is_below(&self.prefix, target.path()) {
            return Fit::OtherPath;
        }
        if !self.methods.is_empty() && !self.methods.contains(method) {
            return Fit::OtherMethod;
        }
        Fit::Admitted
    }

    /// The methods that it admits; none for all of them.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &HostRule {
        &self.origin
    }

    /// The beginning of the path.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// Whether a path is the prefix or below it, however often a server decodes it.
pub fn is_below(prefix: &str, path: &str) -> bool {
    if prefix == "/" {
        return true;
    }
    let rest = path.strip_prefix(prefix);
    let below = rest.is_some_and(|rest| rest.is_empty() || prefix.ends_with('/') || rest.starts_with('/'));
    below && !may_lead_out(path)
}

/// Whether any number of decodings makes the path one that climbs.
fn may_lead_out(path: &str) -> bool {
    let mut bytes = path.as_bytes().to_vec();
    for _ in 0..DECODINGS_MAX {
        let climbs = bytes.split(|b| *b == b'/').any(|segment| {
            let name = segment.split(|b| *b == b';').next().unwrap_or_default();
            name == b".." || name == b"."
        });
        if climbs || bytes.iter().any(|b| *b == b'\\' || *b < b' ') {
            return true;
        }
        let decoded = percent_decode(&bytes);
        if decoded == bytes {
            return false;
        }
        bytes = decoded;
    }
    // Encoded more often than anybody needs.
    true
}

fn percent_decode(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, tail)) = rest.split_first() {
        let pair = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let plain = pair.filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
        match plain.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => {
                out.push(byte);
                rest = &tail[2..];
            }
            None => {
                out.push(first);
                rest = tail;
            }
        }
    }
    out
}

impl FromStr for UrlRule {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, ParseRuleError> {
        let bad = |why: &str| ParseRuleError::new(FLAG, text, why);
        let (methods, url) = match text.trim().rsplit_once(' ') {
            Some((methods, url)) => (methods.trim(), url),
            None => ("", text.trim()),
        };
        let methods = methods
            .split(',')
            .map(str::trim)
            .filter(|it| !it.is_empty())
            .map(|it| {
                Method::from_bytes(it.to_ascii_uppercase().as_bytes()).map_err(|_| bad("a method is none"))
            })
            .collect::<Result<Vec<_>, _>>()?;
        if url.contains(['?', '#']) {
            return Err(bad("a rule has no query: it names the beginning of a path"));
        }
        // Before it is read: what a URL is taken for has no dots any more, and would be a rule for more than it says.
        let after = url.split_once("://").map_or(url, |(_, rest)| rest);
        if after.find('/').is_some_and(|at| may_lead_out(&after[at..])) {
            return Err(bad("its path has dots or backslashes"));
        }
        let target: Target = url.parse().map_err(|error: crate::ParseUrlError| bad(&error.to_string()))?;
        let prefix = target.path().to_owned();
        let port = Some(target.port()).filter(|port| *port != target.scheme().port());
        let port = port.map_or(String::new(), |port| format!(":{port}"));
        let origin = format!("{}://{}{port}", target.scheme(), target.host()).parse()?;
        Ok(Self { methods, origin, prefix })
    }
}

impl fmt::Display for UrlRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, method) in self.methods.iter().enumerate() {
            write!(f, "{}{method}", if at == 0 { "" } else { "," })?;
        }
        let gap = if self.methods.is_empty() { "" } else { " " };
        write!(f, "{gap}{}{}", self.origin, self.prefix)
    }
}
