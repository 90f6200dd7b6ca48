//! cap.exec.v1: programs that are started, watched and talked to.

use crate::{
    hub::{Failed, Hub},
    stream::Stream,
    wire::Reader,
};

/// The guest wants to write the program's stdin.
pub const WANT_STDIN: u32 = 1;
/// The guest wants to read the program's stdout.
pub const WANT_STDOUT: u32 = 2;
/// The guest wants to read the program's stderr.
pub const WANT_STDERR: u32 = 4;

/// The capability.
pub const START: (&str, &str, &str) = ("exec", "default", "exec.start.v1");
/// The capability.
pub const STATUS: (&str, &str, &str) = ("exec", "default", "exec.status.v1");

/// A process that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// By which its status is asked.
    pub exec_id: u32,
    /// A sink, if it was wanted and granted.
    pub stdin: Option<Stream>,
    /// A source, if it was wanted and granted.
    pub stdout: Option<Stream>,
    /// A source, if it was wanted and granted.
    pub stderr: Option<Stream>,
}

/// How a process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// 0 running, 1 exited, 2 failed, 3 timeout, 4 killed.
    pub state: u32,
    /// What it ended with.
    pub code: u32,
}

impl Status {
    /// Whether it is over.
    pub const fn is_over(self) -> bool {
        self.state != 0
    }

    fn read(value: &[u8]) -> Option<Self> {
        let mut reader = Reader(value);
        let status = Self { state: reader.h4()?, code: reader.h4()? };
        reader.end()?;
        (status.state <= 4).then_some(status)
    }
}

impl Process {
    /// Reads the answer to a start that wanted these streams. What was not wanted has no handle, and no two are one.
    pub fn read(value: &[u8], wants: u32) -> Option<Self> {
        let mut reader = Reader(value);
        let (exec_id, flags) = (reader.h4()?, reader.h4()?);
        let mut handle = |want: u32| {
            let number = reader.h4()?;
            match (number, wants & want) {
                (0, _) => Some(None),
                (3.., 1..) => i32::try_from(number).ok().map(|it| Some(Stream(it))),
                _ => None,
            }
        };
        let (stdin, stdout, stderr) = (handle(WANT_STDIN)?, handle(WANT_STDOUT)?, handle(WANT_STDERR)?);
        reader.end()?;
        let same = |a: Option<Stream>, b: Option<Stream>| a.is_some() && a == b;
        let is_twice = same(stdin, stdout) || same(stdin, stderr) || same(stdout, stderr);
        (flags & 1 == 1 && flags <= 3 && !is_twice).then_some(Self { exec_id, stdin, stdout, stderr })
    }
}

impl Hub<'_> {
    /// Registers the start of a program: its future.
    pub fn begin(&mut self, prog_id: &str, wants: u32, args: &[&str], env: &[(&str, &str)]) -> Option<u64> {
        self.call(START, 0, 0, |writer| {
            writer.bytes(prog_id.as_bytes()).h4(wants).h4(u32::try_from(args.len()).unwrap_or(u32::MAX));
            for arg in args {
                writer.bytes(arg.as_bytes());
            }
            writer.h4(u32::try_from(env.len()).unwrap_or(u32::MAX));
            for (key, value) in env {
                writer.bytes(key.as_bytes()).bytes(value.as_bytes());
            }
        })
    }

    /// Starts a program, and waits until it runs.
    pub fn start(
        &mut self,
        prog_id: &str,
        wants: u32,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Result<Process, Failed<'_>> {
        let future = self.begin(prog_id, wants, args, env).ok_or(Failed::Hub)?;
        let value = self.value(future)?;
        Process::read(value, wants).ok_or(Failed::Hub)
    }

    /// How a process stands.
    pub fn status(&mut self, exec_id: u32) -> Result<Status, Failed<'_>> {
        let future = self.call(STATUS, 0, 0, |writer| {
            writer.h4(exec_id);
        });
        let value = self.value(future.ok_or(Failed::Hub)?)?;
        Status::read(value).ok_or(Failed::Hub)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_answer_with_handles_that_were_wanted_is_a_process() {
        // The seed's own example: 7, started, no stdin, 11 and 12.
        let value = b"\x07\0\0\0\x01\0\0\0\0\0\0\0\x0b\0\0\0\x0c\0\0\0";
        let process = Process::read(value, WANT_STDOUT | WANT_STDERR).unwrap();
        assert_eq!((process.exec_id, process.stdin, process.stdout), (7, None, Some(Stream(11))));
        assert_eq!(Process::read(value, WANT_STDOUT), None, "stderr was not wanted");
        for cut in 0..value.len() {
            assert_eq!(Process::read(&value[..cut], 6), None);
        }
        assert_eq!(Status::read(b"\x03\0\0\0\x7c\0\0\0"), Some(Status { state: 3, code: 124 }));
        assert_eq!(Status::read(b"\x05\0\0\0\0\0\0\0"), None);
    }
}
