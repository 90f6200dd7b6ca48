//! Adding, binding anew and removing names, and getting back from a damaged file.
//!
//! Each change is read, modify, write under a lock that other processes honour, so that two of
//! them at once lose nothing. The artifact is safely on disk before a name points at it. A
//! damaged file is never written over: what can still be read from it by hand would be gone.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use drydock_contract::{
    ARTIFACT_BYTES_MAX, ArgMode, Artifact, CommandName, Digest,
    port::{Entry, EntryOptions},
};

use super::{
    COMMANDS_MAX, CommandRegistry, RegisterError,
    document::{self, Binding, Document},
    options,
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

/// What is registered besides a name and bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registration {
    /// How it takes arguments.
    pub mode: ArgMode,
    /// The hash that the bytes must have, if it was promised.
    pub expected: Option<Digest>,
    /// How it is started.
    pub options: EntryOptions,
}

impl CommandRegistry {
    /// Registers a module that is started plainly; see [`register`](Self::register).
    pub fn add(
        &self,
        name: &str,
        bytes: impl Into<Bytes>,
        mode: ArgMode,
        expected: Option<Digest>,
    ) -> Result<Entry, RegisterError> {
        self.register(name, bytes, Registration { mode, expected, ..Registration::default() })
    }

    /// Registers a module under a name, or binds the name anew. Runs in flight keep the old bytes.
    pub fn register(
        &self,
        name: &str,
        bytes: impl Into<Bytes>,
        how: Registration,
    ) -> Result<Entry, RegisterError> {
        let Registration { mode, expected, options } = how;
        let name = self.free_name(name)?;
        self.check_options(&options)?;
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
        self.common.artifacts.keep(&artifact)?;
        self.bind(name, Binding { sha256: artifact.digest(), mode, options: Arc::new(options) })
    }

    /// Gives a module that is registered already, or lies in the artifact directory, one more name.
    pub fn register_again(
        &self,
        name: &str,
        sha256: Digest,
        how: Registration,
    ) -> Result<Entry, RegisterError> {
        let name = self.free_name(name)?;
        self.check_options(&how.options)?;
        self.common.artifacts.load_from_disk(sha256)?;
        self.bind(name, Binding { sha256, mode: how.mode, options: Arc::new(how.options) })
    }

    /// Binds several names to a module that lies in the artifact directory: all of them in one change of the
    /// file, or none. What they were bound to before stays if it fails.
    pub fn register_all(
        &self,
        sha256: Digest,
        names: Vec<(&str, Registration)>,
    ) -> Result<(), RegisterError> {
        let mut bindings = Vec::new();
        for (name, how) in names {
            let name = self.free_name(name)?;
            self.check_options(&how.options)?;
            bindings.push((name, Binding { sha256, mode: how.mode, options: Arc::new(how.options) }));
        }
        self.common.artifacts.load_from_disk(sha256)?;
        self.change(|document| {
            for (name, bound) in bindings {
                room_for(&name, document)?;
                document.commands.insert(name, bound);
            }
            Ok(())
        })
    }

    fn check_options(&self, options: &EntryOptions) -> Result<(), RegisterError> {
        options::check(options)?;
        if let Some(image) = &options.image {
            self.common.artifacts.load_from_disk(image.module)?;
        }
        match options.dirs.iter().find(|dir| !self.common.trees.contains(dir.tree)) {
            Some(dir) => Err(RegisterError::NoTree { tree: dir.tree }),
            None => Ok(()),
        }
    }

    /// Registers a file that lies in the artifact directory already. A relative path starts there.
    pub fn register_path(&self, name: &str, path: &Path, mode: ArgMode) -> Result<Entry, RegisterError> {
        let name = self.free_name(name)?;
        let digest = self.confined(path)?;
        room_for(&name, &self.view.read().document)?;
        check_wasm(self.common.artifacts.load_from_disk(digest)?.bytes())?;
        self.bind(name, Binding { sha256: digest, mode, options: Arc::default() })
    }

    /// Removes a registered name. Its artifact stays for the runs that may still load it.
    pub fn remove(&self, name: &str) -> Result<Entry, RegisterError> {
        let name = self.free_name(name)?;
        self.change(|document| match document.commands.remove(&name) {
            Some(bound) => Ok(bound.entry(name)),
            None => Err(RegisterError::UnknownCommand { name }),
        })
    }

    /// Sets a damaged file aside as `registry.json.broken-N` and restores the one before it.
    pub fn repair(&self) -> Result<Repaired, RegisterError> {
        let path = self.tenant.registry_file();
        let failed = |cause| RegisterError::WriteFailed { path: path.clone(), cause };
        let _lock = self.tenant.lock(LOCK).map_err(failed)?;
        if self.read().is_ok() {
            self.refresh();
            return Ok(Repaired::Nothing);
        }
        let broken = (1..=u32::MAX)
            .map(|n| self.tenant.root().join(format!("registry.json.broken-{n}")))
            .find(|it| std::fs::symlink_metadata(it).is_err())
            .unwrap_or_else(|| self.tenant.root().join("registry.json.broken"));
        keep_second_name(&path, &broken).map_err(failed)?;
        let previous = previous(&path);
        let restored = match document::read(&previous, |name| self.common.builtins.reserves(name)) {
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
        if self.common.builtins.reserves(name) {
            return Err(RegisterError::ReservedName { name: name.to_owned() });
        }
        Ok(CommandName::registrable(name)?)
    }

    /// The hash of an artifact whose path, links resolved, lies strictly inside the directory.
    fn confined(&self, path: &Path) -> Result<Digest, RegisterError> {
        let refused = |why| RegisterError::PathNotConfined { path: path.to_owned(), why };
        let real = |path: &Path| std::fs::canonicalize(path).map_err(|_| refused("cannot be found"));
        let dir = real(self.common.artifacts.dir())?;
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

    fn bind(&self, name: CommandName, bound: Binding) -> Result<Entry, RegisterError> {
        self.change(|document| {
            room_for(&name, document)?;
            document.commands.insert(name.clone(), bound.clone());
            Ok(bound.entry(name))
        })
    }

    fn change<T>(
        &self,
        edit: impl FnOnce(&mut Document) -> Result<T, RegisterError>,
    ) -> Result<T, RegisterError> {
        let path = self.tenant.registry_file();
        let failed = |cause| RegisterError::WriteFailed { path: path.clone(), cause };
        let _lock = self.tenant.lock(LOCK).map_err(failed)?;
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
        let path = self.tenant.registry_file();
        document::read(&path, |name| self.common.builtins.reserves(name)).1.map_err(|it| self.corrupt(it))
    }

    /// Replaces the file and the view. Only under the lock.
    fn write(&self, document: Document) -> std::io::Result<()> {
        let path = self.tenant.registry_file();
        let text = document::print(&document)?;
        // A second copy of the same names, not a second name of the same copy: what damages the one
        // leaves the other, and a repair loses nothing that was acknowledged. It comes first, so that a
        // full disk says no before the names have changed.
        write_atomic(&previous(&path), &[&text], Durability::Process)?;
        write_atomic(&path, &[&text], Durability::Power)?;
        let _one_at_a_time = self.reloading.lock();
        *self.view.write() = View { document, stamp: Stamp::of(&path), damage: None };
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

impl Binding {
    pub(super) fn entry(&self, name: CommandName) -> Entry {
        let options = Arc::clone(&self.options);
        Entry { name, digest: self.sha256, mode: self.mode, builtin: false, options }
    }
}

fn previous(path: &Path) -> PathBuf {
    path.with_extension("json.prev")
}
