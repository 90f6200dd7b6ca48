//! From verified bytes to a compiled module: from memory, from disk, or by compiling.
//!
//! A module is compiled once however many callers ask at the same time, in this process or in others that
//! share the cache. Each tenant has its own places for compilations: nobody waits behind somebody else's. Native code is loaded from disk only if the cache's MAC says that this installation wrote
//! it, or if it came with this program and has the hash that was compiled in. Modules of strangers are compiled
//! by somebody else, whom the wiring names.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use drydock_contract::{
    Artifact, Digest, Fault, Tenant,
    port::{CompileError, CompileLimits, Compiler, LaneSettings},
};
use drydock_store::{CacheKey, CodeCache, CodeFile, CompileTurn, Shipped};
use parking_lot::RwLock;
use wasmtime::{Engine, Module};

use crate::{
    blocking::{off_thread, off_thread_of_many},
    compiling::{Compiling, Place},
    config::{Cpu, Effort, EngineSettings, precompile},
    loaded::{Loaded, LoadedModules},
    loads::Loads,
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
    compiling: Arc<Compiling>,
    pub(crate) occupied: Arc<Occupied>,
}

impl Shared {
    pub(crate) fn new(settings: EngineSettings, cache: Option<Arc<CodeCache>>) -> Self {
        let compiling = Arc::new(Compiling::new(settings.compilations_max));
        Self { settings, cache, observer: None, apart: None, compiling, occupied: Arc::default() }
    }
}

/// The modules of one lane.
pub(crate) struct Modules {
    lane: Arc<Compilation>,
    loads: Loads<(Digest, Wanted), Arc<Loaded>>,
}

/// Who wants a module, and what compiling it may take where that is not the usual. Loads that differ in it are not
/// shared: nobody is bound by somebody else's limits, or waits in somebody else's queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    pub(crate) limits: Option<CompileLimits>,
    pub(crate) tenant: Tenant,
}

/// What it takes to load or compile a module for a lane. Loads that outlive who began them have it too.
struct Compilation {
    engine: Engine,
    lane: LaneSettings,
    settings: EngineSettings,
    cache: Option<Arc<CodeCache>>,
    compat: u64,
    observer: RwLock<Option<Observer>>,
    apart: RwLock<Option<Arc<Apart>>>,
    loaded: LoadedModules,
    compiling: Arc<Compiling>,
    occupied: Arc<Occupied>,
}

impl Modules {
    pub(crate) fn new(engine: Engine, lane: LaneSettings, shared: &Shared) -> Self {
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let lane = Compilation {
            compat: hasher.finish(),
            engine,
            lane,
            cache: shared.cache.clone(),
            observer: RwLock::new(shared.observer.clone()),
            apart: RwLock::new(shared.apart.clone()),
            loaded: LoadedModules::default(),
            compiling: Arc::clone(&shared.compiling),
            occupied: Arc::clone(&shared.occupied),
            settings: shared.settings,
        };
        Self { lane: Arc::new(lane), loads: Loads::default() }
    }

    pub(crate) fn observe(&self, observer: Observer) {
        *self.lane.observer.write() = Some(observer);
    }

    pub(crate) fn apart(&self, apart: Arc<Apart>) {
        *self.lane.apart.write() = Some(apart);
    }

    /// The module, if it is in memory.
    pub(crate) fn ready(&self, digest: Digest) -> Option<Arc<Loaded>> {
        self.lane.loaded.get(digest)
    }

    /// The module, loaded or compiled if need be. Whoever stops waiting, because its time is up or it was cancelled,
    /// leaves the load to the others.
    pub(crate) async fn get(&self, artifact: &Artifact, wanted: Wanted) -> Result<Arc<Loaded>, Fault> {
        let digest = artifact.digest();
        if artifact.is_verified()
            && let Some(loaded) = self.ready(digest)
        {
            return Ok(loaded);
        }
        let begin = || {
            let (lane, artifact, wanted) = (Arc::clone(&self.lane), artifact.clone(), wanted.clone());
            Box::pin(async move { lane.load(artifact, wanted).await }) as _
        };
        self.loads.join((digest, wanted.clone()), begin).await
    }

    /// A run begins in this lane.
    pub(crate) fn run(&self) -> Running {
        self.lane.occupied.run()
    }
}

impl Compilation {
    async fn load(self: &Arc<Self>, artifact: Artifact, wanted: Wanted) -> Result<Arc<Loaded>, Fault> {
        let digest = artifact.digest();
        // Reads and checks whole files where they were not checked before.
        let lane = Arc::clone(self);
        let look = move || {
            let artifact = artifact.verified()?;
            Ok::<_, Fault>(match lane.loaded.get(digest) {
                Some(loaded) => (artifact, Some(Err(loaded))),
                None => (artifact, lane.on_disk(digest).map(Ok)),
            })
        };
        let is_built_in = self.apart.read().as_ref().is_some_and(|it| it.built_in.contains(&digest));
        let looked = match is_built_in {
            true => off_thread_of_many(look).await?,
            false => off_thread(look).await?,
        };
        let module = match looked? {
            (_, Some(Err(loaded))) => return Ok(loaded),
            (_, Some(Ok(module))) => module,
            (artifact, None) => {
                let place = self.compiling.place(wanted.tenant).await?;
                // Somebody may have compiled it while this one waited.
                if let Some(loaded) = self.loaded.get(digest) {
                    return Ok(loaded);
                }
                self.compile_once(artifact, place, wanted.limits).await?
            }
        };
        Ok(self.loaded.insert(digest, module, self.settings.code_bytes_max))
    }

    fn key(&self, digest: Digest) -> CacheKey {
        CacheKey { digest, compat: self.compat }
    }

    /// The code that came with this program or lies in the cache.
    fn on_disk(&self, digest: Digest) -> Option<Module> {
        let apart = self.apart.read().clone();
        let shipped = apart.as_ref().and_then(|apart| apart.shipped.as_ref());
        let shipped =
            shipped.and_then(|shipped| shipped.get(digest, &self.lane.to_string(), self.cache.as_deref()));
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
        self: &Arc<Self>,
        artifact: Artifact,
        place: Place,
        limits: Option<CompileLimits>,
    ) -> Result<Module, Fault> {
        let digest = artifact.digest();
        let turn = match self.cache.clone() {
            None => None,
            Some(cache) => self.turn(cache, digest).await?,
        };
        // Looked up again: whoever had the turn before us may have compiled this very module.
        if turn.is_some() {
            let lane = Arc::clone(self);
            if let Some(module) = off_thread(move || lane.cached(digest)).await? {
                return Ok(module);
            }
        }
        self.compile(artifact, (place, turn), limits).await
    }

    /// Waits until nobody else compiles this module. None if the disk takes no locks: then everybody compiles.
    async fn turn(&self, cache: Arc<CodeCache>, digest: Digest) -> Result<Option<CompileTurn>, Fault> {
        loop {
            let (cache, key) = (Arc::clone(&cache), self.key(digest));
            match off_thread(move || cache.try_turn(&key)).await? {
                Ok(Some(turn)) => return Ok(Some(turn)),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%digest, %error, "could not lock a compilation");
                    return Ok(None);
                }
            }
            tokio::time::sleep(TURN_POLL).await;
        }
    }

    async fn compile(
        self: &Arc<Self>,
        artifact: Artifact,
        held: (Place, Option<CompileTurn>),
        limits: Option<CompileLimits>,
    ) -> Result<Module, Fault> {
        let digest = artifact.digest();
        let artifact = off_thread(move || artifact.loaded()).await?.map_err(Fault::from)?;
        is_core_module(&artifact)?;
        let apart = self.apart.read().clone();
        let worker = match &apart {
            Some(apart) if !apart.built_in.contains(&digest) => {
                Some(apart.worker.as_ref().ok_or(Fault::NoCompiler { digest })?)
            }
            _ => None,
        };
        let threads = self.occupied.threads();
        let observer = self.observer.read().clone();
        let _told = Told::started(observer.as_ref(), digest, artifact.bytes().len() as u64);
        if let Some(worker) = worker {
            let code = worker.compile(&artifact, self.lane, limits, threads).await;
            let code = code.map_err(|error| fault_of(digest, error))?;
            let lane = Arc::clone(self);
            let made = off_thread(move || lane.keep(digest, &code)).await?;
            return made.ok_or_else(|| {
                Fault::Internal("the compile worker made code of another kind than ours".into())
            });
        }
        let lane = Arc::clone(self);
        let work = off_thread(move || -> Result<Option<Module>, String> {
            let effort = Effort::while_waiting(artifact.bytes().len());
            let code = precompile(artifact.bytes(), lane.lane, Cpu::Host, effort, threads)?;
            let module = lane.keep(digest, &code);
            // Both end when the work does, even if nobody waits for it any more.
            drop(held);
            Ok(module)
        });
        let bad =
            |reason: String| Fault::BadModule { digest, reason: format!("it does not compile: {reason}") };
        let foreign =
            || Fault::Internal(format!("the code of {digest} does not load in the engine that made it"));
        work.await?.map_err(bad)?.ok_or_else(foreign)
    }

    /// Loads code that was just made, and puts it into the cache if it is for this machine.
    fn keep(&self, digest: Digest, code: &[u8]) -> Option<Module> {
        let module = self.made(digest, code)?;
        if let Some(cache) = &self.cache {
            cache.put(&self.key(digest), code);
        }
        Some(module)
    }
}

/// Says what else it is, where it is none.
fn is_core_module(artifact: &Artifact) -> Result<(), Fault> {
    let reason = match artifact.bytes() {
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => return Ok(()),
        [0, b'a', b's', b'm', _, _, 1, 0, ..] => {
            "it is a component; commands, handlers and kernels are core modules"
        }
        _ => "it is not a WebAssembly module",
    };
    Err(Fault::BadModule { digest: artifact.digest(), reason: reason.into() })
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
