//! `--allow-host`: `host`, `host:port` or `scheme://host[:port]`; a name admits what is below it too.
//!
//! Without a port it admits 80 and 443, or with a scheme that scheme's own.

use std::{fmt, str::FromStr};

use super::{Fit, ParseRuleError, USUAL_PORTS};
use crate::{
    host::Host,
    target::{Scheme, Target},
};

pub(super) const FLAG: &str = "--allow-host";

/// A host that may be reached, if its addresses are public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    scheme: Option<Scheme>,
    host: Host,
    port: Option<u16>,
}

impl HostRule {
    pub(crate) fn fits(&self, target: &Target) -> Fit {
        if !self.host.covers(target.host()) {
            return Fit::OtherHost;
        }
        let port_fits = self.ports().contains(&target.port());
        // Asked first: where both differ, it is the scheme that a person must change.
        if self.scheme.is_some_and(|scheme| scheme != target.scheme()) {
            return Fit::OtherScheme;
        }
        if port_fits { Fit::Admitted } else { Fit::OtherPort }
    }

    /// The rule that admits where a request goes, for whoever has let it through already.
    pub(super) fn of(target: &Target) -> Self {
        let (scheme, host) = (Some(target.scheme()), target.host().clone());
        Self { scheme, host, port: Some(target.port()) }
    }

    /// The one scheme that it admits, if it names one.
    pub fn scheme(&self) -> Option<Scheme> {
        self.scheme
    }

    /// The host; of a name, also what is below it.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port that it names, if it names one.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Every port that it admits.
    pub fn ports(&self) -> Vec<u16> {
        match (self.port, self.scheme) {
            (Some(port), _) => vec![port],
            (None, Some(scheme)) => vec![scheme.port()],
            (None, None) => USUAL_PORTS.to_vec(),
        }
    }
}

impl FromStr for HostRule {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, ParseRuleError> {
        let bad = |why: &str| ParseRuleError::new(FLAG, text, why);
        let (scheme, rest) = match text.trim().split_once("://") {
            Some((scheme, rest)) => {
                let scheme =
                    Scheme::parse(scheme).ok_or_else(|| bad("its scheme is neither http nor https"))?;
                (Some(scheme), rest)
            }
            None => (None, text.trim()),
        };
        let rest = rest.strip_suffix('/').filter(|_| scheme.is_some()).unwrap_or(rest);
        let (host, port) = split_port(rest).ok_or_else(|| bad("its port is no number from 1 to 65535"))?;
        // The spelling of other allowlists for what a bare name means here.
        let host = host.strip_prefix("*.").unwrap_or(host);
        if host.is_empty() || host.contains('*') {
            return Err(bad("name a host: there is no rule for all of them"));
        }
        let host = Host::parse(host).map_err(|why| bad(&why.to_string()))?;
        Ok(Self { scheme, host, port })
    }
}

/// Host and port; the colons of an IPv6 address are not the port's.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if text.parse::<std::net::Ipv6Addr>().is_ok() {
        return Some((text, None));
    }
    match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => {
            let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
            let port = port.parse().ok().filter(|port| digits && *port != 0)?;
            Some((host, Some(port)))
        }
        _ => Some((text, None)),
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = self.scheme {
            write!(f, "{scheme}://")?;
        }
        self.host.fmt(f)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}
