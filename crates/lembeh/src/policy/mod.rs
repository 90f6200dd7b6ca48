//! Whether a request that reads is allowed, and in which order refusals are found. Pure: what is open and running
//! is handed in.

pub mod exec;
pub mod files;
pub mod net;
