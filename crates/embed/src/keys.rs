//! Where the keys come from that the host itself sends along: to servers of models, to a provider of searches. A reference is
//! all that is written anywhere; the value is read when a request is made, put into a header by `egress`, and taken out of
//! whatever comes back. No operation of the gate leads here.

use std::{fmt, io, path::Path, str::FromStr, sync::Arc};

use drydock_contract::Tenant;
use drydock_egress::Secret;
use drydock_store::{Home, SqliteLedger, Vault};

use crate::{BadSecretRef, SecretName, SecretRef, SecretSource, StoredSecrets, installation::as_text};

/// Where a key comes from: `env:VARIABLE`, `file:/PATH`, or `secret:NAME` of the secrets that are kept or registered here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyRef {
    /// A place that whoever started the process can read.
    Place(SecretRef),
    /// A secret of the default tenant: `drydock secret` keeps it.
    Secret(SecretName),
}

/// Reads a key at the moment when it is needed.
pub type KeyReader = dyn Fn(&KeyRef) -> io::Result<Vec<u8>> + Send + Sync;

/// The text is no place where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}, or secret:NAME")]
pub struct BadKeyRef(BadSecretRef);

impl FromStr for KeyRef {
    type Err = BadKeyRef;

    fn from_str(text: &str) -> Result<Self, BadKeyRef> {
        if let Some(name) = text.strip_prefix("secret:").and_then(|it| it.parse().ok()) {
            return Ok(Self::Secret(name));
        }
        let place = text.parse().map_err(BadKeyRef)?;
        match place {
            // As what would it be registered?
            SecretRef::Registered | SecretRef::Kept => Err(BadKeyRef(SecretRef::refused(text))),
            place => Ok(Self::Place(place)),
        }
    }
}

impl fmt::Display for KeyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(place) => place.fmt(f),
            Self::Secret(name) => write!(f, "secret:{name}"),
        }
    }
}

as_text!(KeyRef);

impl KeyRef {
    /// The value. Secrets are those of the data directory `home`; places are read by `places`.
    pub fn read(&self, home: &Path, places: &SecretSource) -> io::Result<Vec<u8>> {
        let name = match self {
            Self::Place(place) => return places(place),
            Self::Secret(name) => name,
        };
        let home = Home::open(home).map_err(io::Error::other)?;
        let (ledger, tenant) = (Arc::new(SqliteLedger::of(&home)), Tenant::default());
        let found = StoredSecrets::new(Arc::clone(&ledger) as _, tenant.clone()).find(name);
        match found.map_err(io::Error::other)? {
            Some(SecretRef::Kept) => {
                let mut value =
                    Vault::new(&home, ledger).open_for_header(&tenant, name).map_err(io::Error::other)?;
                // Moved, not copied: what is left behind is empty.
                Ok(std::mem::take(&mut *value))
            }
            Some(place) => places(&place),
            None => {
                let message = "there is no such secret; `drydock secret keep` keeps one";
                Err(io::Error::new(io::ErrorKind::NotFound, message))
            }
        }
    }
}

/// A key as a power wants it, read by `reader` whenever it is needed.
pub(crate) fn source(
    from: KeyRef,
    reader: Option<Arc<KeyReader>>,
) -> Arc<dyn Fn() -> Result<Secret, String> + Send + Sync> {
    Arc::new(move || {
        let read = reader.as_ref().ok_or("nobody reads secrets here")?;
        let bytes = read(&from).map_err(|error| format!("{from}: {error}"))?;
        Secret::new(bytes).map_err(|error| format!("{from}: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_place_or_the_name_of_a_secret_and_never_the_key_itself() {
        for text in ["env:KEY", "file:/run/key", "secret:model_key"] {
            assert_eq!(text.parse::<KeyRef>().unwrap().to_string(), text);
        }
        for text in ["", "sk-literal", "registered", "kept", "secret:", "secret:a b", "file:relative"] {
            let told = text.parse::<KeyRef>().unwrap_err().to_string();
            assert!(told.ends_with("use env:VARIABLE or file:/PATH, or secret:NAME"), "{text}: {told}");
        }
    }

    #[test]
    fn a_kept_secret_is_read_for_a_header_and_one_that_is_not_there_is_named() {
        let home = tempfile::tempdir().unwrap();
        let places = |from: &SecretRef| Ok(format!("read from {from}").into_bytes());
        let read = |text: &str| text.parse::<KeyRef>().unwrap().read(home.path(), &places);
        let (kept, other) = ("kept".parse().unwrap(), "other".parse().unwrap());
        let missing = read("secret:kept").unwrap_err();
        assert!(missing.to_string().contains("drydock secret keep"), "{missing}");
        {
            let opened = Home::open(home.path()).unwrap();
            let ledger = Arc::new(SqliteLedger::of(&opened));
            let vault = Vault::new(&opened, Arc::clone(&ledger) as _);
            vault.keep(&Tenant::default(), &kept, &b"sk-kept-here-and-nowhere-else".to_vec().into()).unwrap();
            let stored = StoredSecrets::new(ledger, Tenant::default());
            assert!(stored.put(&other, &"env:OTHER".parse().unwrap()).unwrap());
        }
        assert_eq!(read("secret:kept").unwrap(), b"sk-kept-here-and-nowhere-else");
        assert_eq!(read("secret:other").unwrap(), b"read from env:OTHER");
        assert_eq!(read("env:K").unwrap(), b"read from env:K");
    }
}
