//! What may be reached: hosts (`--allow-host`), parts of a host (`--allow-url`) and single private addresses
//! (`--allow-private`). No rule, no host.
//!
//! Rules are compared before anything is looked up, so a guest that may reach nothing cannot even ask a name server. That
//! a rule admits a host says nothing about its addresses: those are judged later, and only a private rule opens one.

mod host;
mod private;
mod url;

use std::net::{IpAddr, SocketAddr};

use hyper::Method;

pub use host::HostRule;
pub use private::PrivateRule;
pub use url::{UrlRule, is_below};

use crate::{refusal::Refusal, target::Target};

/// Ports that a rule need not name.
pub(crate) const USUAL_PORTS: [u16; 2] = [80, 443];

/// The text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a rule of {flag}: {why}")]
pub struct ParseRuleError {
    /// The flag that takes such rules.
    pub flag: &'static str,
    /// The text, shortened.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

impl ParseRuleError {
    pub(crate) fn new(flag: &'static str, text: &str, why: impl Into<String>) -> Self {
        Self { flag, text: text.chars().take(200).collect(), why: why.into() }
    }

    /// The stable code that logs and tests match on.
    pub fn code(&self) -> &'static str {
        "bad_rule"
    }
}

/// What one caller may reach. The default is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Hosts, and everything below their names.
    pub hosts: Vec<HostRule>,
    /// Hosts by method and path.
    pub urls: Vec<UrlRule>,
    /// Addresses that are opened although they are not public.
    pub privates: Vec<PrivateRule>,
    /// Where it is set, a host must be in this list too: what an operator allows at all.
    pub ceiling: Option<Vec<HostRule>>,
}

/// How near a rule came. Later variants are nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    OtherHost,
    OtherPort,
    OtherScheme,
    OtherPath,
    OtherMethod,
    Admitted,
}

impl Rules {
    /// Reads rules as the command line has them.
    pub fn parse<S: AsRef<str>>(hosts: &[S], urls: &[S], privates: &[S]) -> Result<Self, ParseRuleError> {
        let hosts = hosts.iter().map(|it| it.as_ref().parse()).collect::<Result<_, _>>()?;
        let urls = urls.iter().map(|it| it.as_ref().parse()).collect::<Result<_, _>>()?;
        let privates = privates.iter().map(|it| it.as_ref().parse()).collect::<Result<_, _>>()?;
        Ok(Self { hosts, urls, privates, ceiling: None })
    }

    /// What admits this target and nothing else, for a request that somebody else has let through,
    /// and the addresses that are open to it.
    #[must_use]
    pub fn only(target: &Target, privates: Vec<PrivateRule>) -> Self {
        Self { hosts: vec![HostRule::of(target)], privates, ..Self::default() }
    }

    /// Reads the list of `EXT_EGRESS_ALLOWLIST`: hosts with commas between them. Empty pieces mean nothing.
    pub fn parse_list(text: &str) -> Result<Vec<HostRule>, ParseRuleError> {
        text.split(',').map(str::trim).filter(|it| !it.is_empty()).map(str::parse).collect()
    }

    /// The rule that admits the request, as a person would write it.
    pub(crate) fn admit(&self, method: &Method, target: &Target) -> Result<String, Refusal> {
        if let Some(ceiling) = &self.ceiling
            && !ceiling.iter().any(|rule| rule.fits(target) == Fit::Admitted)
        {
            return Err(Refusal::BeyondCeiling { host: target.host().clone(), port: target.port() });
        }
        if let Some(address) = target.literal()
            && self.opens(address, target.port())
        {
            return Ok(format!("{} {}", private::FLAG, SocketAddr::new(address, target.port())));
        }
        let mut nearest = Fit::OtherHost;
        for rule in &self.hosts {
            match rule.fits(target) {
                Fit::Admitted => return Ok(format!("{} {rule}", host::FLAG)),
                fit => nearest = nearest.max(fit),
            }
        }
        for rule in &self.urls {
            match rule.fits(method, target) {
                Fit::Admitted => return Ok(format!("{} '{rule}'", url::FLAG)),
                fit => nearest = nearest.max(fit),
            }
        }
        Err(Refusal::of_fit(nearest, method, target))
    }

    /// Whether this one address and port was opened by name.
    pub(crate) fn opens(&self, address: IpAddr, port: u16) -> bool {
        self.privates.iter().any(|rule| rule.0 == SocketAddr::new(address, port))
    }
}

#[cfg(test)]
mod tests;
