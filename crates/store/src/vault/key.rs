//! The key that secrets are sealed with: 32 random bytes in `keys/secrets.key`, which only their owner can read.
//!
//! Made when the first secret is kept. One that others may read, that is damaged or that is gone is an error, and never
//! replaced: a fresh key would open nothing that is there.

use std::{
    io,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use crate::{Home, codecache::key as installation_key};

/// Never printed, and overwritten when it is dropped.
pub(super) struct VaultKey(Zeroizing<[u8; 32]>);

impl VaultKey {
    pub(super) fn bytes(&self) -> &[u8] {
        &*self.0
    }

    #[cfg(test)]
    pub(super) fn for_tests(key: [u8; 32]) -> Self {
        Self(Zeroizing::new(key))
    }
}

/// The key cannot be used, and so no secret can.
#[derive(Debug, thiserror::Error)]
#[error(
    "the key of all secrets `{path}` cannot be used: {cause}. Secrets were sealed with it: put a backup in its place, or \
     remove it and keep every secret anew"
)]
pub struct VaultKeyError {
    /// Where it should be.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub cause: io::Error,
}

pub(super) fn load(home: &Home) -> Result<VaultKey, VaultKeyError> {
    let path = path_of(home);
    read(&path).map_err(|cause| VaultKeyError { path, cause })
}

pub(super) fn load_or_make(home: &Home) -> Result<VaultKey, VaultKeyError> {
    let path = path_of(home);
    let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let made = match read(&path) {
        Err(error) if missing(&error) => home.lock("keys").and_then(|_lock| match read(&path) {
            Err(error) if missing(&error) => {
                installation_key::make(&path).map(|it| VaultKey(it.into_bytes()))
            }
            // Another process made it while we waited.
            read => read,
        }),
        read => read,
    };
    made.map_err(|cause| VaultKeyError { path, cause })
}

fn path_of(home: &Home) -> PathBuf {
    home.keys().join("secrets.key")
}

fn read(path: &Path) -> io::Result<VaultKey> {
    installation_key::load(path).map(|it| VaultKey(it.into_bytes()))
}
