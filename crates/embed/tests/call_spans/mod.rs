//! Calls at the gate by their spans: from when to when each principal had one, and so what its steps took besides.
#![allow(clippy::unwrap_used)]

use std::{
    collections::HashMap,
    fmt::Debug,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

/// Of one call: whose, whether it asked a model, and from when to when.
#[derive(Default)]
struct Call {
    principal: String,
    operation: String,
    begun: Option<Instant>,
    ended: Option<Instant>,
    handles: usize,
}

#[derive(Default)]
struct Calls {
    all: Mutex<HashMap<u64, Call>>,
    next: AtomicU64,
}

/// What the process's gates do from now on.
pub(crate) struct CallSpans(Arc<Calls>);

impl CallSpans {
    pub(crate) fn watch() -> Self {
        let calls = Arc::new(Calls::default());
        tracing::subscriber::set_global_default(Watching(Arc::clone(&calls))).unwrap();
        Self(calls)
    }

    /// What each step of a principal's one run took besides its calls: from where its model was asked to where it was asked
    /// again, without the time in which a call was under way.
    pub(crate) fn besides(&self, principal: &str) -> Vec<Duration> {
        let all = self.0.all.lock().unwrap();
        let mut calls: Vec<(Instant, Instant, bool)> = all
            .values()
            .filter(|it| it.principal == principal)
            .map(|it| (it.begun.unwrap(), it.ended.unwrap(), it.operation.starts_with("llm.")))
            .collect();
        calls.sort_unstable();
        let (mut steps, mut busy_until) = (Vec::<Duration>::new(), None::<Instant>);
        for (begun, ended, is_model) in calls {
            let idle = busy_until.map(|until| begun.saturating_duration_since(until)).unwrap_or_default();
            if let Some(step) = steps.last_mut() {
                *step += idle;
            }
            if is_model {
                steps.push(Duration::ZERO);
            }
            busy_until = Some(busy_until.map_or(ended, |until| until.max(ended)));
        }
        // The last turn is followed by no further one.
        steps.pop();
        steps
    }
}

struct Watching(Arc<Calls>);

impl Subscriber for Watching {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target() == "drydock::gate"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.0.next.fetch_add(1, Relaxed) + 1;
        let mut call = Call { begun: Some(Instant::now()), handles: 1, ..Call::default() };
        span.record(&mut call);
        self.0.all.lock().unwrap().insert(id, call);
        Id::from_u64(id)
    }

    fn clone_span(&self, id: &Id) -> Id {
        if let Some(call) = self.0.all.lock().unwrap().get_mut(&id.into_u64()) {
            call.handles += 1;
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut all = self.0.all.lock().unwrap();
        let Some(call) = all.get_mut(&id.into_u64()) else { return false };
        call.handles -= 1;
        if call.handles == 0 {
            call.ended = Some(Instant::now());
        }
        call.handles == 0
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Visit for Call {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "operation" => self.operation = format!("{value:?}"),
            "principal" => self.principal = format!("{value:?}"),
            _ => {}
        }
    }
}
