//! Children as processes of the operating system, for native tests.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use crate::{Command, Ended, Stdin};

pub fn run(command: &Command<'_>) -> Ended {
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
    let mut child = match process.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ended::NotFound,
        Err(error) => return Ended::Refused(error.to_string()),
    };
    let Some(wall_ms_max) = command.wall_ms_max else {
        return match child.wait() {
            Ok(status) => ended(status),
            Err(error) => Ended::Stopped(error.to_string()),
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
        None => Ended::Stopped(status.to_string()),
    }
}
