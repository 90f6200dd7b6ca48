//! Guest dialects as bytes ⇄ values. No I/O, no policy: a function here touches one byte slice.
//!
//! Every length a guest states is compared with what is really there before anything is allocated.

pub mod broker;
pub mod browse;
pub mod exchange;
pub mod exec;
pub mod fetch;
pub mod json;
pub mod kernel;
pub mod kv;
pub mod lembeh;
pub mod listing;
pub mod llm;
pub mod many;
pub mod parallel;
pub mod queue;
mod reader;
pub mod runner;
pub mod search;
pub mod secret;
pub mod serve;
pub mod shell;
pub mod tcp;
pub mod tls;
pub mod tool;
pub mod udp;

pub use reader::{Reader, Truncated};
