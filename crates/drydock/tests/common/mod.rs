//! Runs the real binary in a data directory of its own.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

pub mod agent;
pub mod room;
pub mod server;
pub mod web;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

pub struct Shell {
    folder: TempDir,
    home: PathBuf,
}

pub struct Said {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    /// All three, for a snapshot.
    pub fn all(&self) -> String {
        format!("[{}]\n{}---\n{}", self.status, self.stdout, self.stderr)
    }
}

impl Shell {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { home: folder.path().join("home"), folder }
    }

    /// One whose data directory is shared with others like it, so that a command is compiled once
    /// for all of them.
    pub fn sharing() -> Self {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared-home-2");
        Self { folder: tempfile::tempdir().unwrap(), home }
    }

    pub fn home(&self) -> PathBuf {
        self.home.clone()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file beside the home and answers its path as text.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drydock"));
        command.args(args).env_clear().env("DRYDOCK_HOME", self.home()).env("PATH", "/usr/bin:/bin");
        command.current_dir(self.folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        self.pipe(args, b"")
    }

    pub fn pipe(&self, args: &[&str], stdin: &[u8]) -> Said {
        let mut child = self.command(args).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        // A command that stops reading early makes this fail, and that is its right.
        let writer = std::thread::spawn(move || drop(input.write_all(&stdin)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        self.said(output)
    }

    pub fn said(&self, output: Output) -> Said {
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            text.replace(self.folder.path().to_str().unwrap(), "TMP")
        };
        let status = output.status.code().unwrap_or(-1);
        Said { status, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Registers a command from WebAssembly text.
    pub fn add(&self, name: &str, wat: &str) {
        let file = self.file(&format!("{name}.wat"), wat);
        let said = self.run(&["commands", "add", name, &file]);
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
}

/// The files below a folder, with their sizes.
pub fn tree(root: &Path) -> Vec<(PathBuf, u64)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let meta = entry.metadata().unwrap();
        match meta.is_dir() {
            true => all.extend(tree(&entry.path())),
            false => all.push((entry.path(), meta.len())),
        }
    }
    all.sort();
    all
}
