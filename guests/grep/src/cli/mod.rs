//! The command line of GNU grep: what was asked for.

mod flags;
mod help;
mod parse;
#[cfg(test)]
mod tests;

pub(crate) use parse::parse;

use std::io::Read as _;

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    /// `--help` or `--version`.
    Print(String),
    /// A search.
    Run(Box<Options>),
}

/// How to search.
#[derive(Debug, Default, PartialEq, Clone)]
pub(crate) struct Options {
    pub syntax: Syntax,
    /// Patterns and files of patterns, in order.
    pub sources: Vec<PatternSource>,
    pub files: Vec<String>,
    pub ignore_case: bool,
    pub invert: bool,
    pub word: bool,
    pub line: bool,
    /// `-z`: records end with NUL.
    pub null_data: bool,
    pub report: Report,
    pub only_matching: bool,
    pub count_max: Option<u64>,
    pub before: usize,
    pub after: usize,
    /// Between groups of context: `--` unless said otherwise; nothing if empty.
    pub separator: Separator,
    /// Context was asked for, be it of no lines.
    pub in_groups: bool,
    pub line_number: bool,
    pub byte_offset: bool,
    pub initial_tab: bool,
    /// `-Z`: NUL after a file's name.
    pub null_name: bool,
    pub file_name: Option<bool>,
    pub label: Option<String>,
    pub color: bool,
    pub quiet: bool,
    /// Each line is written at once.
    pub line_buffered: bool,
    pub silent: bool,
    pub binary: Binary,
    pub directories: Directories,
    pub dereference: bool,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub exclude_dir: Vec<String>,
}

impl Options {
    /// Whether selected lines are printed as they are, and no others.
    pub(crate) fn prints_plain_lines(&self) -> bool {
        let marked = self.line_number || self.byte_offset || self.initial_tab || self.color;
        let fewer =
            self.only_matching || self.quiet || self.report != Report::Lines || self.count_max.is_some();
        !marked && !fewer && !self.in_groups
    }
}

/// What stands between two groups of lines.
#[derive(Debug, Default, PartialEq, Clone)]
pub(crate) enum Separator {
    #[default]
    Dashes,
    Text(String),
    Nothing,
}

/// What a pattern is written in.
#[derive(Debug, Default, PartialEq, Clone, Copy)]
pub(crate) enum Syntax {
    #[default]
    Basic,
    Extended,
    Fixed,
    /// `-P`.
    Perl,
}

/// Where patterns come from.
#[derive(Debug, PartialEq, Clone)]
pub(crate) enum PatternSource {
    Text(String),
    File(String),
}

/// What is said of a file.
#[derive(Debug, Default, PartialEq, Clone, Copy)]
pub(crate) enum Report {
    #[default]
    Lines,
    Count,
    FilesWith,
    FilesWithout,
}

/// What to do with binary files.
#[derive(Debug, Default, PartialEq, Clone, Copy)]
pub(crate) enum Binary {
    /// Say that it matches, print no lines.
    #[default]
    Name,
    Text,
    Skip,
}

/// What to do with folders.
#[derive(Debug, Default, PartialEq, Clone, Copy)]
pub(crate) enum Directories {
    /// Complain.
    #[default]
    Read,
    Recurse,
    Skip,
}

/// All patterns; a line feed separates two of them.
pub(crate) fn patterns(options: &Options) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for source in &options.sources {
        match source {
            PatternSource::Text(text) => all.extend(text.split('\n').map(str::to_owned)),
            PatternSource::File(path) => {
                let text = read(path).map_err(|error| format!("{path}: {}", place::reason(&error)))?;
                // A final line feed ends the last pattern and does not begin another.
                let text = text.strip_suffix('\n').map(str::to_owned).unwrap_or(text);
                if !text.is_empty() || !is_empty(path) {
                    all.extend(text.split('\n').map(str::to_owned));
                }
            }
        }
    }
    Ok(all)
}

fn read(path: &str) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if path == "-" {
        std::io::stdin().read_to_end(&mut bytes)?;
    } else {
        bytes = std::fs::read(path)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A file without a single byte holds no pattern; one with a line feed holds the empty one.
fn is_empty(path: &str) -> bool {
    std::fs::metadata(path).map_or(true, |it| it.len() == 0)
}
