//! The engine: its lanes, one for each way of bringing a guest back to the host and each set of features. A lane is
//! made when it is first asked for.

use std::sync::{Arc, OnceLock};

use drydock_contract::{
    Artifact, BoxFuture, Fault, RunReport, RunRequest, Streams,
    port::{CompileThreads, Interruption, LaneChoice, Runner},
};
use drydock_store::CodeCache;

use crate::{
    compile::{Apart, CompileEvent, Shared},
    config::{EngineSettings, Facts},
    features::needed_features,
    lane::Lane,
};

/// Runs verified modules, each in a fresh instance.
pub struct Engine {
    shared: Shared,
    lanes: [OnceLock<Lane>; LaneChoice::ALL.len()],
    facts: Facts,
}

impl Engine {
    /// Sets wasmtime up. Nothing is compiled yet.
    pub fn new(settings: EngineSettings, cache: Option<Arc<CodeCache>>) -> Result<Self, Fault> {
        let shared = Shared::new(settings, cache);
        let counted = Lane::new(&shared, LaneChoice::default())?;
        let facts = counted.facts();
        let lanes: [OnceLock<Lane>; LaneChoice::ALL.len()] = Default::default();
        let _ = lanes[LaneChoice::default().index()].set(counted);
        Ok(Self { shared, lanes, facts })
    }

    /// Tells `observer` when a compilation begins and ends, so that a person can be told.
    #[must_use]
    pub fn on_compile(mut self, observer: impl Fn(CompileEvent) + Send + Sync + 'static) -> Self {
        let observer = Arc::new(observer);
        for lane in self.lanes.iter_mut().filter_map(OnceLock::get_mut) {
            lane.observe(Arc::clone(&observer) as _);
        }
        self.shared.observer = Some(observer);
        self
    }

    /// From now on, only the modules that are named here are compiled in this process. Without this, all are:
    /// that is for hosts that trust every module they run.
    #[must_use]
    pub fn compiling_apart(mut self, apart: Apart) -> Self {
        let apart = Arc::new(apart);
        for lane in self.lanes.iter_mut().filter_map(OnceLock::get_mut) {
            lane.apart(Arc::clone(&apart));
        }
        self.shared.apart = Some(apart);
        self
    }

    /// From now on somebody is served here: compilations take one core each, also where no run is in flight.
    pub fn serve(&self) {
        self.shared.occupied.serve();
    }

    /// Whether a compilation that begins now takes one core only.
    pub fn is_occupied(&self) -> bool {
        self.shared.occupied.threads() == CompileThreads::One
    }

    /// What this machine gives.
    pub fn facts(&self) -> Facts {
        self.facts
    }

    /// Compiles a module for the usual lane now, so that its first run need not, and says if it could not run even
    /// with every power there is.
    pub async fn warm(&self, artifact: &Artifact) -> Result<(), Fault> {
        self.lane(LaneChoice::default())?.warm(artifact, None).await
    }

    /// For guests that are limited by time and memory alone: their instructions are not counted, so they run
    /// faster, reports say no fuel, and a limit of fuel is none.
    pub fn timed(&self) -> Result<&Lane, Fault> {
        self.lane(LaneChoice { interrupt: Interruption::Tick, ..LaneChoice::default() })
    }

    /// The lane of that choice.
    pub fn lane(&self, choice: LaneChoice) -> Result<&Lane, Fault> {
        let place = &self.lanes[choice.index()];
        if let Some(lane) = place.get() {
            return Ok(lane);
        }
        let lane = Lane::new(&self.shared, choice)?;
        Ok(place.get_or_init(|| lane))
    }
}

impl Runner for Engine {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        let features = || needed_features(request.artifact.bytes());
        let choice =
            request.lane.unwrap_or_else(|| LaneChoice { features: features(), ..LaneChoice::default() });
        match self.lane(choice) {
            Ok(lane) => lane.run(request),
            Err(fault) => Box::pin(async { Err(fault) }),
        }
    }
}
