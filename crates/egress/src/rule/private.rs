//! `--allow-private ADDR:PORT`: one literal, for tests and local services. The only thing that opens an address that is
//! not public; it opens that address on that port, and no name by itself.

use std::{fmt, net::SocketAddr, str::FromStr};

use super::ParseRuleError;

pub(super) const FLAG: &str = "--allow-private";

/// An address and a port that may be dialled whatever block they are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrivateRule(pub SocketAddr);

impl FromStr for PrivateRule {
    type Err = ParseRuleError;

    /// Reads the strict spelling only: whoever opens a hole says exactly which.
    fn from_str(text: &str) -> Result<Self, ParseRuleError> {
        let bad = |why: &str| ParseRuleError::new(FLAG, text, why);
        let address: SocketAddr = text
            .trim()
            .parse()
            .map_err(|_| bad("write one address and a port, such as 127.0.0.1:8080 or [::1]:8080"))?;
        if address.port() == 0 {
            return Err(bad("there is no port 0"));
        }
        if let SocketAddr::V6(v6) = address
            && v6.scope_id() != 0
        {
            return Err(bad("an address with a zone is no literal of a URL"));
        }
        if address.ip().is_unspecified() || address.ip().is_multicast() {
            return Err(bad("this address is no host"));
        }
        Ok(Self(address))
    }
}

impl fmt::Display for PrivateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
