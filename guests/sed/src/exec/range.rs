//! Whether a line is one that a command is for.

use super::Machine;
use crate::script::{Address, Command, End, Range};
use posix_regex::Regex;
use std::rc::Rc;

/// Where a range stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Outside,
    /// Until that line, or until the end's address matches.
    Inside(Option<u64>),
    /// `0,/re/`: inside before the first line.
    Zero,
    /// A range that begins at a line of a number has been, and will not be again.
    Over,
}

impl State {
    pub(super) fn of(command: &Command) -> Self {
        match &command.range {
            Some(range) if matches!(range.start, Address::Zero) => Self::Zero,
            _ => Self::Outside,
        }
    }

    /// Where a range stands that has ended.
    fn after(range: &Range) -> Self {
        if matches!(range.start, Address::Line(_)) { Self::Over } else { Self::Outside }
    }

    /// Whether no line after this one belongs to the range that this one belonged to.
    pub(super) fn has_ended(self) -> bool {
        matches!(self, Self::Outside | Self::Over)
    }

    /// A new file begins.
    pub(super) fn reset(&mut self) {
        if *self != Self::Zero {
            *self = Self::Outside;
        }
    }
}

impl Machine {
    pub(super) fn selects(&mut self, number: usize, command: &Command) -> Result<bool, String> {
        let Some(range) = &command.range else { return Ok(true) };
        let Some(end) = &range.end else { return self.matches(&range.start) };
        let line = self.input.number;
        match self.ranges[number] {
            State::Over => Ok(false),
            State::Outside => {
                let begins = match &range.start {
                    // A script that skipped that line begins the range late.
                    Address::Line(first) => line >= *first,
                    start => self.matches(start)?,
                };
                if !begins {
                    return Ok(false);
                }
                let last = match end {
                    End::At(Address::Line(last)) => Some(*last),
                    End::At(_) => None,
                    End::After(count) => Some(line + count),
                    End::Multiple(0) => Some(line),
                    End::Multiple(step) => Some((line / step + 1) * step),
                };
                self.ranges[number] = if last.is_none_or(|last| last > line) {
                    State::Inside(last)
                } else {
                    State::after(range)
                };
                // Late, and the end is past already.
                let missed = matches!((&range.start, last), (Address::Line(first), Some(last)) if line > *first && line > last);
                Ok(!missed)
            }
            State::Inside(Some(last)) => {
                if line >= last {
                    self.ranges[number] = State::after(range);
                }
                if line > last {
                    // The script read past the end: this line may begin a range of its own.
                    return self.matches(&range.start);
                }
                Ok(true)
            }
            State::Inside(None) | State::Zero => {
                if let End::At(address) = end
                    && self.matches(address)?
                {
                    self.ranges[number] = State::after(range);
                }
                Ok(true)
            }
        }
    }

    fn matches(&mut self, address: &Address) -> Result<bool, String> {
        let line = self.input.number;
        Ok(match address {
            Address::Line(number) => line == *number,
            Address::Every { first, step } => line >= *first && (line - first).is_multiple_of(*step),
            Address::Last => self.at_last(),
            // `0r FILE`: before the first line.
            Address::Zero => line == 1,
            Address::Matches(regex) => self.regex(regex)?.is_match(&self.space.text),
        })
    }

    /// The regular expression, or the last one that was used.
    pub(super) fn regex(&mut self, regex: &Option<Rc<Regex>>) -> Result<Rc<Regex>, String> {
        if let Some(regex) = regex {
            self.last_regex = Some(Rc::clone(regex));
        }
        self.last_regex
            .clone()
            .ok_or_else(|| "sed: -e expression #1, char 0: no previous regular expression".to_owned())
    }
}
