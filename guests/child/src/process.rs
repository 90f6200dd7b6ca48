//! Children as processes of the operating system, for native tests.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use crate::{Captured, Command, Ended, Stdin};

/// What shells show for a program that may not run, and for one that was killed.
const NOT_ALLOWED: i32 = 126;
const KILLED: i32 = 137;

/// Runs with `input` and nothing more, unless there is no input.
pub(crate) fn run_with_input(command: &Command<'_>, input: &[u8]) -> Ended {
    if input.is_empty() {
        return run(command);
    }
    match fed(prepared(command), input) {
        Captured::Output(output, status) => {
            let _ = std::io::stdout().write_all(&output);
            Ended::Exited(status)
        }
        Captured::Failed(ended) => ended,
    }
}

pub(crate) fn capture(command: &Command<'_>, input: &[u8]) -> Captured {
    fed(prepared(command), input)
}

fn fed(mut process: Process, input: &[u8]) -> Captured {
    let mut child = match process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Captured::Failed(Ended::NotFound);
        }
        Err(error) => return Captured::Failed(Ended::Refused(error.to_string(), NOT_ALLOWED)),
    };
    let (stdin, input) = (child.stdin.take(), input.to_vec());
    let feeder = std::thread::spawn(move || stdin.map(|mut it| it.write_all(&input)));
    let output = child.wait_with_output();
    let _ = feeder.join();
    match output {
        Ok(output) => Captured::Output(output.stdout, output.status.code().unwrap_or(KILLED)),
        Err(error) => Captured::Failed(Ended::Stopped(error.to_string(), KILLED)),
    }
}

fn prepared(command: &Command<'_>) -> Process {
    let mut process = Process::new(OsStr::from_bytes(command.name));
    process.args(command.args.iter().map(|arg| OsStr::from_bytes(arg)));
    process.env_clear();
    for entry in command.env {
        let at = entry.iter().position(|byte| *byte == b'=').unwrap_or(entry.len());
        let value = entry.get(at + 1..).unwrap_or_default();
        process.env(OsStr::from_bytes(&entry[..at]), OsStr::from_bytes(value));
    }
    if let Some(directory) = command.directory {
        process.current_dir(directory);
    }
    if command.stdin == Stdin::Empty {
        process.stdin(Stdio::null());
    }
    process
}

pub(crate) fn run(command: &Command<'_>) -> Ended {
    let mut process = prepared(command);
    let mut child = match process.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ended::NotFound,
        Err(error) => return Ended::Refused(error.to_string(), NOT_ALLOWED),
    };
    let Some(wall_ms_max) = command.wall_ms_max else {
        return match child.wait() {
            Ok(status) => ended(status),
            Err(error) => Ended::Stopped(error.to_string(), KILLED),
        };
    };
    let deadline = Instant::now() + Duration::from_millis(wall_ms_max);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return ended(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Ended::TimedOut;
            }
        }
    }
}

fn ended(status: std::process::ExitStatus) -> Ended {
    match status.code() {
        Some(code) => Ended::Exited(code),
        None => Ended::Stopped(status.to_string(), status.signal().map_or(KILLED, |it| 128 + it)),
    }
}
