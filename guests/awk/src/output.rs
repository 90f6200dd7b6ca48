//! Where output goes: standard output through one buffer, files, and the few commands awk does itself.

use crate::ast::Redirect;
use crate::command::{self, Input};
use crate::sort::Sort;
use place::reason;
use place::stdio::{Standard, path};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;

const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Everything that is written to.
#[derive(Default)]
pub(crate) struct Outputs {
    pub stdout: Vec<u8>,
    named: BTreeMap<Vec<u8>, Sink>,
    /// The names in the order they were opened: pipes finish in that order.
    order: Vec<Vec<u8>>,
}

enum Sink {
    Stdout,
    Stderr,
    /// `/dev/null`, which a sandbox need not have.
    Nothing,
    File(File, Vec<u8>),
    /// Lines for `sort`, kept until the pipe is closed.
    Sort(Sort, Vec<u8>),
    /// Input of a command, which runs when the pipe is closed.
    Command(Vec<u8>),
}

impl Outputs {
    /// Call after adding to `stdout`.
    pub(crate) fn settle(&mut self) {
        if self.stdout.len() >= BUFFER_BYTES_MAX {
            self.flush_stdout();
        }
    }

    pub(crate) fn flush_stdout(&mut self) {
        if !self.stdout.is_empty() && Standard::output().write_all(&self.stdout).is_err() {
            // The reader has gone; awk, too, gives up then.
            std::process::exit(2);
        }
        self.stdout.clear();
    }

    /// Writes `bytes` to what `name` names.
    pub(crate) fn write(&mut self, how: Redirect, name: &[u8], bytes: &[u8]) -> Result<(), String> {
        if !self.named.contains_key(name) {
            let sink = open(how, name)?;
            self.named.insert(name.to_vec(), sink);
            self.order.push(name.to_vec());
        }
        match self.named.get_mut(name) {
            Some(Sink::Stdout) | None => {
                self.stdout.extend_from_slice(bytes);
                self.settle();
            }
            Some(Sink::Stderr) => {
                self.flush_stdout();
                // There is nobody left to tell that standard error is closed.
                let _ = Standard::error().write_all(bytes);
            }
            Some(Sink::File(file, buffer)) => {
                buffer.extend_from_slice(bytes);
                if buffer.len() >= BUFFER_BYTES_MAX {
                    write_out(file, buffer, name)?;
                }
            }
            Some(Sink::Nothing) => {}
            Some(Sink::Sort(_, lines) | Sink::Command(lines)) => lines.extend_from_slice(bytes),
        }
        Ok(())
    }

    /// Ends the stream of that name; the status it ended with, if there was one.
    pub(crate) fn close(&mut self, name: &[u8]) -> Result<Option<i32>, String> {
        let Some(sink) = self.named.remove(name) else { return Ok(None) };
        self.order.retain(|it| it != name);
        match sink {
            Sink::Nothing => {}
            Sink::Stdout | Sink::Stderr => self.flush_stdout(),
            Sink::File(mut file, mut buffer) => write_out(&mut file, &mut buffer, name)?,
            Sink::Sort(sort, lines) => {
                sort.run(&lines, &mut self.stdout);
                self.flush_stdout();
            }
            Sink::Command(input) => {
                self.flush()?;
                return Ok(Some(command::run(name, Input::Bytes(&input))));
            }
        }
        Ok(Some(0))
    }

    /// Writes everything that is buffered.
    pub(crate) fn flush(&mut self) -> Result<(), String> {
        self.flush_stdout();
        for (name, sink) in &mut self.named {
            if let Sink::File(file, buffer) = sink {
                write_out(file, buffer, name)?;
            }
        }
        Ok(())
    }

    /// Ends all streams.
    pub(crate) fn close_all(&mut self) -> Result<(), String> {
        self.flush_stdout();
        for name in self.order.clone() {
            self.close(&name)?;
        }
        Ok(())
    }
}

fn write_out(file: &mut File, buffer: &mut Vec<u8>, name: &[u8]) -> Result<(), String> {
    let written = file.write_all(buffer);
    buffer.clear();
    let name = String::from_utf8_lossy(name);
    written.map_err(|error| format!("fatal: write to `{name}' failed: {}", reason(&error)))
}

fn open(how: Redirect, name: &[u8]) -> Result<Sink, String> {
    let shown = String::from_utf8_lossy(name);
    match (how, name) {
        (Redirect::Pipe, _) => {
            let words: Vec<&str> = shown.split_whitespace().collect();
            match words.as_slice() {
                ["cat"] | ["cat", "-"] => Ok(Sink::Stdout),
                ["cat", "1>&2" | ">&2" | ">/dev/stderr" | "1>/dev/stderr"]
                | ["cat", ">" | "1>", "/dev/stderr"] => Ok(Sink::Stderr),
                ["sort", ..] => match Sort::parse(&shown) {
                    Some(sort) => Ok(Sink::Sort(sort, Vec::new())),
                    None => Ok(Sink::Command(Vec::new())),
                },
                _ => Ok(Sink::Command(Vec::new())),
            }
        }
        (_, b"/dev/stdout" | b"-") => Ok(Sink::Stdout),
        (_, b"/dev/stderr") => Ok(Sink::Stderr),
        (_, b"/dev/null") => Ok(Sink::Nothing),
        (_, b"") => Err("fatal: expression for `>' redirection has null string value".to_owned()),
        _ => {
            let append = how == Redirect::Append;
            let opened =
                OpenOptions::new().create(true).write(true).append(append).truncate(!append).open(path(name));
            let cannot = |error| format!("fatal: cannot redirect to `{shown}': {}", reason(&error));
            Ok(Sink::File(opened.map_err(cannot)?, Vec::new()))
        }
    }
}
