//! One file: magic, version, length, MAC, code. The MAC covers the key of the entry as well, so
//! that a file of ours renamed to another name is foreign too.

use std::{fs::File, io, io::Read as _};

use super::{CacheKey, key::MacKey};

const MAGIC: &[u8; 8] = b"DRYDOCKC";
const VERSION: u32 = 1;
/// Magic, version, length, MAC.
pub(super) const HEADER_BYTES: usize = 8 + 4 + 8 + 32;

/// What stands before the code.
pub(super) fn header(mac_key: &MacKey, key: &CacheKey, code: &[u8]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..20].copy_from_slice(&(code.len() as u64).to_le_bytes());
    header[20..].copy_from_slice(mac(mac_key, key, code).as_bytes());
    header
}

/// Reads a file of `len` bytes once; answers the code if the MAC is right.
pub(super) fn read(mut file: &File, len: u64, mac_key: &MacKey, key: &CacheKey) -> io::Result<Vec<u8>> {
    let foreign = |why: &'static str| io::Error::new(io::ErrorKind::InvalidData, why);
    let Some(payload) = len.checked_sub(HEADER_BYTES as u64) else {
        return Err(foreign("it is shorter than its header"));
    };
    let mut found = [0; HEADER_BYTES];
    file.read_exact(&mut found)?;
    if found[..8] != *MAGIC || found[8..12] != VERSION.to_le_bytes() {
        return Err(foreign("it is of another kind or version"));
    }
    if found[12..20] != payload.to_le_bytes() {
        return Err(foreign("it has another length than it says"));
    }
    let mut code = Vec::new();
    code.try_reserve_exact(usize::try_from(payload).map_err(io::Error::other)?)?;
    file.take(payload).read_to_end(&mut code)?;
    let mut claimed = [0; 32];
    claimed.copy_from_slice(&found[20..]);
    // `blake3::Hash` compares in constant time.
    if mac(mac_key, key, &code) != blake3::Hash::from_bytes(claimed) {
        return Err(foreign("its MAC is wrong"));
    }
    Ok(code)
}

fn mac(mac_key: &MacKey, key: &CacheKey, code: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(&mac_key.0);
    hasher.update(MAGIC).update(&VERSION.to_le_bytes());
    hasher.update(key.digest.as_bytes()).update(&key.compat.to_le_bytes());
    hasher.update(&(code.len() as u64).to_le_bytes()).update(code);
    hasher.finalize()
}
