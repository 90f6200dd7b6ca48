//! One request of a handler: an instance is made, called once and gone again, under one deadline and one watch.
//!
//! Nothing of it lives between two calls, so it has what a run has: a slot of the pool while it is there, and what takes no
//! time is done before there is a future, which is moved with all that it holds.

use std::{future::ready, pin::pin, sync::Arc, time::Instant};

use drydock_contract::{BoxFuture, Deadline, Fault, LiveError, LiveReply, LiveSpec, Outcome, Waited};
use tracing::{Instrument as _, Span, field::Empty};

use crate::{
    entry::{Exports, Prepared, handler::Driver},
    live::{Failure, Opening, Place, ended, paid_by},
    run::{instantiate, watch},
    slots::{Asked, Slot},
};

/// Answers it.
pub(crate) fn answer<'a>(
    place: Place<'a>,
    prepared: Arc<Prepared>,
    spec: LiveSpec,
    input: Vec<u8>,
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
        input: Vec<u8>,
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
                let (answer, used) = handler.call(store, &input, reply_bytes_max).await?;
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
