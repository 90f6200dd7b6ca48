//! Compiled code on disk, so that a module is compiled once for each machine and not each start.
//!
//! Loading native code is only safe if we wrote it. Each file carries a MAC under a key of this
//! installation; what is tampered with, cut short, too large or written under another key is not
//! returned, and removed. A disk that does not answer, or a process without descriptors, says nothing about an
//! entry: then it is left alone.
//!
//! What is returned is the open file, to be mapped: code is large, and most of it is never needed. The MAC is
//! checked over the very file, and again only after something about the file has changed. What could still be
//! altered afterwards, and by whom, is in decision 0046.
//!
//! A cache may forget: nothing here fails its caller once it is open.

pub(crate) mod key;
mod prune;
mod sealed;
mod shipped;

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use drydock_contract::Digest;

use crate::{
    Home,
    home::{
        Durability, Lock, VerifiedFiles, is_damage, is_ours_alone, note_of, open_regular, remove_with_note,
        write_atomic,
    },
};
pub use key::OpenCodeCacheError;
use sealed::TRAILER_BYTES;
pub use shipped::{Shipped, ShippedCode, shipped_hash};

/// How much the files may hold on disk, one alone or all together.
pub const CODE_BYTES_MAX: u64 = 2 << 30;
/// A file that was used is marked so at most this often: the mark costs a write.
const TOUCH_AFTER: Duration = Duration::from_secs(60 * 60);
/// Files that say who compiles.
const TURN_FILES: u8 = 64;

/// The compiled code of one home.
#[derive(Debug)]
pub struct CodeCache {
    dir: PathBuf,
    home: Home,
    key: key::MacKey,
    verified: VerifiedFiles,
    bytes_max: u64,
}

/// Which compiled code: of which module, for which compiler, settings and machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheKey {
    /// The module it was compiled from.
    pub digest: Digest,
    /// A hash of everything else that decides what comes out.
    pub compat: u64,
}

impl CacheKey {
    /// What a note about a file of the cache is about.
    fn as_bytes(&self) -> [u8; 40] {
        let mut bytes = [0; 40];
        bytes[..32].copy_from_slice(self.digest.as_bytes());
        bytes[32..].copy_from_slice(&self.compat.to_le_bytes());
        bytes
    }
}

impl CodeCache {
    /// A key of this installation for another use, from which the cache's own cannot be told.
    pub fn key_for(&self, of: &str) -> [u8; 32] {
        self.key.for_use(of)
    }

    /// Opens the cache of a home, making its key if there is none that can be trusted.
    pub fn open(home: &Home) -> Result<Self, OpenCodeCacheError> {
        Self::with_bytes_max(home, CODE_BYTES_MAX)
    }

    /// As [`open`](Self::open), holding at most `bytes_max` bytes on disk.
    pub fn with_bytes_max(home: &Home, bytes_max: u64) -> Result<Self, OpenCodeCacheError> {
        let bytes_max = bytes_max.min(CODE_BYTES_MAX);
        let key = key::load_or_make(home)?;
        let verified = VerifiedFiles::new(Some(&key));
        Ok(Self { dir: home.cache(), home: home.clone(), key, verified, bytes_max })
    }

    /// The code, if it is there and this installation wrote it: a file that begins with it and has a few bytes
    /// of ours behind.
    pub fn get(&self, key: &CacheKey) -> Option<CodeFile> {
        let path = self.path_of(key);
        let opened = open_regular(&path, self.bytes_max).and_then(|(file, len)| {
            self.check(&path, &file, len, key)?;
            touch(&path, &file);
            Ok(file)
        });
        match opened {
            Ok(file) => Some(CodeFile(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if is_damage(&error) => {
                tracing::warn!(path = %path.display(), %error, "removed compiled code that is not ours");
                let _ = remove_with_note(&path);
                None
            }
            // It may be as good as ever: too many open files, a disk that hiccups.
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "could not read compiled code");
                None
            }
        }
    }

    /// Says if the file is ours, by its note where it has not changed since, or by reading all of it.
    fn check(&self, path: &Path, file: &File, len: u64, key: &CacheKey) -> io::Result<()> {
        let what = key.as_bytes();
        if self.verified.is_unchanged(path, file, &what) {
            return Ok(());
        }
        let before = file.metadata()?;
        // It is mapped, so whoever may write it could change code that runs.
        if !is_ours_alone(&before) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "others may write it"));
        }
        sealed::check(file, len, &self.key, key)?;
        self.verified.remember(path, file, &before, &what);
        Ok(())
    }

    /// The right to compile this module, if nobody has it, in this process or another. Whoever does not get
    /// it finds the code in the cache once it is free again. It is free when it is dropped, or its process ends.
    pub fn try_turn(&self, key: &CacheKey) -> io::Result<Option<CompileTurn>> {
        // A few files for all modules: two that share one wait for each other, and nothing piles up.
        let shard = key.digest.as_bytes()[0] % TURN_FILES;
        Ok(Lock::try_take(&self.home.lock_file(&format!("compile-{shard:02}")))?.map(CompileTurn))
    }

    /// Keeps code, throwing out what was not used for longest. A failure costs a compilation.
    pub fn put(&self, key: &CacheKey, code: &[u8]) {
        let bytes = (code.len() as u64).saturating_add(TRAILER_BYTES as u64);
        if bytes > self.bytes_max {
            tracing::warn!(bytes, max = self.bytes_max, "compiled code is too large to be cached");
            return;
        }
        let path = self.path_of(key);
        let trailer = sealed::trailer(&self.key, key, code);
        let written = prune::make_room(&self.dir, &path, bytes, self.bytes_max)
            // What the power takes is missing or fails its MAC: no need to wait for the disk.
            .and_then(|()| write_atomic(&path, &[code, &trailer], Durability::Process));
        if let Err(error) = written {
            tracing::warn!(path = %path.display(), %error, "could not cache compiled code");
        }
    }

    fn path_of(&self, key: &CacheKey) -> PathBuf {
        self.dir.join(format!("{}-{:016x}.{}", key.digest, key.compat, prune::EXTENSION))
    }
}

/// Compiled code that was checked, to be mapped. Behind it may stand a few bytes of ours.
#[derive(Debug)]
pub struct CodeFile(pub(crate) File);

impl CodeFile {
    /// The open file.
    pub fn into_file(self) -> File {
        self.0
    }
}

/// The right to compile a module, held until it is dropped.
#[derive(Debug)]
pub struct CompileTurn(#[allow(dead_code)] Lock);

/// Marks a use. The mark is on the note where there is one: a mark on the file would be a change of it.
fn touch(path: &Path, file: &File) {
    let note = File::open(note_of(path));
    let marked = note.as_ref().unwrap_or(file);
    let modified = marked.metadata().and_then(|facts| facts.modified());
    if modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > TOUCH_AFTER)) {
        let _ = marked.set_modified(SystemTime::now());
    }
}

#[cfg(test)]
mod tests;
