//! An instance of the shell's guest: it lives between the lines of one shell, and dies with a line that does not end by
//! itself.
//!
//! Its memory comes from a lane whose instances are mapped on demand, so a shell that nobody uses takes no slot of the
//! pool. While a line runs it has a slot of its own lane, and its commands have theirs of others.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_contract::{
    BoxFuture, Cap, CapSet, Deadline, Entropy, GuestTime, Limits, LiveError, Meter, Outcome, Preparing,
    RunRequest, ShellCall, ShellGuestSpec, Streams, Switch, Waited, WorkingDir, port::FileRules,
};
use wasmtime::Store;

use crate::{
    burning::Burning,
    entry::{Prepared, shell::Driver},
    guest::{Guest, Held},
    live::{Failure, Place, ended, paid_by, slot_for},
    occupied::Waiting,
    run::{arm, instantiate, watch},
    slots::{Asked, OwnedSlot, Slots},
    spending::Spending,
    ticker::Ticker,
};

/// What making an instance may take: no code of the guest runs.
const OPENING_WALL_MAX: Duration = Duration::from_secs(10);

/// An instance of the shell's guest. Dropping it, or a call of it, ends it.
pub struct ShellGuest {
    /// None after a call that did not come back.
    living: Option<Living>,
}

/// What a call of it gave and cost.
pub struct ShellReply {
    /// The guest's answer.
    pub bytes: Vec<u8>,
    /// Fuel it burnt.
    pub fuel: u64,
    /// The most memory the instance ever held.
    pub memory_bytes: u64,
    /// Wall time.
    pub duration: Duration,
    /// Pays for the bytes as long as they are kept: until they are read.
    _held: Held,
}

struct Living {
    store: Burning,
    driver: Driver,
    memory_bytes_max: u64,
    ticker: Option<Arc<Ticker>>,
    /// Nobody throws them: whoever ends a line asks it first, and then drops it.
    switches: [Arc<Switch>; 2],
    preparing: Option<Arc<Preparing>>,
    slots: Arc<Slots>,
    asked: Asked,
    /// The slot of the first line.
    first: Option<OwnedSlot>,
    /// While it is idle it is not in flight.
    idle: Option<Waiting>,
}

/// Makes an instance.
pub(crate) async fn open(
    place: Place<'_>,
    prepared: &Prepared,
    spec: ShellGuestSpec,
) -> Result<ShellGuest, LiveError> {
    tracing::trace!(target: "drydock::hop", "engine: an instance of the shell");
    let switches: [Arc<Switch>; 2] = Default::default();
    let asked = Asked::for_shell(&spec);
    let started = Instant::now();
    let deadline = Deadline::new(started, OPENING_WALL_MAX, Waited::from_now(spec.preparing.clone()));
    let slot = slot_for(place.slots, asked.clone(), &deadline, &switches).await?;
    let (memory_bytes_max, preparing) = (spec.memory_bytes_max, spec.preparing.clone());
    let guest = Guest::new(request(spec, &switches), started, deadline.clone(), place.running);
    let mut store = Burning::new(Store::new(place.engine, guest), place.ticker.is_none().then_some(0), None);
    store.limiter(|guest| guest);
    arm(&mut store, place.ticker.map(|it| &**it), 0).map_err(Failure::from)?;
    let ending = {
        let making = pin!(instantiate(&mut store, prepared));
        watch(making, &deadline, &switches, place.ticker.map(|it| &**it), paid_by(None)).await
    };
    let instance = ended(ending)?.map_err(|error| LiveError::from(Failure::Guest(error)))?;
    let driver = Driver::new(&mut store, instance).map_err(Failure::from)?;
    let idle = Some(store.data().running.waits());
    let (ticker, slots) = (place.ticker.cloned(), Arc::clone(place.slots));
    let first = Some(slot);
    Ok(ShellGuest {
        living: Some(Living {
            store,
            driver,
            memory_bytes_max,
            ticker,
            switches,
            preparing,
            slots,
            asked,
            first,
            idle,
        }),
    })
}

/// What the host's side of every guest needs. Streams, clock and files come with each line.
fn request(spec: ShellGuestSpec, switches: &[Arc<Switch>; 2]) -> RunRequest {
    RunRequest {
        artifact: spec.artifact,
        argv: Vec::new(),
        env: Arc::new([]),
        streams: Streams::default(),
        files: None,
        trees: Vec::new(),
        working_dir: WorkingDir::Own,
        file_rules: FileRules::USUAL,
        limits: Limits { memory_bytes_max: spec.memory_bytes_max, ..Limits::default() },
        memory: None,
        lane: None,
        compile: None,
        caps: CapSet::of(&[Cap::Vfs]),
        time: GuestTime::Real,
        clock: None,
        entropy: Entropy::Seeded(0),
        door: Arc::new(NoDoor),
        switches: switches.clone(),
        budget: None,
        preparing: spec.preparing,
        pays_for_code: false,
        depth: spec.depth,
        tenant: spec.tenant,
    }
}

/// What a shell's guest has of the gate besides its line: nothing.
struct NoDoor;

impl drydock_contract::Dispatch for NoDoor {
    fn dispatch<'a>(
        &'a self,
        call: drydock_contract::Call<'a>,
    ) -> BoxFuture<'a, Result<drydock_contract::Reply, drydock_contract::CallError>> {
        let denial = drydock_contract::Denial::Malformed(format!("`{}` outside of a line", call.operation));
        Box::pin(async move { Err(denial.into()) })
    }
}

impl ShellGuest {
    /// One call, on the calling thread. A line's streams come back, unless the call was dropped. After an error there is
    /// nothing left to be called.
    pub async fn call(&mut self, call: ShellCall) -> (Result<ShellReply, LiveError>, Streams) {
        // Whoever drops this leaves nothing behind.
        let Some(mut living) = self.living.take() else {
            let streams = call.world.map(|it| it.streams).unwrap_or_default();
            return (Err(LiveError::Dead("an earlier call ended it".into())), streams);
        };
        let (answer, streams) = living.call(call).await;
        if answer.is_ok() {
            self.living = Some(living);
        }
        (answer, streams)
    }

    /// Whether it can be called.
    pub fn is_alive(&self) -> bool {
        self.living.is_some()
    }
}

impl Living {
    async fn call(&mut self, call: ShellCall) -> (Result<ShellReply, LiveError>, Streams) {
        tracing::trace!(target: "drydock::hop", "engine: one line of it: the guest parses the text and evaluates it");
        let ShellCall { input, wall_max, memory, budget, world } = call;
        let started = Instant::now();
        let deadline = Deadline::new(started, wall_max, Waited::from_now(self.preparing.clone()));
        let _slot = match self.first.take() {
            Some(slot) => slot,
            None => match slot_for(&self.slots, self.asked.clone(), &deadline, &self.switches).await {
                Ok(slot) => slot,
                Err(error) => return (Err(error), world.map(|it| it.streams).unwrap_or_default()),
            },
        };
        drop(self.idle.take());
        let Some(meter) = self.charged(memory) else {
            let streams = world.map(|it| it.streams).unwrap_or_default();
            return (Err(LiveError::Ended(Outcome::OutOfMemory)), streams);
        };
        let mut spending = budget.map(|it| Spending::new(it, 0, self.ticker.is_some()));
        let burnt = spending.as_ref().map(|it| Arc::clone(it.burnt()));
        let Ok(bytes) = u32::try_from(input.len()) else {
            let streams = world.map(|it| it.streams).unwrap_or_default();
            return (Err(LiveError::Ended(Outcome::OutOfMemory)), streams);
        };
        let guest = self.store.data_mut();
        guest.burnt = burnt.clone().map(|it| (it, 0));
        guest.begin_call(deadline.clone());
        let clock = world.as_ref().and_then(|it| it.clock.clone());
        guest.begin_line(world, meter, input);
        self.store.begin_call(0, burnt);
        let ending = match arm(&mut self.store, self.ticker.as_deref(), 0) {
            Err(error) => Err(Failure::Guest(error).into()),
            Ok(()) => {
                let work = pin!(self.driver.call(&mut self.store, bytes));
                let turns = crate::run::Turns { spending: spending.as_mut(), clock: clock.as_deref() };
                let ending = watch(work, &deadline, &self.switches, self.ticker.as_deref(), turns).await;
                ended(ending).and_then(|done| done.map_err(|error| Failure::Guest(error).into()))
            }
        };
        let fuel = self.store.end_call();
        let guest = self.store.data_mut();
        guest.end_call();
        let (answer, streams) = guest.line.take().map_or((None, Streams::default()), |it| it.end());
        self.idle = Some(guest.running.waits());
        let (memory_bytes, duration) = (guest.meter.peak(), started.elapsed());
        let none =
            || LiveError::Contract { code: "no_answer", reason: "it returned without an answer".into() };
        let answer = ending.and_then(|()| answer.ok_or_else(none));
        let reply = |(bytes, held)| ShellReply { bytes, fuel, memory_bytes, duration, _held: held };
        (answer.map(reply), streams)
    }

    /// What the guest holds already is charged to the line too; nothing if that has no room for it.
    fn charged(&self, memory: Option<Arc<Meter>>) -> Option<Arc<Meter>> {
        let meter = Meter::within(self.memory_bytes_max, memory);
        meter.try_hold(self.store.data().meter.held()).then(|| Arc::new(meter))
    }
}
