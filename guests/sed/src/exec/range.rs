//! Whether a line is one that a command is for.

use super::Machine;
use crate::script::{Address, Command, End};
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
}

impl State {
    pub(super) fn of(command: &Command) -> Self {
        match &command.range {
            Some(range) if matches!(range.start, Address::Zero) => Self::Zero,
            _ => Self::Outside,
        }
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
            State::Outside => {
                if !self.matches(&range.start)? {
                    return Ok(false);
                }
                let last = match end {
                    End::At(Address::Line(last)) => Some(*last),
                    End::At(_) => None,
                    End::After(count) => Some(line + count),
                    End::Multiple(0) => Some(line),
                    End::Multiple(step) => Some((line / step + 1) * step),
                };
                if last.is_none_or(|last| last > line) {
                    self.ranges[number] = State::Inside(last);
                }
                Ok(true)
            }
            State::Inside(Some(last)) => {
                if line >= last {
                    self.ranges[number] = State::Outside;
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
                    self.ranges[number] = State::Outside;
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
            Address::Zero => false,
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
