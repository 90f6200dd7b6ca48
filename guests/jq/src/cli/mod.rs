//! The command line of jq 1.7: what was asked for.
//!
//! Pure except for `--slurpfile`, `--rawfile` and `--from-file`, which only note a path here and
//! are read by `exec`.

mod help;
mod parse;
#[cfg(test)]
mod tests;

pub use help::HELP;
pub use parse::parse;

/// What the command line asks for.
#[derive(Debug)]
pub enum Request {
    /// The text of `--help`.
    Help,
    /// The text of `--version`.
    Version,
    /// Run a program.
    Run(Box<Options>),
}

/// How a program is run.
#[derive(Debug, Default, PartialEq)]
pub struct Options {
    /// The program's text, or the path of its file with `from_file`.
    pub program: String,
    pub from_file: bool,
    /// Input files; standard input when there are none.
    pub files: Vec<String>,
    /// `-L`: where modules are looked for.
    pub library: Vec<String>,
    pub input: Input,
    pub output: Output,
    /// `-e`: the exit status tells of the last output.
    pub exit_status: bool,
    /// `$name`, in the order given.
    pub named: Vec<(String, Source)>,
    /// `$ARGS.positional`.
    pub positional: Vec<Source>,
}

/// Where the value of a variable comes from.
#[derive(Debug, PartialEq)]
pub enum Source {
    Text(String),
    Json(String),
    /// A file's JSON values as an array.
    SlurpFile(String),
    /// A file's content as a string.
    RawFile(String),
}

/// How input becomes values.
#[derive(Debug, Default, PartialEq)]
pub struct Input {
    pub null: bool,
    pub slurp: bool,
    pub raw: bool,
    pub stream: bool,
    /// A broken text is an event, and no error.
    pub stream_errors: bool,
    pub seq: bool,
}

/// How values become output.
#[derive(Debug, Default, PartialEq)]
pub struct Output {
    pub raw: bool,
    pub end: End,
    pub ascii: bool,
    pub sort_keys: bool,
    pub color: bool,
    pub indent: Indent,
    pub seq: bool,
    /// Each output is written at once.
    pub unbuffered: bool,
}

/// What follows each output.
#[derive(Debug, Default, PartialEq, Clone, Copy)]
pub enum End {
    #[default]
    Line,
    Nothing,
    Nul,
}

/// How nested values are laid out.
#[derive(Debug, PartialEq, Clone, Copy)]
pub enum Indent {
    Compact,
    Tab,
    Spaces(usize),
}

impl Default for Indent {
    fn default() -> Self {
        Self::Spaces(2)
    }
}
