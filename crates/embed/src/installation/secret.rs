//! Where secrets come from: references, kept in the tenant's ledger. A value is read by whoever puts it into a request, at
//! that moment, and is nowhere here.

use std::{fmt, str::FromStr, sync::Arc};

use drydock_contract::{
    Tenant,
    port::{Ledger, LedgerError},
};

/// What a secret is called: 1 to 64 letters, digits and underscores.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretName(String);

/// Where a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretRef {
    /// A variable of the environment of whoever dials out.
    Env(String),
    /// A file that they can read.
    File(String),
    /// What is registered for the tenant under the same name: all that a caller over HTTP can say.
    Registered,
}

/// The text is no name of a secret, or no place where one comes from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSecretRef {
    /// No name.
    #[error("`{0}` is no name of a secret: use 1 to 64 letters, digits and underscores")]
    Name(String),
    /// No place.
    #[error("`{0}` is no place where a secret comes from: use env:VARIABLE or file:/PATH")]
    Place(String),
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}

impl FromStr for SecretName {
    type Err = BadSecretRef;

    fn from_str(text: &str) -> Result<Self, BadSecretRef> {
        let legal =
            (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if legal { Ok(Self(text.to_owned())) } else { Err(BadSecretRef::Name(shown(text))) }
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SecretRef {
    type Err = BadSecretRef;

    fn from_str(text: &str) -> Result<Self, BadSecretRef> {
        let bad = || BadSecretRef::Place(shown(text));
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

pub(super) use as_text;

as_text!(SecretName);
as_text!(SecretRef);

/// Where secrets begin in the ledger.
const PREFIX: &str = "secret/";

/// The references that are registered for a tenant.
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
    pub fn all(&self) -> Result<Vec<(SecretName, SecretRef)>, LedgerError> {
        let cells = self.ledger.cells(&self.tenant, PREFIX)?;
        let read = |(key, value): (String, Vec<u8>)| {
            let name = key.strip_prefix(PREFIX)?.parse().ok()?;
            Some((name, String::from_utf8(value).ok()?.parse().ok()?))
        };
        Ok(cells.into_iter().filter_map(read).collect())
    }

    /// Where one comes from, if it is registered.
    pub fn find(&self, name: &SecretName) -> Result<Option<SecretRef>, LedgerError> {
        let value = self.ledger.cell(&self.tenant, &format!("{PREFIX}{name}"))?;
        Ok(value.and_then(|it| String::from_utf8(it).ok()?.parse().ok()))
    }

    /// Registers one, in the place of another of its name. False if somebody else changed it at the same time.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_a_plain_name_and_comes_from_a_variable_or_a_whole_path() {
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
            ("", false),
        ] {
            let read = text.parse::<SecretRef>();
            assert_eq!(read.is_ok(), fits, "{text}");
            if let Ok(read) = read {
                assert_eq!(read.to_string(), text);
            }
        }
        for (text, fits) in
            [("API_KEY", true), ("", false), ("a-b", false), ("a/b", false), (&"x".repeat(65), false)]
        {
            assert_eq!(text.parse::<SecretName>().is_ok(), fits, "{text}");
        }
    }
}
