//! The peer program: the bashkit shell in a process of its own, which times its own calls.
//!
//! Its own process because its dependencies would have wasmtime built a second time with other
//! features. It is asked for a block of calls and answers their times, so that the pipe between
//! us is in none of them.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context as _, ensure};

/// The running peer. It ends when its stdin does.
pub(crate) struct Peer {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    pub(crate) fn start(program: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("stdout is piped")?);
        Ok(Self { child, questions, answers })
    }

    /// So many calls, and the seconds of each.
    pub(crate) fn block(&mut self, calls: usize) -> anyhow::Result<Vec<f64>> {
        let mut questions = self.questions.as_ref().context("the peer is asked while it lives")?;
        writeln!(questions, "{calls}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let nanos = line.split_whitespace().map(str::parse::<u64>).collect::<Result<Vec<_>, _>>();
        let nanos = nanos.with_context(|| format!("the peer answered `{}`", line.trim()))?;
        ensure!(nanos.len() == calls, "the peer answered {} times instead of {calls}", nanos.len());
        Ok(nanos.into_iter().map(|it| it as f64 / 1e9).collect())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.questions.take());
        let _ = self.child.wait();
    }
}
