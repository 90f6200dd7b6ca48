//! A lane: one wasmtime engine, the modules it has compiled, and how to run them.

use std::{
    future::ready,
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_contract::{
    Artifact, BoxFuture, Cap, CapSet, Exchange, Fault, LiveError, LiveKind, LiveSpec, Outcome, Preparing,
    RunReport, RunRequest, SharedLembeh, ShellGuestSpec, Streams, Switch, Tenant, WAITED_MAX,
    port::{CompileLimits, Interruption, LaneChoice, LiveInstance, MemoryLayout, Runner, SnapshotRecipe},
};

use crate::{
    answer::Once,
    blocking::off_thread,
    compile::{Apart, Modules, Observer, Shared, Wanted},
    config::{self, Facts},
    entry::{
        Kind,
        command::COMMAND,
        kernel,
        lembeh::LEMBEH,
        program::{Image, PROGRAM},
        serving::SERVING,
        shell::SHELL,
    },
    guest::AtInput,
    live,
    loaded::Loaded,
    run,
    shell::{self, ShellGuest},
    slots::Slots,
    snapshot::{self, SnapshotError},
    ticker::Ticker,
};

/// What is told of a program's complaints.
const WORDS_BYTES_MAX: usize = 2048;

/// How long somebody waits for code whose time it is not: as long as the end of its own time moves.
fn patience(wall_max: Duration) -> Duration {
    wall_max.saturating_add(WAITED_MAX)
}

/// Waits for code, in nobody's time if it is told whose session that is.
async fn nobodys_time<T>(told: Option<&Arc<Preparing>>, loading: impl Future<Output = T>) -> T {
    match told {
        Some(preparing) => preparing.waits_for(loading).await,
        None => loading.await,
    }
}

/// What a module is used as in a run, and what that use brings along.
struct Used {
    kind: &'static Kind,
    lembeh: Option<SharedLembeh>,
    exchange: Option<Arc<Exchange>>,
}

impl Used {
    const fn as_(kind: &'static Kind) -> Self {
        Self { kind, lembeh: None, exchange: None }
    }
}

/// Runs modules that want the same of where they run: how they are interrupted, which features they use, how deep
/// their stacks are, and where their memory comes from.
pub struct Lane {
    engine: wasmtime::Engine,
    facts: Facts,
    modules: Modules,
    slots: Arc<Slots>,
    /// None where fuel interrupts.
    ticker: Option<Arc<Ticker>>,
}

impl Lane {
    /// Where memory is mapped on demand, it lies as `layout` says: what a pool of this machine bears, instances of the
    /// same code bear too.
    pub(crate) fn new(shared: &Shared, choice: LaneChoice, layout: MemoryLayout) -> Result<Self, Fault> {
        let built = config::build(&shared.settings, choice, layout);
        let (engine, settings, facts) =
            built.map_err(|error| Fault::Internal(format!("wasmtime: {error:#}")))?;
        let ticker = match choice.interrupt {
            Interruption::Fuel => None,
            Interruption::Tick => {
                let started = Ticker::start(engine.weak());
                let failed = |error| Fault::Internal(format!("the ticker: {error}"));
                Some(Arc::new(started.map_err(failed)?))
            }
        };
        let modules = Modules::new(engine.clone(), settings, shared);
        Ok(Self { engine, facts, modules, slots: Arc::new(Slots::new(facts.allocation)), ticker })
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
        let wanted = Wanted { limits, tenant: Tenant::default() };
        let loaded = self.modules.get(artifact, wanted).await?;
        loaded.prepared(&self.engine, &COMMAND, CapSet::of(Cap::ALL)).map(drop)
    }

    /// Compiles a module and links it as what it is to be used as.
    pub(crate) async fn check_live(
        &self,
        artifact: &Artifact,
        kind: &LiveKind,
        tenant: Tenant,
    ) -> Result<(), Fault> {
        let loaded = self.modules.get(artifact, Wanted { limits: None, tenant }).await?;
        loaded.prepared(&self.engine, live::kind_of(kind), CapSet::of(Cap::ALL)).map(drop)
    }

    fn start<'a>(
        &'a self,
        request: RunRequest,
        used: Used,
        image: Option<&'a mut Image>,
    ) -> BoxFuture<'a, Result<(RunReport, Streams), Fault>> {
        match self.modules.ready(request.artifact.digest()) {
            Some(loaded) if request.artifact.is_verified() => self.run_loaded(&loaded, request, used, image),
            _ => Box::pin(self.load_and_run(request, used, image)),
        }
    }

    fn run_loaded<'a>(
        &'a self,
        loaded: &Loaded,
        request: RunRequest,
        used: Used,
        image: Option<&'a mut Image>,
    ) -> BoxFuture<'a, Result<(RunReport, Streams), Fault>> {
        let Used { kind, lembeh, exchange } = used;
        let prepared = match loaded.prepared(&self.engine, kind, request.caps) {
            Ok(prepared) => prepared,
            Err(fault) => return Box::pin(ready(Err(fault))),
        };
        let (ticker, running) = (self.ticker.as_deref(), self.modules.run());
        let place = run::Place {
            engine: &self.engine,
            prepared,
            ticker,
            slots: &self.slots,
            running,
            lembeh,
            exchange,
        };
        run::run(place, request, image)
    }

    async fn load_and_run(
        &self,
        mut request: RunRequest,
        used: Used,
        image: Option<&mut Image>,
    ) -> Result<(RunReport, Streams), Fault> {
        let told = request.preparing.clone().filter(|_| !request.pays_for_code);
        let (began, wall_max) = (Instant::now(), request.limits.wall_max);
        let patience = if request.pays_for_code { wall_max } else { patience(wall_max) };
        let wanted = Wanted { limits: request.compile, tenant: request.tenant.clone() };
        let loading = self.wait_for_code(&request.artifact, wanted, patience, &request.switches);
        let loaded = match nobodys_time(told.as_ref(), loading).await {
            Ok(loaded) => loaded?,
            Err(outcome) => return Ok((run::not_begun(outcome), request.streams)),
        };
        if request.pays_for_code {
            request.limits.wall_max = wall_max.saturating_sub(began.elapsed());
        }
        self.run_loaded(&loaded, request, used, image).await
    }

    /// Loads and links the module as what it is to be, and makes an instance of it.
    async fn load(&self, spec: &LiveSpec) -> Result<Arc<Loaded>, LiveError> {
        let wanted = Wanted { limits: spec.compile, tenant: spec.tenant.clone() };
        let patience = patience(spec.opening.wall_max);
        let loading = self.wait_for_code(&spec.artifact, wanted, patience, &spec.switches);
        Ok(nobodys_time(spec.preparing.as_ref(), loading).await.map_err(LiveError::Ended)??)
    }

    fn make(
        &self,
        loaded: &Loaded,
        spec: LiveSpec,
    ) -> BoxFuture<'_, Result<Box<dyn LiveInstance>, LiveError>> {
        let prepared = loaded.prepared(&self.engine, live::kind_of(&spec.kind), spec.caps);
        let checked = prepared.and_then(|prepared| {
            if let LiveKind::Kernel(kernel) = &spec.kind {
                kernel::check_entry(prepared.pre.module(), spec.artifact.digest(), kernel)?;
            }
            Ok(prepared)
        });
        match checked {
            Ok(prepared) if spec.kind == LiveKind::Handler => {
                Box::pin(ready(Ok(Box::new(Once::new(self.place(), prepared, spec)) as _)))
            }
            Ok(prepared) => live::open(self.place(), prepared, spec),
            Err(fault) => Box::pin(ready(Err(fault.into()))),
        }
    }

    fn place(&self) -> live::Place<'_> {
        let (ticker, running) = (self.ticker.as_ref(), self.modules.run());
        live::Place { engine: &self.engine, ticker, slots: &self.slots, running }
    }

    /// The module, if it is loaded already.
    fn ready(&self, spec: &LiveSpec) -> Option<Arc<Loaded>> {
        spec.artifact.is_verified().then(|| self.modules.ready(spec.artifact.digest())).flatten()
    }

    /// Makes an instance of the shell's guest.
    pub(crate) async fn open_shell(&self, spec: ShellGuestSpec) -> Result<ShellGuest, LiveError> {
        let loaded = match self.modules.ready(spec.artifact.digest()) {
            Some(loaded) if spec.artifact.is_verified() => loaded,
            _ => {
                let wanted = Wanted { limits: None, tenant: spec.tenant.clone() };
                let switches = Default::default();
                let loading = self.wait_for_code(&spec.artifact, wanted, WAITED_MAX, &switches);
                nobodys_time(spec.preparing.as_ref(), loading).await.map_err(LiveError::Ended)??
            }
        };
        let prepared = loaded.prepared(&self.engine, &SHELL, CapSet::of(&[Cap::Vfs]))?;
        shell::open(self.place(), &prepared, spec).await
    }

    /// The module, loaded or compiled; how whoever waits for it ended if that was before.
    async fn wait_for_code(
        &self,
        artifact: &Artifact,
        wanted: Wanted,
        patience: Duration,
        switches: &[Arc<Switch>; 2],
    ) -> Result<Result<Arc<Loaded>, Fault>, Outcome> {
        let loading = tokio::time::timeout(patience, self.modules.get(artifact, wanted));
        match run::unless_cancelled(loading, switches).await {
            Some(Ok(loaded)) => Ok(loaded),
            Some(Err(_)) => Err(Outcome::TimedOut),
            None => Err(Outcome::Cancelled),
        }
    }

    /// The same as [`Runner::run`], in the memory that an earlier run of the module left, if there is one.
    /// The memory this one leaves comes back too, unless the run was ended.
    pub async fn run_again(
        &self,
        request: RunRequest,
        before: Option<Vec<u8>>,
    ) -> Result<(RunReport, Streams, Option<Vec<u8>>), Fault> {
        let mut image = Image { before, ..Image::default() };
        let (report, streams) = self.start(request, Used::as_(&PROGRAM), Some(&mut image)).await?;
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
        let mut image = Image { at_input: AtInput::Stops, ..Image::default() };
        let (report, streams) = self.start(request, Used::as_(&COMMAND), Some(&mut image)).await?;
        let said = streams.stderr.into_captured();
        let said = String::from_utf8_lossy(&said[..said.len().min(WORDS_BYTES_MAX)]);
        let ended = || SnapshotError::Program(format!("{}; {said}", report.outcome));
        let memory = image.after.filter(|_| image.at_input == AtInput::Stopped).ok_or_else(ended)?;
        // A program that complains is not ready, whatever it asks for.
        if !said.is_empty() {
            return Err(ended());
        }
        let recipe = recipe.clone();
        let made = off_thread(move || {
            snapshot::image(module.loaded().map_err(Fault::from)?.bytes(), &recipe, memory)
        });
        made.await?
    }
}

impl Runner for Lane {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        self.start(request, Used::as_(&COMMAND), None)
    }

    fn run_lembeh(
        &self,
        request: RunRequest,
        host: SharedLembeh,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        self.start(request, Used { lembeh: Some(host), ..Used::as_(&LEMBEH) }, None)
    }

    fn run_serving(
        &self,
        request: RunRequest,
        exchange: Arc<Exchange>,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        self.start(request, Used { exchange: Some(exchange), ..Used::as_(&SERVING) }, None)
    }

    fn check_serving(
        &self,
        artifact: &Artifact,
        caps: CapSet,
        tenant: Tenant,
    ) -> BoxFuture<'_, Result<(), Fault>> {
        let artifact = artifact.clone();
        Box::pin(async move {
            let loaded = self.modules.get(&artifact, Wanted { limits: None, tenant }).await?;
            loaded.prepared(&self.engine, &SERVING, caps).map(drop)
        })
    }

    fn open(&self, spec: LiveSpec) -> BoxFuture<'_, Result<Box<dyn LiveInstance>, LiveError>> {
        match self.ready(&spec) {
            Some(loaded) => self.make(&loaded, spec),
            // What waiting for code takes is no part of what every request makes.
            None => Box::pin(async {
                let loaded = self.load(&spec).await?;
                self.make(&loaded, spec).await
            }),
        }
    }
}
