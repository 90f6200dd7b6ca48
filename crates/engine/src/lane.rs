//! A lane: one wasmtime engine, the modules it has compiled, and how to run them.

use std::{sync::Arc, time::Instant};

use drydock_contract::{
    Artifact, BoxFuture, Cap, CapSet, Fault, Outcome, RunReport, RunRequest, Streams,
    port::{CompileLimits, Interruption, LaneChoice, Runner, SnapshotRecipe},
};

use crate::{
    compile::{Apart, Modules, Observer, Shared},
    config::{self, Facts},
    guest::AtInput,
    run,
    snapshot::{self, SnapshotError},
    ticker::Ticker,
};

/// What is told of a program's complaints.
const WORDS_BYTES_MAX: usize = 2048;

/// Runs modules whose code is interrupted in one way, and may use the same features.
pub struct Lane {
    engine: wasmtime::Engine,
    facts: Facts,
    modules: Modules,
    /// None where fuel interrupts.
    ticker: Option<Ticker>,
}

impl Lane {
    pub(crate) fn new(shared: &Shared, choice: LaneChoice) -> Result<Self, Fault> {
        let built = config::build(&shared.settings, choice);
        let (engine, settings, facts) =
            built.map_err(|error| Fault::Internal(format!("wasmtime: {error:#}")))?;
        let ticker = match choice.interrupt {
            Interruption::Fuel => None,
            Interruption::Tick => {
                let started = Ticker::start(engine.weak());
                Some(started.map_err(|error| Fault::Internal(format!("the ticker: {error}")))?)
            }
        };
        let modules = Modules::new(engine.clone(), settings, shared);
        Ok(Self { engine, facts, modules, ticker })
    }

    pub(crate) fn observe(&mut self, observer: Observer) {
        self.modules.observe(observer);
    }

    pub(crate) fn apart(&mut self, apart: Arc<Apart>) {
        self.modules.apart(apart);
    }

    pub(crate) fn facts(&self) -> Facts {
        self.facts
    }

    /// Compiles a module now, so that its first run need not, and says if it could not run even with
    /// every power there is.
    pub async fn warm(&self, artifact: &Artifact, limits: Option<CompileLimits>) -> Result<(), Fault> {
        let loaded = self.modules.get(artifact, limits).await?;
        loaded.prepared(&self.engine, CapSet::of(Cap::ALL)).map(drop)
    }

    async fn start(
        &self,
        mut request: RunRequest,
        image: Option<&mut run::Image>,
    ) -> Result<(RunReport, Streams), Fault> {
        let loaded = match self.modules.ready(request.artifact.digest()) {
            Some(loaded) => loaded,
            None => {
                let told = request.preparing.as_ref().filter(|_| !request.pays_for_code);
                let _waiting = told.map(|it| it.begin());
                let (began, wall_max) = (Instant::now(), request.limits.wall_max);
                let loading = async {
                    let loading = self.modules.get(&request.artifact, request.compile);
                    match request.pays_for_code {
                        true => tokio::time::timeout(wall_max, loading).await.ok(),
                        false => Some(loading.await),
                    }
                };
                let loaded = match run::unless_cancelled(loading, &request.switches).await {
                    Some(Some(loaded)) => loaded?,
                    Some(None) => return Ok((run::not_begun(Outcome::TimedOut), request.streams)),
                    None => return Ok((run::not_begun(Outcome::Cancelled), request.streams)),
                };
                if request.pays_for_code {
                    request.limits.wall_max = wall_max.saturating_sub(began.elapsed());
                }
                loaded
            }
        };
        let prepared = loaded.prepared(&self.engine, request.caps)?;
        let running = self.modules.run();
        run::run(&self.engine, &prepared, request, image, self.ticker.as_ref(), running).await
    }

    /// The same as [`Runner::run`], in the memory that an earlier run of the module left, if there is one.
    /// The memory this one leaves comes back too, unless the run was ended.
    pub async fn run_again(
        &self,
        request: RunRequest,
        before: Option<Vec<u8>>,
    ) -> Result<(RunReport, Streams, Option<Vec<u8>>), Fault> {
        let mut image = run::Image { before, ..run::Image::default() };
        let (report, streams) = self.start(request, Some(&mut image)).await?;
        Ok((report, streams, image.after))
    }

    /// Runs a program until it first asks for input, and makes the module that starts from there. The request
    /// is an ordinary one, with the limits and files of the recipe's run.
    pub async fn snapshot(
        &self,
        request: RunRequest,
        recipe: &SnapshotRecipe,
    ) -> Result<Artifact, SnapshotError> {
        let module = request.artifact.clone();
        let mut image = run::Image { at_input: AtInput::Stops, ..run::Image::default() };
        let (report, streams) = self.start(request, Some(&mut image)).await?;
        let said = streams.stderr.into_captured();
        let said = String::from_utf8_lossy(&said[..said.len().min(WORDS_BYTES_MAX)]);
        let ended = || SnapshotError::Program(format!("{}; {said}", report.outcome));
        let memory = image.after.filter(|_| image.at_input == AtInput::Stopped).ok_or_else(ended)?;
        // A program that complains is not ready, whatever it asks for.
        if !said.is_empty() {
            return Err(ended());
        }
        snapshot::image(module.loaded().map_err(Fault::from)?.bytes(), recipe, memory)
    }
}

impl Runner for Lane {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        Box::pin(self.start(request, None))
    }
}
