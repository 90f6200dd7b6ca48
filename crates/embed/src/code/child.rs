//! Runners as child processes: ours, or anybody's that speaks the protocol in lines.

use std::{
    ffi::OsString,
    io,
    pin::Pin,
    process::Stdio,
    task::{Context, Poll},
};

use drydock_codemode::{
    executor::Launch,
    host::{LineTransport, Transport, TransportError},
    protocol::Lines,
};
use drydock_contract::{ByteSink, ByteSource};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// Starts a program for each runner. It gets no environment but what is set here.
#[derive(Debug, Clone)]
pub struct ChildRunner {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
}

impl ChildRunner {
    /// This program with these arguments.
    pub fn new<A: Into<OsString>>(program: impl Into<OsString>, args: impl IntoIterator<Item = A>) -> Self {
        Self { program: program.into(), args: args.into_iter().map(Into::into).collect(), env: Vec::new() }
    }

    /// With one more variable in its environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }
}

impl Launch for ChildRunner {
    fn launch(&self) -> Result<Box<dyn Transport>, TransportError> {
        let failed = |why: &dyn std::fmt::Display| {
            TransportError(format!("could not start `{}`: {why}", self.program.to_string_lossy()))
        };
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            // A group of its own, so that what it started can be ended with it.
            .process_group(0)
            .spawn()
            .map_err(|error| failed(&error))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(&"it has no pipes"));
        };
        // A second call finds nothing to do.
        let mut group = Some(Group(child));
        let end = Box::new(move || drop(group.take()));
        Ok(Box::new(LineTransport::new(Box::new(From(output)), Box::new(To(input)), Lines::default(), end)))
    }
}

/// A runner with all that it started, ended when this is dropped.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // Nobody has waited for the runner, so its number is still its own, also if it has ended.
        // Dropping it afterwards has tokio reap it.
        let number = self.0.id().and_then(|it| i32::try_from(it).ok());
        if let Some(group) = number.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

struct From(ChildStdout);

impl ByteSource for From {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut into = ReadBuf::new(buffer);
        Pin::new(&mut self.0).poll_read(cx, &mut into).map_ok(|()| into.filled().len())
    }
}

struct To(ChildStdin);

impl ByteSink for To {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }
}
