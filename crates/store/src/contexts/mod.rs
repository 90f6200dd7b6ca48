//! Memory that a program of code mode left, for the next one of the same name: a file each, in the tenant's folder.
//!
//! The bytes are a guest's and go into a guest: nothing of them is trusted, and nothing but a guest reads
//! them. They carry a MAC under the key of this installation, over whose they are, the tenant's and the principal's, and under which name, so
//! that nobody else puts words into a program's mouth. Pages of zeros are not kept.

#[cfg(test)]
mod tests;

use std::{
    fmt,
    io::{self, Read as _},
    path::PathBuf,
};

use drydock_contract::{Digest, Principal};

use crate::{
    TenantHome, WorkspaceName,
    codecache::key,
    home::{Durability, open_regular, write_atomic},
};

const MAGIC: &[u8; 8] = b"drydctx3";
const PAGE: usize = 4096;
/// Magic, MAC, module, length of the memory.
const HEAD_BYTES: usize = 8 + 32 + 32 + 8;
/// Larger than any guest's memory with all its page numbers.
const FILE_BYTES_MAX: u64 = 5 << 30;
/// What the key of this installation is turned into for these files: compiled code has another.
const KEY_USE: &str = "drydock 2026 memory of programs";

/// The contexts of one principal.
#[derive(Debug, Clone)]
pub struct Contexts {
    tenant: TenantHome,
    dir: PathBuf,
    principal: Principal,
    key: Key,
}

/// Never printed.
#[derive(Clone)]
struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Contexts {
    /// Those of this principal of this tenant.
    pub fn of(tenant: &TenantHome, principal: Principal) -> io::Result<Self> {
        let dir = tenant.contexts();
        let key = key::load_or_make(tenant.home()).map_err(io::Error::other)?.for_use(KEY_USE);
        Ok(Self { tenant: tenant.clone(), dir, principal, key: Key(key) })
    }

    /// The memory that was left under this name by that module; none if there is none.
    pub fn load(&self, name: &WorkspaceName, module: Digest) -> io::Result<Option<Vec<u8>>> {
        let path = self.file(name);
        let (mut file, length) = match open_regular(&path, FILE_BYTES_MAX) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default().min(64 << 20));
        file.read_to_end(&mut bytes)?;
        let unusable = |why: &str| {
            let text = format!("the context {why}; remove `{}` to start anew", path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        };
        let damaged = || unusable("is damaged");
        let (head, pages) = bytes.split_at_checked(HEAD_BYTES).ok_or_else(damaged)?;
        if &head[..8] != MAGIC {
            return Err(unusable("is damaged, or of another version"));
        }
        let claimed = head[8..40].try_into().map_err(|_| damaged())?;
        // `blake3::Hash` compares in constant time.
        if self.mac(name, &head[40..], pages) != blake3::Hash::from_bytes(claimed) {
            return Err(unusable("was changed, or is not of this installation"));
        }
        if &head[40..72] != module.as_bytes() {
            return Err(unusable("was made by another version of the guest"));
        }
        let size = u64::from_le_bytes(head[72..80].try_into().map_err(|_| damaged())?);
        let size = usize::try_from(size).ok().filter(|it| *it as u64 <= 4 << 30).ok_or_else(damaged)?;
        let mut memory = vec![0; size];
        for row in pages.chunks(4 + PAGE) {
            let (number, page) = row.split_at_checked(4).ok_or_else(damaged)?;
            let at = u32::from_le_bytes(number.try_into().map_err(|_| damaged())?) as usize * PAGE;
            let room = memory.get_mut(at..at + page.len()).ok_or_else(damaged)?;
            room.copy_from_slice(page);
        }
        Ok(Some(memory))
    }

    /// Keeps memory under this name, in one step: a reader sees the old or the new.
    pub fn save(&self, name: &WorkspaceName, module: Digest, memory: &[u8]) -> io::Result<()> {
        let mut head = Vec::with_capacity(HEAD_BYTES - 40);
        head.extend_from_slice(module.as_bytes());
        head.extend_from_slice(&(memory.len() as u64).to_le_bytes());
        let mut pages = Vec::new();
        for (number, page) in memory.chunks(PAGE).enumerate() {
            if page.iter().any(|byte| *byte != 0) {
                pages.extend_from_slice(&(number as u32).to_le_bytes());
                pages.extend_from_slice(page);
            }
        }
        let mac = self.mac(name, &head, &pages);
        self.tenant.make(&self.dir)?;
        write_atomic(&self.file(name), &[MAGIC, mac.as_bytes(), &head, &pages], Durability::Power)
    }

    fn mac(&self, name: &WorkspaceName, head: &[u8], pages: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key.0);
        for text in [self.tenant.tenant().as_str(), self.principal.as_str(), name.as_str()] {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        hasher.update(head).update(pages);
        hasher.finalize()
    }

    /// Forgets it. False if there was none.
    pub fn remove(&self, name: &WorkspaceName) -> io::Result<bool> {
        match std::fs::remove_file(self.file(name)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A principal may be any printable text, `../..` too, and so only its hash is part of a path.
    fn file(&self, name: &WorkspaceName) -> PathBuf {
        let whose = blake3::hash(self.principal.as_str().as_bytes()).to_hex();
        self.dir.join(format!("{}@{name}.memory", &whose[..32]))
    }
}
