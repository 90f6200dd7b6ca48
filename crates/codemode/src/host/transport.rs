//! What carries messages to a runner and back.

use std::task::{Context, Poll};

use crate::{
    ExecuteResult,
    protocol::{Head, HostMessage, RunnerMessage},
};

/// A message could not be sent, in words for whoever asked for the execution.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TransportError(pub String);

/// What arrives.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A message.
    Message(RunnerMessage),
    /// A message that is longer than is read, of at most so many bytes.
    TooLong(Head, usize),
    /// Something that is no message. Told only so that an endless stream of it stays interruptible.
    Junk,
    /// Nothing will ever arrive again, and why.
    Closed(String),
}

/// A way to one runner. Used by one session at a time.
pub trait Transport: Send {
    /// Takes a message on its way. It may still be lost: then `Closed` follows.
    fn send(&mut self, message: HostMessage) -> Result<(), TransportError>;

    /// The next thing that arrives. Also moves along whatever is still to be sent.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event>;

    /// Whether so much is still to be sent that nothing more should be made to be sent.
    fn is_congested(&self) -> bool {
        false
    }

    /// Ends the runner. It did not answer.
    fn terminate(&mut self);

    /// The session is over; called exactly once, whatever happened. Without a result it was abandoned.
    fn dispose(&mut self, result: Option<&ExecuteResult>);
}
