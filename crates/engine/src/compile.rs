//! From verified bytes to a compiled module: from memory, from disk, or by compiling.
//!
//! A module is compiled once however many callers ask at the same time, in this process or in others that
//! share the cache. Native code is loaded from disk only if the cache's MAC says that this installation wrote
//! it, or if it came with this program and has the hash that was compiled in. Modules of strangers are compiled
//! by somebody else, whom the wiring names.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use drydock_contract::{
    Artifact, CapSet, Digest, Fault,
    port::{CompileError, CompileLimits, Compiler, LaneSettings},
};
use drydock_store::{CacheKey, CodeCache, CodeFile, CompileTurn, Shipped};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{OnceCell, Semaphore};
use wasmtime::{Engine, Module};

use crate::{
    config::{Cpu, Effort, EngineSettings, precompile},
    link::{self, Prepared},
    occupied::{Occupied, Running},
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

/// Who compiles what.
#[derive(Clone, Default)]
pub struct Apart {
    /// These modules are compiled in this process: they came with the program.
    pub built_in: HashSet<Digest>,
    /// Compiles all others. Without one they are refused.
    pub worker: Option<Arc<dyn Compiler>>,
    /// Code that came with the program too.
    pub shipped: Option<Shipped>,
}

/// Between two looks at whether another process is done compiling.
const TURN_POLL: Duration = Duration::from_millis(10);

/// What all lanes of an engine compile with.
pub(crate) struct Shared {
    pub(crate) settings: EngineSettings,
    cache: Option<Arc<CodeCache>>,
    pub(crate) observer: Option<Observer>,
    pub(crate) apart: Option<Arc<Apart>>,
    compiling: Arc<Semaphore>,
    pub(crate) occupied: Arc<Occupied>,
}

impl Shared {
    pub(crate) fn new(settings: EngineSettings, cache: Option<Arc<CodeCache>>) -> Self {
        let compiling = Arc::new(Semaphore::new(settings.compilations_max.max(1)));
        Self { settings, cache, observer: None, apart: None, compiling, occupied: Arc::default() }
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
    lane: LaneSettings,
    settings: EngineSettings,
    cache: Option<Arc<CodeCache>>,
    compat: u64,
    observer: Option<Observer>,
    apart: Option<Arc<Apart>>,
    loaded: RwLock<HashMap<Digest, Arc<Loaded>>>,
    pending: Mutex<HashMap<Digest, Arc<OnceCell<Arc<Loaded>>>>>,
    compiling: Arc<Semaphore>,
    occupied: Arc<Occupied>,
    tick: AtomicU64,
}

impl Modules {
    pub(crate) fn new(engine: Engine, lane: LaneSettings, shared: &Shared) -> Self {
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Self {
            compat: hasher.finish(),
            engine,
            lane,
            cache: shared.cache.clone(),
            observer: shared.observer.clone(),
            apart: shared.apart.clone(),
            loaded: RwLock::default(),
            pending: Mutex::default(),
            compiling: Arc::clone(&shared.compiling),
            occupied: Arc::clone(&shared.occupied),
            tick: AtomicU64::new(0),
            settings: shared.settings,
        }
    }

    pub(crate) fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    pub(crate) fn apart(&mut self, apart: Arc<Apart>) {
        self.apart = Some(apart);
    }

    /// The module, if it is in memory.
    pub(crate) fn ready(&self, digest: Digest) -> Option<Arc<Loaded>> {
        let loaded = Arc::clone(self.loaded.read().get(&digest)?);
        loaded.used.store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
        Some(loaded)
    }

    /// The module, loaded or compiled if need be, within these limits where they are not the usual ones.
    pub(crate) async fn get(
        &self,
        artifact: &Artifact,
        limits: Option<CompileLimits>,
    ) -> Result<Arc<Loaded>, Fault> {
        let digest = artifact.digest();
        if let Some(loaded) = self.ready(digest) {
            return Ok(loaded);
        }
        let cell = Arc::clone(self.pending.lock().entry(digest).or_default());
        let result = cell.get_or_try_init(|| self.load(artifact, limits)).await.cloned();
        self.pending.lock().remove(&digest);
        result
    }

    async fn load(&self, artifact: &Artifact, limits: Option<CompileLimits>) -> Result<Arc<Loaded>, Fault> {
        let digest = artifact.digest();
        let module = match self.on_disk(digest) {
            Some(module) => module,
            None => self.compile_once(artifact, limits).await?,
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

    /// A run begins in this lane.
    pub(crate) fn run(&self) -> Running {
        self.occupied.run()
    }

    fn key(&self, digest: Digest) -> CacheKey {
        CacheKey { digest, compat: self.compat }
    }

    /// The code that came with this program or lies in the cache.
    fn on_disk(&self, digest: Digest) -> Option<Module> {
        let shipped = self.apart.as_ref().and_then(|apart| apart.shipped.as_ref());
        let shipped = shipped.and_then(|shipped| shipped.get(digest, self.lane.as_str()));
        shipped.and_then(|code| self.mapped(digest, code)).or_else(|| self.cached(digest))
    }

    fn cached(&self, digest: Digest) -> Option<Module> {
        let code = self.cache.as_ref()?.get(&self.key(digest))?;
        self.mapped(digest, code)
    }

    /// Maps code that is known to come from a compiler of ours; none if it is not for this machine.
    #[allow(unsafe_code)]
    fn mapped(&self, digest: Digest, code: CodeFile) -> Option<Module> {
        // SAFETY: it trusts the file to be what a compiler of this version once made, and to stay so. There are
        // two ways here. From the cache: a MAC under this installation's key shows that it put the bytes there
        // for this module and this engine configuration. From the archive: they have the hash that this program
        // was built with. Nobody but the file's owner can write either, who holds the key or could replace this
        // program (decision 0046).
        let loaded = unsafe { Module::deserialize_open_file(&self.engine, code.into_file()) };
        loaded.map_err(|error| foreign(digest, &error)).ok()
    }

    /// The same for code that was just made, and is in memory.
    #[allow(unsafe_code)]
    fn made(&self, digest: Digest, code: &[u8]) -> Option<Module> {
        // SAFETY: as above, with the very buffer that was made. From our own compiler, or from the worker: it is
        // trusted with what it returns, as SECURITY says.
        let loaded = unsafe { Module::deserialize(&self.engine, code) };
        loaded.map_err(|error| foreign(digest, &error)).ok()
    }

    /// Compiles, unless another process that shares the cache does so already: then its result is loaded.
    async fn compile_once(
        &self,
        artifact: &Artifact,
        limits: Option<CompileLimits>,
    ) -> Result<Module, Fault> {
        let digest = artifact.digest();
        let turn = match &self.cache {
            None => None,
            Some(cache) => self.turn(cache, digest).await,
        };
        // Looked up again: whoever had the turn before us may have compiled this very module.
        if turn.is_some()
            && let Some(module) = self.cached(digest)
        {
            return Ok(module);
        }
        self.compile(artifact, turn, limits).await
    }

    /// Waits until nobody else compiles this module. None if the disk takes no locks: then everybody compiles.
    async fn turn(&self, cache: &CodeCache, digest: Digest) -> Option<CompileTurn> {
        loop {
            match cache.try_turn(&self.key(digest)) {
                Ok(Some(turn)) => return Some(turn),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%digest, %error, "could not lock a compilation");
                    return None;
                }
            }
            tokio::time::sleep(TURN_POLL).await;
        }
    }

    async fn compile(
        &self,
        artifact: &Artifact,
        once: Option<CompileTurn>,
        limits: Option<CompileLimits>,
    ) -> Result<Module, Fault> {
        let digest = artifact.digest();
        let bad = |reason: String| Fault::BadModule { digest, reason };
        let artifact = &artifact.loaded().map_err(Fault::from)?;
        match artifact.bytes() {
            [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => {}
            [0, b'a', b's', b'm', _, _, 1, 0, ..] => {
                return Err(bad("it is a component; commands are core modules with a `_start`".into()));
            }
            _ => return Err(bad("it is not a WebAssembly module".into())),
        }
        let worker = match &self.apart {
            Some(apart) if !apart.built_in.contains(&digest) => {
                Some(apart.worker.as_ref().ok_or(Fault::NoCompiler { digest })?)
            }
            _ => None,
        };
        let closed = |_| Fault::Internal("the engine is shutting down".into());
        let place = Arc::clone(&self.compiling).acquire_owned().await.map_err(closed)?;
        let threads = self.occupied.threads();
        let _told = Told::started(self.observer.as_ref(), digest, artifact.bytes().len() as u64);
        if let Some(worker) = worker {
            let code = worker.compile(artifact, self.lane, limits, threads).await;
            let code = code.map_err(|error| fault_of(digest, error))?;
            let module = self.made(digest, &code);
            let foreign = || Fault::Internal("the compile worker made code of another kind than ours".into());
            let module = module.ok_or_else(foreign)?;
            if let Some(cache) = &self.cache {
                cache.put(&self.key(digest), &code);
            }
            return Ok(module);
        }
        let (wasm, lane, key, cache) = (artifact.clone(), self.lane, self.key(digest), self.cache.clone());
        let work = tokio::task::spawn_blocking(move || -> Result<Vec<u8>, String> {
            let effort = Effort::while_waiting(wasm.bytes().len());
            let code = precompile(wasm.bytes(), lane, Cpu::Host, effort, threads)?;
            if let Some(cache) = cache {
                cache.put(&key, &code);
            }
            // Both end when the work does, even if nobody waits for it any more.
            drop((place, once));
            Ok(code)
        });
        let done =
            work.await.map_err(|panic| Fault::Internal(format!("compiling {digest} failed: {panic}")))?;
        let code = done.map_err(|reason| bad(format!("it does not compile: {reason}")))?;
        let foreign =
            || Fault::Internal(format!("the code of {digest} does not load in the engine that made it"));
        self.made(digest, &code).ok_or_else(foreign)
    }
}

fn foreign(digest: Digest, error: &wasmtime::Error) {
    tracing::warn!(%digest, "compiled code does not load here: {error:#}");
}

/// A module that is too much for its limits is the module's fault; a worker that is gone is ours.
fn fault_of(digest: Digest, error: CompileError) -> Fault {
    match error {
        CompileError::Killed(_) | CompileError::Unavailable(_) => Fault::Internal(error.to_string()),
        _ => Fault::BadModule { digest, reason: error.to_string() },
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
