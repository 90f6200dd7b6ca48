//! Processes: commands that go on after the call that spawned them, as whoever spawns, awaits and kills them asks for that.
//!
//! The three operations travel typed, because only a host asks for them: a guest reaches processes through what its host
//! offers it (cap.exec, tools of code mode), and what it spawned ends with it, because its host lets go of a value.

use std::{any::Any, sync::Arc, time::Duration};

use drydock_contract::RunReport;

/// Starts a process. Request: [`ProcessSpawn`], with the process's streams; reply: [`SpawnedProcess`].
pub const SPAWN: &str = "process.spawn";
/// Waits for the end of one. Request: [`ProcessAwait`]; reply: [`ProcessState`].
pub const AWAIT: &str = "process.await";
/// Ends one. Request: [`ProcessKill`]; reply: [`ProcessState`], which is over.
pub const KILL: &str = "process.kill";

/// Processes of one principal that live or that nobody awaited yet: what a fork bomb gets to.
pub const PROCESSES_MAX: u32 = 32;

/// A process that is to be started. Its streams are those of the call; what they capture is not handed back, so that a
/// caller that wants output gives it a pipe or a sink of its own.
#[derive(Debug, Clone)]
pub struct ProcessSpawn {
    /// The operation that runs it to its end: `exec.start` or `exec.command`. It is asked in the name of the same session,
    /// so that what may be run is decided there, and a refusal is how the process failed.
    pub operation: &'static str,
    /// The request in the encoding of that operation.
    pub request: Vec<u8>,
}

/// Waits for the end of a process of this session, and forgets it when it has ended.
#[derive(Debug, Clone)]
pub struct ProcessAwait {
    /// Which.
    pub number: u64,
    /// The command that it runs: what a grant names.
    pub command: Arc<str>,
    /// How long; then the reply is a state that is not over.
    pub wall_max: Duration,
}

/// Ends a process of this session, waits until it has ended, and forgets it.
#[derive(Debug, Clone)]
pub struct ProcessKill {
    /// Which.
    pub number: u64,
    /// The command that it runs: what a grant names.
    pub command: Arc<str>,
}

/// A process that was spawned. Whoever drops this kills it, and its place is free.
pub struct SpawnedProcess {
    /// By which its session names it. No other process ever has the number.
    pub number: u64,
    /// The command that it runs.
    pub command: Arc<str>,
    /// What ends it when it is dropped.
    pub owner: Box<dyn Any + Send + Sync>,
}

impl SpawnedProcess {
    /// The request that waits for it.
    pub fn awaiting(&self, wall_max: Duration) -> ProcessAwait {
        ProcessAwait { number: self.number, command: Arc::clone(&self.command), wall_max }
    }

    /// The request that ends it.
    pub fn killing(&self) -> ProcessKill {
        ProcessKill { number: self.number, command: Arc::clone(&self.command) }
    }
}

/// How far a process is. It only ever moves down this list, and never from one end to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessState {
    /// It was spawned, and its run was not asked for yet.
    Starting,
    /// Its run was let through.
    Running,
    /// The guest ended, in whatever way the report says.
    Exited(RunReport),
    /// It was killed.
    Killed,
    /// It was refused, or could not be run.
    Failed {
        /// The stable code.
        code: &'static str,
        /// For people.
        message: String,
    },
}

impl ProcessState {
    /// The stable name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Exited(_) => "exited",
            Self::Killed => "killed",
            Self::Failed { .. } => "failed",
        }
    }

    /// Whether it is an end.
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::Exited(_) | Self::Killed | Self::Failed { .. })
    }
}
