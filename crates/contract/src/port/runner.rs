//! Runs a verified module. Implemented by the engine, and by every stronger tier to come.

use crate::{BoxFuture, Fault, RunReport, RunRequest, Streams};

/// Runs guests.
pub trait Runner: Send + Sync {
    /// Runs one guest to its end, on the calling thread, and hands its streams back.
    ///
    /// Dropping the future ends the guest; the request's gauge is told what it burnt all the same.
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>>;
}
