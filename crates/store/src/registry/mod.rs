//! A PATH with no operating system: names, in memory, and the verified bytes they stand for.
//!
//! Two layers: what was registered, overlaid by what came with Drydock. Built-ins go in last, so
//! that no registration, no edited file and no other process can bind `jq` to other bytes. A
//! lookup reads one map; the file behind it is looked at on a miss, and about once a second
//! otherwise, so that a name another process added is found. Bytes are loaded by hash, so a run
//! that looked a name up keeps its bytes while the name moves on.

mod builtin;
mod change;
mod document;
mod error;
mod options;
mod report;
mod view;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use drydock_contract::{
    Artifact, CommandName,
    port::{Entry, EntryDir, EntryTree, LoadError, Registry},
};
use parking_lot::{Mutex, RwLock};

use crate::{ArtifactStore, Home, TreeStore};
use builtin::Builtins;
pub use builtin::{BadBuiltin, Builtin, Part};
pub use change::{Registration, Repaired};
pub use error::RegisterError;
pub use options::BadOptions;
pub use report::{Listed, Origin, Verdict};
use view::{Stamp, View};

/// The most names that can be registered. Built-ins do not count.
pub const COMMANDS_MAX: usize = 4096;
/// How long a hit may answer from memory before the file is looked at again.
const LOOK_AGAIN_MS: u64 = 1000;

/// The names of one home.
#[derive(Debug)]
pub struct CommandRegistry {
    home: Home,
    artifacts: ArtifactStore,
    trees: TreeStore,
    builtins: Builtins,
    view: RwLock<View>,
    reloading: Mutex<()>,
    born: Instant,
    look_again_ms: AtomicU64,
}

impl CommandRegistry {
    /// Opens the registry of a home. A damaged file does not keep it shut: built-ins resolve, and
    /// [`check`](Self::check) tells.
    pub fn open(home: &Home, builtins: Vec<Builtin>) -> Result<Self, BadBuiltin> {
        Self::reserving(home, builtins, [])
    }

    /// As [`open`](Self::open), and these names can be registered by nobody either.
    pub fn reserving(
        home: &Home,
        builtins: Vec<Builtin>,
        words: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self, BadBuiltin> {
        let builtins = Builtins::new(builtins, words)?;
        let registry = Self {
            artifacts: ArtifactStore::new(home),
            trees: TreeStore::new(home),
            view: RwLock::new(View::empty(&builtins)),
            home: home.clone(),
            builtins,
            reloading: Mutex::default(),
            born: Instant::now(),
            look_again_ms: AtomicU64::new(LOOK_AGAIN_MS),
        };
        registry.refresh();
        if let Err(error) = registry.check() {
            tracing::warn!(%error, "only built-in commands are available");
        }
        Ok(registry)
    }

    /// The artifacts the names stand for.
    pub fn artifacts(&self) -> &ArtifactStore {
        &self.artifacts
    }

    /// The directories that entries are started with.
    pub fn trees(&self) -> &TreeStore {
        &self.trees
    }

    /// Whether the file of names could be read. Names known from before it broke still resolve.
    pub fn check(&self) -> Result<(), RegisterError> {
        match &self.view.read().damage {
            None => Ok(()),
            Some(reason) => Err(self.corrupt(reason.clone())),
        }
    }

    /// Takes in what another process wrote; answers whether there was anything.
    fn refresh(&self) -> bool {
        let _one_at_a_time = self.reloading.lock();
        let path = self.home.registry_file();
        if Stamp::of(&path) == self.view.read().stamp {
            return false;
        }
        let (stamp, read) = document::read(&path, |name| self.builtins.reserves(name));
        let view = match read {
            Ok(document) => View::new(document, &self.builtins, stamp),
            Err(reason) => {
                let known = self.view.read().document.clone();
                View { damage: Some(reason), ..View::new(known, &self.builtins, stamp) }
            }
        };
        *self.view.write() = view;
        true
    }

    fn is_due(&self) -> bool {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        if now < self.look_again_ms.load(Ordering::Relaxed) {
            return false;
        }
        self.look_again_ms.store(now.saturating_add(LOOK_AGAIN_MS), Ordering::Relaxed);
        true
    }

    fn corrupt(&self, reason: String) -> RegisterError {
        RegisterError::RegistryCorrupt { path: self.home.registry_file(), reason }
    }
}

/// Whether the bytes are a registry file.
pub(crate) fn is_document(bytes: &[u8]) -> bool {
    document::parse(bytes, |_| false).is_ok()
}

impl Registry for CommandRegistry {
    fn lookup(&self, name: &str, first_argument: Option<&[u8]>) -> Option<Entry> {
        let found = self.view.read().find(name, first_argument);
        let fresh_enough = match &found {
            // No file can change what a built-in is.
            Some(entry) => entry.builtin || !self.is_due(),
            None => !CommandName::is_legal(name),
        };
        if fresh_enough || !self.refresh() {
            return found;
        }
        self.view.read().find(name, first_argument)
    }

    fn load(&self, entry: &Entry) -> Result<Artifact, LoadError> {
        match self.builtins.load(entry.digest) {
            Some(loaded) => loaded,
            None => self.artifacts.load_to_run(entry.digest),
        }
    }

    fn names(&self) -> Vec<CommandName> {
        self.refresh();
        let mut names: Vec<_> = self.view.read().slots.keys().cloned().collect();
        names.sort();
        names
    }

    fn trees(&self, entry: &Entry) -> Result<Vec<EntryTree>, LoadError> {
        let open = |dir: &EntryDir| {
            let files = self.trees.open(dir.tree)?;
            Ok(EntryTree { path: dir.path.clone(), files: Arc::new(files) })
        };
        entry.options.dirs.iter().map(open).collect()
    }
}

#[cfg(test)]
mod tests;
