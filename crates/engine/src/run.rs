//! One run, from a fresh store to a report.
//!
//! The guest runs on the calling thread. It yields after every slice of fuel, or with every tick, and that
//! is when the clock, a revocation and a cancellation are looked at; while it waits in a host call, a timer
//! and the switches wake us instead. Either way the guest is ended by dropping its future.

use std::{
    future::{poll_fn, ready},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use drydock_contract::{
    BoxFuture, Deadline, Exchange, Fault, Outcome, RunReport, RunRequest, SharedLembeh, SteppedClock,
    Streams, Switch, Waited, WorkingDir, schedule,
};
use tracing::{Instrument as _, Span, field::Empty};
use wasmtime::{Engine, Store};

use crate::{
    blocking::off_thread,
    burning::Burning,
    config::FUEL_BETWEEN_YIELDS,
    entry::{Exports, Prepared, command, lembeh, program, program::Image, serving},
    guest::{AtInput, Guest},
    occupied::Running,
    outcome::classify,
    slots::{Asked, Slot, Slots},
    spending::Spending,
    ticker::Ticker,
};

/// What a sink gets to take its last bytes once the run is overdue or cancelled.
const LAST_BYTES: Duration = Duration::from_millis(200);

/// Memory of a guest that is copied at a time.
pub(crate) const PIECE_BYTES: usize = 1 << 20;

/// An instance that held more is taken down on another thread: each MiB of pages takes about 100 µs.
const PAGES_AT_ONCE_BYTES: u64 = 8 << 20;

/// Between two looks at a deadline that moves.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Where a module runs.
pub(crate) struct Place<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) prepared: Arc<Prepared>,
    /// Fuel interrupts the guest unless there is one.
    pub(crate) ticker: Option<&'a Ticker>,
    pub(crate) slots: &'a Arc<Slots>,
    pub(crate) running: Running,
    /// What stands behind the imports of a lembeh guest.
    pub(crate) lembeh: Option<SharedLembeh>,
    /// What a serving guest is asked.
    pub(crate) exchange: Option<Arc<Exchange>>,
}

/// Runs the prepared module. Whatever takes no time is done before there is a future: a future is moved with all that it
/// will ever hold, and a request in it several times over.
pub(crate) fn run<'a>(
    place: Place<'a>,
    mut request: RunRequest,
    image: Option<&'a mut Image>,
) -> BoxFuture<'a, Result<(RunReport, Streams), Fault>> {
    let started = Instant::now();
    let slot = place.slots.try_take(&request);
    let asked = slot.is_none().then(|| Asked::of(&request));
    let waited = Waited::from_now(request.preparing.take());
    let deadline = Deadline::new(started, request.limits.wall_max, waited);
    match (slot, asked) {
        (Some(slot), _) => match Begun::new(place, request, slot, (started, deadline), image.as_deref()) {
            Ok(begun) => Box::pin(begun.go_on(image)),
            Err(fault) => Box::pin(ready(Err(fault))),
        },
        (None, asked) => {
            let asked = asked.unwrap_or_else(|| Asked::of(&request));
            Box::pin(run_later(place, request, asked, (started, deadline), image))
        }
    }
}

/// The same for a run that has to wait for a slot first.
async fn run_later<'a>(
    place: Place<'a>,
    request: RunRequest,
    asked: Asked,
    (started, deadline): (Instant, Deadline),
    image: Option<&'a mut Image>,
) -> Result<(RunReport, Streams), Fault> {
    match place.slots.wait(asked, &deadline, &request.switches).await? {
        Ok(slot) => {
            Begun::new(place, request, slot, (started, deadline), image.as_deref())?.go_on(image).await
        }
        Err(outcome) => {
            let report = RunReport { duration: started.elapsed(), ..not_begun(outcome) };
            Ok((report, request.streams))
        }
    }
}

/// A run that has a slot and a store.
struct Begun<'a> {
    store: Burning,
    /// Held until the instance is gone, also where all of this is dropped: so it comes after the store, and goes with it
    /// where it is taken down elsewhere.
    slot: Slot<'a>,
    prepared: Arc<Prepared>,
    ticker: Option<&'a Ticker>,
    started: Instant,
    deadline: Deadline,
    switches: [Arc<Switch>; 2],
    spending: Option<Spending>,
    clock: Option<Arc<SteppedClock>>,
}

impl<'a> Begun<'a> {
    fn new(
        place: Place<'a>,
        mut request: RunRequest,
        slot: Slot<'a>,
        (started, deadline): (Instant, Deadline),
        image: Option<&Image>,
    ) -> Result<Self, Fault> {
        tracing::trace!(target: "drydock::hop", "engine: a fresh instance with a deadline and limits of work and memory");
        let Place { engine, prepared, ticker, running, lembeh, exchange, .. } = place;
        let (fuel_max, switches) = (request.limits.fuel_max, request.switches.clone());
        let spending = request.budget.take().map(|it| Spending::new(it, fuel_max, ticker.is_some()));
        if prepared.starts_in_pwd {
            request.working_dir = WorkingDir::Own;
        }
        let burnt = spending.as_ref().map(|it| Arc::clone(it.burnt()));
        let mut guest = Guest::new(request, started, deadline.clone(), running);
        guest.burnt = burnt.clone().map(|it| (it, fuel_max));
        guest.at_input = image.map_or(AtInput::Reads, |it| it.at_input);
        guest.growth = prepared.kind.growth;
        guest.lembeh = lembeh.map(|host| Box::new(lembeh::State::new(host)));
        guest.serving = exchange.map(|it| Box::new(serving::State::new(it)));
        let clock = guest.clock.stepped().cloned();
        let mut store = Burning::new(Store::new(engine, guest), ticker.is_none().then_some(fuel_max), burnt);
        store.limiter(|guest| guest);
        arm(&mut store, ticker, fuel_max).map_err(|error| Fault::Internal(format!("{error:#}")))?;
        Ok(Self { store, slot, prepared, ticker, started, deadline, switches, spending, clock })
    }

    fn go_on(
        self,
        mut image: Option<&'a mut Image>,
    ) -> impl Future<Output = Result<(RunReport, Streams), Fault>> + Send + 'a {
        // Taken apart here, so that the future holds each part once.
        let Self { mut store, slot, prepared, ticker, started, deadline, switches, mut spending, clock } =
            self;
        let span = tracing::info_span!(
            target: "drydock::engine", "run", kind = prepared.kind.name, fuel = Empty, memory_bytes = Empty, outcome = Empty,
        );
        let running = async move {
            let ending = {
                let before = image.as_ref().and_then(|it| it.before.as_deref());
                let guest = pin!(execute(&mut store, &prepared, before));
                let turns = Turns { spending: spending.as_mut(), clock: clock.as_deref() };
                watch(guest, &deadline, &switches, ticker, turns).await
            };
            let outcome = match ending {
                Ending::Ended(Ok(())) => Outcome::Exited(0),
                Ending::Ended(Err(error)) => match classify(error) {
                    Ok(outcome) => outcome,
                    // Nothing of its code has run: the memory that it begins with is more than it may have.
                    Err(_) if store.data().refused.is_some() => Outcome::OutOfMemory,
                    Err(error) => return Err(cannot_start(error)),
                },
                Ending::TimedOut => Outcome::TimedOut,
                Ending::Cancelled => Outcome::Cancelled,
                Ending::OutOfFuel => Outcome::OutOfFuel,
            };
            if let (Some(image), Outcome::Exited(0), Some(memory)) =
                (&mut image, &outcome, store.data().memory)
            {
                image.after = Some(copied(&mut store, memory).await);
                image.at_input = store.data().at_input;
            }
            // Giving many pages back to the system takes as long as touching them did.
            let (fuel, guest) = match store.data().meter.peak() > PAGES_AT_ONCE_BYTES {
                true => {
                    let slot = slot.owned();
                    let ended = off_thread(move || {
                        let ended = store.end();
                        drop(slot);
                        ended
                    });
                    ended.await?
                }
                false => {
                    let ended = store.end();
                    drop(slot);
                    ended
                }
            };
            let report = RunReport {
                outcome,
                fuel,
                memory_bytes: guest.meter.peak(),
                duration: started.elapsed(),
                stdin_bytes: guest.counts.stdin,
                stdout_bytes: guest.counts.stdout,
                stderr_bytes: guest.counts.stderr,
                quota: guest.quota,
            };
            let span = Span::current();
            span.record("fuel", report.fuel).record("memory_bytes", report.memory_bytes);
            span.record("outcome", report.outcome.code());
            let mut streams = guest.streams;
            flush(&mut streams, &report.outcome, &switches).await?;
            Ok((report, streams))
        };
        running.instrument(span)
    }
}

/// Hands over whole what was produced, whatever the ending. A guest that has ended may wait for its
/// reader as any process would; one that was overdue or cancelled may not wait much longer.
async fn flush(streams: &mut Streams, outcome: &Outcome, switches: &[Arc<Switch>; 2]) -> Result<(), Fault> {
    let (mut out, mut err) = (None, None);
    let flushed = poll_fn(|cx| {
        for (sink, done) in [(&mut streams.stdout, &mut out), (&mut streams.stderr, &mut err)] {
            if done.is_none()
                && let Poll::Ready(result) = sink.poll_flush(cx)
            {
                *done = Some(result);
            }
        }
        let mut numbered = streams.numbered.iter();
        let is_through = numbered.all(|(_, it)| it.poll_flush(cx).is_ready());
        if out.is_some() && err.is_some() && is_through { Poll::Ready(()) } else { Poll::Pending }
    });
    match outcome {
        Outcome::TimedOut | Outcome::Cancelled => drop(tokio::time::timeout(LAST_BYTES, flushed).await),
        _ => drop(unless_cancelled(flushed, switches).await),
    }
    let failed = [("stdout", out), ("stderr", err)].into_iter().find_map(|(name, result)| match result {
        // A reader that went away wanted no more.
        Some(Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Some(format!("{name}: {error}"))
        }
        _ => None,
    });
    failed.map_or(Ok(()), |text| Err(Fault::Output(text)))
}

/// Waits for something that is not the guest, such as its compilation; `None` if a switch is thrown.
pub(crate) async fn unless_cancelled<T>(
    work: impl Future<Output = T>,
    switches: &[Arc<Switch>; 2],
) -> Option<T> {
    let mut work = pin!(work);
    // Made only if there is something to wait for: mostly there is not.
    let mut listeners = None;
    poll_fn(|cx| {
        if switches.iter().any(|switch| switch.is_tripped()) {
            return Poll::Ready(None);
        }
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        let listeners = listeners.get_or_insert_with(|| [switches[0].listen(), switches[1].listen()]);
        for (listener, switch) in listeners.iter_mut().zip(switches) {
            if Pin::new(&mut *listener).poll(cx).is_ready() {
                *listener = switch.listen();
                let _ = Pin::new(listener).poll(cx);
            }
        }
        // A switch that was thrown before anybody listened is seen here.
        match switches.iter().any(|switch| switch.is_tripped()) {
            true => Poll::Ready(None),
            false => Poll::Pending,
        }
    })
    .await
}

/// The report of a run that was ended before it began.
pub(crate) fn not_begun(outcome: Outcome) -> RunReport {
    RunReport {
        outcome,
        fuel: 0,
        memory_bytes: 0,
        duration: std::time::Duration::ZERO,
        stdin_bytes: 0,
        stdout_bytes: 0,
        stderr_bytes: 0,
        quota: None,
    }
}

async fn execute(
    store: &mut Store<Guest>,
    prepared: &Prepared,
    image: Option<&[u8]>,
) -> wasmtime::Result<()> {
    let instance = instantiate(store, prepared).await?;
    match &prepared.exports {
        Exports::Command(start) => command::drive(store, instance, start).await,
        Exports::Program(starts) => program::drive(store, instance, starts, image).await,
        Exports::Lembeh(functions) => lembeh::drive(store, instance, functions).await,
        Exports::Serving(functions) => serving::drive(store, instance, functions).await,
        Exports::Handler(_) | Exports::Named => {
            Err(wasmtime::Error::msg("only an instance that lives is called by others"))
        }
    }
}

/// A fresh instance, its start function run.
pub(crate) async fn instantiate(
    store: &mut Store<Guest>,
    prepared: &Prepared,
) -> wasmtime::Result<wasmtime::Instance> {
    let instance = prepared.pre.instantiate_async(&mut *store).await?;
    if let Some(memory) = &prepared.memory {
        let memory = instance.get_module_export(&mut *store, memory).and_then(wasmtime::Extern::into_memory);
        store.data_mut().memory = memory;
    }
    Ok(instance)
}

/// Lets a guest that computes come back to the host: by its fuel, or with every tick.
pub(crate) fn arm(store: &mut Store<Guest>, ticker: Option<&Ticker>, fuel_max: u64) -> wasmtime::Result<()> {
    if ticker.is_some() {
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        return Ok(());
    }
    store.set_fuel(fuel_max)?;
    store.fuel_async_yield_interval(Some(FUEL_BETWEEN_YIELDS))
}

/// An error that is neither a trap nor the guest's: the instance could not be made.
pub(crate) fn cannot_start(error: wasmtime::Error) -> Fault {
    Fault::Internal(format!("{error:#}"))
}

/// A copy of all memory, made in pieces: others get the thread in between.
async fn copied(store: &mut Store<Guest>, memory: wasmtime::Memory) -> Vec<u8> {
    let size = memory.data_size(&*store);
    let mut copy = Vec::with_capacity(size);
    while copy.len() < size {
        let end = size.min(copy.len() + PIECE_BYTES);
        copy.extend_from_slice(&memory.data(&*store)[copy.len()..end]);
        drydock_contract::yield_now().await;
    }
    copy
}

/// How the watch over a guest ended.
pub(crate) enum Ending<T> {
    Ended(T),
    TimedOut,
    Cancelled,
    /// The budget that it shares has not enough for one more turn.
    OutOfFuel,
}

/// What a guest's turns cost, and whose clock moves by them.
#[derive(Default)]
pub(crate) struct Turns<'a> {
    pub(crate) spending: Option<&'a mut Spending>,
    pub(crate) clock: Option<&'a SteppedClock>,
}

/// Polls the guest until it ends, its time is up, or a switch is thrown.
pub(crate) async fn watch<T>(
    mut guest: Pin<&mut impl Future<Output = T>>,
    deadline: &Deadline,
    switches: &[Arc<Switch>; 2],
    ticker: Option<&Ticker>,
    turns: Turns<'_>,
) -> Ending<T> {
    let Turns { mut spending, clock } = turns;
    // Made only if the guest has to wait: most never do.
    let mut alarm: Option<Alarm> = None;
    let mut poll = |cx: &mut Context<'_>| {
        if switches.iter().any(|switch| switch.is_tripped()) {
            return Poll::Ready(Ending::Cancelled);
        }
        if spending.as_mut().is_some_and(|it| !it.cover_turn()) {
            return Poll::Ready(Ending::OutOfFuel);
        }
        let turn = spending.is_some().then(Instant::now);
        let computing = ticker.map(Ticker::computing);
        let polled = guest.as_mut().poll(cx);
        drop(computing);
        if let (Some(spending), Some(began)) = (&mut spending, turn) {
            spending.end_turn(began);
        }
        if let Poll::Ready(result) = polled {
            return Poll::Ready(Ending::Ended(result));
        }
        if ticker.is_some() && !schedule::is_inside() {
            // A tick comes when the machine says so: it is no slice of work that others could go by.
            schedule::gives_thread_back();
        }
        if deadline.is_over(Instant::now()) {
            return Poll::Ready(Ending::TimedOut);
        }
        let alarm = alarm.get_or_insert_with(|| Alarm::new(deadline, switches));
        alarm.poll(cx, deadline, switches).map(|why| match why {
            Why::TimedOut => Ending::TimedOut,
            Why::Cancelled => Ending::Cancelled,
        })
    };
    poll_fn(|cx| match clock {
        None => poll(cx),
        Some(clock) => schedule::moving(clock, || poll(cx)),
    })
    .await
}

/// Why a guest was woken from outside.
pub(crate) enum Why {
    TimedOut,
    Cancelled,
}

/// Wakes the run when its time is up or a switch is thrown.
pub(crate) struct Alarm {
    timer: Pin<Box<tokio::time::Sleep>>,
    listeners: [event_listener::EventListener; 2],
}

impl Alarm {
    pub(crate) fn new(deadline: &Deadline, switches: &[Arc<Switch>; 2]) -> Self {
        let timer = Box::pin(tokio::time::sleep_until(deadline.at().into()));
        Self { timer, listeners: [switches[0].listen(), switches[1].listen()] }
    }

    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        deadline: &Deadline,
        switches: &[Arc<Switch>; 2],
    ) -> Poll<Why> {
        while self.timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            if deadline.is_over(now) {
                return Poll::Ready(Why::TimedOut);
            }
            // Somebody compiled meanwhile, or still does; then the deadline moves as time passes.
            self.timer.as_mut().reset(deadline.at().max(now + LOOK_AGAIN).into());
        }
        for (listener, switch) in self.listeners.iter_mut().zip(switches) {
            let heard = Pin::new(&mut *listener).poll(cx).is_ready();
            if switch.is_tripped() {
                return Poll::Ready(Why::Cancelled);
            }
            if heard {
                *listener = switch.listen();
                let _ = Pin::new(listener).poll(cx);
            }
        }
        Poll::Pending
    }
}
