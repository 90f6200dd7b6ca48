//! One call of a command: its options and operands, and the streams it may use.

use crate::{select::Base, table::Output};
use std::{
    fs::File,
    io::{self, Read, Write},
};

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// The work could not be done.
    Failed(String),
    /// Nobody reads the output any more.
    Closed,
}

/// What a command returns.
pub(crate) type Done = Result<(), Failure>;

/// The work could not be done, for this reason.
pub(crate) fn failed<T>(problem: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Failed(problem.into()))
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Failed(place::reason(&error)),
        }
    }
}

impl From<csv::Error> for Failure {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => error.into(),
            other => Self::Failed(format!("{other:?}")),
        }
    }
}

pub(crate) struct Call {
    pub flags: Vec<(&'static str, Option<String>)>,
    pub operands: Vec<String>,
    pub base: Base,
    stdin: Option<Box<dyn Read>>,
    stdout: Option<Box<dyn Write>>,
}

impl Call {
    pub(crate) fn new(base: Base) -> Self {
        Self { flags: Vec::new(), operands: Vec::new(), base, stdin: None, stdout: None }
    }

    /// Gives it the streams, which it may take once each.
    pub(crate) fn lend(&mut self, stdin: Box<dyn Read>, stdout: Box<dyn Write>) {
        (self.stdin, self.stdout) = (Some(stdin), Some(stdout));
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.flags.iter().any(|(it, _)| *it == id)
    }

    /// The value of an option; the last one counts.
    pub(crate) fn value(&self, id: &str) -> Option<&str> {
        self.flags.iter().rev().find(|(it, _)| *it == id).and_then(|(_, value)| value.as_deref())
    }

    pub(crate) fn number(&self, id: &str) -> Result<Option<usize>, Failure> {
        let parse = |text: &str| {
            text.parse().map_err(|_| Failure::Usage(format!("'{text}' is no number an option can take")))
        };
        self.value(id).map(parse).transpose()
    }

    /// The operand at a place; the command table has checked that those it needs are there.
    pub(crate) fn operand(&self, at: usize) -> &str {
        self.operands.get(at).map_or("-", String::as_str)
    }

    /// The bytes of a file, or of standard input for `-`.
    pub(crate) fn source(&mut self, name: &str) -> Result<Box<dyn Read>, Failure> {
        if name == "-" {
            let once = "standard input can be read only once".to_owned();
            return self.stdin.take().ok_or(Failure::Failed(once));
        }
        if self.value("o") == Some(name) {
            return failed(format!("{name}: is both read and written"));
        }
        match File::open(name) {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => failed(format!("{name}: {}", place::reason(&error))),
        }
    }

    /// Where plain text goes.
    pub(crate) fn sink(&mut self) -> Result<Box<dyn Write>, Failure> {
        match self.value("o") {
            None => self.stdout.take().ok_or(Failure::Closed),
            Some(name) => match File::create(name) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => failed(format!("{name}: {}", place::reason(&error))),
            },
        }
    }

    /// Where rows go, with commas between their cells.
    pub(crate) fn output(&mut self) -> Result<Output, Failure> {
        Ok(Output::new(csv::WriterBuilder::new().flexible(true).from_writer(self.sink()?)))
    }
}
