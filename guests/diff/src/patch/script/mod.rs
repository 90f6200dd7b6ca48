//! Reads patches: unified, context and normal ones, and the lines that git adds, out of whatever text
//! surrounds them.
//!
//! Every format becomes the same hunks. Uses nothing but the standard library, so that the fuzzer can
//! have it alone.

mod context;
mod head;
mod normal;
mod unified;

pub(super) use head::{Git, Name};

/// The changes to one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FilePatch {
    pub old: Option<Name>,
    pub new: Option<Name>,
    /// From an `Index:` line.
    pub index: Option<String>,
    pub git: Git,
    pub hunks: Vec<Hunk>,
    /// The lines before the hunks that were taken for a head.
    pub head: Vec<String>,
    /// The line of the patch its first hunk starts at.
    pub line: usize,
}

/// One place that changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// First line, from 1; the line before where there are none.
    pub old_start: usize,
    pub new_start: usize,
    pub lines: Vec<(Op, Vec<u8>)>,
}

/// What happens to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Keep,
    Delete,
    Insert,
}

impl Hunk {
    /// The lines before, or after.
    pub(super) fn side(&self, without: Op) -> impl Iterator<Item = &Vec<u8>> {
        self.lines.iter().filter(move |it| it.0 != without).map(|it| &it.1)
    }

    /// The same hunk, backwards.
    pub(super) fn reversed(&self) -> Self {
        let swap = |(op, line): &(Op, Vec<u8>)| {
            let op = match op {
                Op::Keep => Op::Keep,
                Op::Delete => Op::Insert,
                Op::Insert => Op::Delete,
            };
            (op, line.clone())
        };
        let mut lines: Vec<(Op, Vec<u8>)> = self.lines.iter().map(swap).collect();
        // What goes is written before what comes.
        for run in lines.chunk_by_mut(|a, b| (a.0 == Op::Keep) == (b.0 == Op::Keep)) {
            run.sort_by_key(|it| it.0 == Op::Insert);
        }
        Self { old_start: self.new_start, new_start: self.old_start, lines }
    }
}

/// A patch that breaks off in the middle of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed {
    pub line: usize,
    pub text: String,
}

/// The lines of a patch, and the place in them.
pub(super) struct Lines<'a> {
    all: Vec<&'a [u8]>,
    at: usize,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { all: bytes.split_inclusive(|it| *it == b'\n').collect(), at: 0 }
    }

    fn peek(&self) -> Option<&'a [u8]> {
        self.all.get(self.at).copied()
    }

    fn ahead(&self, count: usize) -> Option<&'a [u8]> {
        self.all.get(self.at + count).copied()
    }

    fn malformed(&self) -> Malformed {
        let text = self.peek().map(|it| String::from_utf8_lossy(it).trim_end().to_owned());
        Malformed { line: self.at + 1, text: text.unwrap_or_default() }
    }
}

/// A line without its end.
fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Takes the end off the line before, if the next line says that it has none.
fn unfinished(lines: &mut Lines<'_>, line: &mut Vec<u8>) {
    if lines.peek().is_some_and(|it| it.starts_with(b"\\ ")) {
        lines.at += 1;
        if line.ends_with(b"\n") {
            line.pop();
        }
    }
}

/// Every file's changes, in order.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<FilePatch>, Malformed> {
    let mut lines = Lines::new(bytes);
    let mut patches = Vec::new();
    while lines.peek().is_some() {
        let mut patch = FilePatch::default();
        let found = head::read(&mut lines, &mut patch);
        patch.line = lines.at + 1;
        match found {
            head::Format::Unified => unified::read(&mut lines, &mut patch)?,
            head::Format::Context => context::read(&mut lines, &mut patch)?,
            head::Format::Normal => normal::read(&mut lines, &mut patch)?,
            head::Format::None => {}
        }
        if !patch.hunks.is_empty() || patch.git.says_something() {
            patches.push(patch);
        }
    }
    Ok(patches)
}

#[cfg(test)]
mod tests;
