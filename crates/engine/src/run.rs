//! One run, from a fresh store to a report.
//!
//! The guest runs on the calling thread. It yields after every slice of fuel, or with every tick, and that
//! is when the clock, a revocation and a cancellation are looked at; while it waits in a host call, a timer
//! and the switches wake us instead. Either way the guest is ended by dropping its future.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use drydock_contract::{Fault, Outcome, RunReport, RunRequest, Streams, Switch, Waited, WorkingDir};
use wasmtime::{Engine, Store};

use crate::{
    burning::Burning,
    config::FUEL_BETWEEN_YIELDS,
    deadline::Deadline,
    guest::{AtInput, Guest},
    link::{Prepared, Start},
    occupied::Running,
    outcome::{Stop, classify},
    ticker::Ticker,
};

/// What a sink gets to take its last bytes once the run is overdue or cancelled.
const LAST_BYTES: Duration = Duration::from_millis(200);

/// Between two looks at a deadline that moves.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Where a run in another's memory starts. `_start` will not do: libc's starts once in the life of a memory.
const AGAIN: &str = "again";

/// Memory that a run starts with instead of the module's own, and that it leaves.
#[derive(Debug, Default)]
pub(crate) struct Image {
    /// What a run left earlier.
    pub(crate) before: Option<Vec<u8>>,
    /// What this one leaves, if it ended by itself.
    pub(crate) after: Option<Vec<u8>>,
    /// Whether it is stopped where it asks for input; afterwards, whether it was.
    pub(crate) at_input: AtInput,
}

/// Runs the prepared module, interrupted by fuel unless there is a ticker.
pub(crate) async fn run(
    engine: &Engine,
    prepared: &Prepared,
    mut request: RunRequest,
    mut image: Option<&mut Image>,
    ticker: Option<&Ticker>,
    running: Running,
) -> Result<(RunReport, Streams), Fault> {
    tracing::trace!(target: "drydock::hop", "engine: a fresh instance with a deadline and limits of work and memory");
    let started = Instant::now();
    let (limits, switches) = (request.limits, request.switches.clone());
    let gauge = request.gauge.clone();
    if prepared.starts_in_pwd {
        request.working_dir = WorkingDir::Own;
    }
    let waited = Waited::from_now(request.preparing.take());
    let deadline = Deadline::new(started, limits.wall_max, waited);
    let guest = Guest::new(request, deadline.clone(), running);
    let mut store = Burning::new(Store::new(engine, guest), limits.fuel_max, gauge);
    store.limiter(|guest| guest);
    store.data_mut().at_input = image.as_ref().map_or(AtInput::Reads, |it| it.at_input);
    let internal = |error: wasmtime::Error| Fault::Internal(format!("{error:#}"));
    match ticker {
        Some(_) => {
            store.set_epoch_deadline(1);
            store.epoch_deadline_async_yield_and_update(1);
        }
        None => {
            store.set_fuel(limits.fuel_max).map_err(internal)?;
            store.fuel_async_yield_interval(Some(FUEL_BETWEEN_YIELDS)).map_err(internal)?;
        }
    }

    let ending = {
        let before = image.as_ref().and_then(|it| it.before.as_deref());
        let guest = pin!(execute(&mut store, prepared, before));
        watch(guest, &deadline, &switches, ticker).await
    };
    let outcome = match ending {
        Ending::Ended(Ok(())) => Outcome::Exited(0),
        Ending::Ended(Err(error)) => classify(error).map_err(cannot_start)?,
        Ending::TimedOut => Outcome::TimedOut,
        Ending::Cancelled => Outcome::Cancelled,
    };
    if let (Some(image), Outcome::Exited(0), Some(memory)) = (&mut image, &outcome, store.data().memory) {
        image.after = Some(memory.data(&*store).to_vec());
        image.at_input = store.data().at_input;
    }
    let (fuel, guest) = store.end();
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
    let mut streams = guest.streams;
    flush(&mut streams, &report.outcome, &switches).await?;
    Ok((report, streams))
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
        if out.is_some() && err.is_some() { Poll::Ready(()) } else { Poll::Pending }
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
    let instance = prepared.pre.instantiate_async(&mut *store).await?;
    if let Some(memory) = &prepared.memory {
        let memory = instance.get_module_export(&mut *store, memory).and_then(wasmtime::Extern::into_memory);
        store.data_mut().memory = memory;
    }
    let nothing = || wasmtime::Error::msg("there is nothing to start");
    let start = match (image, store.data().memory, &prepared.start) {
        (Some(image), Some(memory), _) => {
            restore(store, memory, image).await?;
            instance.get_func(&mut *store, AGAIN)
        }
        (_, _, Start::Command(start)) => {
            instance.get_module_export(&mut *store, start).and_then(wasmtime::Extern::into_func)
        }
        (_, _, Start::Main { initialize, run }) => {
            let function = |store: &mut Store<Guest>, export: &wasmtime::ModuleExport| {
                let found = instance.get_module_export(&mut *store, export);
                found.and_then(wasmtime::Extern::into_func).ok_or_else(nothing)
            };
            if let Some(initialize) = initialize {
                let initialize = function(store, initialize)?;
                initialize.typed::<(), ()>(&*store)?.call_async(&mut *store, ()).await?;
            }
            let run = function(store, run)?;
            let status = run.typed::<(), i32>(&*store)?.call_async(&mut *store, ()).await?;
            return if status == 0 { Ok(()) } else { Err(Stop::Exit(status).into()) };
        }
    };
    let start = start.ok_or_else(nothing)?;
    start.typed::<(), ()>(&*store)?.call_async(store, ()).await
}

/// Puts an earlier run's memory in the place of the module's own. It grows as a guest's would, under the
/// same limit.
async fn restore(store: &mut Store<Guest>, memory: wasmtime::Memory, image: &[u8]) -> wasmtime::Result<()> {
    let page = usize::try_from(memory.page_size(&*store)).unwrap_or(usize::MAX);
    let missing = image.len().saturating_sub(memory.data_size(&*store)).div_ceil(page);
    if missing > 0 && memory.grow_async(&mut *store, missing as u64).await.is_err() {
        return Err(Stop::OutOfMemory.into());
    }
    let data = memory.data_mut(&mut *store);
    data[..image.len()].copy_from_slice(image);
    data[image.len()..].fill(0);
    Ok(())
}

/// An error that is neither a trap nor ours: the instance could not be made.
fn cannot_start(error: wasmtime::Error) -> Fault {
    if error.downcast_ref::<wasmtime::PoolConcurrencyLimitError>().is_some() {
        return Fault::Saturated(format!("{error:#}"));
    }
    Fault::Internal(format!("{error:#}"))
}

enum Ending {
    Ended(wasmtime::Result<()>),
    TimedOut,
    Cancelled,
}

/// Polls the guest until it ends, its time is up, or a switch is thrown.
async fn watch(
    mut guest: Pin<&mut impl Future<Output = wasmtime::Result<()>>>,
    deadline: &Deadline,
    switches: &[Arc<Switch>; 2],
    ticker: Option<&Ticker>,
) -> Ending {
    // Made only if the guest has to wait: most never do.
    let mut alarm: Option<Alarm> = None;
    poll_fn(|cx| {
        if switches.iter().any(|switch| switch.is_tripped()) {
            return Poll::Ready(Ending::Cancelled);
        }
        let computing = ticker.map(Ticker::computing);
        let polled = guest.as_mut().poll(cx);
        drop(computing);
        if let Poll::Ready(result) = polled {
            return Poll::Ready(Ending::Ended(result));
        }
        if deadline.is_over(Instant::now()) {
            return Poll::Ready(Ending::TimedOut);
        }
        alarm.get_or_insert_with(|| Alarm::new(deadline, switches)).poll(cx, deadline, switches)
    })
    .await
}

/// Wakes the run when its time is up or a switch is thrown.
struct Alarm {
    timer: Pin<Box<tokio::time::Sleep>>,
    listeners: [event_listener::EventListener; 2],
}

impl Alarm {
    fn new(deadline: &Deadline, switches: &[Arc<Switch>; 2]) -> Self {
        let timer = Box::pin(tokio::time::sleep_until(deadline.at().into()));
        Self { timer, listeners: [switches[0].listen(), switches[1].listen()] }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        deadline: &Deadline,
        switches: &[Arc<Switch>; 2],
    ) -> Poll<Ending> {
        while self.timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            if deadline.is_over(now) {
                return Poll::Ready(Ending::TimedOut);
            }
            // Somebody compiled meanwhile, or still does; then the deadline moves as time passes.
            self.timer.as_mut().reset(deadline.at().max(now + LOOK_AGAIN).into());
        }
        for (listener, switch) in self.listeners.iter_mut().zip(switches) {
            let heard = Pin::new(&mut *listener).poll(cx).is_ready();
            if switch.is_tripped() {
                return Poll::Ready(Ending::Cancelled);
            }
            if heard {
                *listener = switch.listen();
                let _ = Pin::new(listener).poll(cx);
            }
        }
        Poll::Pending
    }
}
