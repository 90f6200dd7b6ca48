//! The hosts of an installation as grants: the one place where what is kept becomes a power. A host is itself and what lies
//! below it (`api.example.com` for `example.com`), on the ports of the web unless it names another.

use std::{fmt, str::FromStr, sync::Arc};

use drydock_contract::{Cap, Pattern, Terms};
use drydock_gate::Grant;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A host that an extension may fetch from: `host`, `host:port` or `scheme://host[:port]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostEntry {
    scheme: Option<&'static str>,
    host: String,
    port: Option<u16>,
}

/// The text names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no host: use HOST, HOST:PORT or https://HOST, a name in ASCII without a star, a path or a user"
)]
pub struct BadHostEntry(String);

/// The longest name of a host.
const HOST_BYTES_MAX: usize = 253;

impl FromStr for HostEntry {
    type Err = BadHostEntry;

    fn from_str(text: &str) -> Result<Self, BadHostEntry> {
        let bad = || BadHostEntry(text.chars().take(80).collect::<String>().escape_debug().to_string());
        let (scheme, rest) = match text.split_once("://") {
            None => (None, text),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (Some("https"), rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (Some("http"), rest),
            Some(_) => return Err(bad()),
        };
        let (host, port) = match rest.rsplit_once(':') {
            None => (rest, None),
            Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => {
                let port = port.parse::<u16>().ok().filter(|it| *it != 0).ok_or_else(bad)?;
                (host, Some(port))
            }
            Some(_) => return Err(bad()),
        };
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        let label = |it: &str| !it.is_empty() && it.bytes().all(letter);
        let legal = host.len() <= HOST_BYTES_MAX && host.split('.').all(label);
        if legal { Ok(Self { scheme, host, port }) } else { Err(bad()) }
    }
}

impl fmt::Display for HostEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = self.scheme {
            write!(f, "{scheme}://")?;
        }
        f.write_str(&self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl Serialize for HostEntry {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostEntry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

impl HostEntry {
    /// Whether whatever this one admits the other admits, too.
    pub fn is_within(&self, other: &Self) -> bool {
        let below =
            self.host.strip_suffix(&other.host).is_some_and(|head| head.is_empty() || head.ends_with('.'));
        let scheme = other.scheme.is_none() || self.scheme == other.scheme;
        below && scheme && self.ports().iter().all(|it| other.ports().contains(it))
    }

    fn ports(&self) -> Vec<u16> {
        match (self.port, self.scheme) {
            (Some(port), _) => vec![port],
            (None, Some("http")) => vec![80],
            (None, Some(_)) => vec![443],
            (None, None) => vec![80, 443],
        }
    }

    fn patterns(&self) -> impl Iterator<Item = Pattern> {
        let texts = self.ports().into_iter().flat_map(|port| {
            let host = &self.host;
            [format!("{host}:{port}"), format!("*.{host}:{port}")]
        });
        texts.filter_map(|it| it.parse().ok()).collect::<Vec<_>>().into_iter()
    }
}

/// What a session for the extension is given. Nothing where no host is named: an empty list denies all.
pub(super) fn grants(hosts: &[HostEntry]) -> Option<Arc<Grant>> {
    let terms = Terms::of(hosts.iter().flat_map(HostEntry::patterns));
    (!hosts.is_empty()).then(|| Arc::new(Grant::of(Cap::Net).within(terms)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_written_in_four_ways_and_nothing_else_is_one() {
        for (text, shown) in [
            ("Example.com.", "example.com"),
            ("example.com:8443", "example.com:8443"),
            ("HTTPS://example.com", "https://example.com"),
            ("http://a.b:81", "http://a.b:81"),
        ] {
            assert_eq!(text.parse::<HostEntry>().unwrap().to_string(), shown);
        }
        for bad in [
            "",
            "*",
            "*.example.com",
            "a b",
            "a/b",
            "user@a",
            "ftp://a",
            "a:0",
            "a:99999",
            "a:",
            "ü.de",
            "a..b",
            ".",
            "https://a/path",
            "[::1]",
            "a\n",
            &"a".repeat(254),
        ] {
            assert!(bad.parse::<HostEntry>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_grant_names_the_host_what_lies_below_it_and_its_ports_and_an_empty_list_grants_nothing() {
        assert!(grants(&[]).is_none());
        let hosts = ["example.com".parse().unwrap(), "https://b.test:444".parse().unwrap()];
        let grant = grants(&hosts).unwrap();
        let terms = grant.spec().terms();
        for (subject, want) in [
            ("example.com:443", true),
            ("example.com:80", true),
            ("api.example.com:443", true),
            ("notexample.com:443", false),
            ("example.com:8080", false),
            ("b.test:444", true),
            ("b.test:443", false),
        ] {
            assert_eq!(terms.name(subject), want, "{subject}");
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
        ] {
            assert_eq!(within(one, other), want, "{one} {other}");
        }
    }
}
