//! One file: code, then magic, version, length and MAC. The code comes first because files are mapped, and what
//! is mapped starts at the beginning of one. The MAC covers the key of the entry as well, so that a file of ours
//! renamed to another name is foreign too.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
};

use super::{CacheKey, key::MacKey};

const MAGIC: &[u8; 8] = b"DRYDOCKC";
const VERSION: u32 = 2;
/// Magic, version, length, MAC.
pub(super) const TRAILER_BYTES: usize = 8 + 4 + 8 + 32;
/// Read at a time.
const PIECE_BYTES: usize = 256 << 10;

/// What stands behind the code.
pub(super) fn trailer(mac_key: &MacKey, key: &CacheKey, code: &[u8]) -> [u8; TRAILER_BYTES] {
    let mut hasher = hasher(mac_key, key, code.len() as u64);
    hasher.update(code);
    let mut trailer = [0; TRAILER_BYTES];
    trailer[..8].copy_from_slice(MAGIC);
    trailer[8..12].copy_from_slice(&VERSION.to_le_bytes());
    trailer[12..20].copy_from_slice(&(code.len() as u64).to_le_bytes());
    trailer[20..].copy_from_slice(hasher.finalize().as_bytes());
    trailer
}

/// Reads a file of `len` bytes once and says if the MAC is right.
pub(super) fn check(mut file: &File, len: u64, mac_key: &MacKey, key: &CacheKey) -> io::Result<()> {
    let foreign = |why: &'static str| io::Error::new(io::ErrorKind::InvalidData, why);
    let Some(payload) = len.checked_sub(TRAILER_BYTES as u64) else {
        return Err(foreign("it is shorter than its trailer"));
    };
    let mut found = [0; TRAILER_BYTES];
    file.seek(SeekFrom::Start(payload))?;
    file.read_exact(&mut found)?;
    if found[..8] != *MAGIC || found[8..12] != VERSION.to_le_bytes() {
        return Err(foreign("it is of another kind or version"));
    }
    if found[12..20] != payload.to_le_bytes() {
        return Err(foreign("it has another length than it says"));
    }
    let mut hasher = hasher(mac_key, key, payload);
    file.seek(SeekFrom::Start(0))?;
    let (mut piece, mut left) = (vec![0; PIECE_BYTES], payload);
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        file.read_exact(&mut piece[..count])?;
        hasher.update(&piece[..count]);
        left -= count as u64;
    }
    let mut claimed = [0; 32];
    claimed.copy_from_slice(&found[20..]);
    // `blake3::Hash` compares in constant time.
    if hasher.finalize() != blake3::Hash::from_bytes(claimed) {
        return Err(foreign("its MAC is wrong"));
    }
    Ok(())
}

fn hasher(mac_key: &MacKey, key: &CacheKey, len: u64) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_keyed(&mac_key.0);
    hasher.update(MAGIC).update(&VERSION.to_le_bytes());
    hasher.update(key.digest.as_bytes()).update(&key.compat.to_le_bytes());
    hasher.update(&len.to_le_bytes());
    hasher
}
