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
    /// It did not run, why, and the status that a shell shows for it.
    Refused(String, i32),
    /// It was stopped, why (out of fuel, a trap), and the status that a shell shows for it.
    Stopped(String, i32),
    /// Its time was up.
    TimedOut,
}

impl Ended {
    /// The status a shell would show. Which one an ending has is the host's to say: there is one mapping,
    /// and it is not here.
    pub fn status(&self) -> i32 {
        match self {
            Self::Exited(status) => *status,
            Self::NotFound => 127,
            Self::Refused(_, status) | Self::Stopped(_, status) => *status,
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

/// What came of a command whose output was wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Captured {
    /// What it printed, and its status.
    Output(Vec<u8>, i32),
    /// It did not end by itself, or printed more than there is room for.
    Failed(Ended),
}

/// Runs a command in our environment and directory, with `input` before what `stdin` says.
pub fn run_with_input(name: &[u8], args: &[Vec<u8>], input: &[u8], stdin: Stdin) -> Ended {
    let env = environment();
    let command = Command { name, args, env: &env, directory: None, stdin, wall_ms_max: None };
    #[cfg(target_os = "wasi")]
    return host::run_with_input(&command, input);
    #[cfg(not(target_os = "wasi"))]
    return process::run_with_input(&command, input);
}

/// The same with `input` alone, and what it printed instead of printing it.
pub fn capture(name: &[u8], args: &[Vec<u8>], input: &[u8]) -> Captured {
    let env = environment();
    let command = Command { name, args, env: &env, directory: None, stdin: Stdin::Empty, wall_ms_max: None };
    #[cfg(target_os = "wasi")]
    return host::capture(&command, input);
    #[cfg(not(target_os = "wasi"))]
    return process::capture(&command, input);
}
