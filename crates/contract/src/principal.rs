//! Who asks. The name comes from the host, never from a guest.

use std::{fmt, str::FromStr, sync::Arc};

/// One who asks on behalf of a tenant: a user, an agent, a service. 1 to 128 printable ASCII characters without blanks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Principal(Arc<str>);

/// The text is not a principal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a principal: use 1 to 128 printable ASCII characters without blanks")]
pub struct BadPrincipal(String);

impl Principal {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Principal {
    type Err = BadPrincipal;

    fn from_str(text: &str) -> Result<Self, BadPrincipal> {
        let legal = (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if !legal {
            return Err(BadPrincipal(text.escape_default().to_string()));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_is_short_printable_and_without_blanks() {
        let long = "x".repeat(129);
        for (text, want) in [
            ("cli", true),
            ("tenant:42/run-7", true),
            ("", false),
            ("a b", false),
            ("tab\t", false),
            ("ü", false),
            (long.as_str(), false),
        ] {
            assert_eq!(text.parse::<Principal>().is_ok(), want, "{text:?}");
        }
    }
}
