//! A URL, parsed once: everything after this asks the parsed form, never the text.
//!
//! The reader is the one of the web (WHATWG): it is what makes `0x7f.1`, `2130706433`, full-width digits and `%31%32%37`
//! the address that a connector would make of them, before anybody judges. What readers disagree about is refused here:
//! backslashes, blanks, a missing or a third slash, users, empty labels.

use std::{fmt, net::IpAddr, str::FromStr};

use hyper::http::uri::PathAndQuery;
use url::Url;

use crate::host::Host;

/// How long a URL may be.
pub const URL_BYTES_MAX: usize = 16 << 10;

/// How a target is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// HTTP in the clear.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// As it is written before `://`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port that need not be written.
    pub fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Http, Self::Https].into_iter().find(|it| text.eq_ignore_ascii_case(it.as_str()))
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a request goes, and what it asks for there.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    scheme: Scheme,
    host: Host,
    port: u16,
    path: PathAndQuery,
    url: Url,
}

/// The text is no URL that would be fetched. No variant holds more of it than its host or its scheme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseUrlError {
    /// More text than any URL needs.
    #[error("the URL has more than {URL_BYTES_MAX} bytes")]
    TooLong,
    /// It cannot be read, or readers disagree about it.
    #[error("the URL cannot be read: {why}")]
    Malformed {
        /// What is wrong.
        why: String,
    },
    /// Neither `http` nor `https`.
    #[error("the scheme `{scheme}` is not fetched: use http or https")]
    Scheme {
        /// The scheme, shortened.
        scheme: String,
    },
    /// A name or a password before the host.
    #[error("the URL has a user before its host: send a header instead")]
    Userinfo,
    /// What stands for the host is no host.
    #[error("the URL has no usable host: {why}")]
    Host {
        /// What is wrong.
        why: String,
    },
}

impl ParseUrlError {
    /// The stable code that guests, logs and tests match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLong => "url_too_long",
            Self::Malformed { .. } => "url_malformed",
            Self::Scheme { .. } => "url_scheme",
            Self::Userinfo => "url_userinfo",
            Self::Host { .. } => "url_host",
        }
    }
}

impl Target {
    /// The whole, normalised, path and query with it: for a request, and for no record.
    pub fn href(&self) -> &str {
        self.url.as_str()
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host, normalised.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port, written or usual.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        self.path.path()
    }

    pub(crate) fn path_and_query(&self) -> &PathAndQuery {
        &self.path
    }

    /// The address, where the host is one.
    pub fn literal(&self) -> Option<IpAddr> {
        match &self.host {
            Host::Address(address) => Some(*address),
            Host::Name(_) => None,
        }
    }

    /// `host`, and the port where it is not the scheme's: the `Host` header.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.port() {
            return self.host.to_string();
        }
        format!("{}:{}", self.host, self.port)
    }

    /// Whether scheme, host and port are the same: what credentials belong to.
    pub fn same_origin(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }

    /// What a reference means here: the target of a redirect, to be judged like any other.
    pub fn join(&self, reference: &str) -> Result<Self, ParseUrlError> {
        if reference.len() > URL_BYTES_MAX {
            return Err(ParseUrlError::TooLong);
        }
        let malformed = |error: url::ParseError| ParseUrlError::Malformed { why: error.to_string() };
        self.url.join(reference).map_err(malformed)?.as_str().parse()
    }
}

impl FromStr for Target {
    type Err = ParseUrlError;

    fn from_str(text: &str) -> Result<Self, ParseUrlError> {
        let scheme = check_text(text)?;
        let mut url = Url::parse(text).map_err(|error| {
            use url::ParseError as E;
            let why = error.to_string();
            match error {
                E::EmptyHost | E::IdnaError | E::InvalidIpv4Address | E::InvalidIpv6Address => {
                    ParseUrlError::Host { why }
                }
                E::InvalidDomainCharacter => ParseUrlError::Host { why },
                _ => ParseUrlError::Malformed { why },
            }
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ParseUrlError::Userinfo);
        }
        url.set_fragment(None);
        let host = url.host().ok_or_else(|| ParseUrlError::Host { why: "there is none".to_owned() })?;
        let host = Host::of(&host).map_err(|why| ParseUrlError::Host { why: why.to_string() })?;
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let unusual =
            || ParseUrlError::Malformed { why: "its path has characters that HTTP cannot send".into() };
        let path = PathAndQuery::try_from(path).map_err(|_| unusual())?;
        let port = url.port().unwrap_or(scheme.port());
        if port == 0 {
            return Err(ParseUrlError::Malformed { why: "there is no port 0".to_owned() });
        }
        Ok(Self { scheme, host, port, path, url })
    }
}

/// What the web's reader would mend in silence is refused instead: other readers mend it otherwise.
fn check_text(text: &str) -> Result<Scheme, ParseUrlError> {
    let malformed = |why: &str| ParseUrlError::Malformed { why: why.to_owned() };
    if text.len() > URL_BYTES_MAX {
        return Err(ParseUrlError::TooLong);
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(malformed("it has blanks or control characters"));
    }
    let (scheme, rest) = text.split_once(':').ok_or_else(|| malformed("it has no scheme"))?;
    let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    if scheme.is_empty() || !scheme.bytes().all(letter) {
        return Err(malformed("it has no scheme"));
    }
    let scheme = Scheme::parse(scheme)
        .ok_or_else(|| ParseUrlError::Scheme { scheme: scheme.chars().take(32).collect() })?;
    let rest = rest.strip_prefix("//").ok_or_else(|| malformed("`//` must follow the scheme"))?;
    let (before_query, _) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    if before_query.contains('\\') {
        return Err(malformed("it has a backslash, which readers disagree about"));
    }
    let authority = before_query.split('/').next().unwrap_or_default();
    if authority.is_empty() {
        return Err(ParseUrlError::Host { why: "there is none".to_owned() });
    }
    if authority.contains('@') {
        return Err(ParseUrlError::Userinfo);
    }
    Ok(scheme)
}

/// Without path and query: those are the guest's own business.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({}://{}:{})", self.scheme, self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_shows_neither_path_nor_query() {
        let target: Target = "https://a.test:8443/token?key=1#f".parse().unwrap();
        assert_eq!(format!("{target:?}"), "Target(https://a.test:8443)");
        assert_eq!(target.path_and_query().as_str(), "/token?key=1");
    }

    #[test]
    fn a_reference_is_read_where_it_was_found() {
        let target: Target = "https://a.test/x/y".parse().unwrap();
        for (reference, want, same) in [
            ("z", "/x/z", true),
            ("/z", "/z", true),
            ("https://A.test:443/q", "/q", true),
            ("http://a.test/q", "/q", false),
            ("//b.test/q", "/q", false),
            ("https://a.test:8443/", "/", false),
        ] {
            let next = target.join(reference).unwrap();
            assert_eq!((next.path(), next.same_origin(&target)), (want, same), "{reference}");
        }
        assert_eq!(target.join("https://u@b.test/").unwrap_err().code(), "url_userinfo");
        assert_eq!(target.join("file:///etc/passwd").unwrap_err().code(), "url_scheme");
    }
}
