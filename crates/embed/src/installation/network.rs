//! What an installation may reach, as it is kept: hosts, parts of hosts, single addresses that are not public, and headers
//! with secrets. All of them are texts whose meaning is `egress`'s own, so that an extension and a command line are judged alike.

use std::{fmt, str::FromStr};

use drydock_egress::{
    Host, HostRule, InjectedHeader, ParseInjectionError, ParseRuleError, PrivateRule, Secret, Secrets,
    UrlRule,
};

use super::{SecretName, secret::as_text};

/// A host that an extension may fetch from: `host`, `host:port` or `scheme://host[:port]`, and what lies below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEntry(pub HostRule);

/// A part of a host that an extension may fetch from: `[METHOD,… ]scheme://host[:port]/prefix`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlEntry(pub UrlRule);

/// One address that is opened though it is not public. Only a command line can say one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrivateEntry(pub PrivateRule);

/// A header for one host with secrets in it: `HOST[:PORT] Name: value with {{secret:NAME}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretHeader {
    place: String,
    header: String,
}

/// The text is no header for a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("use 'HOST[:PORT] Name: value with {{{{secret:NAME}}}}'")]
pub struct BadSecretHeader;

/// Longest text of any of them.
const TEXT_BYTES_MAX: usize = 4_096;
/// Stands for a secret whose value is not at hand while a header is looked at.
const STAND_IN: &[u8] = b"stand-in-for-a-secret";

impl FromStr for HostEntry {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, ParseRuleError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for HostEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl HostEntry {
    /// Whether whatever this one admits the other admits, too.
    pub fn is_within(&self, other: &Self) -> bool {
        let (own, others) = (self.0.host().to_string(), other.0.host().to_string());
        let below = match other.0.host() {
            Host::Name(_) => {
                own.strip_suffix(&others).is_some_and(|head| head.is_empty() || head.ends_with('.'))
            }
            Host::Address(_) => own == others,
        };
        let scheme = other.0.scheme().is_none() || self.0.scheme() == other.0.scheme();
        below && scheme && self.0.ports().iter().all(|it| other.0.ports().contains(it))
    }
}

impl FromStr for UrlEntry {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, ParseRuleError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for UrlEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl UrlEntry {
    /// Whether whatever this one admits a rule for hosts admits, too: one that admits its scheme, host and port admits all
    /// of its methods and paths.
    pub fn is_within(&self, host: &HostEntry) -> bool {
        HostEntry(self.0.origin().clone()).is_within(host)
    }
}

impl FromStr for PrivateEntry {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, ParseRuleError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for PrivateEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SecretHeader {
    type Err = BadSecretHeader;

    fn from_str(text: &str) -> Result<Self, BadSecretHeader> {
        let (place, header) = text.trim().split_once(' ').ok_or(BadSecretHeader)?;
        let (place, header) = (place.to_owned(), header.trim().to_owned());
        if text.len() > TEXT_BYTES_MAX || !header.contains(':') {
            return Err(BadSecretHeader);
        }
        Ok(Self { place, header })
    }
}

impl fmt::Display for SecretHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.place, self.header)
    }
}

impl SecretHeader {
    /// Whether it has this secret in it.
    pub fn names(&self, secret: &SecretName) -> bool {
        self.header.contains(&format!("{{{{secret:{secret}}}}}"))
    }

    /// Says what is wrong with it where there are these secrets, whatever their values.
    pub(super) fn check<'a>(
        &self,
        secrets: impl Iterator<Item = &'a SecretName>,
    ) -> Result<(), ParseInjectionError> {
        let mut known = Secrets::default();
        for name in secrets {
            if let Ok(value) = Secret::new(STAND_IN.into()) {
                known.put(name.to_string(), value);
            }
        }
        self.with(&known).map(drop)
    }

    /// With the secrets themselves.
    pub(super) fn with(&self, secrets: &Secrets) -> Result<InjectedHeader, ParseInjectionError> {
        InjectedHeader::parse(&self.place, &self.header, secrets)
    }
}

as_text!(HostEntry);
as_text!(UrlEntry);
as_text!(PrivateEntry);
as_text!(SecretHeader);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_written_as_on_the_command_line_and_nothing_else_is_one() {
        for (text, shown) in [
            ("Example.com.", "example.com"),
            ("example.com:8443", "example.com:8443"),
            ("HTTPS://example.com", "https://example.com"),
            ("http://a.b:81", "http://a.b:81"),
            ("bücher.test", "xn--bcher-kva.test"),
        ] {
            assert_eq!(text.parse::<HostEntry>().unwrap().to_string(), shown);
        }
        for bad in
            ["", "*", "a b", "a/b", "user@a", "ftp://a", "a:0", "a:99999", "a:", "a..b", "https://a/path"]
        {
            assert!(bad.parse::<HostEntry>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_header_names_a_host_and_only_secrets_that_are_there() {
        let names: [SecretName; 1] = ["KEY".parse().unwrap()];
        let header: SecretHeader = "api.test  Authorization: Bearer {{secret:KEY}}".parse().unwrap();
        assert_eq!(header.to_string(), "api.test Authorization: Bearer {{secret:KEY}}");
        assert!(header.names(&names[0]) && !header.names(&"KE".parse().unwrap()));
        assert!(header.check(names.iter()).is_ok());
        for bad in [
            "api.test Authorization: {{secret:OTHER}}",
            "*.test A: {{secret:KEY}}",
            "https://api.test A: {{secret:KEY}}",
            "api.test Host: {{secret:KEY}}",
        ] {
            assert!(bad.parse::<SecretHeader>().unwrap().check(names.iter()).is_err(), "{bad}");
        }
        for bad in ["", "api.test", "api.test nothing"] {
            assert!(bad.parse::<SecretHeader>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_a_ceiling_admits_is_the_host_itself_or_less() {
        let within = |one: &str, other: &str| {
            one.parse::<HostEntry>().unwrap().is_within(&other.parse::<HostEntry>().unwrap())
        };
        for (one, other, want) in [
            ("a.test", "a.test", true),
            ("x.a.test", "a.test", true),
            ("https://a.test", "a.test", true),
            ("a.test", "https://a.test", false),
            ("a.test", "x.a.test", false),
            ("xa.test", "a.test", false),
            ("a.test:81", "a.test", false),
            ("a.test:81", "a.test:81", true),
            ("1.1.1.1", "1.1.1.1", true),
            ("1.1.1.1", "1.1.1.2", false),
        ] {
            assert_eq!(within(one, other), want, "{one} {other}");
        }
    }

    #[test]
    fn a_part_of_a_host_is_written_as_on_the_command_line_and_is_within_what_admits_its_host() {
        for (text, shown, host, want) in [
            ("GET,head https://a.test/v1", "GET,HEAD https://a.test/v1", "a.test", true),
            ("https://x.a.test", "https://x.a.test/", "a.test", true),
            ("https://a.test/v1", "https://a.test/v1", "https://a.test", true),
            ("http://a.test/v1", "http://a.test/v1", "https://a.test", false),
            ("https://a.test:8443/v1", "https://a.test:8443/v1", "a.test", false),
            ("https://a.test:8443/v1", "https://a.test:8443/v1", "a.test:8443", true),
            ("https://a.test/v1", "https://a.test/v1", "x.a.test", false),
        ] {
            let entry: UrlEntry = text.parse().unwrap();
            assert_eq!((entry.to_string().as_str(), entry.to_string().parse()), (shown, Ok(entry.clone())));
            assert_eq!(entry.is_within(&host.parse().unwrap()), want, "{text} {host}");
        }
        for bad in ["", "a.test/v1", "GET ftp://a.test/", "https://a.test/x?y", "https://a.test/a%2f..%2fb"] {
            assert!(bad.parse::<UrlEntry>().is_err(), "{bad:?}");
        }
    }
}
