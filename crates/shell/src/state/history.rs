//! The lines a shell remembers for `history` and `fc`.

use std::collections::VecDeque;

/// What a shell remembers where `HISTSIZE` says nothing.
const LINES: usize = 500;

/// What it remembers at most, whatever a script asks for.
const LINES_MAX: usize = 10_000;
const BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Clone)]
pub(crate) struct History {
    lines: VecDeque<String>,
    /// The number of the first of them.
    first: usize,
    lines_max: usize,
    bytes: usize,
    /// Lines of the file that were read or written already, for `-n`.
    pub(crate) in_file: usize,
    /// Lines since the file was last written, for `-a`.
    pub(crate) unsaved: usize,
    /// Lines of this session, kept or forgotten since.
    pub(crate) session: usize,
    /// Whether the line being run is the last of them: then `-1` means the one before it.
    pub(crate) has_current: bool,
}

impl Default for History {
    fn default() -> Self {
        Self {
            lines: VecDeque::new(),
            first: 1,
            lines_max: LINES,
            bytes: 0,
            in_file: 0,
            unsaved: 0,
            session: 0,
            has_current: false,
        }
    }
}

impl History {
    /// A command that was typed on several lines is remembered as one.
    pub(crate) fn add_typed(&mut self, typed: &str) {
        // The lines of a here-document are its own.
        if !typed.contains('\n') || typed.contains("<<") {
            return self.add(typed);
        }
        let mut one = String::with_capacity(typed.len());
        for line in typed.split('\n') {
            if !one.is_empty() {
                let head = one.trim_end();
                let last = head.rsplit([' ', '\t']).next().unwrap_or_default();
                let opens = matches!(last, "do" | "then" | "else" | "in" | "{")
                    || head.ends_with(['(', '|', '&', ';', '\\']);
                one.push_str(if opens { " " } else { "; " });
            }
            one.push_str(line);
        }
        self.add(&one);
    }

    pub(crate) fn add(&mut self, line: &str) {
        self.bytes += line.len();
        self.lines.push_back(line.to_owned());
        self.unsaved += 1;
        self.session += 1;
        self.shrink();
    }

    /// All there is was there before this session.
    pub(crate) fn forget_session(&mut self) {
        self.unsaved = 0;
        self.session = 0;
    }

    fn shrink(&mut self) {
        while self.lines.len() > self.lines_max.min(LINES_MAX) || self.bytes > BYTES_MAX {
            let Some(gone) = self.lines.pop_front() else { break };
            self.bytes -= gone.len();
            self.first += 1;
        }
        self.unsaved = self.unsaved.min(self.lines.len());
    }

    /// `HISTSIZE`. As in bash, what is left is numbered anew, where a line that no longer fits keeps the others' numbers.
    pub(crate) fn keep(&mut self, lines: usize) {
        let first = self.first;
        self.lines_max = lines;
        self.shrink();
        self.first = first;
    }

    pub(crate) fn clear(&mut self) {
        *self = Self { lines_max: self.lines_max, in_file: self.in_file, ..Self::default() };
    }

    /// Each line with its number.
    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> + ExactSizeIterator {
        self.lines.iter().enumerate().map(|(at, line)| (self.first + at, line.as_str()))
    }

    pub(crate) fn get(&self, number: usize) -> Option<&str> {
        self.lines.get(number.checked_sub(self.first)?).map(String::as_str)
    }

    /// Forgets one line.
    pub(crate) fn remove(&mut self, number: usize) -> bool {
        let gone = number.checked_sub(self.first).and_then(|at| self.lines.remove(at));
        self.bytes -= gone.as_ref().map_or(0, String::len);
        self.unsaved = self.unsaved.min(self.lines.len());
        gone.is_some()
    }

    /// The number that the next line gets.
    pub(crate) fn next(&self) -> usize {
        self.first + self.lines.len()
    }

    /// The number of the line being run, as `\!` and `HISTCMD` tell it.
    pub(crate) fn current(&self) -> usize {
        if self.has_current { self.next().saturating_sub(1).max(1) } else { self.next() }
    }
}

#[test]
fn lines_keep_their_numbers_when_older_ones_are_forgotten() {
    let mut history = History::default();
    history.keep(2);
    for line in ["a", "b", "c"] {
        history.add(line);
    }
    assert_eq!(history.rows().collect::<Vec<_>>(), [(2, "b"), (3, "c")]);
    assert!(history.remove(2) && !history.remove(9));
    assert_eq!((history.get(2), history.next()), (Some("c"), 3));
    history.clear();
    assert_eq!((history.rows().len(), history.next()), (0, 1));
}
