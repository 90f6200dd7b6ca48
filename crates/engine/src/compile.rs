//! From verified bytes to a compiled module: from memory, from the disk cache, or by compiling.
//!
//! A module is compiled once however many callers ask at the same time. Native code is loaded from
//! disk only if the cache's MAC says that this installation wrote it.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use drydock_contract::{Artifact, CapSet, Digest, Fault};
use drydock_store::{CacheKey, CodeCache};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{OnceCell, Semaphore};
use wasmtime::{Engine, Module};

use crate::{
    config::EngineSettings,
    link::{self, Prepared},
};

/// A compilation began or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompileEvent {
    /// These many bytes of wasm are being compiled.
    Started {
        /// Which module.
        digest: Digest,
        /// Its size.
        wasm_bytes: u64,
    },
    /// It is done, well or badly.
    Finished {
        /// Which module.
        digest: Digest,
    },
}

pub(crate) type Observer = Arc<dyn Fn(CompileEvent) + Send + Sync>;

/// What all lanes of an engine compile with.
pub(crate) struct Shared {
    pub(crate) settings: EngineSettings,
    cache: Option<Arc<CodeCache>>,
    pub(crate) observer: Option<Observer>,
    compiling: Arc<Semaphore>,
}

impl Shared {
    pub(crate) fn new(settings: EngineSettings, cache: Option<Arc<CodeCache>>) -> Self {
        let compiling = Arc::new(Semaphore::new(settings.compilations_max.max(1)));
        Self { settings, cache, observer: None, compiling }
    }
}

/// A compiled module, linked for the sets of powers it was run with so far.
pub(crate) struct Loaded {
    module: Module,
    digest: Digest,
    used: AtomicU64,
    prepared: RwLock<Vec<(CapSet, Arc<Prepared>)>>,
}

impl Loaded {
    /// The module linked for these powers.
    pub(crate) fn prepared(&self, engine: &Engine, caps: CapSet) -> Result<Arc<Prepared>, Fault> {
        let find = |all: &[(CapSet, Arc<Prepared>)]| {
            all.iter().find(|(set, _)| *set == caps).map(|(_, prepared)| Arc::clone(prepared))
        };
        if let Some(found) = find(&self.prepared.read()) {
            return Ok(found);
        }
        let prepared = Arc::new(link::prepare(engine, &self.module, self.digest, caps)?);
        let mut all = self.prepared.write();
        if let Some(found) = find(&all) {
            return Ok(found);
        }
        all.push((caps, Arc::clone(&prepared)));
        Ok(prepared)
    }
}

/// Every module in memory.
pub(crate) struct Modules {
    engine: Engine,
    settings: EngineSettings,
    cache: Option<Arc<CodeCache>>,
    compat: u64,
    observer: Option<Observer>,
    loaded: RwLock<HashMap<Digest, Arc<Loaded>>>,
    pending: Mutex<HashMap<Digest, Arc<OnceCell<Arc<Loaded>>>>>,
    compiling: Arc<Semaphore>,
    tick: AtomicU64,
}

impl Modules {
    pub(crate) fn new(engine: Engine, shared: &Shared) -> Self {
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Self {
            compat: hasher.finish(),
            engine,
            cache: shared.cache.clone(),
            observer: shared.observer.clone(),
            loaded: RwLock::default(),
            pending: Mutex::default(),
            compiling: Arc::clone(&shared.compiling),
            tick: AtomicU64::new(0),
            settings: shared.settings,
        }
    }

    pub(crate) fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// The module, if it is in memory.
    pub(crate) fn ready(&self, digest: Digest) -> Option<Arc<Loaded>> {
        let loaded = Arc::clone(self.loaded.read().get(&digest)?);
        loaded.used.store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
        Some(loaded)
    }

    /// The module, loaded or compiled if need be.
    pub(crate) async fn get(&self, artifact: &Artifact) -> Result<Arc<Loaded>, Fault> {
        let digest = artifact.digest();
        if let Some(loaded) = self.ready(digest) {
            return Ok(loaded);
        }
        let cell = Arc::clone(self.pending.lock().entry(digest).or_default());
        let result = cell.get_or_try_init(|| self.load(artifact)).await.cloned();
        self.pending.lock().remove(&digest);
        result
    }

    async fn load(&self, artifact: &Artifact) -> Result<Arc<Loaded>, Fault> {
        let digest = artifact.digest();
        let module = match self.cached(digest) {
            Some(module) => module,
            None => self.compile(artifact).await?,
        };
        let used = AtomicU64::new(self.tick.fetch_add(1, Ordering::Relaxed) + 1);
        let loaded = Arc::new(Loaded { module, digest, used, prepared: RwLock::default() });
        let mut all = self.loaded.write();
        if all.len() >= self.settings.modules_max {
            // Runs in flight keep theirs alive; the next run of an evicted one loads it again.
            let oldest = all.iter().min_by_key(|(_, it)| it.used.load(Ordering::Relaxed));
            let oldest = oldest.map(|(digest, _)| *digest);
            oldest.map(|digest| all.remove(&digest));
        }
        all.insert(digest, Arc::clone(&loaded));
        Ok(loaded)
    }

    fn key(&self, digest: Digest) -> CacheKey {
        CacheKey { digest, compat: self.compat }
    }

    #[allow(unsafe_code)]
    fn cached(&self, digest: Digest) -> Option<Module> {
        let bytes = self.cache.as_ref()?.get(&self.key(digest))?;
        // SAFETY: `deserialize` trusts its input to be what `serialize` once wrote. The cache hands
        // out only bytes whose MAC, under this installation's key and over this very buffer, shows
        // that this installation put them there for this module and this engine configuration.
        match unsafe { Module::deserialize(&self.engine, &bytes) } {
            Ok(module) => Some(module),
            Err(error) => {
                tracing::warn!(%digest, "cached code does not load, compiling again: {error:#}");
                None
            }
        }
    }

    async fn compile(&self, artifact: &Artifact) -> Result<Module, Fault> {
        let digest = artifact.digest();
        let bad = |reason: String| Fault::BadModule { digest, reason };
        match artifact.bytes() {
            [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => {}
            [0, b'a', b's', b'm', _, _, 1, 0, ..] => {
                return Err(bad("it is a component; commands are core modules with a `_start`".into()));
            }
            _ => return Err(bad("it is not a WebAssembly module".into())),
        }
        let closed = |_| Fault::Internal("the engine is shutting down".into());
        let turn = Arc::clone(&self.compiling).acquire_owned();
        let busy = |_| Fault::Saturated("other modules are being compiled".into());
        let turn =
            tokio::time::timeout(self.settings.compile_max, turn).await.map_err(busy)?.map_err(closed)?;
        let told = Told::started(self.observer.as_ref(), digest, artifact.bytes().len() as u64);
        let (engine, wasm) = (self.engine.clone(), artifact.clone());
        let cache = self.cache.clone();
        let key = self.key(digest);
        let work = tokio::task::spawn_blocking(move || -> wasmtime::Result<Module> {
            let module = Module::from_binary(&engine, wasm.bytes())?;
            if let Some(cache) = cache {
                cache.put(&key, &module.serialize()?);
            }
            // The turn ends when the work does, even if nobody waits for it any more.
            drop(turn);
            Ok(module)
        });
        let waited = tokio::time::timeout(self.settings.compile_max, work).await;
        drop(told);
        match waited {
            Ok(Ok(Ok(module))) => Ok(module),
            Ok(Ok(Err(error))) => Err(bad(format!("it does not compile: {error:#}"))),
            Ok(Err(panic)) => Err(Fault::Internal(format!("compiling {digest} failed: {panic}"))),
            Err(_) => {
                Err(bad(format!("it takes longer than {} s to compile", self.settings.compile_max.as_secs())))
            }
        }
    }
}

/// Tells the observer of a beginning, and of the end on every path: a run that was cancelled does not
/// wait for its module any more.
struct Told<'a> {
    observer: Option<&'a Observer>,
    digest: Digest,
}

impl<'a> Told<'a> {
    fn started(observer: Option<&'a Observer>, digest: Digest, wasm_bytes: u64) -> Self {
        if let Some(observer) = observer {
            observer(CompileEvent::Started { digest, wasm_bytes });
        }
        Self { observer, digest }
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if let Some(observer) = self.observer {
            observer(CompileEvent::Finished { digest: self.digest });
        }
    }
}
