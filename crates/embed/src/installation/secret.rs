//! Where secrets come from, as the tenant's ledger has it: kept there and sealed, or a reference. A value is read by whoever
//! puts it into a request, at that moment, and is nowhere here.

use std::{fmt, str::FromStr, sync::Arc};

use drydock_contract::{
    SecretName, Tenant,
    port::{Ledger, LedgerError},
};
use drydock_store::{KeptSecret, SECRET_PREFIX as PREFIX, Vault};

/// Where a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretRef {
    /// It is kept, sealed under a key of the installation. No text says so: `drydock secret keep` does it.
    Kept,
    /// A variable of the environment of whoever dials out.
    Env(String),
    /// A file that they can read.
    File(String),
    /// What is registered for the tenant under the same name: all that a caller over HTTP can say.
    Registered,
}

/// The text is no place where a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no place where a secret comes from: use env:VARIABLE or file:/PATH")]
pub struct BadSecretRef(String);

impl SecretRef {
    /// The error for a text that names no place.
    pub(crate) fn refused(text: &str) -> BadSecretRef {
        BadSecretRef(text.chars().take(80).collect::<String>().escape_debug().to_string())
    }
}

impl FromStr for SecretRef {
    type Err = BadSecretRef;

    fn from_str(text: &str) -> Result<Self, BadSecretRef> {
        let bad = || Self::refused(text);
        let plain = |it: &str| !it.is_empty() && it.len() <= 4096 && !it.contains(['\0', '\n']);
        match text.split_once(':') {
            Some(("env", name)) if plain(name) && !name.contains('=') => Ok(Self::Env(name.to_owned())),
            // Relative to what, when another process reads it?
            Some(("file", path)) if plain(path) && path.starts_with('/') => Ok(Self::File(path.to_owned())),
            None if text == "registered" => Ok(Self::Registered),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => f.write_str("kept"),
            Self::Env(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{path}"),
            Self::Registered => f.write_str("registered"),
        }
    }
}

/// They travel as their text.
macro_rules! as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(from)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use as_text;

as_text!(SecretRef);

/// What a tenant's ledger says of one secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSecret {
    /// What it is called.
    pub name: SecretName,
    /// Where it comes from.
    pub from: SecretRef,
    /// What can be told of one that is kept.
    pub kept: Option<KeptSecret>,
}

/// The secrets that are registered for a tenant: what can be told of them.
pub struct StoredSecrets {
    ledger: Arc<dyn Ledger>,
    tenant: Tenant,
}

impl StoredSecrets {
    /// Those that this ledger keeps for a tenant.
    pub fn new(ledger: Arc<dyn Ledger>, tenant: Tenant) -> Self {
        Self { ledger, tenant }
    }

    /// All of them, by name.
    pub fn all(&self) -> Result<Vec<StoredSecret>, LedgerError> {
        let cells = self.ledger.cells(&self.tenant, PREFIX)?;
        let read = |(key, value): (String, Vec<u8>)| {
            let name = key.strip_prefix(PREFIX)?.parse().ok()?;
            Some(StoredSecret { name, from: from_cell(&value)?, kept: Vault::describe(&value) })
        };
        Ok(cells.into_iter().filter_map(read).collect())
    }

    /// Where one comes from, if it is registered.
    pub fn find(&self, name: &SecretName) -> Result<Option<SecretRef>, LedgerError> {
        Ok(self.cell(name)?.map(|(from, _)| from))
    }

    /// The same with what the ledger has of it: other bytes whenever it was kept anew.
    pub(super) fn cell(&self, name: &SecretName) -> Result<Option<(SecretRef, Vec<u8>)>, LedgerError> {
        let value = self.ledger.cell(&self.tenant, &format!("{PREFIX}{name}"))?;
        Ok(value.and_then(|it| Some((from_cell(&it)?, it))))
    }

    /// Registers a reference, in the place of another secret of its name. False if somebody else changed it at the same time.
    pub fn put(&self, name: &SecretName, from: &SecretRef) -> Result<bool, LedgerError> {
        let key = format!("{PREFIX}{name}");
        let before = self.ledger.cell(&self.tenant, &key)?;
        self.ledger.swap(&self.tenant, &key, before.as_deref(), Some(from.to_string().as_bytes()))
    }

    /// Forgets one. False if there was none.
    pub fn remove(&self, name: &SecretName) -> Result<bool, LedgerError> {
        let key = format!("{PREFIX}{name}");
        match self.ledger.cell(&self.tenant, &key)? {
            None => Ok(false),
            Some(before) => self.ledger.swap(&self.tenant, &key, Some(&before), None),
        }
    }
}

fn from_cell(value: &[u8]) -> Option<SecretRef> {
    match Vault::describe(value) {
        Some(_) => Some(SecretRef::Kept),
        None => std::str::from_utf8(value).ok()?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_variable_or_a_whole_path() {
        for (text, fits) in [
            ("env:KEY", true),
            ("file:/run/secrets/key", true),
            ("registered", true),
            ("env:", false),
            ("env:A=B", false),
            ("file:key", false),
            ("file:", false),
            ("literal:hunter2", false),
            ("hunter2", false),
            ("kept", false),
            ("", false),
        ] {
            let read = text.parse::<SecretRef>();
            assert_eq!(read.is_ok(), fits, "{text}");
            if let Ok(read) = read {
                assert_eq!(read.to_string(), text);
            }
        }
    }
}
