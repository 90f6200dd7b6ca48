//! Adding, binding anew and removing names, and getting back from a damaged file.
//!
//! Each change is read, modify, write under a lock that other processes honour, so that two of
//! them at once lose nothing. The artifact is safely on disk before a name points at it. A
//! damaged file is never written over: what can still be read from it by hand would be gone.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use drydock_contract::{ARTIFACT_BYTES_MAX, ArgMode, Artifact, CommandName, Digest, port::Entry};

use super::{
    COMMANDS_MAX, CommandRegistry, RegisterError,
    document::{self, Binding, Document},
    view::{Stamp, View},
};
use crate::{
    artifact::{check_size, digest_in},
    home::{Durability, keep_second_name, write_atomic},
};

const LOCK: &str = "registry";

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repaired {
    /// The file was fine.
    Nothing,
    /// The damaged file was set aside.
    SetAside {
        /// Where the damaged file is now.
        broken: PathBuf,
        /// How many names the second copy gave back; `None` if it was missing or damaged
        /// as well, so that the registry starts empty.
        restored: Option<usize>,
    },
}

impl CommandRegistry {
    /// Registers a module under a name, or binds the name anew. Runs in flight keep the old bytes.
    pub fn add(
        &self,
        name: &str,
        bytes: impl Into<Bytes>,
        mode: ArgMode,
        expected: Option<Digest>,
    ) -> Result<Entry, RegisterError> {
        let name = self.free_name(name)?;
        let bytes = bytes.into();
        check_size(bytes.len() as u64)?;
        self.refresh();
        self.check()?;
        // Looked at again under the lock; here so that a full registry does not fill the disk.
        room_for(&name, &self.view.read().document)?;
        check_wasm(&bytes)?;
        let artifact = Artifact::hash(bytes);
        if let Some(expected) = expected.filter(|it| *it != artifact.digest()) {
            return Err(RegisterError::ShaMismatch { expected, got: artifact.digest() });
        }
        self.artifacts.keep(&artifact)?;
        self.bind(name, artifact.digest(), mode)
    }

    /// Registers a file that lies in the artifact directory already. A relative path starts there.
    pub fn register_path(&self, name: &str, path: &Path, mode: ArgMode) -> Result<Entry, RegisterError> {
        let name = self.free_name(name)?;
        let digest = self.confined(path)?;
        room_for(&name, &self.view.read().document)?;
        check_wasm(self.artifacts.load_from_disk(digest)?.bytes())?;
        self.bind(name, digest, mode)
    }

    /// Removes a registered name. Its artifact stays for the runs that may still load it.
    pub fn remove(&self, name: &str) -> Result<Entry, RegisterError> {
        let name = self.free_name(name)?;
        self.change(|document| match document.commands.remove(&name) {
            Some(bound) => Ok(entry(name, bound)),
            None => Err(RegisterError::UnknownCommand { name }),
        })
    }

    /// Sets a damaged file aside as `registry.json.broken-N` and restores the one before it.
    pub fn repair(&self) -> Result<Repaired, RegisterError> {
        let path = self.home.registry_file();
        let failed = |cause| RegisterError::WriteFailed { path: path.clone(), cause };
        let _lock = self.home.lock(LOCK).map_err(failed)?;
        if self.read().is_ok() {
            self.refresh();
            return Ok(Repaired::Nothing);
        }
        let broken = (1..=u32::MAX)
            .map(|n| self.home.root().join(format!("registry.json.broken-{n}")))
            .find(|it| std::fs::symlink_metadata(it).is_err())
            .unwrap_or_else(|| self.home.root().join("registry.json.broken"));
        keep_second_name(&path, &broken).map_err(failed)?;
        let previous = previous(&path);
        let restored = match document::read(&previous, |name| self.builtins.reserves(name)) {
            (Some(_), Ok(document)) => Some(document),
            _ => None,
        };
        let names = restored.as_ref().map(|it| it.commands.len());
        self.write(restored.unwrap_or_default()).map_err(failed)?;
        Ok(Repaired::SetAside { broken, restored: names })
    }

    /// Says if nobody could register this name. The order of the refusals is the seed's: reserved, then
    /// not a name.
    pub fn may_register(&self, name: &str) -> Result<(), RegisterError> {
        self.free_name(name).map(drop)
    }

    fn free_name(&self, name: &str) -> Result<CommandName, RegisterError> {
        if self.builtins.reserves(name) {
            return Err(RegisterError::ReservedName { name: name.to_owned() });
        }
        Ok(CommandName::registrable(name)?)
    }

    /// The hash of an artifact whose path, links resolved, lies strictly inside the directory.
    fn confined(&self, path: &Path) -> Result<Digest, RegisterError> {
        let refused = |why| RegisterError::PathNotConfined { path: path.to_owned(), why };
        let real = |path: &Path| std::fs::canonicalize(path).map_err(|_| refused("cannot be found"));
        let dir = real(self.artifacts.dir())?;
        let real = real(&dir.join(path))?;
        if real.parent() != Some(&dir) {
            return Err(refused("lies outside the artifact directory"));
        }
        let name = real.file_name().map(Path::new).and_then(digest_in);
        match name {
            Some(_) if !real.is_file() => Err(refused("is not a file")),
            Some(digest) => Ok(digest),
            None => Err(refused("is not named by its hash")),
        }
    }

    fn bind(&self, name: CommandName, sha256: Digest, mode: ArgMode) -> Result<Entry, RegisterError> {
        self.change(|document| {
            room_for(&name, document)?;
            let bound = Binding { sha256, mode };
            document.commands.insert(name.clone(), bound);
            Ok(entry(name, bound))
        })
    }

    fn change<T>(
        &self,
        edit: impl FnOnce(&mut Document) -> Result<T, RegisterError>,
    ) -> Result<T, RegisterError> {
        let path = self.home.registry_file();
        let failed = |cause| RegisterError::WriteFailed { path: path.clone(), cause };
        let _lock = self.home.lock(LOCK).map_err(failed)?;
        let before = self.read()?;
        let mut document = before.clone();
        let done = edit(&mut document)?;
        if document == before {
            self.refresh();
            return Ok(done);
        }
        self.write(document).map_err(failed)?;
        Ok(done)
    }

    fn read(&self) -> Result<Document, RegisterError> {
        let path = self.home.registry_file();
        document::read(&path, |name| self.builtins.reserves(name)).1.map_err(|it| self.corrupt(it))
    }

    /// Replaces the file and the view. Only under the lock.
    fn write(&self, document: Document) -> std::io::Result<()> {
        let path = self.home.registry_file();
        let text = document::print(&document)?;
        write_atomic(&path, &[&text], Durability::Power)?;
        // A second copy of the same names, not a second name of the same copy: what damages the one
        // leaves the other, and a repair loses nothing that was acknowledged.
        write_atomic(&previous(&path), &[&text], Durability::Process)?;
        let _one_at_a_time = self.reloading.lock();
        *self.view.write() = View::new(document, &self.builtins, Stamp::of(&path));
        Ok(())
    }
}

fn room_for(name: &CommandName, document: &Document) -> Result<(), RegisterError> {
    if document.commands.len() >= COMMANDS_MAX && !document.commands.contains_key(name) {
        return Err(RegisterError::RegistryFull { max: COMMANDS_MAX });
    }
    Ok(())
}

/// Looks at the first eight bytes: the rest is the compiler's to judge.
fn check_wasm(bytes: &[u8]) -> Result<(), RegisterError> {
    debug_assert!(bytes.len() as u64 <= ARTIFACT_BYTES_MAX, "sizes are checked first");
    let why = match bytes {
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => return Ok(()),
        [0, b'a', b's', b'm', _, 0, 1, 0, ..] => "it is a component, and components come later",
        [0, b'a', b's', b'm', ..] => "its version is not 1",
        _ => "it does not begin with `\\0asm`",
    };
    Err(RegisterError::NotWasm { why })
}

fn entry(name: CommandName, bound: Binding) -> Entry {
    Entry { name, digest: bound.sha256, mode: bound.mode, builtin: false }
}

fn previous(path: &Path) -> PathBuf {
    path.with_extension("json.prev")
}
