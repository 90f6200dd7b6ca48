//! What a shell's guest is called with, and what it answers.

use serde::{Deserialize, Serialize};

use super::{ANSWER_BYTES_MAX, ANSWER_LOST_MAX, ANSWER_RECORDS_MAX, MESSAGE_BYTES_MAX, answer::few};

/// One call of the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Runs a text.
    Line(Box<LineRequest>),
    /// Says what a text would do.
    Explain {
        /// The text.
        text: String,
        /// Bounds of the parser.
        limits: ShellLimits,
    },
    /// Says what the words of a text are that somebody is typing.
    Words {
        /// The text.
        text: String,
        /// Bounds of the parser.
        limits: ShellLimits,
    },
}

/// A text to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRequest {
    /// What the shell is made with, where this is its first line.
    pub opening: Option<Box<Opening>>,
    /// The text.
    pub text: String,
    /// It is all there is: the EXIT trap runs at its end.
    pub is_whole: bool,
    /// What `$?` is where something outside ended the last line.
    pub status: Option<i32>,
    /// How wide the terminals of stdout and stderr are, if they are some.
    pub columns: [Option<u16>; 2],
    /// Somebody typed it at a prompt: `PROMPT_COMMAND` runs after it, and the names of functions are wanted.
    pub is_typed: bool,
    /// When what the shell keeps is wanted, to go on from in another instance.
    pub saved_when: SavedWhen,
}

/// When a shell writes out what another one would go on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SavedWhen {
    /// Not at all: it is the last line.
    Never,
    /// When variables, functions, options and the like changed, and not for `$?` or a counter alone.
    StateChanged,
    /// When anything changed.
    AnythingChanged,
}

/// What a shell is made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// Directories redirections may reach; empty for all there are.
    pub roots: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// Exported variables.
    pub env: Vec<(String, String)>,
    /// `$0`.
    pub name: String,
    /// `$1` and on.
    pub args: Vec<String>,
    /// How it differs from bash.
    pub mode: Mode,
    /// Where `$RANDOM` starts, and what all other numbers of the shell are derived from.
    pub seed: u64,
    /// What a line may cost.
    pub limits: ShellLimits,
    /// What one command may cost, to say so when one cost more: fuel, memory, wall in milliseconds, stdin, stdout and
    /// stderr in bytes.
    pub stage_limits: [u64; 6],
    /// The memory of a line's shell and commands together, to say so likewise.
    pub line_memory_bytes_max: u64,
    /// What an earlier shell kept.
    pub saved: Option<Vec<u8>>,
}

/// How a shell differs from bash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mode {
    /// An unset `$name` of a command's words stays as it was typed.
    pub literal_unknown: bool,
    /// `eval` and `source` parse text again, and so do shells inside this one.
    pub eval_allowed: bool,
    /// Scripts that the line did not write need no such permission. Off where one file has two names
    /// that the line's files cannot tell to be one.
    pub scripts_allowed: bool,
    /// Where the text comes from.
    pub text_from: TextFrom,
    /// What it begins with switched on.
    pub switches: Switches,
    /// Somebody types its lines at a prompt: they are remembered, and aliases count.
    pub is_typed: bool,
    /// The line's own input is a terminal: `read -p` asks there.
    pub stdin_is_terminal: bool,
}

/// Options of `set` that a shell was started with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switches {
    /// `-e`.
    pub errexit: bool,
    /// `-u`.
    pub nounset: bool,
    /// `-x`.
    pub xtrace: bool,
    /// `-f`.
    pub noglob: bool,
    /// `-o pipefail`.
    pub pipefail: bool,
}

/// Where the text of a shell comes from. An error that ends `-c` costs a script its line only, and what ends both has
/// another status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextFrom {
    /// It was given as an argument, as to `-c`.
    #[default]
    Argument,
    /// It is a script file, whose name is `$0`.
    File,
    /// It was read from stdin.
    Stdin,
}

impl Default for Mode {
    fn default() -> Self {
        Self {
            literal_unknown: false,
            eval_allowed: false,
            scripts_allowed: true,
            text_from: TextFrom::default(),
            switches: Switches::default(),
            is_typed: false,
            stdin_is_terminal: false,
        }
    }
}

/// Bounds on text, depth, work and memory of one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellLimits {
    /// Longest text of one `run`.
    pub text_bytes_max: usize,
    /// Constructs inside one another in the text.
    pub parse_depth_max: u32,
    /// Functions, `eval` and `source` inside one another.
    pub call_depth_max: u32,
    /// Subshells inside one another.
    pub subshell_depth_max: u32,
    /// Stages of one pipeline.
    pub stages_max: usize,
    /// Subshells, stages and jobs alive at once.
    pub tasks_max: usize,
    /// Commands and loop rounds of one `run`.
    pub steps_max: u64,
    /// All variables together.
    pub variable_bytes_max: usize,
    /// One expanded word, one command substitution.
    pub expansion_bytes_max: usize,
    /// Words of one command, after expansion.
    pub words_max: usize,
    /// Names one glob may look at.
    pub glob_names_max: usize,
    /// Stage records kept.
    pub records_max: usize,
}

impl Default for ShellLimits {
    fn default() -> Self {
        Self {
            text_bytes_max: 1 << 20,
            parse_depth_max: 100,
            call_depth_max: 1_000,
            subshell_depth_max: 64,
            stages_max: 1_000,
            tasks_max: 2_000,
            steps_max: 50_000_000,
            variable_bytes_max: 64 << 20,
            expansion_bytes_max: 16 << 20,
            words_max: 200_000,
            glob_names_max: 100_000,
            records_max: 10_000,
        }
    }
}

impl ShellLimits {
    /// The bounds of a line that has more memory than the usual line: what it may hold of words, texts and names grows with
    /// that, and so whoever meets one of them has a way past it.
    #[must_use]
    pub fn for_memory(self, memory_bytes_max: u64, usual: u64) -> Self {
        let grown = |bound: usize| {
            let grown = bound as u128 * u128::from(memory_bytes_max) / u128::from(usual.max(1));
            usize::try_from(grown).unwrap_or(usize::MAX).max(bound)
        };
        Self {
            variable_bytes_max: grown(self.variable_bytes_max),
            expansion_bytes_max: grown(self.expansion_bytes_max),
            words_max: grown(self.words_max),
            glob_names_max: grown(self.glob_names_max),
            ..self
        }
    }

    /// How many of the longest texts a checkpoint may hold beside the variables.
    const CHECKPOINT_TEXTS_MAX: usize = 16;

    /// The part of a line's memory that a checkpoint may take. It is there several times while it is written: as the
    /// shell's state, as the bytes of the last time and of this one, as the answer, and as the host's copy of that.
    const CHECKPOINT_SHARE: u64 = 8;

    /// The largest checkpoint of a shell whose lines have so much memory: all variables, functions and texts with what
    /// each costs beside its bytes, as far as that memory and a message have room for it.
    pub fn checkpoint_bytes_max(&self, memory_bytes_max: u64) -> usize {
        let texts = self.text_bytes_max.saturating_mul(Self::CHECKPOINT_TEXTS_MAX);
        let all = self.variable_bytes_max.saturating_mul(2).saturating_add(texts);
        let share = usize::try_from(memory_bytes_max / Self::CHECKPOINT_SHARE).unwrap_or(usize::MAX);
        // A shell is opened with a checkpoint too, and with an environment and arguments beside it.
        all.min(share).min(MESSAGE_BYTES_MAX - 2 * ANSWER_BYTES_MAX)
    }
}

/// One command a line ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Its name.
    pub command: String,
    /// It is one of the shell's own.
    pub builtin: bool,
    /// Its status as the script saw it.
    pub status: i32,
    /// The stable name of how it ended: an outcome's code, a denial's or a fault's.
    pub outcome: String,
    /// The limit of its files that it met, by its stable name.
    pub quota: Option<String>,
    /// Bytes it read from stdin.
    pub stdin_bytes: u64,
    /// Bytes it wrote to stdout.
    pub stdout_bytes: u64,
    /// Bytes it wrote to stderr.
    pub stderr_bytes: u64,
    /// Fuel it burnt.
    pub fuel: u64,
    /// Wall time from the call to its reply.
    pub micros: u64,
}

/// What one `run` did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LineReport {
    /// The status of the last command.
    pub status: i32,
    /// The text called `exit`.
    pub exited: bool,
    /// A limit ended it; which.
    pub limit: Option<String>,
    /// The text could not be parsed; where and why.
    pub syntax: Option<SyntaxError>,
    /// The commands it ran, the shell's own included, in the order they ended.
    #[serde(deserialize_with = "few::<ANSWER_RECORDS_MAX, _, _>")]
    pub stages: Vec<StageRecord>,
    /// How many there were, kept or not.
    pub stages_total: u64,
    /// Commands and loop rounds that were evaluated.
    pub steps: u64,
    /// Wall time, by whoever called the shell.
    pub micros: u64,
    /// It did not end by itself, and took with it what it had changed: the shell goes on from before it.
    pub was_reset: bool,
    /// What of an earlier shell could not be had back, or of this one cannot be kept.
    #[serde(deserialize_with = "few::<ANSWER_LOST_MAX, _, _>")]
    pub lost: Vec<String>,
}

/// The text is not in the language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
    /// More text could make it right.
    pub incomplete: bool,
}
