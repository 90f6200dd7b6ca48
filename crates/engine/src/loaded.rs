//! Compiled modules in memory, as many as their code fits into a number of bytes.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use drydock_contract::{CapSet, Digest, Fault};
use parking_lot::RwLock;
use rustc_hash::FxBuildHasher;
use wasmtime::{Engine, Module};

use crate::entry::{self, Kind, Prepared};

/// A compiled module, linked for the kinds and sets of powers it was used with so far.
pub(crate) struct Loaded {
    module: Module,
    digest: Digest,
    used: AtomicU64,
    prepared: RwLock<Vec<Arc<Prepared>>>,
}

impl Loaded {
    /// The module linked as this kind of guest for these powers.
    pub(crate) fn prepared(
        &self,
        engine: &Engine,
        kind: &'static Kind,
        caps: CapSet,
    ) -> Result<Arc<Prepared>, Fault> {
        let find = |all: &[Arc<Prepared>]| {
            all.iter().find(|it| it.caps == caps && std::ptr::eq(it.kind, kind)).map(Arc::clone)
        };
        if let Some(found) = find(&self.prepared.read()) {
            return Ok(found);
        }
        let prepared = Arc::new(entry::prepare(engine, &self.module, self.digest, kind, caps)?);
        let mut all = self.prepared.write();
        if let Some(found) = find(&all) {
            return Ok(found);
        }
        all.push(Arc::clone(&prepared));
        Ok(prepared)
    }

    /// What its code takes, as the system maps it.
    fn code_bytes(&self) -> u64 {
        let range = self.module.image_range();
        range.end.addr().saturating_sub(range.start.addr()) as u64
    }
}

/// The modules of one lane.
#[derive(Default)]
pub(crate) struct LoadedModules {
    /// By a hash that is one already: modules that collide here would have to be searched for, and there are not enough.
    all: RwLock<HashMap<Digest, Arc<Loaded>, FxBuildHasher>>,
    tick: AtomicU64,
}

impl LoadedModules {
    pub(crate) fn get(&self, digest: Digest) -> Option<Arc<Loaded>> {
        let loaded = Arc::clone(self.all.read().get(&digest)?);
        loaded.used.store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
        Some(loaded)
    }

    /// Keeps it, and lets go what was not used for longest until all fit into so many bytes. Runs in flight keep
    /// theirs alive; the next run of one that was let go loads it again.
    pub(crate) fn insert(&self, digest: Digest, module: Module, bytes_max: u64) -> Arc<Loaded> {
        let used = AtomicU64::new(self.tick.fetch_add(1, Ordering::Relaxed) + 1);
        let loaded = Arc::new(Loaded { module, digest, used, prepared: RwLock::default() });
        let mut all = self.all.write();
        all.remove(&digest);
        let mut bytes = all.values().fold(loaded.code_bytes(), |sum, it| sum.saturating_add(it.code_bytes()));
        while bytes > bytes_max {
            let oldest = all.iter().min_by_key(|(_, it)| it.used.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(digest, _)| *digest) else { break };
            bytes -= all.remove(&oldest).map_or(0, |it| it.code_bytes());
        }
        all.insert(digest, Arc::clone(&loaded));
        loaded
    }
}
