//! A PATH with no operating system: names, in memory, and the verified bytes they stand for.
//!
//! Two layers: what a tenant registered, overlaid by what came with Drydock. Built-ins are asked first, so
//! that no registration, no edited file and no other process can bind `jq` to other bytes. They, and the bytes behind
//! all names, are there once for all tenants of a home ([`Registries`]); the names are each tenant's own. A
//! lookup reads memory; the file behind it is looked at on a miss, and about once a second
//! otherwise, so that a name another process added is found. Bytes are loaded by hash, so a run
//! that looked a name up keeps its bytes while the name moves on.

mod builtin;
mod change;
mod document;
mod error;
mod options;
mod report;
mod tenants;
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

use crate::{ArtifactStore, Home, TenantHome, TreeStore};
use builtin::Builtins;
pub use builtin::{BadBuiltin, Builtin, Part};
pub use change::{Registration, Repaired};
pub use error::RegisterError;
pub use options::BadOptions;
pub use report::{Listed, Origin, Verdict};
pub use tenants::Registries;
use view::{Stamp, View};

/// The most names that can be registered. Built-ins do not count.
pub const COMMANDS_MAX: usize = 4096;
/// How long a hit may answer from memory before the file is looked at again.
const LOOK_AGAIN_MS: u64 = 1000;

/// The names of one tenant.
#[derive(Debug)]
pub struct CommandRegistry {
    tenant: TenantHome,
    common: Arc<Common>,
    view: RwLock<View>,
    reloading: Mutex<()>,
    born: Instant,
    look_again_ms: AtomicU64,
}

/// What all tenants of a home have in common: no name of theirs, and only bytes that are found by their hash.
#[derive(Debug)]
struct Common {
    artifacts: ArtifactStore,
    trees: TreeStore,
    builtins: Builtins,
}

impl Common {
    fn of(
        home: &Home,
        builtins: Vec<Builtin>,
        words: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self, BadBuiltin> {
        let builtins = Builtins::new(builtins, words)?;
        Ok(Self { artifacts: ArtifactStore::new(home), trees: TreeStore::new(home), builtins })
    }
}

impl CommandRegistry {
    /// Opens the registry of one tenant. A damaged file does not keep it shut: built-ins resolve, and
    /// [`check`](Self::check) tells.
    pub fn open(tenant: &TenantHome, builtins: Vec<Builtin>) -> Result<Self, BadBuiltin> {
        Ok(Self::over(tenant, Arc::new(Common::of(tenant.home(), builtins, [])?)))
    }

    fn over(tenant: &TenantHome, common: Arc<Common>) -> Self {
        let registry = Self {
            tenant: tenant.clone(),
            common,
            view: RwLock::default(),
            reloading: Mutex::default(),
            born: Instant::now(),
            look_again_ms: AtomicU64::new(LOOK_AGAIN_MS),
        };
        registry.refresh();
        if let Err(error) = registry.check() {
            tracing::warn!(%error, "only built-in commands are available");
        }
        registry
    }

    /// The artifacts the names stand for.
    pub fn artifacts(&self) -> &ArtifactStore {
        &self.common.artifacts
    }

    /// The directories that entries are started with.
    pub fn trees(&self) -> &TreeStore {
        &self.common.trees
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
        let path = self.tenant.registry_file();
        if Stamp::of(&path) == self.view.read().stamp {
            return false;
        }
        let (stamp, read) = document::read(&path, |name| self.common.builtins.reserves(name));
        let view = match read {
            Ok(document) => View { document, stamp, damage: None },
            Err(reason) => {
                let known = self.view.read().document.clone();
                View { document: known, stamp, damage: Some(reason) }
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
        RegisterError::RegistryCorrupt { path: self.tenant.registry_file(), reason }
    }
}

/// Whether the bytes are a registry file.
pub(crate) fn is_document(bytes: &[u8]) -> bool {
    document::parse(bytes, |_| false).is_ok()
}

impl Registry for CommandRegistry {
    fn lookup(&self, name: &str, first_argument: Option<&[u8]>) -> Option<Entry> {
        // First, whatever a file says: a trusted name stands for trusted bytes. The order is the defence.
        if let Some(entry) = self.common.builtins.find(name, first_argument) {
            return Some(entry);
        }
        let found = self.view.read().find(name);
        let fresh_enough = match &found {
            Some(_) => !self.is_due(),
            None => !CommandName::is_legal(name),
        };
        if fresh_enough || !self.refresh() {
            return found;
        }
        self.view.read().find(name)
    }

    fn load(&self, entry: &Entry) -> Result<Artifact, LoadError> {
        match self.common.builtins.load(entry.digest) {
            Some(loaded) => loaded,
            None => self.common.artifacts.load_to_run(entry.digest),
        }
    }

    fn to_run(&self, entry: &Entry) -> Result<Artifact, LoadError> {
        let builtin = self.common.builtins.to_run(entry.digest);
        Ok(builtin.unwrap_or_else(|| self.artifacts().to_run(entry.digest)))
    }

    fn names(&self) -> Vec<CommandName> {
        self.refresh();
        let view = self.view.read();
        let builtins = self.common.builtins.slots.keys();
        let mut names: Vec<_> = builtins.chain(view.document.commands.keys()).cloned().collect();
        names.sort();
        names
    }

    fn trees(&self, entry: &Entry) -> Result<Vec<EntryTree>, LoadError> {
        let open = |dir: &EntryDir| {
            let files = self.common.trees.open(dir.tree)?;
            Ok(EntryTree { path: dir.path.clone(), files: Arc::new(files) })
        };
        entry.options.dirs.iter().map(open).collect()
    }
}

#[cfg(test)]
mod tests;
