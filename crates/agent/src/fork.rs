//! A run from the events of another, up to one of its turns.
//!
//! What people answered in the one is no authority in the other: questions and answers are left out, and so is what its
//! turns cost, which was paid.

use drydock_abi::llm::Usage;

use crate::{BadRun, Event, Run, RunOptions};

/// What is different in the fork.
#[derive(Debug, Clone, Default)]
pub struct ForkChanges {
    /// Another text that the model is told before everything else.
    pub system: Option<String>,
    /// Other options: another model, other bounds.
    pub options: Option<RunOptions>,
    /// What it is told at the place where it is forked.
    pub said: Option<String>,
    /// What whoever opens it needs to open its session.
    pub opened_by: Option<serde_json::Map<String, serde_json::Value>>,
}

/// There is nothing to be forked there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadFork {
    /// The run has fewer turns.
    #[error("the run has no turn {step}: it has {steps}")]
    NoStep {
        /// Which was asked for.
        step: u64,
        /// How many there are.
        steps: u64,
    },
    /// Calls of that turn have no answer.
    #[error("turn {step} has calls without an answer: fork from turn {} or an earlier one", step - 1)]
    OpenCalls {
        /// Which was asked for.
        step: u64,
    },
    /// Its events are none.
    #[error(transparent)]
    Damaged(#[from] BadRun),
}

/// The events of a fork from turn `step`, or from before the first one if that is 0: as they would stand if the run had been
/// asked for no more. They are another run's first events.
pub fn fork(events: &[Event], step: u64, changes: ForkChanges, at_ms: u64) -> Result<Vec<Event>, BadFork> {
    let steps = Run::of(events)?.steps();
    if step > steps {
        return Err(BadFork::NoStep { step, steps });
    }
    let is_later = |it: &Event| matches!(it, Event::Turn { step: at, .. } if *at > step);
    let end = events.iter().position(is_later).unwrap_or(events.len());
    let (mut forked, mut run) = (Vec::new(), Run::default());
    for event in &events[..end] {
        forked.extend(inherited(event, &run));
        run.on(event)?;
    }
    // What came after the calls of the turn were over belongs to the turn that is not there.
    while matches!(forked.last(), Some(Event::Nudged { .. } | Event::Said { .. } | Event::Compacted { .. })) {
        forked.pop();
    }
    if let Some(Event::Started { system, options, opened_by, at_ms: began, .. }) = forked.first_mut() {
        *began = at_ms;
        changes.system.into_iter().for_each(|it| *system = it);
        *options = changes.options.unwrap_or_else(|| run.options());
        changes.opened_by.into_iter().for_each(|it| *opened_by = it);
    }
    forked.extend(changes.said.map(|text| Event::Said { at_ms, text }));
    match Run::of(&forked)?.has_open_calls() {
        true => Err(BadFork::OpenCalls { step }),
        false => Ok(forked),
    }
}

/// An event as the fork has it, after what was before it in the other run.
fn inherited(event: &Event, before: &Run) -> Option<Event> {
    match event {
        Event::Asked { .. } | Event::Resumed { .. } | Event::Ended { .. } => None,
        // The messages stay as many as they were: a later event counts them.
        Event::Answered { at_ms, review, answer } => {
            let note = before.note_of(review, answer.as_ref())?;
            let text = format!("[In the run that this one was forked from:] {note}");
            Some(Event::Said { at_ms: *at_ms, text })
        }
        Event::Turn { at_ms, step, content, tool_calls, stop_reason, ms, .. } => Some(Event::Turn {
            at_ms: *at_ms,
            step: *step,
            content: content.clone(),
            tool_calls: tool_calls.clone(),
            stop_reason: *stop_reason,
            usage: Usage::default(),
            ms: *ms,
        }),
        Event::Compacted { at_ms, messages, summary, .. } => Some(Event::Compacted {
            at_ms: *at_ms,
            messages: *messages,
            summary: summary.clone(),
            usage: None,
        }),
        other => {
            let mut other = other.clone();
            if let Event::Result { spent, .. } = &mut other {
                *spent = None;
            }
            Some(other)
        }
    }
}
