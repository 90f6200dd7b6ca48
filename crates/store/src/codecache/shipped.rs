//! Compiled code that came with the binary, so that nothing is compiled on first use.
//!
//! The binary was built with the hashes of these files in it, which is what makes them trusted: a file is read
//! through and returned open, to be mapped, if it has the very hash. What is missing or different is compiled as
//! ever. Who could alter a file in between could have altered the binary that lies beside it.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    path::PathBuf,
};

use drydock_contract::Digest;

use super::{CODE_BYTES_MAX, CodeFile};
use crate::home::open_regular;

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
    /// The code of a module for a lane, if it came along unchanged.
    pub fn get(&self, module: Digest, lane: &str) -> Option<CodeFile> {
        let listed = self.codes.iter().find(|it| it.module == *module.as_bytes() && it.lane == lane)?;
        let path = self.dir.join(listed.file);
        let read = open_regular(&path, CODE_BYTES_MAX).and_then(|(file, _)| Ok((hash_of(&file)?, file)));
        let (hash, file) = match read {
            Ok(read) => read,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "compiled code that should be here is not");
                return None;
            }
        };
        if hash != blake3::Hash::from_bytes(listed.blake3) {
            tracing::warn!(path = %path.display(), "compiled code is not what this program came with");
            return None;
        }
        Some(CodeFile(file))
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
