//! Compiled code that came with the binary, so that nothing is compiled on first use.
//!
//! The binary was built with the hashes of these files in it, which is what makes them trusted: they are read
//! once, and only bytes with the very hash are returned. What is missing or different is compiled as ever.

use std::path::PathBuf;

use drydock_contract::Digest;

use super::CODE_BYTES_MAX;
use crate::home::{open_regular, read_capped};

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
    pub fn get(&self, module: Digest, lane: &str) -> Option<Vec<u8>> {
        let listed = self.codes.iter().find(|it| it.module == *module.as_bytes() && it.lane == lane)?;
        let path = self.dir.join(listed.file);
        let read = open_regular(&path, CODE_BYTES_MAX)
            .and_then(|(file, len)| read_capped(&file, len, CODE_BYTES_MAX));
        let code = match read {
            Ok(code) => code,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "compiled code that should be here is not");
                return None;
            }
        };
        if blake3::hash(&code) != blake3::Hash::from_bytes(listed.blake3) {
            tracing::warn!(path = %path.display(), "compiled code is not what this program came with");
            return None;
        }
        Some(code)
    }
}

/// The hash by which a binary knows code that was compiled for it, as hexadecimal digits.
pub fn shipped_hash(code: &[u8]) -> String {
    blake3::hash(code).to_hex().to_string()
}
