//! A host: a name in small ASCII letters without its last dot, or an address.
//!
//! Numbers in any spelling are addresses here already; a name is what a resolver is asked, and nothing else.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr},
};

/// How long a name may be, as DNS has it.
const NAME_BYTES_MAX: usize = 253;
/// How long a part of it may be.
const LABEL_BYTES_MAX: usize = 63;

/// Whom a URL or a rule names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name, to be resolved.
    Name(HostName),
    /// An address, to be judged as it is.
    Address(IpAddr),
}

/// A name of DNS: labels of letters, digits, `-` and `_`, in small letters, IDNA as ASCII, no dot at the end.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct HostName(String);

/// The text is no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadHost(&'static str);

impl HostName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn new(text: &str) -> Result<Self, BadHost> {
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if name.len() > NAME_BYTES_MAX {
            return Err(BadHost("its name is longer than DNS has names"));
        }
        let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        for label in name.split('.') {
            if label.is_empty() || label.len() > LABEL_BYTES_MAX {
                return Err(BadHost("a part of its name is empty or has more than 63 characters"));
            }
            if !label.bytes().all(letter) {
                return Err(BadHost("its name has other characters than letters, digits, `-` and `_`"));
            }
        }
        // The last word on numbers: whatever a resolver of C would take for an address is none of a name's business.
        if name.parse::<Ipv4Addr>().is_ok() || name.split('.').all(is_number) {
            return Err(BadHost("it is a number, and no address"));
        }
        Ok(Self(name))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether `inet_aton` would read it: decimal, octal or hexadecimal.
fn is_number(label: &str) -> bool {
    let digits = label.strip_prefix("0x").unwrap_or(label);
    let hex = digits.len() < label.len();
    digits.bytes().all(|b| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() })
}

impl Host {
    /// Takes what the URL's reader made of the text.
    pub(crate) fn of(host: &url::Host<impl AsRef<str>>) -> Result<Self, BadHost> {
        match host {
            url::Host::Domain(name) => HostName::new(name.as_ref()).map(Self::Name),
            url::Host::Ipv4(address) => Ok(Self::Address((*address).into())),
            url::Host::Ipv6(address) => Ok(Self::Address((*address).into())),
        }
    }

    /// Reads a host as a rule writes it: as in a URL, or an IPv6 address without brackets.
    pub(crate) fn parse(text: &str) -> Result<Self, BadHost> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::Address(address));
        }
        if text.contains(['%', '/', '@', '?', '#', '\\']) || text.chars().any(char::is_whitespace) {
            return Err(BadHost("it has characters that no host has"));
        }
        let host = url::Host::parse(text).map_err(|_| BadHost("it is neither a name nor an address"))?;
        Self::of(&host)
    }

    /// Whether a rule for `self` is one for `host`: the same, or a name below it. An address has nothing below it.
    pub(crate) fn covers(&self, host: &Self) -> bool {
        match (self, host) {
            (Self::Name(rule), Self::Name(name)) => {
                let head = name.0.strip_suffix(rule.as_str());
                head.is_some_and(|head| head.is_empty() || head.ends_with('.'))
            }
            _ => self == host,
        }
    }
}

/// As in a URL: addresses of IPv6 in brackets.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name.as_str()),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl serde::Serialize for Host {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_covers_its_host_and_what_is_below() {
        for (rule, host, want) in [
            ("example.com", "example.com", true),
            ("example.com", "api.example.com", true),
            ("Example.COM.", "api.example.com", true),
            ("example.com", "evil-example.com", false),
            ("example.com", "example.com.evil.net", false),
            ("example.com", "com", false),
            ("b\u{fc}cher.test", "xn--bcher-kva.test", true),
            ("1.2.3.4", "1.2.3.4", true),
            ("0x01020304", "1.2.3.4", true),
            ("::1", "[0:0:0:0:0:0:0:1]", true),
            ("1.2.3.4", "1.2.3.5", false),
        ] {
            let (one, other) = (Host::parse(rule).unwrap(), Host::parse(host).unwrap());
            assert_eq!(one.covers(&other), want, "{rule} {host}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let long = format!("{}.test", "a".repeat(64));
        let many = "a.".repeat(130);
        for text in [
            "",
            ".",
            "..",
            "a..b",
            ".a",
            "*",
            "a b",
            "a/b",
            "u@a",
            "a%20b",
            "[::1",
            "1.2.3.4.5",
            "256.1.1.1",
            "a:1",
        ]
        .into_iter()
        .chain([long.as_str(), many.as_str(), "a,b", "a!b"])
        {
            assert!(Host::parse(text).is_err(), "{text:?}");
        }
    }
}
