//! How a guest runs another command.
//!
//! A guest cannot start anything: it asks the host, which passes the question through the gate. The
//! child's output goes where the guest's own goes. Native tests start processes instead.

#[cfg(target_os = "wasi")]
mod host;
#[cfg(not(target_os = "wasi"))]
mod process;

/// Where a child's input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// From where ours comes.
    Ours,
    /// From nowhere.
    Empty,
}

/// A command to run.
#[derive(Debug, Clone)]
pub struct Command<'a> {
    /// Its name; where other systems keep it does not matter.
    pub name: &'a [u8],
    /// Its arguments, without its name.
    pub args: &'a [Vec<u8>],
    /// `NAME=value` entries, and no others.
    pub env: &'a [Vec<u8>],
    /// The directory it starts in: ours if it is none.
    pub directory: Option<&'a str>,
    /// Its input.
    pub stdin: Stdin,
    /// It is ended when this has passed.
    pub wall_ms_max: Option<u64>,
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status.
    Exited(i32),
    /// Nobody knows such a command.
    NotFound,
    /// It may not run, and why.
    Refused(String),
    /// It was stopped, and why: out of fuel, a trap.
    Stopped(String),
    /// Its time was up.
    TimedOut,
}

impl Ended {
    /// The status a shell would show.
    pub fn status(&self) -> i32 {
        match self {
            Self::Exited(status) => *status,
            Self::NotFound => 127,
            Self::Refused(_) => 126,
            Self::Stopped(_) => 137,
            Self::TimedOut => 124,
        }
    }
}

/// Whoever can run a command.
pub trait Children {
    /// Runs it to its end.
    fn run(&self, command: &Command<'_>) -> Ended;
}

/// The host, or in native tests the operating system.
pub struct System;

impl Children for System {
    fn run(&self, command: &Command<'_>) -> Ended {
        #[cfg(target_os = "wasi")]
        return host::run(command);
        #[cfg(not(target_os = "wasi"))]
        return process::run(command);
    }
}

/// Our own environment, as entries.
pub fn environment() -> Vec<Vec<u8>> {
    let entries = std::env::vars_os().map(|(name, value)| {
        let mut entry = name.into_encoded_bytes();
        entry.push(b'=');
        entry.extend_from_slice(value.as_encoded_bytes());
        entry
    });
    entries.collect()
}
