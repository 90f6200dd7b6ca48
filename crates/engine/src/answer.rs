//! One request of a handler: an instance is made, called once and gone again, under one deadline and one watch.
//!
//! Opening a handler makes nothing: all of it is done when it is asked. So it has what a run has: a slot of the pool while
//! it is there, and what takes no time is done before there is a future, which is moved with all that it holds.

use std::{future::ready, pin::pin, sync::Arc, time::Instant};

use drydock_contract::{
    BoxFuture, CallLimits, Deadline, Fault, LiveError, LiveReply, LiveSpec, Outcome, Waited,
    port::LiveInstance,
};
use parking_lot::Mutex;
use tracing::{Instrument as _, Span, field::Empty};
use wasmtime::Engine;

use crate::{
    entry::{Exports, Prepared, handler::Driver},
    live::{Failure, Opening, Place, ended, paid_by},
    occupied::Running,
    run::{instantiate, watch},
    slots::{Asked, Slot, Slots},
    ticker::Ticker,
};

/// A handler that was opened, and has not been asked yet.
pub(crate) struct Once {
    engine: Engine,
    ticker: Option<Arc<Ticker>>,
    slots: Arc<Slots>,
    prepared: Arc<Prepared>,
    asked: Mutex<Option<(LiveSpec, Running)>>,
}

impl Once {
    pub(crate) fn new(place: Place<'_>, prepared: Arc<Prepared>, spec: LiveSpec) -> Self {
        let Place { engine, ticker, slots, running } = place;
        let (engine, ticker, slots) = (engine.clone(), ticker.cloned(), Arc::clone(slots));
        Self { engine, ticker, slots, prepared, asked: Mutex::new(Some((spec, running))) }
    }
}

impl LiveInstance for Once {
    fn call<'a>(
        &'a self,
        input: &'a [u8],
        limits: CallLimits,
    ) -> BoxFuture<'a, Result<LiveReply, LiveError>> {
        let Some((spec, running)) = self.asked.lock().take() else {
            return Box::pin(ready(Err(LiveError::Dead("a handler answers one request".into()))));
        };
        let place = Place { engine: &self.engine, ticker: self.ticker.as_ref(), slots: &self.slots, running };
        answer(place, Arc::clone(&self.prepared), LiveSpec { opening: limits, ..spec }, input)
    }

    /// Nothing of it has run.
    fn opening_fuel(&self) -> u64 {
        0
    }

    fn close(&self) {
        drop(self.asked.lock().take());
    }
}

/// Answers it.
fn answer<'a>(
    place: Place<'a>,
    prepared: Arc<Prepared>,
    spec: LiveSpec,
    input: &'a [u8],
) -> BoxFuture<'a, Result<LiveReply, LiveError>> {
    tracing::trace!(target: "drydock::hop", "engine: a fresh instance for one request, linked as a {}", prepared.kind.name);
    let span = tracing::info_span!(
        target: "drydock::engine", "answer", kind = prepared.kind.name, fuel = Empty, memory_bytes = Empty, outcome = Empty,
    );
    let started = Instant::now();
    let deadline = Deadline::new(started, spec.opening.wall_max, Waited::from_now(spec.preparing.clone()));
    if deadline.is_over(started) {
        return Box::pin(ready(Err(LiveError::Ended(Outcome::TimedOut))));
    }
    let reply_bytes_max = spec.opening.reply_bytes_max;
    match place.slots.try_take_for(spec.preparing.as_ref()) {
        Some(slot) => match Opening::new(place, slot, prepared, spec, (started, deadline)) {
            Ok(opening) => Box::pin(opening.answer(input, reply_bytes_max, started).instrument(span)),
            Err(error) => Box::pin(ready(Err(error))),
        },
        None => Box::pin(
            async move {
                let asked = Asked::for_live(&spec);
                let slot = place.slots.take(asked, &deadline, &spec.switches).await?;
                let slot = slot.map_err(LiveError::Ended)?;
                let opening = Opening::new(place, slot, prepared, spec, (started, deadline))?;
                opening.answer(input, reply_bytes_max, started).await
            }
            .instrument(span),
        ),
    }
}

impl<'a> Opening<'a, Slot<'a>> {
    async fn answer(
        mut self,
        input: &'a [u8],
        reply_bytes_max: u64,
        started: Instant,
    ) -> Result<LiveReply, LiveError> {
        let (mut is_made, mut answered) = (false, None);
        let settled = {
            let Self { store, prepared, deadline, switches, ticker, spending, .. } = &mut self;
            let ticker = ticker.map(|it| &**it);
            let work = pin!(async {
                let instance = instantiate(store, prepared).await?;
                is_made = true;
                let Exports::Handler(functions) = &prepared.exports else {
                    let text = "it was not linked as a handler";
                    return Err(Failure::Said(Fault::Internal(text.into()).into()));
                };
                let handler = Driver::new(store, instance, functions)?;
                let (answer, used) = handler.call(store, input, reply_bytes_max).await?;
                // An answer that was read stays one, whatever comes of giving the memory back.
                answered = Some(answer);
                Ok(handler.settle(store, used).await?)
            });
            ended(watch(work, deadline, switches, ticker, paid_by(spending.as_mut())).await)
        };
        let answer = match (answered, settled) {
            (Some(answer), _) => answer,
            (None, Ok(Err(Failure::Guest(error)))) if !is_made => Err(self.cannot_be_made(error)),
            (None, Ok(Err(failure))) => Err(failure.into()),
            (None, Ok(Ok(()))) => Err(Fault::Internal("a handler ended without an answer".into()).into()),
            (None, Err(error)) => Err(error),
        };
        let fuel = self.store.end_call();
        let (memory_bytes, duration) = (self.store.data().meter.peak(), started.elapsed());
        let span = Span::current();
        span.record("fuel", fuel).record("memory_bytes", memory_bytes);
        span.record("outcome", answer.as_ref().map_or_else(LiveError::code, |_| "answered"));
        answer.map(|bytes| LiveReply { bytes, fuel, memory_bytes, duration })
    }
}
