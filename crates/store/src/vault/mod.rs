//! Secrets that are kept: values and keys of a tenant, sealed under a key of the installation, and used here.
//!
//! Each is a cell of its tenant's ledger: encrypted with ChaCha20-Poly1305 and bound to tenant, name and kind, so that a
//! cell that somebody moves to another name or tenant opens nothing. What can be asked is a signature; there is no
//! operation that shows a value. The one way out of here is [`Vault::open_for_header`], for whoever puts it into a header
//! of a request that leaves the machine.
//!
//! The key lies beside the data: this protects copies of the tenants' files, and nothing from whoever may read the whole
//! data directory (SECURITY.md).

mod key;
mod sealed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use drydock_contract::{
    SecretName, SignAlgorithm, Tenant,
    port::{Ledger, LedgerError, SecretSignature, SignError, Signer},
};
use parking_lot::Mutex;
use ring::{
    hmac,
    signature::{Ed25519KeyPair, KeyPair as _},
};
use zeroize::Zeroizing;

use crate::Home;
use key::VaultKey;
pub use key::VaultKeyError;
use sealed::{Kind, Sealed};

/// A shorter value would be guessed, and found in innocent text.
pub const KEPT_BYTES_MIN: usize = 8;
/// A longer one is no secret but a document.
pub const KEPT_BYTES_MAX: usize = 4096;
/// Secrets of one tenant, kept or referred to.
pub const SECRETS_MAX: usize = 1000;
/// Where secrets begin in the ledger, kept ones and references.
pub const SECRET_PREFIX: &str = "secret/";
/// Bytes of a seed of Ed25519.
const SEED_BYTES: usize = 32;

/// The secrets of all tenants of one home.
pub struct Vault {
    home: Home,
    ledger: Arc<dyn Ledger>,
    /// Read once it is needed.
    key: Mutex<Option<Arc<VaultKey>>>,
}

/// What can be told of a secret that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSecret {
    /// How it signs.
    pub algorithm: SignAlgorithm,
    /// By which its signatures can be checked, where there is such a key.
    pub public_key: Option<[u8; 32]>,
}

/// A secret could not be kept or used. Says nothing of its value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// Too short or too long.
    #[error("a secret that is kept has {KEPT_BYTES_MIN} to {KEPT_BYTES_MAX} bytes")]
    Size,
    /// The tenant has as many as it may.
    #[error("a tenant has {SECRETS_MAX} secrets at most; `drydock secret rm` forgets one")]
    TooMany,
    /// There is none of that name that is kept.
    #[error("there is no secret `{0}` that is kept")]
    Unknown(SecretName),
    /// The cell was changed, or sealed under another key.
    #[error("the secret `{0}` cannot be opened with the key of this installation: keep it anew")]
    Damaged(SecretName),
    /// Somebody else changed it at the same time.
    #[error("somebody else changed the secret `{0}` at the same time; try again")]
    Conflict(SecretName),
    /// The key of the installation.
    #[error(transparent)]
    Key(#[from] VaultKeyError),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The machine gave no randomness.
    #[error("the machine gives no randomness")]
    Random,
}

impl VaultError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Size => "bad_secret",
            Self::TooMany => "too_many_secrets",
            Self::Unknown(_) => "unknown_secret",
            Self::Damaged(_) => "secret_damaged",
            Self::Conflict(_) => "conflict",
            Self::Key(_) => "secret_key_unavailable",
            Self::Ledger(error) => error.code,
            Self::Random => "internal_error",
        }
    }
}

impl Vault {
    /// The vault of a home, over its ledger. Opens nothing.
    pub fn new(home: &Home, ledger: Arc<dyn Ledger>) -> Self {
        Self { home: home.clone(), ledger, key: Mutex::default() }
    }

    /// Keeps a value under a name, in the place of whatever was there.
    pub fn keep(
        &self,
        tenant: &Tenant,
        name: &SecretName,
        value: &Zeroizing<Vec<u8>>,
    ) -> Result<(), VaultError> {
        if !(KEPT_BYTES_MIN..=KEPT_BYTES_MAX).contains(&value.len()) {
            return Err(VaultError::Size);
        }
        self.put(tenant, name, Kind::Value, value)
    }

    /// Makes a key pair of Ed25519 and keeps it under a name, in the place of whatever was there. Its private half was
    /// never anywhere else.
    pub fn generate(&self, tenant: &Tenant, name: &SecretName) -> Result<[u8; 32], VaultError> {
        let mut seed = Zeroizing::new([0; SEED_BYTES]);
        getrandom::fill(&mut *seed).map_err(|_| VaultError::Random)?;
        let pair = pair_of(&*seed).ok_or(VaultError::Random)?;
        let public_key = public_key(&pair);
        self.put(tenant, name, Kind::Ed25519 { public_key }, &*seed)?;
        Ok(public_key)
    }

    /// What can be told of a cell, if a secret is kept in it.
    pub fn describe(cell: &[u8]) -> Option<KeptSecret> {
        Some(match Sealed::read(cell)?.kind {
            Kind::Value => KeptSecret { algorithm: SignAlgorithm::HmacSha256, public_key: None },
            Kind::Ed25519 { public_key } => {
                KeptSecret { algorithm: SignAlgorithm::Ed25519, public_key: Some(public_key) }
            }
        })
    }

    /// A value, for whoever puts it into a header on its way out. A key pair is none.
    pub fn open_for_header(
        &self,
        tenant: &Tenant,
        name: &SecretName,
    ) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        match self.open(tenant, name)? {
            (Kind::Value, value) => Ok(value),
            (Kind::Ed25519 { .. }, _) => Err(VaultError::Unknown(name.clone())),
        }
    }

    fn open(&self, tenant: &Tenant, name: &SecretName) -> Result<(Kind, Zeroizing<Vec<u8>>), VaultError> {
        let unknown = || VaultError::Unknown(name.clone());
        let cell = self.ledger.cell(tenant, &cell_of(name))?.ok_or_else(unknown)?;
        let sealed = Sealed::read(&cell).ok_or_else(unknown)?;
        let value = sealed.open(&*self.key(false)?, tenant, name);
        Ok((sealed.kind, value.ok_or_else(|| VaultError::Damaged(name.clone()))?))
    }

    fn put(&self, tenant: &Tenant, name: &SecretName, kind: Kind, value: &[u8]) -> Result<(), VaultError> {
        let cell = cell_of(name);
        let before = self.ledger.cell(tenant, &cell)?;
        if before.is_none() && self.ledger.cells(tenant, SECRET_PREFIX)?.len() >= SECRETS_MAX {
            return Err(VaultError::TooMany);
        }
        let sealed = sealed::seal(&*self.key(true)?, tenant, name, kind, value).ok_or(VaultError::Random)?;
        match self.ledger.swap(tenant, &cell, before.as_deref(), Some(&sealed))? {
            true => Ok(()),
            false => Err(VaultError::Conflict(name.clone())),
        }
    }

    /// The key of the installation. Made when the first secret is kept, and never replaced: what was sealed with it
    /// would be lost.
    fn key(&self, make: bool) -> Result<Arc<VaultKey>, VaultKeyError> {
        let mut held = self.key.lock();
        if let Some(key) = &*held {
            return Ok(Arc::clone(key));
        }
        let key = Arc::new(if make { key::load_or_make(&self.home)? } else { key::load(&self.home)? });
        *held = Some(Arc::clone(&key));
        Ok(key)
    }
}

impl Signer for Vault {
    fn sign(
        &self,
        tenant: &Tenant,
        name: &SecretName,
        algorithm: Option<SignAlgorithm>,
        data: &[u8],
    ) -> Result<SecretSignature, SignError> {
        let opened = self.open(tenant, name).map_err(|error| match error {
            VaultError::Unknown(_) => SignError::Unknown,
            error => SignError::Unavailable { code: error.code(), problem: error.to_string() },
        });
        let (kind, value) = opened?;
        let own = match kind {
            Kind::Value => SignAlgorithm::HmacSha256,
            Kind::Ed25519 { .. } => SignAlgorithm::Ed25519,
        };
        if algorithm.is_some_and(|it| it != own) {
            return Err(SignError::Algorithm(own));
        }
        let (bytes, public_key) = match own {
            SignAlgorithm::HmacSha256 => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, &value);
                (hmac::sign(&key, data).as_ref().to_vec(), None)
            }
            SignAlgorithm::Ed25519 => {
                let broken = || {
                    let error = VaultError::Damaged(name.clone());
                    SignError::Unavailable { code: error.code(), problem: error.to_string() }
                };
                let pair = pair_of(&value).ok_or_else(broken)?;
                (pair.sign(data).as_ref().to_vec(), Some(public_key(&pair)))
            }
        };
        Ok(SecretSignature { algorithm: own, bytes, public_key })
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault(..)")
    }
}

fn cell_of(name: &SecretName) -> String {
    format!("{SECRET_PREFIX}{name}")
}

fn pair_of(seed: &[u8]) -> Option<Ed25519KeyPair> {
    Ed25519KeyPair::from_seed_unchecked(seed).ok()
}

fn public_key(pair: &Ed25519KeyPair) -> [u8; 32] {
    let mut key = [0; 32];
    for (to, from) in key.iter_mut().zip(pair.public_key().as_ref()) {
        *to = *from;
    }
    key
}
