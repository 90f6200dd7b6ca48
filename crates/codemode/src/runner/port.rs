//! What carries messages between a runner and whoever uses it.

use std::task::{Context, Poll};

use crate::protocol::{Head, HostMessage, RunnerMessage};

/// What a runner hears.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// A message.
    Message(HostMessage),
    /// A message that is longer than is read, of at most so many bytes.
    TooLong(Head, usize),
    /// Something that is no message.
    Junk,
    /// The host has gone.
    Closed,
}

/// A way to a host.
pub trait Port: Send {
    /// Takes a message on its way.
    fn send(&mut self, message: RunnerMessage);

    /// The next thing that arrives. Also moves along whatever is still to be sent.
    fn poll_heard(&mut self, cx: &mut Context<'_>) -> Poll<Heard>;

    /// Moves along what is still to be sent; ready when nothing is, or nothing can be.
    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}
