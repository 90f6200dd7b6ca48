//! One run, from a fresh store to a report.
//!
//! The guest runs on the calling thread. It yields after every slice of fuel, and that is when the
//! clock, a revocation and a cancellation are looked at; while it waits in a host call, a timer and
//! the switches wake us instead. Either way the guest is ended by dropping its future.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use drydock_contract::{Fault, Outcome, RunReport, RunRequest, Streams, Switch};
use wasmtime::{Engine, Store};

use crate::{config::FUEL_BETWEEN_YIELDS, guest::Guest, link::Prepared, outcome::classify};

/// Runs the prepared module.
pub(crate) async fn run(
    engine: &Engine,
    prepared: &Prepared,
    request: RunRequest,
) -> Result<(RunReport, Streams), Fault> {
    let started = Instant::now();
    let (limits, switches) = (request.limits, request.switches.clone());
    let deadline = started + limits.wall_max;
    let (guest, _) = Guest::new(request);
    let mut store = Store::new(engine, guest);
    store.limiter(|guest| guest);
    let internal = |error: wasmtime::Error| Fault::Internal(format!("{error:#}"));
    store.set_fuel(limits.fuel_max).map_err(internal)?;
    store.fuel_async_yield_interval(Some(FUEL_BETWEEN_YIELDS)).map_err(internal)?;

    let ending = {
        let guest = pin!(execute(&mut store, prepared));
        watch(guest, deadline, &switches).await
    };
    let outcome = match ending {
        Ending::Ended(Ok(())) => Outcome::Exited(0),
        Ending::Ended(Err(error)) => classify(error).map_err(cannot_start)?,
        Ending::TimedOut => Outcome::TimedOut,
        Ending::Cancelled => Outcome::Cancelled,
    };
    let fuel = limits.fuel_max - store.get_fuel().unwrap_or_default();
    let guest = store.into_data();
    let report = RunReport {
        outcome,
        fuel,
        memory_bytes: guest.meter.peak(),
        duration: started.elapsed(),
        stdin_bytes: guest.counts.stdin,
        stdout_bytes: guest.counts.stdout,
        stderr_bytes: guest.counts.stderr,
    };
    let mut streams = guest.streams;
    // What was produced is handed over whole, whatever the ending; a sink that never takes it is
    // given up with the run.
    let flushed = poll_fn(|cx| {
        let out = streams.stdout.poll_flush(cx);
        let err = streams.stderr.poll_flush(cx);
        if out.is_ready() && err.is_ready() { Poll::Ready(()) } else { Poll::Pending }
    });
    let _ = watch(pin!(async { Ok(flushed.await) }), deadline, &switches).await;
    Ok((report, streams))
}

async fn execute(store: &mut Store<Guest>, prepared: &Prepared) -> wasmtime::Result<()> {
    let instance = prepared.pre.instantiate_async(&mut *store).await?;
    if let Some(memory) = &prepared.memory {
        let memory = instance.get_module_export(&mut *store, memory).and_then(wasmtime::Extern::into_memory);
        store.data_mut().memory = memory;
    }
    let start = instance.get_module_export(&mut *store, &prepared.start).and_then(wasmtime::Extern::into_func);
    let start = start.ok_or_else(|| wasmtime::Error::msg("`_start` is gone"))?;
    start.typed::<(), ()>(&*store)?.call_async(store, ()).await
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
    deadline: Instant,
    switches: &[Arc<Switch>; 2],
) -> Ending {
    // Made only if the guest has to wait: most never do.
    let mut alarm: Option<Alarm> = None;
    poll_fn(|cx| {
        if switches.iter().any(|switch| switch.is_tripped()) {
            return Poll::Ready(Ending::Cancelled);
        }
        if let Poll::Ready(result) = guest.as_mut().poll(cx) {
            return Poll::Ready(Ending::Ended(result));
        }
        if Instant::now() >= deadline {
            return Poll::Ready(Ending::TimedOut);
        }
        alarm.get_or_insert_with(|| Alarm::new(deadline, switches)).poll(cx, switches)
    })
    .await
}

/// Wakes the run when its time is up or a switch is thrown.
struct Alarm {
    timer: Pin<Box<tokio::time::Sleep>>,
    listeners: [event_listener::EventListener; 2],
}

impl Alarm {
    fn new(deadline: Instant, switches: &[Arc<Switch>; 2]) -> Self {
        let timer = Box::pin(tokio::time::sleep_until(deadline.into()));
        Self { timer, listeners: [switches[0].listen(), switches[1].listen()] }
    }

    fn poll(&mut self, cx: &mut Context<'_>, switches: &[Arc<Switch>; 2]) -> Poll<Ending> {
        if self.timer.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ending::TimedOut);
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
