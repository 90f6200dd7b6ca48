//! The host's end: one session for each execution.
//!
//! [`HostSession`] holds the rules and does nothing; [`drive`] carries out what it says over any
//! [`Transport`], with any tools and any clock.

mod drive;
mod limits;
mod lines;
mod session;
#[cfg(test)]
mod tests;
mod transport;

pub use drive::{Drive, drive};
pub use limits::HostLimits;
pub use lines::LineTransport;
pub use session::{Alarm, HostSession, Input, Output};
pub use transport::{Event, Transport, TransportError};
