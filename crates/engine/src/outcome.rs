//! From wasmtime's endings to ours.

use drydock_contract::Outcome;
use wasmtime::Trap;

/// Why the host ended a guest from inside one of its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stop {
    #[error("exit {0}")]
    Exit(i32),
    #[error("output limit")]
    OutputLimit,
    #[error("input limit")]
    InputLimit,
    #[error("out of memory")]
    OutOfMemory,
    #[error("timed out")]
    TimedOut,
    #[error("cancelled")]
    Cancelled,
    /// It broke a promise that its dialect asks for.
    #[error("{0}")]
    Breach(&'static str),
    /// It asked for input where that is the moment to be snapshotted.
    #[error("asked for input")]
    Ready,
}

impl Stop {
    /// It wrote more to a file than it may: the status of who is ended by SIGXFSZ.
    pub(crate) const FILE_LIMIT: Self = Self::Exit(128 + 25);
}

impl From<Stop> for Outcome {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Exit(status) => Self::Exited(status),
            Stop::Ready => Self::Exited(0),
            Stop::Breach(promise) => Self::Trapped(promise.into()),
            Stop::OutputLimit => Self::OutputLimit,
            Stop::InputLimit => Self::InputLimit,
            Stop::OutOfMemory => Self::OutOfMemory,
            Stop::TimedOut => Self::TimedOut,
            Stop::Cancelled => Self::Cancelled,
        }
    }
}

/// How the guest ended, or the error back if it is not the guest's doing.
pub(crate) fn classify(error: wasmtime::Error) -> Result<Outcome, wasmtime::Error> {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return Ok((*stop).into());
    }
    if error.is::<wasmtime::ThrownException>() {
        return Ok(Outcome::Trapped("uncaught exception".into()));
    }
    if error.is::<wasmtime::GcHeapOutOfMemory<()>>() {
        return Ok(Outcome::OutOfMemory);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => Ok(Outcome::OutOfFuel),
        Some(trap) => Ok(Outcome::Trapped(trap.to_string().trim_start_matches("wasm trap: ").to_owned())),
        None => Err(error),
    }
}
