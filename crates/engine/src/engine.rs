//! The engine: its lanes, one for each description that somebody asked for. A lane is made when it is first asked for,
//! also the usual one: laying out its pool takes a hundred system calls, and a line without a command needs none of it.
//! There are at most [`LANES_MAX`]: each reserves addresses.

use std::sync::{Arc, OnceLock};

use drydock_contract::{
    Artifact, BoxFuture, CapSet, Exchange, Fault, LiveError, LiveKind, LiveSpec, RunReport, RunRequest,
    SharedLembeh, ShellGuestSpec, Streams, Tenant,
    port::{CompileThreads, Interruption, LaneChoice, LiveInstance, MemoryLayout, Runner, Slots},
};
use drydock_store::CodeCache;
use parking_lot::Mutex;

use crate::{
    compile::{Apart, CompileEvent, Shared},
    config::{self, Allocation, EngineSettings, Facts},
    features::{fits_pool, needed_features},
    lane::Lane,
    shell::ShellGuest,
};

/// Runs verified modules, each run in a fresh instance, and keeps the instances that live.
pub struct Engine {
    shared: Shared,
    /// What modules run in if nobody chose; it has a place of its own, so that the others cannot take it.
    usual: OnceLock<Lane>,
    /// Filled from the front; nobody leaves.
    lanes: [OnceLock<(LaneChoice, Lane)>; LANES_MAX - 1],
    /// Held while one more is made.
    making: Mutex<()>,
}

/// Lanes of one engine. A pool of a thousand slots takes some terabytes of addresses, of which there are 128.
const LANES_MAX: usize = 12;

impl Engine {
    /// Nothing is compiled yet. Where addresses may be short, the usual lane is made right away: whether its pool fits
    /// decides how the memory of all the others lies.
    pub fn new(settings: EngineSettings, cache: Option<Arc<CodeCache>>) -> Result<Self, Fault> {
        let shared = Shared::new(settings, cache);
        let (usual, lanes) = (OnceLock::new(), Default::default());
        let engine = Self { shared, usual, lanes, making: Mutex::default() };
        if !config::has_room_for_pools(&settings) {
            engine.lane(LaneChoice::USUAL)?;
        }
        Ok(engine)
    }

    /// Tells `observer` when a compilation begins and ends, so that a person can be told.
    #[must_use]
    pub fn on_compile(mut self, observer: impl Fn(CompileEvent) + Send + Sync + 'static) -> Self {
        let observer = Arc::new(observer);
        for lane in self.made_lanes() {
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
        for lane in self.made_lanes() {
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

    /// What this machine gives; the usual lane is made to find out.
    pub fn facts(&self) -> Result<Facts, Fault> {
        Ok(self.lane(LaneChoice::USUAL)?.facts())
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

    /// The same with memory that is mapped on demand. For guests that start in memory which an earlier run left: pages
    /// that are written stay with a slot of the pool, and every later run of that slot would put them back (decision 0082).
    pub fn timed_on_demand(&self) -> Result<&Lane, Fault> {
        self.lane(LaneChoice {
            interrupt: Interruption::Tick,
            slots: Slots::OnDemand,
            ..LaneChoice::default()
        })
    }

    /// Makes an instance of the shell's guest: limited by time and memory, and mapped on demand, because a shell that
    /// nobody uses should take nobody's slot.
    pub async fn open_shell(&self, spec: ShellGuestSpec) -> Result<ShellGuest, LiveError> {
        self.timed_on_demand()?.open_shell(spec).await
    }

    /// The lane of that description.
    pub fn lane(&self, choice: LaneChoice) -> Result<&Lane, Fault> {
        if let Some(lane) = self.made(choice) {
            return Ok(lane);
        }
        let _making = self.making.lock();
        if let Some(lane) = self.made(choice) {
            return Ok(lane);
        }
        if choice == LaneChoice::USUAL {
            let lane = Lane::new(&self.shared, choice, MemoryLayout::Reserved)?;
            return Ok(self.usual.get_or_init(|| lane));
        }
        let full =
            || Fault::Saturated(format!("there are {LANES_MAX} lanes already, and each reserves addresses"));
        let place = self.lanes.iter().find(|it| it.get().is_none()).ok_or_else(full)?;
        let lane = Lane::new(&self.shared, choice, self.layout())?;
        Ok(&place.get_or_init(|| (choice, lane)).1)
    }

    fn made(&self, choice: LaneChoice) -> Option<&Lane> {
        if choice == LaneChoice::USUAL {
            return self.usual.get();
        }
        let mut made = self.lanes.iter().map_while(OnceLock::get);
        made.find(|(described, _)| *described == choice).map(|(_, lane)| lane)
    }

    fn made_lanes(&mut self) -> impl Iterator<Item = &mut Lane> {
        let others = self.lanes.iter_mut().filter_map(OnceLock::get_mut).map(|(_, lane)| lane);
        self.usual.get_mut().into_iter().chain(others)
    }

    /// How a guest's memory lies on this machine. Where nobody has made a pool yet, there is room for one.
    fn layout(&self) -> MemoryLayout {
        match self.usual.get().map(|it| it.facts().allocation) {
            None | Some(Allocation::Pooling { .. }) => MemoryLayout::Reserved,
            Some(Allocation::OnDemand) => MemoryLayout::Growing,
        }
    }

    /// Says why a module could not be used as that, if it could not. It is compiled for its lane.
    pub async fn check_live(
        &self,
        artifact: &Artifact,
        kind: &LiveKind,
        tenant: Tenant,
    ) -> Result<(), Fault> {
        self.lane(Self::live_lane(artifact, kind, None, u64::MAX))?.check_live(artifact, kind, tenant).await
    }

    /// Where an instance lives that is used as that.
    fn live_lane(
        artifact: &Artifact,
        kind: &LiveKind,
        chosen: Option<LaneChoice>,
        fuel_max: u64,
    ) -> LaneChoice {
        let choice = chosen.unwrap_or_else(|| {
            let usual = Self::usual(artifact);
            match kind {
                // Time and memory bound it, and nobody counts what it computes, unless somebody asks for that.
                LiveKind::Handler if fuel_max == u64::MAX => {
                    LaneChoice { interrupt: Interruption::Tick, ..usual }
                }
                _ => usual,
            }
        });
        let slots = match kind {
            // Made for one request, and gone with it: it is a run, and as quick to make as one.
            LiveKind::Handler if fits_pool(artifact.bytes()) => choice.slots,
            // Whatever was chosen otherwise: an instance that does nothing takes nobody's slot.
            LiveKind::Handler | LiveKind::Kernel(_) => Slots::OnDemand,
        };
        LaneChoice { slots, ..choice }
    }

    /// What a module runs in if nobody chose.
    fn usual(artifact: &Artifact) -> LaneChoice {
        LaneChoice { features: needed_features(artifact.bytes()), ..LaneChoice::USUAL }
    }
}

impl Runner for Engine {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        let choice = request.lane.unwrap_or_else(|| Self::usual(&request.artifact));
        match self.lane(choice) {
            Ok(lane) => lane.run(request),
            Err(fault) => Box::pin(async { Err(fault) }),
        }
    }

    fn run_lembeh(
        &self,
        request: RunRequest,
        host: SharedLembeh,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        let choice = request.lane.unwrap_or_else(|| Self::usual(&request.artifact));
        match self.lane(choice) {
            Ok(lane) => lane.run_lembeh(request, host),
            Err(fault) => Box::pin(async { Err(fault) }),
        }
    }

    fn run_serving(
        &self,
        request: RunRequest,
        exchange: Arc<Exchange>,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        let choice = request.lane.unwrap_or_else(|| Self::usual(&request.artifact));
        match self.lane(choice) {
            Ok(lane) => lane.run_serving(request, exchange),
            Err(fault) => Box::pin(async { Err(fault) }),
        }
    }

    fn check_serving(
        &self,
        artifact: &Artifact,
        caps: CapSet,
        tenant: Tenant,
    ) -> BoxFuture<'_, Result<(), Fault>> {
        match self.lane(Self::usual(artifact)) {
            Ok(lane) => lane.check_serving(artifact, caps, tenant),
            Err(fault) => Box::pin(async { Err(fault) }),
        }
    }

    fn open(&self, spec: LiveSpec) -> BoxFuture<'_, Result<Box<dyn LiveInstance>, LiveError>> {
        match self.lane(Self::live_lane(&spec.artifact, &spec.kind, spec.lane, spec.opening.fuel_max)) {
            Ok(lane) => lane.open(spec),
            Err(fault) => Box::pin(async { Err(fault.into()) }),
        }
    }
}
