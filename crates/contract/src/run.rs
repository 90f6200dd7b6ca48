//! One guest execution: what it is given, and what is told of it afterwards.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{
    Artifact, CapSet, Dispatch, Limits, Meter, Outcome, Preparing, SteppedClock, Streams, Switch, Timestamp,
    port::{CompileLimits, EntryTree, FileLimit, Files, LaneChoice, Mode},
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
    /// What is taken from the bits of files and directories that it makes.
    pub umask: Mode,
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
    /// Told what the run burnt once it is over, also if it was dropped and has no report.
    pub gauge: Option<Arc<FuelGauge>>,
    /// What is waited for code to be compiled, by it and by others of its session: nobody's time, so its end moves.
    pub preparing: Option<Arc<Preparing>>,
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

/// What a run burnt, for whoever pays for it.
#[derive(Debug, Default)]
pub struct FuelGauge(AtomicU64);

impl FuelGauge {
    /// The run is over.
    pub fn tell(&self, fuel: u64) {
        self.0.store(fuel, Ordering::Relaxed);
    }

    /// What it burnt; nothing while it goes on.
    pub fn burnt(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
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
