//! The runner's end: executions one after another, each in a fresh guest.
//!
//! [`Endpoint`] holds the rules and does nothing; [`serve`] carries out what it says with any [`Guest`]
//! over any [`Port`].

mod desk;
mod door;
mod endpoint;
mod guest;
mod limits;
mod lines;
mod logs;
mod port;
mod serve;
#[cfg(test)]
mod tests;

pub use door::ToolDoor;
pub use endpoint::{Endpoint, Input, Output};
pub use guest::{Console, Finished, Guest, Program};
pub use limits::RunnerLimits;
pub use lines::LinePort;
pub use logs::{LogBuffer, truncate_logs};
pub use port::{Heard, Port};
pub use serve::serve;
