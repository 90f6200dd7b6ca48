//! One guest execution: what it is given, and what is told of it afterwards.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
    time::Duration,
};

use crate::{
    Artifact, Budget, CallId, CapSet, Dispatch, Limits, Meter, Outcome, Preparing, SteppedClock, Streams,
    Switch, Tenant, Timestamp,
    port::{CompileLimits, EntryTree, FileLimit, FileRules, Files, LaneChoice},
};

/// Everything one run starts with. What is not in here does not exist for the guest.
pub struct RunRequest {
    /// The verified module.
    pub artifact: Artifact,
    /// Arguments, the command's own name first.
    pub argv: Vec<Vec<u8>>,
    /// `NAME=value` entries.
    pub env: Arc<[Vec<u8>]>,
    /// Stdin, stdout, stderr.
    pub streams: Streams,
    /// The file tree, or none for a fresh empty one charged to this run.
    pub files: Option<Arc<dyn Files>>,
    /// Directories that are seen over the tree, and are no part of it.
    pub trees: Vec<EntryTree>,
    /// How it comes to its working directory.
    pub working_dir: WorkingDir,
    /// What holds for the files that it makes and writes.
    pub file_rules: FileRules,
    /// What it may spend.
    pub limits: Limits,
    /// Memory that it shares with other runs, or none for no bound but its own.
    pub memory: Option<Arc<Meter>>,
    /// Where it runs; without a choice, where instructions are counted and what its module needs is on.
    pub lane: Option<LaneChoice>,
    /// What compiling it may take, where that is not the usual.
    pub compile: Option<CompileLimits>,
    /// Which powers its imports may name.
    pub caps: CapSet,
    /// What clocks tell it.
    pub time: GuestTime,
    /// Told how late it was for the run when it is over, where time is not the real one.
    pub clock: Option<Arc<SteppedClock>>,
    /// Where its randomness comes from.
    pub entropy: Entropy,
    /// Its only way to the world.
    pub door: Arc<dyn Dispatch>,
    /// Any of these, tripped, ends the run.
    pub switches: [Arc<Switch>; 2],
    /// What it shares with other runs, and draws from ahead of what it burns.
    pub budget: Option<Arc<Budget>>,
    /// What is waited for code to be compiled, by it and by others of its session: nobody's time, so its end moves.
    pub preparing: Option<Arc<Preparing>>,
    /// How many runs lie between the host and this one. A run holds its slot while what it started runs, so the
    /// deeper one of two is not made to wait for the other.
    pub depth: u32,
    /// Whose run it is: where slots are short, tenants take turns.
    pub tenant: Tenant,
    /// Whether compiling its own code is somebody's time all the same: a guest wrote it, and could write others
    /// without end.
    pub pays_for_code: bool,
}

/// How a program comes to its working directory, which `PWD` names: WASI has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkingDir {
    /// It looks at `PWD` and goes there by itself.
    #[default]
    Own,
    /// It knows nothing of it, and is given that directory under the name `.`.
    Given,
}

/// What clocks tell a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GuestTime {
    /// The time of day.
    #[default]
    Real,
    /// A fixed start. Time then moves only by being looked at (a microsecond each) and by sleeping,
    /// which costs no real time: the same program sees the same times.
    Fixed(Timestamp),
}

/// Where a guest's randomness comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Entropy {
    /// The operating system.
    #[default]
    System,
    /// A stream that depends on nothing but the seed.
    Seeded(u64),
}

impl Entropy {
    /// What one call starts with: a stream of its own, that no other call of the session has and that does not
    /// depend on what runs beside it.
    #[must_use]
    pub fn for_call(self, call: CallId) -> Self {
        match self {
            Self::System => Self::System,
            Self::Seeded(seed) => Self::Seeded(CallId(seed).child(call.0).0),
        }
    }

    /// A number to start a generator with that needs to be no secret.
    pub fn seed(self) -> u64 {
        match self {
            Self::Seeded(seed) => seed,
            // A fresh hasher is keyed by the operating system.
            Self::System => RandomState::new().hash_one(0),
        }
    }
}

/// What one run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// How it ended.
    pub outcome: Outcome,
    /// Fuel it burnt.
    pub fuel: u64,
    /// The most memory it held, host buffers included.
    pub memory_bytes: u64,
    /// Wall time from instantiation to the end.
    pub duration: Duration,
    /// Bytes read from stdin.
    pub stdin_bytes: u64,
    /// Bytes written to stdout.
    pub stdout_bytes: u64,
    /// Bytes written to stderr.
    pub stderr_bytes: u64,
    /// The limit of its files that it met first, if any. It was told so by an errno, and how it went on
    /// is its own affair.
    pub quota: Option<FileLimit>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_of_a_seeded_session_has_a_stream_of_its_own() {
        let seed = Entropy::Seeded(7);
        let (first, second) = (CallId(0).child(0), CallId(0).child(1));
        assert_eq!(seed.for_call(first), seed.for_call(CallId(0).child(0)));
        assert_ne!(seed.for_call(first), seed.for_call(second));
        assert_ne!(seed.for_call(first), Entropy::Seeded(8).for_call(first));
        assert_ne!(first.child(second.0), second.child(first.0), "who calls whom is told apart");
        assert_eq!(Entropy::System.for_call(first), Entropy::System);
    }
}
