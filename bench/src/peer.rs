//! The peer programs: other shells in processes of their own, which time their own calls.
//!
//! Their own processes because bashkit's dependencies would have wasmtime built a second time with
//! other features, and because the other one is not Rust. They are asked for a block of calls and
//! answer their times, so that the pipe between us is in none of them.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context as _, ensure};

/// Pinned, so that the figures of two machines are about the same thing.
const JUST_BASH: &str = "just-bash@3.4.2";

const EMSCRIPTEN: &str = "quickjs-emscripten@0.32.0";

/// The folder that has this package, which is put there the first time.
fn installed(root: &Path, package: &str) -> anyhow::Result<PathBuf> {
    let folder = root.join("target/bench-node");
    let name = package.split('@').next().unwrap_or(package);
    if !folder.join("node_modules").join(name).is_dir() {
        std::fs::create_dir_all(&folder)?;
        if !folder.join("package.json").exists() {
            std::fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
        }
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-fund", "--no-audit", package]).current_dir(&folder);
        let status = npm.status().with_context(|| format!("{name} needs npm"))?;
        ensure!(status.success(), "npm install {package} ended with {status}");
    }
    Ok(folder)
}

/// The running peer. It ends when its stdin does.
pub(crate) struct Peer {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// bashkit, knowing these scenarios.
    pub(crate) fn start(program: &Path, scenarios: &Path) -> anyhow::Result<Self> {
        Self::spawn(Command::new(program).arg(scenarios))
    }

    /// A program that knows its scenarios.
    pub(crate) fn start_plain(program: &Path) -> anyhow::Result<Self> {
        Self::spawn(&mut Command::new(program))
    }

    /// just-bash, installed into `target` the first time.
    pub(crate) fn start_just_bash(root: &Path, scenarios: &Path) -> anyhow::Result<Self> {
        let folder = installed(root, JUST_BASH)?;
        let script = root.join("bench/peer/just-bash.mjs");
        Self::spawn(Command::new("node").arg(script).arg(scenarios).arg(folder))
    }

    /// quickjs-emscripten, likewise.
    pub(crate) fn start_emscripten(root: &Path) -> anyhow::Result<Self> {
        let folder = installed(root, EMSCRIPTEN)?;
        Self::spawn(Command::new("node").arg(root.join("bench/quickjs/emscripten.mjs")).arg(folder))
    }

    /// A build of this program, asked through one of its hidden words.
    pub(crate) fn start_probe(program: &Path, word: &str) -> anyhow::Result<Self> {
        Self::spawn(Command::new(program).arg(word))
    }

    /// So many calls, and the median of their seconds: all that such a build answers.
    pub(crate) fn block_median(&mut self, scenario: &str, calls: usize) -> anyhow::Result<Vec<f64>> {
        let line = self.ask(scenario, calls)?;
        let seconds = line.trim().parse().with_context(|| format!("the probe answered `{}`", line.trim()))?;
        Ok(vec![seconds])
    }

    fn ask(&mut self, scenario: &str, calls: usize) -> anyhow::Result<String> {
        let mut questions = self.questions.as_ref().context("the peer is asked while it lives")?;
        writeln!(questions, "{scenario} {calls}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line)
    }

    fn spawn(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("stdout is piped")?);
        Ok(Self { child, questions, answers })
    }

    /// So many calls, and the seconds of each.
    pub(crate) fn block(&mut self, scenario: &str, calls: usize) -> anyhow::Result<Vec<f64>> {
        let line = self.ask(scenario, calls)?;
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
