//! What is printed: lines with their prefixes, separators, counts and names.
//!
//! One buffer for standard output, written when full and at the end. A reader that has gone ends
//! the run quietly.

use crate::cli::{Options, Separator};
use crate::color::{Colors, paint};
use crate::matching::{Matcher, Span};
use place::stdio::Standard;
use std::io::Write as _;

const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Where output goes.
pub(crate) struct Printer<'a> {
    options: &'a Options,
    matcher: &'a Matcher<'a>,
    colors: Colors,
    out: Vec<u8>,
    /// Any line has been printed: the next group needs a separator.
    printed: bool,
}

/// A line to be printed.
pub(crate) struct Line<'a> {
    pub text: &'a [u8],
    pub number: u64,
    pub offset: u64,
    pub kind: Kind,
}

/// Why a line is printed.
#[derive(PartialEq, Clone, Copy)]
pub(crate) enum Kind {
    Selected,
    Context,
}

impl<'a> Printer<'a> {
    /// Prints as `options` say.
    pub(crate) fn new(options: &'a Options, matcher: &'a Matcher<'a>) -> Self {
        let colors = match options.color {
            true => Colors::parse(std::env::var("GREP_COLORS").ok().as_deref()),
            false => Colors::off(),
        };
        Self { options, matcher, colors, out: Vec::new(), printed: false }
    }

    /// A line as it is, its end included.
    pub(crate) fn plain(&mut self, line: &[u8]) {
        self.printed = true;
        self.out.extend_from_slice(line);
        self.spill();
    }

    /// A line, with context marked by `-` instead of `:`.
    pub(crate) fn line(&mut self, name: Option<&str>, line: &Line<'_>) {
        self.printed = true;
        let ends = if self.options.null_data { 0 } else { b'\n' };
        if self.options.only_matching {
            if line.kind == Kind::Selected && !self.options.invert {
                for span in self.spans(line.text) {
                    let offset = line.offset + span.start as u64;
                    self.prefix(name, &Line { offset, ..*line });
                    paint(&mut self.out, &self.colors.matched, &line.text[span.start..span.end]);
                    self.out.push(ends);
                }
            }
        } else {
            self.prefix(name, line);
            self.text(line);
            self.out.push(ends);
        }
        self.spill();
    }

    /// Between groups of lines that do not touch.
    pub(crate) fn gap(&mut self) {
        let text = match &self.options.separator {
            Separator::Dashes => "--",
            Separator::Text(text) => text,
            Separator::Nothing => return,
        };
        if self.printed && self.options.in_groups {
            paint(&mut self.out, &self.colors.separator, text.as_bytes());
            self.out.push(b'\n');
        }
    }

    /// How many lines of a file were selected.
    pub(crate) fn count(&mut self, name: Option<&str>, count: u64) {
        if let Some(name) = name {
            self.name(name, b':');
        }
        self.out.extend_from_slice(format!("{count}\n").as_bytes());
        self.spill();
    }

    /// The name of a file, alone.
    pub(crate) fn file(&mut self, name: &str) {
        paint(&mut self.out, &self.colors.file, name.as_bytes());
        self.out.push(if self.options.null_name { 0 } else { b'\n' });
        self.spill();
    }

    /// That a binary file matches.
    pub(crate) fn binary(&mut self, name: &str) {
        self.flush();
        complain(&format!("{name}: binary file matches"));
    }

    /// Writes what is left.
    pub(crate) fn flush(&mut self) {
        if !self.out.is_empty() && Standard::output().write_all(&self.out).is_err() {
            std::process::exit(crate::TROUBLE);
        }
        self.out.clear();
    }

    fn spill(&mut self) {
        if self.out.len() >= BUFFER_BYTES_MAX || self.options.line_buffered {
            self.flush();
        }
    }

    fn prefix(&mut self, name: Option<&str>, line: &Line<'_>) {
        let sign = if line.kind == Kind::Selected { b':' } else { b'-' };
        if let Some(name) = name {
            self.name(name, sign);
        }
        if self.options.line_number {
            let width = if self.options.initial_tab { 3 } else { 0 };
            paint(&mut self.out, &self.colors.number, format!("{:>width$}", line.number).as_bytes());
            paint(&mut self.out, &self.colors.separator, &[sign]);
        }
        if self.options.byte_offset {
            paint(&mut self.out, &self.colors.offset, line.offset.to_string().as_bytes());
            paint(&mut self.out, &self.colors.separator, &[sign]);
        }
        let any = name.is_some() || self.options.line_number || self.options.byte_offset;
        if self.options.initial_tab && any {
            self.out.push(b'\t');
        }
    }

    fn name(&mut self, name: &str, sign: u8) {
        paint(&mut self.out, &self.colors.file, name.as_bytes());
        match self.options.null_name {
            true => self.out.push(0),
            false => paint(&mut self.out, &self.colors.separator, &[sign]),
        }
    }

    fn text(&mut self, line: &Line<'_>) {
        // With -v the matches stand in the context lines.
        let marked = (line.kind == Kind::Selected) != self.options.invert;
        if self.colors.matched.is_none() || !marked {
            return self.out.extend_from_slice(line.text);
        }
        let mut done = 0;
        for span in self.spans(line.text) {
            self.out.extend_from_slice(&line.text[done..span.start]);
            paint(&mut self.out, &self.colors.matched, &line.text[span.start..span.end]);
            done = span.end;
        }
        self.out.extend_from_slice(&line.text[done..]);
    }

    /// The matches in a line that are not empty.
    fn spans(&self, text: &[u8]) -> Vec<Span> {
        let (mut spans, mut at) = (Vec::new(), 0);
        while at <= text.len() {
            let Some(span) = self.matcher.find_at(text, at) else { break };
            if span.end > span.start {
                spans.push(span);
                at = span.end;
            } else {
                at = span.end + 1;
            }
        }
        spans
    }
}

/// A complaint on standard error.
pub(crate) fn complain(text: &str) {
    place::stdio::complain("grep", text);
}
