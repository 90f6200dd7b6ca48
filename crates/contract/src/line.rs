//! The shell's guest: what an instance of it is made with, and what each line gives it.
//!
//! Data, and one trait that answers questions. An instance lives between the lines of one shell.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use crate::{
    Artifact, Budget, Deadline, Dispatch, GuestTime, Meter, Outcome, Preparing, SteppedClock, Streams,
    Tenant, Timestamp,
    port::{FileResult, FileRules, Files, Stat, TreePath},
};

/// What an instance of the shell's guest is made with.
#[derive(Clone)]
pub struct ShellGuestSpec {
    /// The verified module.
    pub artifact: Artifact,
    /// Its memory for all of its life.
    pub memory_bytes_max: u64,
    /// What is waited for code to be compiled: nobody's time.
    pub preparing: Option<Arc<Preparing>>,
    /// How many runs lie between the host and this one.
    pub depth: u32,
    /// Whose it is: tenants take turns where somebody has to wait.
    pub tenant: Tenant,
}

/// One call of such an instance.
pub struct ShellCall {
    /// The request, as `abi` has it.
    pub input: Vec<u8>,
    /// What it may take until it is ended, whatever it does.
    pub wall_max: Duration,
    /// Memory that it shares with others for this call.
    pub memory: Option<Arc<Meter>>,
    /// What pays for the time that it computes.
    pub budget: Option<Arc<Budget>>,
    /// What a line has of the world; none for a call that only reads a text.
    pub world: Option<LineWorld>,
}

/// What a line has of the world.
pub struct LineWorld {
    /// The line's own streams.
    pub streams: Streams,
    /// Where its commands are started.
    pub door: Arc<dyn Dispatch>,
    /// Whoever answers its questions.
    pub desk: Arc<dyn LineDesk>,
    /// What it sees of files.
    pub files: Arc<dyn Files>,
    /// What its clocks say.
    pub time: GuestTime,
    /// The session's clock, where time is not the real one.
    pub clock: Option<Arc<SteppedClock>>,
}

/// Answers what the shell of a line asks, and tells it what happens beside its commands.
pub trait LineDesk: Send + Sync {
    /// Whether a name is a command that may be run.
    fn has_command(&self, name: &str) -> bool;

    /// The names of all commands that may be run.
    fn command_names(&self) -> Vec<String>;

    /// What to say of a name that is no command.
    fn not_found(&self, name: &str) -> String;

    /// Whether the line changed what an open file is, or what leads to it under this name.
    fn was_changed(&self, path: &TreePath, open: FileResult<Stat>) -> bool;

    /// Whether the line must end.
    fn is_over(&self) -> bool;

    /// The shell has a trap for Ctrl-C, or has none any more.
    fn catches_interrupt(&self, _catches: bool) {}

    /// Whether somebody pressed Ctrl-C since this was last asked, and that is for the shell's trap. Whoever waits for
    /// [`poll_inside`](Self::poll_inside) is woken then.
    fn take_interrupt(&self) -> bool {
        false
    }

    /// The next shell that one of the line's commands starts.
    fn poll_inside(&self, cx: &mut Context<'_>) -> Poll<InsideShell>;
}

/// A shell that one of a line's commands starts.
pub struct InsideShell {
    /// What it is called: `bash` or `sh`.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// `NAME=value` entries.
    pub env: Arc<[Vec<u8>]>,
    /// What holds for the files that it makes and writes.
    pub file_rules: FileRules,
    /// The makefiles that its text comes from, if it is a recipe.
    pub recipe_of: Option<Vec<String>>,
    /// Where its randomness starts.
    pub seed: u64,
    /// When its time is up, where that is sooner than the line's.
    pub time: InsideTime,
    /// What it reads and writes.
    pub streams: Streams,
    /// Where it starts commands: one level deeper.
    pub door: Arc<dyn Dispatch>,
    /// Told how it ended.
    pub end: Box<dyn FnOnce(Outcome, Streams) + Send>,
}

/// The time of a shell inside a line.
#[derive(Debug, Clone)]
pub enum InsideTime {
    /// The line's.
    Lines,
    /// Less of the real time.
    Until(Deadline),
    /// Less of the session's, up to that moment.
    Stepped(Timestamp),
}
