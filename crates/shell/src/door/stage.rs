//! A command on its way through the door: what it is started with, and how it ended.

use std::sync::Arc;

use drydock_abi::exec::encode_command;
use drydock_abi::shell::{Refusal, RefusalKind};
use drydock_contract::{CallError, Denial, Fault, RunReport, Source, port::FileRules};

use super::{ReadEnd, ShellFile, ShellOutput, WriteEnd};

/// One command to start.
pub struct Start<'a> {
    /// Its name, or the path of a program.
    pub name: &'a str,
    /// Its arguments, without the name.
    pub args: &'a [Vec<u8>],
    /// `NAME=value` entries.
    pub env: &'a [Vec<u8>],
    /// The milliseconds it may take, where less than the line has left is wanted.
    pub wall_ms_max: Option<u32>,
    /// What holds for the files that it makes and writes.
    pub file_rules: FileRules,
    /// Which of the shell's calls this is: by its place in the line, whenever it happens to be made.
    pub ordinal: u64,
    /// What it reads and writes.
    pub streams: StageStreams,
}

impl Start<'_> {
    /// The request as every wire has it; nothing if it is too long for one.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut bytes = encode_command(self.env, self.name, self.args, b"").ok()?;
        if let Some(millis) = self.wall_ms_max {
            bytes.extend_from_slice(&millis.to_le_bytes());
        }
        Some(bytes)
    }
}

/// The streams of a command.
pub struct StageStreams {
    /// What it reads.
    pub stdin: StageInput,
    /// Where it writes.
    pub stdout: StageOutput,
    /// Where it complains.
    pub stderr: StageOutput,
    /// What it opens as `/dev/fd/N`, by rising numbers.
    pub numbered: Vec<(u32, StageNumbered)>,
}

/// What a command opens by a number.
pub enum StageNumbered {
    /// It is read from.
    Reads(StageInput),
    /// It is written to.
    Writes(StageOutput),
}

/// What a command reads.
pub enum StageInput {
    /// A pipe of this door's making, or the line's own input.
    Pipe(Arc<dyn ReadEnd>),
    /// A file that this door has a number for.
    File(Arc<dyn ShellFile>),
    /// Something of the shell. It must be read on demand and no further: what is left is for the next command.
    Shell(Source),
}

/// Where a command writes.
pub enum StageOutput {
    /// Nowhere.
    Discard,
    /// A pipe of this door's making, or an output of the line's own.
    Pipe(Arc<dyn WriteEnd>),
    /// A file that this door has a number for.
    File(Arc<dyn ShellFile>),
    /// Something of the shell.
    Shell(ShellOutput),
}

/// How a command ended.
pub struct Ended {
    /// Its report, or why there is none.
    pub answer: Result<RunReport, NotRun>,
    /// Whether it wrote to a stdout that nobody reads any more: it counts as ended by SIGPIPE, however it went on.
    pub is_pipe_broken: bool,
}

/// Why there is no report of a command.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// Arguments and environment are too long for any command.
    #[error("argument list too long")]
    TooLong,
    /// It was ended, because it wrote and wrote and nobody read.
    #[error("broken pipe")]
    BrokenPipe,
    /// What came back is no report.
    #[error("malformed reply")]
    MalformedReply,
    /// The gate refused it, or running it failed.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A refusal as a shell needs it.
pub(super) fn refusal(error: &CallError) -> Refusal {
    let kind = match error {
        CallError::Denied(Denial::UnknownCommand(_)) => RefusalKind::UnknownCommand,
        CallError::Denied(Denial::BudgetExceeded { .. }) => RefusalKind::BudgetExceeded,
        CallError::Failed(Fault::BadModule { .. } | Fault::Import { .. }) => RefusalKind::NotAProgram,
        _ => RefusalKind::Other,
    };
    Refusal { code: error.code().into(), message: error.to_string(), status: error.exit_status(), kind }
}
