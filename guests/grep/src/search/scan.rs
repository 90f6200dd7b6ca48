//! Selects the lines of one file and hands them, with their context, to the printer.
//!
//! The matcher jumps from match to match; the lines between are only counted, unless they are
//! selected (`-v`) or wanted as context.

use super::blocks::Next;
use crate::cli::{Binary, Options, Report};
use crate::matching::Matcher;
use crate::output::{Kind, Line, Printer};
use std::collections::VecDeque;

/// The state of a file's search.
pub(super) struct Scan<'a, 'p> {
    options: &'a Options,
    matcher: &'a Matcher<'a>,
    printer: &'a mut Printer<'p>,
    name: Option<&'a str>,
    selected: u64,
    /// Of the next line.
    number: u64,
    offset: u64,
    /// The last lines not printed, for `-B`.
    before: VecDeque<(u64, u64, Vec<u8>)>,
    /// Lines still to be printed after a selected one.
    after: usize,
    last_printed: u64,
    binary: Seen,
    /// Every line of the block can be shown.
    readable: bool,
    /// Lines are printed as they are, and nothing else is asked for.
    simple: bool,
    ended: bool,
}

/// What is known of the bytes.
#[derive(PartialEq)]
enum Seen {
    Text,
    Binary,
    /// Binary, and a line was selected that is not printed.
    Match,
}

impl<'a, 'p> Scan<'a, 'p> {
    /// Starts a file; `name` is put before each line.
    pub(super) fn new(
        options: &'a Options,
        matcher: &'a Matcher<'a>,
        printer: &'a mut Printer<'p>,
        name: Option<&'a str>,
    ) -> Self {
        Self {
            options,
            matcher,
            printer,
            name,
            selected: 0,
            number: 1,
            offset: 0,
            before: VecDeque::new(),
            after: 0,
            last_printed: 0,
            binary: Seen::Text,
            readable: false,
            simple: name.is_none() && options.prints_plain_lines(),
            ended: options.count_max == Some(0),
        }
    }

    /// How many lines were selected.
    pub(super) fn selected(&self) -> u64 {
        self.selected
    }

    /// Whether to say that a binary file matches.
    pub(super) fn is_binary_match(&self) -> bool {
        self.binary == Seen::Match
    }

    /// Searches whole lines.
    pub(super) fn block(&mut self, block: &[u8]) -> Next {
        let options = self.options;
        if !options.null_data
            && options.binary != Binary::Text
            && self.binary == Seen::Text
            && memchr::memchr(0, block).is_some()
        {
            self.binary = Seen::Binary;
            self.ended |= options.binary == Binary::Skip;
        }
        self.readable = options.binary == Binary::Text || block.is_ascii();
        self.simple &= self.binary == Seen::Text;
        let mut at = 0;
        while at < block.len() && !self.ended {
            let Some((start, end)) = self.matcher.next_line(block, at) else {
                self.region(&block[at..], options.invert);
                break;
            };
            if at < start {
                self.region(&block[at..start], options.invert);
            }
            if options.invert {
                self.region(&block[start..end], false);
            } else if !self.ended {
                self.line(&block[start..end], true);
            }
            at = end;
        }
        if self.ended { Next::Enough } else { Next::More }
    }

    /// Lines that are all selected, or all not.
    fn region(&mut self, region: &[u8], selected: bool) {
        let silent = self.silent();
        let plain = self.after == 0 && self.options.before == 0;
        if !selected && (silent || plain) {
            return self.skip(region);
        }
        let end = if self.options.null_data { 0 } else { b'\n' };
        let mut rest = region;
        while !rest.is_empty() && !self.ended {
            let length = memchr::memchr(end, rest).map_or(rest.len(), |length| length + 1);
            self.line(&rest[..length], selected);
            rest = &rest[length..];
        }
    }

    /// One line, its end included.
    fn line(&mut self, line: &[u8], selected: bool) {
        let end = if self.options.null_data { 0 } else { b'\n' };
        if selected {
            if self.simple
                && line.last() == Some(&end)
                && (self.readable || std::str::from_utf8(line).is_ok())
            {
                self.selected += 1;
                self.printer.plain(line);
                return;
            }
            let silent = self.silent();
            self.select(line.strip_suffix(&[end]).unwrap_or(line), silent);
        } else {
            self.pass(line.strip_suffix(&[end]).unwrap_or(line));
        }
        self.number += 1;
        self.offset += line.len() as u64;
    }

    fn silent(&self) -> bool {
        self.options.quiet || self.options.report != Report::Lines
    }

    fn skip(&mut self, region: &[u8]) {
        self.offset += region.len() as u64;
        if self.options.line_number || self.options.in_groups {
            let end = if self.options.null_data { 0 } else { b'\n' };
            self.number += memchr::memchr_iter(end, region).count() as u64;
        }
    }

    fn full(&self) -> bool {
        self.options.count_max.is_some_and(|max| self.selected >= max)
    }

    fn select(&mut self, text: &[u8], silent: bool) {
        if self.full() {
            // Only context is still wanted, whatever is in it.
            return self.pass(text);
        }
        self.selected += 1;
        if silent {
            // A count goes on; everything else is settled by one line.
            let counts = self.options.report == Report::Count && !self.options.quiet;
            self.ended = !counts || self.full();
            return;
        }
        let readable = self.readable || std::str::from_utf8(text).is_ok();
        if self.binary != Seen::Text || !readable {
            self.ended = true;
            if self.options.binary == Binary::Skip {
                self.selected -= 1;
            } else {
                self.binary = Seen::Match;
            }
            return;
        }
        let first = self.before.front().map_or(self.number, |(number, ..)| *number);
        if first > self.last_printed + 1 || self.last_printed == 0 {
            self.printer.gap();
        }
        for (number, offset, text) in std::mem::take(&mut self.before) {
            self.printer.line(self.name, &Line { text: &text, number, offset, kind: Kind::Context });
        }
        self.print(text, Kind::Selected);
        self.after = self.options.after;
        self.ended = self.full() && self.after == 0;
    }

    fn pass(&mut self, text: &[u8]) {
        if self.after > 0 {
            self.after -= 1;
            self.print(text, Kind::Context);
            self.ended = self.full() && self.after == 0;
        } else if self.options.before > 0 {
            if self.before.len() == self.options.before {
                self.before.pop_front();
            }
            self.before.push_back((self.number, self.offset, text.to_vec()));
        }
    }

    fn print(&mut self, text: &[u8], kind: Kind) {
        self.last_printed = self.number;
        self.printer.line(self.name, &Line { text, number: self.number, offset: self.offset, kind });
    }
}
