//! The key of this installation: 32 random bytes that only their owner can read.
//!
//! A key that others could read, or that another user put there, is no key: it is replaced, and
//! everything written under it becomes foreign. One that cannot be read for a reason of the disk's or of this
//! process is left as it is. Two processes that start at once agree on one.

use std::{
    fmt,
    fs::File,
    io,
    io::Read as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use crate::home::{Durability, Home, is_damage, open_regular, write_atomic};

const KEY_BYTES: usize = 32;

/// Never printed, wiped when it goes, and read or made in the place that is wiped.
pub(crate) struct MacKey(pub(super) Zeroizing<[u8; KEY_BYTES]>);

impl MacKey {
    /// A key for something else, from which this one cannot be told: what is sealed with one is foreign to
    /// the other.
    pub(crate) fn for_use(&self, of: &str) -> [u8; KEY_BYTES] {
        blake3::derive_key(of, self.0.as_slice())
    }

    /// The bytes, for another use of a key that is kept like this one.
    pub(crate) fn into_bytes(self) -> Zeroizing<[u8; KEY_BYTES]> {
        self.0
    }

    #[cfg(test)]
    pub(crate) fn for_tests(key: [u8; KEY_BYTES]) -> Self {
        Self(Zeroizing::new(key))
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacKey(..)")
    }
}

/// There is no key, and none could be made.
#[derive(Debug, thiserror::Error)]
#[error("could not make the cache key `{path}`")]
pub struct OpenCodeCacheError {
    /// Where it should be.
    pub path: PathBuf,
    /// What the disk said.
    #[source]
    pub cause: io::Error,
}

pub(crate) fn load_or_make(home: &Home) -> Result<MacKey, OpenCodeCacheError> {
    let path = home.keys().join("cache.key");
    if let Ok(key) = load(&path) {
        return Ok(key);
    }
    let made = home.lock("keys").and_then(|_lock| match load(&path) {
        // Another process made it while we waited.
        Ok(key) => Ok(key),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path),
        Err(error) if is_damage(&error) => {
            tracing::warn!(path = %path.display(), %error, "replaced the cache key");
            make(&path)
        }
        // A key that cannot be read now is no reason to make all that was written under it foreign.
        Err(error) => Err(error),
    });
    made.map_err(|cause| OpenCodeCacheError { path, cause })
}

pub(crate) fn load(path: &Path) -> io::Result<MacKey> {
    let refused = |why: &'static str| io::Error::new(io::ErrorKind::InvalidData, why);
    if path.symlink_metadata()?.is_symlink() {
        return Err(refused("it is a symbolic link"));
    }
    let (file, len) = open_regular(path, KEY_BYTES as u64)?;
    let facts = file.metadata()?;
    if facts.mode() & 0o077 != 0 {
        return Err(refused("others may read it"));
    }
    if facts.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused("it belongs to another user"));
    }
    read(&file, len)
}

fn read(mut file: &File, len: u64) -> io::Result<MacKey> {
    if len != KEY_BYTES as u64 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it has the wrong length"));
    }
    let mut key = MacKey(Zeroizing::default());
    file.read_exact(key.0.as_mut_slice())?;
    Ok(key)
}

pub(crate) fn make(path: &Path) -> io::Result<MacKey> {
    let mut key = MacKey(Zeroizing::default());
    getrandom::fill(key.0.as_mut_slice()).map_err(io::Error::other)?;
    write_atomic(path, &[key.0.as_slice()], Durability::Power)?;
    Ok(key)
}
