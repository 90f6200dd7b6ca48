//! Guest dialects as bytes ⇄ values. No I/O, no policy: a function here touches one byte slice.
//!
//! Every length a guest states is compared with what is really there before anything is allocated.

pub mod exec;
pub mod fetch;
pub mod json;
pub mod kernel;
pub mod lembeh;
mod reader;
pub mod runner;
pub mod shell;
pub mod tcp;
pub mod tool;

pub use reader::{Reader, Truncated};
