//! Whose things are whose: everything that is kept belongs to a tenant, and every principal to one.
//!
//! Names come from the host. They are never a path component: whoever keeps something for a tenant names it by
//! [`Tenant::folder`].

use std::{fmt, str::FromStr, sync::Arc};

use sha2::{Digest as _, Sha256};

use crate::Principal;

/// The tenant of the command line, and of whoever names no other.
pub const DEFAULT_TENANT: &str = "dev";

/// Whoever owns principals and what they keep: 1 to 128 printable ASCII characters without blanks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Tenant(Arc<str>);

/// The text is not a tenant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a tenant: use 1 to 128 printable ASCII characters without blanks")]
pub struct BadTenant(String);

impl Tenant {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the directory that holds what is kept for it: the name itself where that is plain and could mean
    /// nothing else, and otherwise a hash of it. Two tenants never share one.
    pub fn folder(&self) -> String {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if self.0.len() <= 32 && self.0.bytes().all(plain) && !self.0.starts_with('-') {
            return self.0.to_string();
        }
        // No plain name has an underscore, so no hash is one.
        let hash = Sha256::digest(self.0.as_bytes());
        hash[..16].iter().fold(String::from("_"), |text, byte| format!("{text}{byte:02x}"))
    }
}

impl Default for Tenant {
    fn default() -> Self {
        Self(DEFAULT_TENANT.into())
    }
}

impl FromStr for Tenant {
    type Err = BadTenant;

    fn from_str(text: &str) -> Result<Self, BadTenant> {
        let legal = (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if !legal {
            return Err(BadTenant(text.chars().take(128).collect::<String>().escape_default().to_string()));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What can be revoked: a node of the tree of accounts, or one grant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A tenant, and with it every principal it has.
    Tenant(Tenant),
    /// One principal of a tenant.
    Principal(Tenant, Principal),
    /// One grant, by its id.
    Grant(Tenant, Arc<str>),
}

impl Node {
    /// Whose it is.
    pub fn tenant(&self) -> &Tenant {
        match self {
            Self::Tenant(tenant) | Self::Principal(tenant, _) | Self::Grant(tenant, _) => tenant,
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tenant(tenant) => write!(f, "tenant {tenant}"),
            Self::Principal(tenant, principal) => write!(f, "principal {principal} of tenant {tenant}"),
            Self::Grant(tenant, id) => write!(f, "grant {id} of tenant {tenant}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn folders_are_plain_names_whatever_a_tenant_is_called() {
        let cases = [
            ("dev", "dev"),
            ("acme-2", "acme-2"),
            ("..", "_5ec1f7e700f37c3d1b46a9a1dd6ff1ab"),
            ("a/b", ""),
            ("Dev", ""),
            ("-x", ""),
            ("_5ec1f7e700f37c3d1b46a9a1dd6ff1ab", ""),
        ];
        for (name, want) in cases {
            let folder = name.parse::<Tenant>().unwrap().folder();
            let escaped = folder.starts_with('_') && folder.len() == 33;
            assert!(
                if want.is_empty() || want.starts_with('_') { escaped } else { folder == want },
                "{name} {folder}"
            );
        }
    }

    proptest! {
        #[test]
        fn two_tenants_never_share_a_folder(one in "[!-~]{1,40}", other in "[!-~]{1,40}") {
            let folders = [&one, &other].map(|it| it.parse::<Tenant>().unwrap().folder());
            prop_assert_eq!(one == other, folders[0] == folders[1]);
            prop_assert!(folders.iter().all(|it| it.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')));
        }
    }
}
