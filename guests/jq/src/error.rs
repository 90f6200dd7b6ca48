//! Why the run as a whole cannot go on, and the exit status jq gives it.
//!
//! Errors of the program on one input are not here: they are reported and the next input is read.

use std::fmt;

/// The reason, with the words for standard error.
#[derive(Debug, PartialEq)]
pub enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// A file named on the command line is missing or wrong.
    File(String),
    /// The input is no JSON.
    Parse(String),
    /// The program is wrong.
    Compile(String),
    /// The same, with more than one mistake.
    Mistakes(String, usize),
}

/// What follows every complaint about the command line.
const HINT: &str = "Use jq --help for help with command-line options,\n\
or see the jq manpage, or online docs  at https://jqlang.github.io/jq";

impl Failure {
    /// The exit status, as jq 1.7.1 has it.
    pub fn status(&self) -> i32 {
        match self {
            Self::Usage(_) | Self::File(_) => 2,
            Self::Compile(_) | Self::Mistakes(..) => 3,
            Self::Parse(_) => 5,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) => {
                write!(out, "jq: {text}\n{HINT}")
            }
            Self::File(text) => write!(out, "jq: {text}"),
            Self::Parse(text) => write!(out, "jq: parse error: {text}"),
            Self::Compile(text) | Self::Mistakes(text, 1) => {
                write!(out, "jq: error: {text}\njq: 1 compile error")
            }
            Self::Mistakes(text, count) => write!(out, "jq: error: {text}\njq: {count} compile errors"),
        }
    }
}
