//! Code mode without the guest: the message protocol, both of its ends, the tools of a program and their
//! types. What runs a program stands behind [`runner::Guest`]; what carries messages behind
//! [`host::Transport`] and [`runner::Port`].
//!
//! Knows no runtime and no wasm: waiting is polling, and time is whatever [`Time`] says.

pub mod executor;
mod gated;
pub mod host;
pub mod protocol;
pub mod provider;
mod result;
mod rules;
pub mod runner;
mod signal;
#[cfg(any(test, feature = "suite"))]
pub mod suite;
#[cfg(any(test, feature = "suite"))]
pub mod testing;
mod time;
pub mod types;

pub use gated::Gated;
pub use result::ExecuteResult;
pub use time::Time;
