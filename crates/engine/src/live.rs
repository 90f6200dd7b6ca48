//! Kernels, which live between calls: one store each, which a trap, a deadline or a dropped call takes with it.
//!
//! An instance has a state and whoever calls takes the store out of it, so that two calls never meet in one guest, and a
//! call that is dropped in the middle leaves nothing behind that could be called again. Its memory comes from a lane whose
//! instances are mapped on demand: an idle one takes no slot of the pool, and counts for nothing that goes on. While it is
//! made and while it is called it has a slot of its own lane, for which it waits as runs do.

use std::{future::ready, pin::pin, sync::Arc, time::Instant};

use drydock_contract::{
    BoxFuture, CallLimits, CapSet, Deadline, Entropy, Fault, GuestTime, Kernel, Limits, LiveError, LiveKind,
    LiveReply, LiveSpec, Meter, Outcome, Preparing, RunRequest, Streams, Switch, Waited, WorkingDir,
    port::{FileRules, LiveInstance},
};
use parking_lot::Mutex;
use tracing::{Instrument as _, Span};
use wasmtime::{Engine, Store};

use crate::{
    burning::Burning,
    entry::{Kind, Prepared, handler, kernel},
    guest::{Guest, Log},
    occupied::{Running, Waiting},
    outcome::classify,
    run::{Ending, Turns, arm, cannot_start, instantiate, watch},
    slots::{Asked, OwnedSlot, Slot, Slots},
    spending::Spending,
    ticker::Ticker,
};

/// Why a call has no answer.
pub(crate) enum Failure {
    /// The guest was ended, or we failed.
    Guest(wasmtime::Error),
    /// The driver says why.
    Said(LiveError),
}

impl From<wasmtime::Error> for Failure {
    fn from(error: wasmtime::Error) -> Self {
        Self::Guest(error)
    }
}

impl From<Failure> for LiveError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Said(error) => error,
            Failure::Guest(error) => {
                classify(error).map_or_else(|error| Self::Fault(cannot_start(error)), Self::Ended)
            }
        }
    }
}

/// What the engine knows of a kind.
pub(crate) fn kind_of(kind: &LiveKind) -> &'static Kind {
    match kind {
        LiveKind::Handler => &handler::HANDLER,
        LiveKind::Kernel(_) => &kernel::KERNEL,
    }
}

/// Where a lane's instances are made.
pub(crate) struct Place<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) ticker: Option<&'a Arc<Ticker>>,
    pub(crate) slots: &'a Arc<Slots>,
    pub(crate) running: Running,
}

/// An instance.
pub(crate) struct Live {
    state: Mutex<State>,
    opening_fuel: u64,
}

enum State {
    Idle(Box<Living>),
    /// A call has it.
    Busy,
    /// A call has it, and is the last one.
    Closing,
    Dead(Arc<str>),
}

/// The guest itself.
struct Living {
    store: Burning,
    kernel: kernel::Driver,
    ticker: Option<Arc<Ticker>>,
    switches: [Arc<Switch>; 2],
    preparing: Option<Arc<Preparing>>,
    /// Where a call gets its slot, and who asks for it.
    slots: Arc<Slots>,
    asked: Asked,
    /// While it is idle it is not in flight.
    idle: Option<Waiting>,
}

/// Makes an instance: memory, start function, and the functions that will be called.
pub(crate) fn open<'a>(
    place: Place<'a>,
    prepared: Arc<Prepared>,
    spec: LiveSpec,
) -> BoxFuture<'a, Result<Box<dyn LiveInstance>, LiveError>> {
    tracing::trace!(target: "drydock::hop", "engine: an instance that lives, linked as a {}", prepared.kind.name);
    let span = tracing::info_span!(target: "drydock::engine", "open", kind = prepared.kind.name);
    let asked = Asked::for_live(&spec);
    let started = Instant::now();
    let waited = Waited::from_now(spec.preparing.clone());
    let deadline = Deadline::new(started, spec.opening.wall_max, waited);
    if deadline.is_over(started) {
        return Box::pin(ready(Err(LiveError::Ended(Outcome::TimedOut))));
    }
    let LiveKind::Kernel(kernel) = spec.kind.clone() else {
        let text = "a handler answers one request, and does not live between two";
        return Box::pin(ready(Err(Fault::Internal(text.into()).into())));
    };
    let opening = async move {
        let slot = slot_for(place.slots, asked.clone(), &deadline, &spec.switches).await?;
        let (slots, preparing) = (Arc::clone(place.slots), spec.preparing.clone());
        let opening = Opening::new(place, slot, prepared, spec, (started, deadline))?;
        opening.go_on(Between { kernel, preparing, slots, asked }).await
    };
    Box::pin(opening.instrument(span))
}

/// An instance that is being made: it has a slot and a store.
pub(crate) struct Opening<'a, S> {
    pub(crate) store: Burning,
    /// Held until the store is gone, so it comes after it.
    pub(crate) slot: S,
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) ticker: Option<&'a Arc<Ticker>>,
    pub(crate) switches: [Arc<Switch>; 2],
    pub(crate) deadline: Deadline,
    pub(crate) spending: Option<Spending>,
    /// The most memory that it may have by itself, and what it shares with others.
    memory: (u64, Option<Arc<Meter>>),
}

impl<'a, S> Opening<'a, S> {
    pub(crate) fn new(
        place: Place<'a>,
        slot: S,
        prepared: Arc<Prepared>,
        spec: LiveSpec,
        (started, deadline): (Instant, Deadline),
    ) -> Result<Self, LiveError> {
        let (switches, sink) = (spec.switches.clone(), Arc::clone(&spec.log));
        let memory = (spec.memory_bytes_max, spec.memory.clone());
        let (budget, fuel_max) = (spec.opening.budget.clone(), spec.opening.fuel_max);
        let Place { engine, ticker, running, .. } = place;
        let timed = ticker.is_some();
        let spending = budget.map(|it| Spending::new(it, fuel_max, timed));
        let burnt = spending.as_ref().map(|it| Arc::clone(it.burnt()));
        let mut guest = Guest::new(without_wasi(spec), started, deadline.clone(), running);
        guest.growth = prepared.kind.growth;
        guest.log = Some(Log::new(sink));
        guest.burnt = burnt.clone().map(|it| (it, fuel_max));
        let counted = (!timed).then_some(fuel_max);
        let mut store = Burning::new(Store::new(engine, guest), counted, burnt);
        store.limiter(|guest| guest);
        arm(&mut store, ticker.map(|it| &**it), fuel_max).map_err(Failure::from)?;
        Ok(Self { store, slot, prepared, ticker, switches, deadline, spending, memory })
    }

    pub(crate) fn cannot_be_made(&self, error: wasmtime::Error) -> LiveError {
        match (LiveError::from(Failure::Guest(error)), self.store.data().refused) {
            // Nothing of the guest's has run: what it declares is too much.
            (LiveError::Fault(_), Some(bytes)) => {
                let (memory_bytes_max, shared) = &self.memory;
                let left = shared.as_ref().map_or(u64::MAX, |it| it.max().saturating_sub(it.held()));
                LiveError::InitialMemory { bytes, max: left.min(*memory_bytes_max) }
            }
            (error, _) => error,
        }
    }
}

/// What an instance that lives has besides, from one call to the next.
struct Between {
    kernel: Kernel,
    preparing: Option<Arc<Preparing>>,
    slots: Arc<Slots>,
    asked: Asked,
}

impl Opening<'_, OwnedSlot> {
    async fn go_on(mut self, between: Between) -> Result<Box<dyn LiveInstance>, LiveError> {
        let ending = {
            let Self { store, prepared, deadline, switches, ticker, spending, .. } = &mut self;
            let ticker = ticker.map(|it| &**it);
            let making = pin!(instantiate(store, prepared));
            watch(making, deadline, switches, ticker, paid_by(spending.as_mut())).await
        };
        let instance = ended(ending)?.map_err(|error| self.cannot_be_made(error))?;
        // The slot before the store, which may be dropped here: it goes last.
        let Self { slot: _slot, mut store, ticker, switches, .. } = self;
        let Between { kernel, preparing, slots, asked } = between;
        let kernel = kernel::Driver::new(&mut store, instance, kernel).map_err(Failure::from)?;
        let opening_fuel = store.end_call();
        store.data_mut().burnt = None;
        let idle = Some(store.data().running.waits());
        let ticker = ticker.cloned();
        let living = Living { store, kernel, ticker, switches, preparing, slots, asked, idle };
        Ok(Box::new(Live { state: Mutex::new(State::Idle(Box::new(living))), opening_fuel }))
    }
}

/// A slot of the lane, waited for within the time of what is to be done. Who has no time begins nothing.
pub(crate) async fn slot_for(
    slots: &Arc<Slots>,
    asked: Asked,
    deadline: &Deadline,
    switches: &[Arc<Switch>; 2],
) -> Result<OwnedSlot, LiveError> {
    if deadline.is_over(Instant::now()) {
        return Err(LiveError::Ended(Outcome::TimedOut));
    }
    slots.take(asked, deadline, switches).await?.map(Slot::owned).map_err(LiveError::Ended)
}

/// What the host's side of every guest needs, for one that has neither arguments nor streams nor files.
fn without_wasi(spec: LiveSpec) -> RunRequest {
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
        memory: spec.memory,
        lane: spec.lane,
        compile: spec.compile,
        caps: CapSet::EMPTY,
        time: GuestTime::Real,
        clock: None,
        entropy: Entropy::System,
        door: spec.door,
        switches: spec.switches,
        budget: None,
        preparing: spec.preparing,
        pays_for_code: false,
        depth: spec.depth,
        tenant: spec.tenant,
    }
}

/// Turns that somebody pays for. An instance has no clock of a session.
pub(crate) fn paid_by(spending: Option<&mut Spending>) -> Turns<'_> {
    Turns { spending, clock: None }
}

/// What the guest gave, unless its time was up or a switch was thrown.
pub(crate) fn ended<T>(ending: Ending<T>) -> Result<T, LiveError> {
    match ending {
        Ending::Ended(done) => Ok(done),
        Ending::TimedOut => Err(LiveError::Ended(Outcome::TimedOut)),
        Ending::Cancelled => Err(LiveError::Ended(Outcome::Cancelled)),
        Ending::OutOfFuel => Err(LiveError::Ended(Outcome::OutOfFuel)),
    }
}

/// What becomes of an instance after a call.
type Fate = Result<(), Arc<str>>;

impl Living {
    #[tracing::instrument(
        target = "drydock::engine",
        name = "call",
        skip_all,
        fields(fuel, memory_bytes, outcome)
    )]
    async fn call(&mut self, input: &[u8], limits: &CallLimits) -> (Result<LiveReply, LiveError>, Fate) {
        tracing::trace!(target: "drydock::hop", "engine: one call of it, with a deadline and limits of its own");
        let started = Instant::now();
        let waited = Waited::from_now(self.preparing.clone());
        let deadline = Deadline::new(started, limits.wall_max, waited);
        let _slot = match slot_for(&self.slots, self.asked.clone(), &deadline, &self.switches).await {
            Ok(slot) => slot,
            // The guest never heard of it.
            Err(error) => return (Err(error), Ok(())),
        };
        drop(self.idle.take());
        let timed = self.ticker.is_some();
        let mut spending = limits.budget.clone().map(|it| Spending::new(it, limits.fuel_max, timed));
        let answer = self.answer(input, limits, &deadline, spending.as_mut()).await;
        let fuel = self.store.end_call();
        self.store.data_mut().end_call();
        let guest = self.store.data();
        self.idle = Some(guest.running.waits());
        let (memory_bytes, duration) = (guest.meter.peak(), started.elapsed());
        let fate = match &answer {
            Ok(_) | Err(LiveError::Failed { .. } | LiveError::TooLarge { .. }) => Ok(()),
            Err(error) => Err(format!("an earlier call ended it ({error})").into()),
        };
        let span = Span::current();
        span.record("fuel", fuel).record("memory_bytes", memory_bytes);
        span.record("outcome", answer.as_ref().map_or_else(LiveError::code, |_| "answered"));
        (answer.map(|bytes| LiveReply { bytes, fuel, memory_bytes, duration }), fate)
    }

    async fn answer(
        &mut self,
        input: &[u8],
        limits: &CallLimits,
        deadline: &Deadline,
        spending: Option<&mut Spending>,
    ) -> Result<Vec<u8>, LiveError> {
        let Self { store, kernel, ticker, switches, .. } = self;
        let ticker = ticker.as_deref();
        let burnt = spending.as_ref().map(|it| Arc::clone(it.burnt()));
        store.data_mut().burnt = burnt.clone().map(|it| (it, limits.fuel_max));
        store.begin_call(limits.fuel_max, burnt);
        store.data_mut().begin_call(deadline.clone());
        arm(store, ticker, limits.fuel_max).map_err(Failure::from)?;
        let work = pin!(kernel.call(store, input, limits.reply_bytes_max));
        let ending = ended(watch(work, deadline, switches, ticker, paid_by(spending)).await);
        ending.and_then(|done| done.map_err(LiveError::from))
    }
}

impl LiveInstance for Live {
    fn call<'a>(
        &'a self,
        input: &'a [u8],
        limits: CallLimits,
    ) -> BoxFuture<'a, Result<LiveReply, LiveError>> {
        Box::pin(async move {
            let mut living = self.take()?;
            // From here on, whoever drops this leaves a dead instance.
            let mut turn =
                Turn { instance: self, after: State::Dead("a call was dropped before its end".into()) };
            let (answer, fate) = living.call(input, &limits).await;
            turn.after = match fate {
                Ok(()) => State::Idle(living),
                Err(why) => State::Dead(why),
            };
            answer
        })
    }

    fn opening_fuel(&self) -> u64 {
        self.opening_fuel
    }

    fn close(&self) {
        let mut state = self.state.lock();
        let closed = match &*state {
            State::Idle(_) => State::Dead(CLOSED.into()),
            State::Busy => State::Closing,
            State::Closing | State::Dead(_) => return,
        };
        let before = std::mem::replace(&mut *state, closed);
        drop(state);
        // Taking memory apart is no work to do under a lock.
        drop(before);
    }
}

/// Why an instance that was closed is dead.
const CLOSED: &str = "it was closed";

impl Live {
    fn take(&self) -> Result<Box<Living>, LiveError> {
        let mut state = self.state.lock();
        match &*state {
            State::Idle(_) => {}
            State::Busy => return Err(LiveError::Busy),
            State::Closing => return Err(LiveError::Dead(CLOSED.into())),
            State::Dead(why) => return Err(LiveError::Dead(Arc::clone(why))),
        }
        match std::mem::replace(&mut *state, State::Busy) {
            State::Idle(living) => Ok(living),
            _ => Err(LiveError::Busy),
        }
    }
}

/// One call's turn. What the instance is afterwards is put into its place when this goes, on every path.
struct Turn<'a> {
    instance: &'a Live,
    after: State,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.instance.state.lock();
        let after = std::mem::replace(&mut self.after, State::Busy);
        let leftover = match (&*state, after) {
            (State::Closing, after @ State::Idle(_)) => {
                *state = State::Dead(CLOSED.into());
                Some(after)
            }
            (_, after) => {
                *state = after;
                None
            }
        };
        drop(state);
        drop(leftover);
    }
}
