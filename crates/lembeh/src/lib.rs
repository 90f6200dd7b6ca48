//! The async hub of lembeh guests, and what decides about their requests (seed 004).
//!
//! [`Hub`] is the whole of ZAX1 as a state machine: the bytes a guest writes and the completions of what it
//! started go in, the bytes it reads and the starts come out. Time is a number that is handed in. [`ctl`] answers
//! `_ctl`, and [`policy`] says in which order requests of exec, files and net are refused. Nothing here has a
//! clock, a thread, a socket or a process: what begins something stands behind [`Powers`].

pub mod ctl;
mod hub;
pub mod policy;
mod powers;

pub use hub::{Closed, Hub, HubLimits, Read};
pub use powers::{Begun, Failure, Offer, Powers};
