//! What happens in a run while it is driven: told to those who show it, and written into its files, once it is kept and not
//! before.

use std::sync::Arc;

use drydock_abi::llm::ToolCall;
use drydock_agent::Event;
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::trace::Trace;
use crate::instance::off_thread;

/// Events that wait in memory for a snapshot to be written with; each may be as long as a model's answer.
const UNWRITTEN_MAX: usize = 16;

/// Told of each event of a run once it is kept, with its number.
pub type OnEvent = Arc<dyn Fn(u64, &Event) + Send + Sync>;

/// What is known of a run while it is driven.
#[derive(Default)]
pub(super) struct Heard {
    on_event: Mutex<Vec<OnEvent>>,
    trace: Mutex<Option<Trace>>,
    /// What is not in the run's files yet.
    unwritten: Mutex<Vec<Event>>,
    /// The newest turn, its calls, and how far each is.
    calls: Mutex<(u64, Vec<(ToolCall, Progress)>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Asked,
    Announced,
    Taken,
}

impl Heard {
    /// Somebody wants to hear.
    pub(super) fn listen(&self, listener: OnEvent) {
        self.on_event.lock().push(listener);
    }

    /// From now on what happens is written into the run's files too.
    pub(super) fn write_into(&self, trace: Trace) {
        *self.trace.lock() = Some(trace);
    }

    /// What was kept before this process drives the run: its files are made anew by that.
    pub(super) fn began_with(&self, events: &[Event]) {
        events.iter().for_each(|event| self.note(event));
        if let Some(trace) = &mut *self.trace.lock() {
            trace.is_anew = true;
            *self.unwritten.lock() = events.to_vec();
        }
    }

    /// These are kept now, the first under that number. Files are written later ([`Self::write`]).
    pub(super) fn on_events(&self, at: u64, events: &[Event]) {
        events.iter().for_each(|event| self.note(event));
        self.unwritten.lock().extend_from_slice(events);
        let listeners = self.on_event.lock().clone();
        for (number, event) in (at..).zip(events) {
            listeners.iter().for_each(|it| it(number, event));
        }
    }

    /// Whether more is unwritten than should be held: a run that changes no file has no snapshot that writes it.
    pub(super) fn holds_much(&self) -> bool {
        self.unwritten.lock().len() >= UNWRITTEN_MAX
    }

    /// Writes what happened into the run's files, on a thread that may wait.
    pub(super) async fn write(self: &Arc<Self>) {
        let heard = Arc::clone(self);
        off_thread(move || heard.write_here()).await;
    }

    /// The same, by whoever may wait. One after another, in the order in which it happened.
    pub(super) fn write_here(&self) {
        let mut trace = self.trace.lock();
        let events = std::mem::take(&mut *self.unwritten.lock());
        if let Some(trace) = &mut *trace
            && let Err(error) = trace.write(&events)
        {
            // The run may have filled its disk, or made a directory of the name: what counts is kept elsewhere.
            tracing::debug!("a run's own files cannot be written: {error}");
        }
    }

    fn note(&self, event: &Event) {
        let mut newest = self.calls.lock();
        let (turn, calls) = &mut *newest;
        match event {
            Event::Turn { step, tool_calls, .. } => {
                *turn = *step;
                *calls = tool_calls.iter().map(|it| (it.clone(), Progress::Asked)).collect();
            }
            Event::Calling { id, .. } => {
                if let Some(call) = calls.iter_mut().find(|it| it.0.id == *id) {
                    call.1 = Progress::Announced;
                }
            }
            Event::Result { id, .. } => calls.retain(|it| it.0.id != *id),
            _ => {}
        }
    }

    /// Which call of the transcript this is that arrives at a tool: one that was announced with these arguments, and each
    /// of several that say the same once.
    pub(super) fn take_call(&self, tool: &str, arguments: &Map<String, Value>) -> Option<(u64, String)> {
        let mut newest = self.calls.lock();
        let (turn, calls) = &mut *newest;
        let is_it = |it: &&mut (ToolCall, Progress)| {
            it.1 == Progress::Announced && it.0.name == tool && it.0.arguments == *arguments
        };
        let found = calls.iter_mut().find(is_it)?;
        found.1 = Progress::Taken;
        Some((*turn, found.0.id.clone()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, text: &str) -> ToolCall {
        let arguments = json!({ "task": text }).as_object().cloned().unwrap_or_default();
        ToolCall { id: id.into(), name: "agent".into(), arguments, malformed: None }
    }

    #[test]
    fn what_waits_to_be_written_is_bounded_also_where_nothing_is_written_into() {
        let heard = Heard::default();
        let event = || Event::Calling { at_ms: 0, step: 1, id: "1".into(), tool: "shell".into() };
        for at in 0..UNWRITTEN_MAX {
            assert!(!heard.holds_much(), "{at}");
            heard.on_events(at as u64, &[event()]);
        }
        assert!(heard.holds_much());
        heard.write_here();
        assert!(!heard.holds_much() && heard.unwritten.lock().is_empty());
    }

    #[test]
    fn a_call_is_known_by_what_was_announced_and_each_of_two_that_are_alike_once() {
        let heard = Heard::default();
        let turn = Event::Turn {
            at_ms: 0,
            step: 1,
            content: String::new(),
            tool_calls: vec![call("1", "a"), call("2", "a"), call("3", "b")],
            stop_reason: drydock_abi::llm::StopReason::ToolCalls,
            usage: drydock_abi::llm::Usage::default(),
            ms: 0,
        };
        let calling = |id: &str| Event::Calling { at_ms: 0, step: 1, id: id.into(), tool: "agent".into() };
        heard.began_with(&[turn, calling("1"), calling("2")]);
        let (a, b) = (call("", "a").arguments, call("", "b").arguments);
        assert_eq!(heard.take_call("shell", &a), None);
        assert_eq!(heard.take_call("agent", &a), Some((1, "1".into())));
        assert_eq!(heard.take_call("agent", &a), Some((1, "2".into())));
        assert_eq!(heard.take_call("agent", &a), None);
        assert_eq!(heard.take_call("agent", &b), None, "it was not announced");
    }
}
