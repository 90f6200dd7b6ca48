//! What passes while a line runs: commands that start and end, and shells that commands start.

use serde::{Deserialize, Serialize};

use super::answer::few;

/// Most streams of one command beside its three: a shell has 1,024 descriptors.
pub const NUMBERED_MAX: usize = 1_021;

/// What a command is started with, in front of the request of `exec.command`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Which of the line's calls this is: by its place in the text, whenever it happens to be made.
    pub ordinal: u64,
    /// What is taken from the bits of files that it makes.
    pub umask: u32,
    /// How long a file may get that it writes.
    pub file_bytes_max: Option<u64>,
    /// The shell inside the line that starts it; 0 is the line's own.
    pub level: u32,
    /// A handle, a file or nothing.
    pub stdin: u32,
    /// A handle, a file or nothing.
    pub stdout: u32,
    /// A handle, a file or nothing.
    pub stderr: u32,
    /// What it opens as `/dev/fd/N`, by rising numbers.
    #[serde(deserialize_with = "few::<NUMBERED_MAX, _, _>")]
    pub numbered: Vec<NumberedStream>,
}

/// A stream that is opened by a number above those of the three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberedStream {
    /// The N of `/dev/fd/N`.
    pub number: u32,
    /// A handle, a file or nothing.
    pub handle: u32,
    /// Which way it goes: `READS`, `WRITES`.
    pub end: u32,
}

/// Something happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It is worth asking again of this handle.
    Ready(u32),
    /// A command ended.
    Ended(u32, Ended),
    /// A command of the line starts a shell.
    Inside(Box<InsideStart>),
    /// Somebody pressed Ctrl-C, and the shell has a trap for it.
    Interrupted,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its report, or why there is none.
    pub answer: Answered,
    /// Whether it wrote to a stdout that nobody reads any more.
    pub is_pipe_broken: bool,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answered {
    /// It ran: its report, as `exec` encodes it.
    Ran(#[serde(with = "super::whole")] Vec<u8>),
    /// It was ended, because it wrote and wrote and nobody read.
    BrokenPipe,
    /// The gate refused it, or running it failed.
    Refused(Refusal),
}

/// Why a command did not run, as far as its shell needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The stable code.
    pub code: String,
    /// In words.
    pub message: String,
    /// The exit status that it has.
    pub status: u8,
    /// What a shell says otherwise than others.
    pub kind: RefusalKind,
}

/// Refusals that a shell has words of its own for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RefusalKind {
    /// There is no such command.
    UnknownCommand,
    /// The line's budget was gone before it began.
    BudgetExceeded,
    /// It is there, and cannot be executed.
    NotAProgram,
    /// Any other.
    Other,
}

/// A shell that one of the line's commands starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsideStart {
    /// Its number: it is this level.
    pub id: u32,
    /// What it is called: `bash` or `sh`.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// `NAME=value` entries.
    pub env: Vec<Vec<u8>>,
    /// What is taken from the bits of files that it makes.
    pub umask: u32,
    /// How long a file may get that it and its commands write.
    pub file_bytes_max: Option<u64>,
    /// The makefiles that its text comes from, if it is a recipe.
    pub recipe_of: Option<Vec<String>>,
    /// Where its randomness starts.
    pub seed: u64,
    /// Whether its time is less than the line's.
    pub is_timed: bool,
    /// Handles of its streams.
    pub streams: [u32; 3],
    /// What it and its commands open as `/dev/fd/N`.
    #[serde(deserialize_with = "few::<NUMBERED_MAX, _, _>")]
    pub numbered: Vec<NumberedStream>,
}

/// How such a shell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InsideEnd {
    /// By itself.
    Exited(i32),
    /// Its time was up.
    TimedOut,
    /// The line ended.
    Cancelled,
}

impl InsideEnd {
    /// As the two numbers of `ended`.
    pub const fn numbers(self) -> (u32, i32) {
        match self {
            Self::Exited(status) => (0, status),
            Self::TimedOut => (1, 0),
            Self::Cancelled => (2, 0),
        }
    }

    /// The end that two numbers stand for; what is unknown is cancelled.
    pub const fn of(kind: u32, status: i32) -> Self {
        match kind {
            0 => Self::Exited(status),
            1 => Self::TimedOut,
            _ => Self::Cancelled,
        }
    }
}
