//! Memory that a program of code mode left, for the next one of the same name: a file each, in the home.
//!
//! The bytes are a guest's and go into a guest: nothing of them is trusted, and nothing but a guest reads
//! them. Pages of zeros are not kept.

#[cfg(test)]
mod tests;

use std::{
    io::{self, Read as _},
    path::PathBuf,
};

use drydock_contract::{Digest, Principal};

use crate::{
    Home, WorkspaceName,
    home::{Durability, open_regular, write_atomic},
};

const MAGIC: &[u8; 8] = b"drydctx1";
const PAGE: usize = 4096;
/// Larger than any guest's memory with all its page numbers.
const FILE_BYTES_MAX: u64 = 5 << 30;

/// The contexts of one principal.
#[derive(Debug, Clone)]
pub struct Contexts {
    dir: PathBuf,
    principal: Principal,
}

impl Contexts {
    /// Those of this principal in this home.
    pub fn of(home: &Home, principal: Principal) -> io::Result<Self> {
        let dir = home.root().join("contexts");
        std::fs::create_dir_all(&dir)?;
        Ok(Self { dir, principal })
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
        let (head, pages) = bytes.split_at_checked(MAGIC.len() + 32 + 8).ok_or_else(damaged)?;
        if &head[..8] != MAGIC {
            return Err(damaged());
        }
        if &head[8..40] != module.as_bytes() {
            return Err(unusable("was made by another version of the guest"));
        }
        let size = u64::from_le_bytes(head[40..48].try_into().map_err(|_| damaged())?);
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
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(module.as_bytes());
        bytes.extend_from_slice(&(memory.len() as u64).to_le_bytes());
        for (number, page) in memory.chunks(PAGE).enumerate() {
            if page.iter().any(|byte| *byte != 0) {
                bytes.extend_from_slice(&(number as u32).to_le_bytes());
                bytes.extend_from_slice(page);
            }
        }
        write_atomic(&self.file(name), &[&bytes], Durability::Power)
    }

    /// Forgets it. False if there was none.
    pub fn remove(&self, name: &WorkspaceName) -> io::Result<bool> {
        match std::fs::remove_file(self.file(name)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn file(&self, name: &WorkspaceName) -> PathBuf {
        self.dir.join(format!("{}@{name}.memory", self.principal))
    }
}
