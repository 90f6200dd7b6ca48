//! The agent: think, act, record (seed 002).
//!
//! A run is a list of [`Event`]s. Folding them gives where the run is, and that alone says what comes next: so a run that
//! was interrupted goes on from its events, and one that is shown, replayed or forked is read from them. Models are asked
//! and tools are called at the gate, in the name of the run's session; this room has never heard of a disk, a socket or wasm.

mod compact;
mod cut;
pub mod definition;
mod drive;
mod event;
mod fork;
mod host;
mod next;
mod options;
pub mod prompt;
mod run;
pub mod skill;
pub mod text;
pub mod toolkit;
pub mod tools;

pub use compact::SUMMARY_BYTES_MAX;
pub use cut::{CUT_BYTES_MIN, cut};
pub use drive::{DriveError, Driven, Driver, Stop};
pub use event::{BadEvent, CallOutcome, Event, Purse, RunEnd, Spent};
pub use fork::{BadFork, ForkChanges, fork};
pub use host::Host;
pub use next::{Act, CALLS_AT_ONCE_MAX, Next, Order, TURN_CALLS_MAX, next};
pub use options::{
    AtLimit, BadOptions, COMPACT_BYTES, OnDenial, RunOptions, SESSION_STEPS_MAX, STEPS_MAX,
    TOOL_OUTPUT_BYTES, TOOL_WALL_MS, UnknownTool,
};
pub use run::{BadRun, Given, Pending, Run};
