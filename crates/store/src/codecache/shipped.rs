//! Compiled code that came with the binary, so that nothing is compiled on first use.
//!
//! The binary was built with the hashes of these files in it, which is what makes them trusted: a file is read
//! through and returned open, to be mapped, if it has the very hash. What is missing or different is compiled as
//! ever. Who could alter a file in between could have altered the binary that lies beside it.
//!
//! A file that was read through is noted in the home's cache, under its key, and is not read again until something about
//! it changes (decision 0082). Without a cache it is read at every start.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    path::PathBuf,
};

use drydock_contract::Digest;

use super::{CODE_BYTES_MAX, CodeCache, CodeFile};
use crate::home::{is_ours_or_the_systems, open_regular};

/// One file, as the binary knows it.
#[derive(Debug, Clone, Copy)]
pub struct ShippedCode {
    /// Its name.
    pub file: &'static str,
    /// The sha256 of the module it was compiled from.
    pub module: [u8; 32],
    /// The lane it is for.
    pub lane: &'static str,
    /// The hash of its content.
    pub blake3: [u8; 32],
}

/// The files, and where they lie.
#[derive(Debug, Clone)]
pub struct Shipped {
    /// Where.
    pub dir: PathBuf,
    /// Which.
    pub codes: &'static [ShippedCode],
}

impl Shipped {
    /// The code of a module for a lane, if it came along unchanged. Notes about what was read are `cache`'s.
    pub fn get(&self, module: Digest, lane: &str, cache: Option<&CodeCache>) -> Option<CodeFile> {
        let listed = self.codes.iter().find(|it| it.module == *module.as_bytes() && it.lane == lane)?;
        let path = self.dir.join(listed.file);
        let opened = open_regular(&path, CODE_BYTES_MAX).and_then(|(file, _)| {
            let is_it = cache.is_some_and(|it| it.knows(&file, listed)) || checked(&file, listed, cache)?;
            Ok((file, is_it))
        });
        match opened {
            Ok((file, true)) => Some(CodeFile(file)),
            Ok((_, false)) => {
                tracing::warn!(path = %path.display(), "compiled code is not what this program came with");
                None
            }
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "compiled code that should be here is not");
                None
            }
        }
    }
}

/// Reads all of it and says whether it has the hash; that is noted.
fn checked(file: &File, listed: &ShippedCode, cache: Option<&CodeCache>) -> io::Result<bool> {
    let before = file.metadata()?;
    let is_it = hash_of(file)? == blake3::Hash::from_bytes(listed.blake3);
    if let Some(cache) = cache.filter(|_| is_it) {
        let (note, what) = (cache.note_of_shipped(listed), what(listed));
        cache.verified.remember_in(&note, file, &before, &what, is_ours_or_the_systems);
    }
    Ok(is_it)
}

/// What a note about it says. Those about files of the cache are shorter, so that none of one kind is one of the other.
pub(super) fn what(listed: &ShippedCode) -> Vec<u8> {
    [&b"shipped code "[..], &listed.blake3].concat()
}

impl CodeCache {
    /// Whether the open file was found to be that code before, and is as it was then.
    fn knows(&self, file: &File, listed: &ShippedCode) -> bool {
        self.verified.holds(&self.note_of_shipped(listed), file, &what(listed), is_ours_or_the_systems)
    }

    /// Where it lies: the folder of the program may be nobody's to write.
    pub(super) fn note_of_shipped(&self, listed: &ShippedCode) -> PathBuf {
        let hash = blake3::Hash::from_bytes(listed.blake3).to_hex();
        self.dir.join(format!("shipped-{hash}.verified"))
    }
}

/// Read at a time.
const PIECE_BYTES: usize = 256 << 10;

fn hash_of(mut file: &File) -> io::Result<blake3::Hash> {
    let (mut hasher, mut piece) = (blake3::Hasher::new(), vec![0; PIECE_BYTES]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&piece[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    file.rewind()?;
    Ok(hasher.finalize())
}

/// The hash by which a binary knows code that was compiled for it, as hexadecimal digits.
pub fn shipped_hash(code: &[u8]) -> String {
    blake3::hash(code).to_hex().to_string()
}
