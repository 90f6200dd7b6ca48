//! What is told of a line after it ran.

/// One command a line ran.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub quota: Option<&'static str>,
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineReport {
    /// The status of the last command.
    pub status: i32,
    /// The text called `exit`.
    pub exited: bool,
    /// A limit ended it; which.
    pub limit: Option<String>,
    /// The text could not be parsed; where and why.
    pub syntax: Option<super::SyntaxError>,
    /// The commands it ran, the shell's own included, in the order they ended.
    pub stages: Vec<StageRecord>,
    /// How many there were, kept or not.
    pub stages_total: u64,
    /// Commands and loop rounds that were evaluated.
    pub steps: u64,
    /// Wall time.
    pub micros: u64,
}
