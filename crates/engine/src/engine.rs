//! The engine: one wasmtime engine, the modules it has compiled, and how to run them.

use std::sync::Arc;

use drydock_contract::{
    Artifact, BoxFuture, Cap, CapSet, Fault, RunReport, RunRequest, Streams, port::Runner,
};
use drydock_store::CodeCache;

use crate::{
    compile::{CompileEvent, Modules},
    config::{self, EngineSettings, Facts},
    run,
};

/// Runs verified modules, each in a fresh instance.
pub struct Engine {
    engine: wasmtime::Engine,
    facts: Facts,
    modules: Modules,
}

impl Engine {
    /// Sets wasmtime up. Nothing is compiled yet.
    pub fn new(settings: EngineSettings, cache: Option<Arc<CodeCache>>) -> Result<Self, Fault> {
        let built = config::build(&settings);
        let (engine, facts) = built.map_err(|error| Fault::Internal(format!("wasmtime: {error:#}")))?;
        let modules = Modules::new(engine.clone(), settings, cache);
        Ok(Self { engine, facts, modules })
    }

    /// Tells `observer` when a compilation begins and ends, so that a person can be told.
    #[must_use]
    pub fn on_compile(mut self, observer: impl Fn(CompileEvent) + Send + Sync + 'static) -> Self {
        self.modules.observe(Arc::new(observer));
        self
    }

    /// What this machine gives.
    pub fn facts(&self) -> Facts {
        self.facts
    }

    /// Compiles a module now, so that its first run need not, and says if it could not run even with
    /// every power there is.
    pub async fn warm(&self, artifact: &Artifact) -> Result<(), Fault> {
        let loaded = self.modules.get(artifact).await?;
        loaded.prepared(&self.engine, CapSet::of(Cap::ALL)).map(drop)
    }
}

impl Engine {
    async fn start(
        &self,
        request: RunRequest,
        image: Option<&mut run::Image>,
    ) -> Result<(RunReport, Streams), Fault> {
        let loaded = match self.modules.ready(request.artifact.digest()) {
            Some(loaded) => loaded,
            None => match run::unless_cancelled(self.modules.get(&request.artifact), &request.switches).await
            {
                Some(loaded) => loaded?,
                None => return Ok((run::cancelled(), request.streams)),
            },
        };
        let prepared = loaded.prepared(&self.engine, request.caps)?;
        run::run(&self.engine, &prepared, request, image).await
    }

    /// The same as [`Runner::run`], in the memory that an earlier run of the module left, if there is one.
    /// The memory this one leaves comes back too, unless the run was ended.
    pub async fn run_again(
        &self,
        request: RunRequest,
        before: Option<Vec<u8>>,
    ) -> Result<(RunReport, Streams, Option<Vec<u8>>), Fault> {
        let mut image = run::Image { before, after: None };
        let (report, streams) = self.start(request, Some(&mut image)).await?;
        Ok((report, streams, image.after))
    }
}

impl Runner for Engine {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        Box::pin(self.start(request, None))
    }
}
