//! The engine: its lanes, one for each way of bringing a guest back to the host.

use std::sync::{Arc, OnceLock};

use drydock_contract::{
    Artifact, BoxFuture, Fault, RunReport, RunRequest, Streams,
    port::{Interruption, Runner},
};
use drydock_store::CodeCache;

use crate::{
    compile::{Apart, CompileEvent, Shared},
    config::{EngineSettings, Facts},
    lane::Lane,
};

/// Runs verified modules, each in a fresh instance.
pub struct Engine {
    shared: Shared,
    counted: Lane,
    timed: OnceLock<Lane>,
}

impl Engine {
    /// Sets wasmtime up. Nothing is compiled yet.
    pub fn new(settings: EngineSettings, cache: Option<Arc<CodeCache>>) -> Result<Self, Fault> {
        let shared = Shared::new(settings, cache);
        let counted = Lane::new(&shared, Interruption::Fuel)?;
        Ok(Self { shared, counted, timed: OnceLock::new() })
    }

    /// Tells `observer` when a compilation begins and ends, so that a person can be told.
    #[must_use]
    pub fn on_compile(mut self, observer: impl Fn(CompileEvent) + Send + Sync + 'static) -> Self {
        let observer = Arc::new(observer);
        self.counted.observe(Arc::clone(&observer) as _);
        if let Some(timed) = self.timed.get_mut() {
            timed.observe(Arc::clone(&observer) as _);
        }
        self.shared.observer = Some(observer);
        self
    }

    /// From now on, only the modules that are named here are compiled in this process. Without this, all are:
    /// that is for hosts that trust every module they run.
    #[must_use]
    pub fn compiling_apart(mut self, apart: Apart) -> Self {
        let apart = Arc::new(apart);
        self.counted.apart(Arc::clone(&apart));
        if let Some(timed) = self.timed.get_mut() {
            timed.apart(Arc::clone(&apart));
        }
        self.shared.apart = Some(apart);
        self
    }

    /// What this machine gives.
    pub fn facts(&self) -> Facts {
        self.counted.facts()
    }

    /// Compiles a module now, so that its first run need not, and says if it could not run even with
    /// every power there is.
    pub async fn warm(&self, artifact: &Artifact) -> Result<(), Fault> {
        self.counted.warm(artifact).await
    }

    /// For guests that are limited by time and memory alone: their instructions are not counted, so they run
    /// faster, reports say no fuel, and a limit of fuel is none. Made when it is first asked for.
    pub fn timed(&self) -> Result<&Lane, Fault> {
        if let Some(lane) = self.timed.get() {
            return Ok(lane);
        }
        let lane = Lane::new(&self.shared, Interruption::Tick)?;
        Ok(self.timed.get_or_init(|| lane))
    }
}

impl Runner for Engine {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        self.counted.run(request)
    }
}
