//! Runs the steps of a pattern over a text, going back to the last fork where they fail.

use super::class::{Class, Kind, lower};
use super::syntax::Assert;
use super::{Found, Options, Problem};

/// More steps than this, and a search is given up.
const STEPS_MAX: u64 = 50_000_000;
/// More places to go back to than this, and a search is given up.
const FORKS_MAX: usize = 4_000_000;

pub(super) struct Code {
    pub steps: Vec<Step>,
    /// How many loops watch whether a round took anything.
    pub marks: usize,
}

pub(super) enum Step {
    Char(char),
    CharFolded(char),
    Any(bool),
    Class(Box<Class>),
    Assert(Assert),
    Save(usize),
    Fork {
        first: usize,
        second: usize,
    },
    Jump(usize),
    Mark(usize),
    Again(usize, usize),
    /// What follows up to `Match` counts as one; then on at the place.
    Atomic(usize),
    Look {
        behind: bool,
        negative: bool,
        next: usize,
    },
    Backreference(Box<[usize]>, bool),
    Match,
}

/// What to undo, or where to go on.
enum Back {
    To { step: usize, at: usize },
    Slot { slot: usize, old: usize },
}

const NOWHERE: usize = usize::MAX;

struct Machine<'t> {
    code: &'t Code,
    text: &'t str,
    start: usize,
    /// Two places a group, then one a loop.
    slots: Vec<usize>,
    groups: usize,
    back: Vec<Back>,
    steps: u64,
}

pub(super) fn find(
    code: &Code,
    groups: usize,
    text: &str,
    start: usize,
    options: Options,
) -> Result<Option<Found>, Problem> {
    let slots = vec![NOWHERE; (groups + 1) * 2 + code.marks];
    let mut machine =
        Machine { code, text, start, slots, groups: (groups + 1) * 2, back: Vec::new(), steps: 0 };
    let first = match code.steps.first() {
        Some(Step::Char(sign)) => Some(*sign),
        _ => None,
    };
    let mut at = start;
    while at <= text.len() {
        if let Some(sign) = first {
            match text[at..].find(sign) {
                Some(skipped) => at += skipped,
                None => return Ok(None),
            }
        }
        machine.slots.fill(NOWHERE);
        machine.slots[0] = at;
        machine.back.clear();
        if let Some(end) = machine.run(0, at, 0, options.not_empty.then_some(at))? {
            machine.slots[1] = end;
            let mut found = machine.found();
            if options.longest {
                // Of all matches from here, the one that ends last.
                while let Some(end) = machine.resume()? {
                    if found[0].is_some_and(|(_, known)| end > known) {
                        machine.slots[1] = end;
                        found = machine.found();
                    }
                }
            }
            return Ok(Some(found));
        }
        match text[at..].chars().next() {
            Some(sign) => at += sign.len_utf8(),
            None => break,
        }
    }
    Ok(None)
}

impl Machine<'_> {
    fn found(&self) -> Found {
        let pair = |pair: &[usize]| (pair[0] != NOWHERE && pair[1] != NOWHERE).then_some((pair[0], pair[1]));
        self.slots[..self.groups].chunks(2).map(pair).collect()
    }

    fn next(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    fn set(&mut self, slot: usize, value: usize) {
        self.back.push(Back::Slot { slot, old: self.slots[slot] });
        self.slots[slot] = value;
    }

    /// Goes back to the last fork above `floor`.
    fn retreat(&mut self, floor: usize) -> Option<(usize, usize)> {
        while self.back.len() > floor {
            match self.back.pop()? {
                Back::To { step, at } => return Some((step, at)),
                Back::Slot { slot, old } => self.slots[slot] = old,
            }
        }
        None
    }

    /// The next match from the same place.
    fn resume(&mut self) -> Result<Option<usize>, Problem> {
        match self.retreat(0) {
            Some((step, at)) => self.run(step, at, 0, None),
            None => Ok(None),
        }
    }

    /// Runs until `Match`, going back to no fork below `floor`; where it stands then. A match that
    /// ends at `not_at` does not count.
    fn run(
        &mut self,
        step: usize,
        at: usize,
        floor: usize,
        not_at: Option<usize>,
    ) -> Result<Option<usize>, Problem> {
        let (mut step, mut at) = (step, at);
        loop {
            self.steps += 1;
            if self.steps > STEPS_MAX || self.back.len() > FORKS_MAX {
                return Err("retry-limit-in-match over");
            }
            let code = self.code;
            let went = match &code.steps[step] {
                Step::Match if not_at == Some(at) => None,
                Step::Match => return Ok(Some(at)),
                Step::Char(wanted) => self.next(at).filter(|sign| sign == wanted).map(char::len_utf8),
                Step::CharFolded(wanted) => {
                    self.next(at).filter(|sign| lower(*sign) == *wanted).map(char::len_utf8)
                }
                Step::Any(all) => self.next(at).filter(|sign| *all || *sign != '\n').map(char::len_utf8),
                Step::Class(class) => self.next(at).filter(|sign| class.has(*sign)).map(char::len_utf8),
                Step::Assert(assert) => self.holds(*assert, at).then_some(0),
                Step::Save(slot) => {
                    self.set(*slot, at);
                    Some(0)
                }
                Step::Fork { first, second } => {
                    self.back.push(Back::To { step: *second, at });
                    step = *first;
                    continue;
                }
                Step::Jump(to) => {
                    step = *to;
                    continue;
                }
                Step::Mark(mark) => {
                    self.set(self.groups + mark, at);
                    Some(0)
                }
                Step::Again(mark, start) => {
                    if self.slots[self.groups + mark] != at {
                        step = *start;
                        continue;
                    }
                    Some(0)
                }
                Step::Atomic(next) => {
                    let before = self.back.len();
                    match self.run(step + 1, at, before, None)? {
                        Some(end) => {
                            // Forks inside are forgotten, what was saved is not.
                            let kept: Vec<Back> = self
                                .back
                                .drain(before..)
                                .filter(|it| matches!(it, Back::Slot { .. }))
                                .collect();
                            self.back.extend(kept);
                            (step, at) = (*next, end);
                            continue;
                        }
                        None => None,
                    }
                }
                Step::Look { behind, negative, next } => {
                    let before = self.back.len();
                    let found = if *behind {
                        self.behind(step + 1, at)?
                    } else {
                        self.run(step + 1, at, before, None)?.is_some()
                    };
                    if *negative {
                        self.undo(before);
                    } else {
                        let kept: Vec<Back> =
                            self.back.drain(before..).filter(|it| matches!(it, Back::Slot { .. })).collect();
                        self.back.extend(kept);
                    }
                    if found != *negative {
                        step = *next;
                        continue;
                    }
                    None
                }
                Step::Backreference(groups, ignore_case) => self.again(groups, *ignore_case, at),
            };
            match went {
                Some(len) => (step, at) = (step + 1, at + len),
                None => match self.retreat(floor) {
                    Some(place) => (step, at) = place,
                    None => return Ok(None),
                },
            }
        }
    }

    fn undo(&mut self, floor: usize) {
        while self.back.len() > floor {
            if let Some(Back::Slot { slot, old }) = self.back.pop() {
                self.slots[slot] = old;
            }
        }
    }

    /// Whether the part matches a stretch that ends here.
    fn behind(&mut self, step: usize, at: usize) -> Result<bool, Problem> {
        let mut from = at;
        loop {
            let before = self.back.len();
            let mut end = self.run(step, from, before, None)?;
            while let Some(found) = end {
                if found == at {
                    return Ok(true);
                }
                end = match self.retreat(before) {
                    Some((step, place)) => self.run(step, place, before, None)?,
                    None => None,
                };
            }
            self.undo(before);
            match self.text[..from].chars().next_back() {
                Some(sign) => from -= sign.len_utf8(),
                None => return Ok(false),
            }
        }
    }

    fn again(&self, groups: &[usize], ignore_case: bool, at: usize) -> Option<usize> {
        for group in groups.iter().rev() {
            let (start, end) = (self.slots[group * 2], self.slots[group * 2 + 1]);
            if start == NOWHERE || end == NOWHERE || end < start {
                continue;
            }
            let wanted = &self.text[start..end];
            let rest = self.text.get(at..at + wanted.len())?;
            let same =
                rest == wanted || (ignore_case && rest.chars().map(lower).eq(wanted.chars().map(lower)));
            return same.then_some(wanted.len());
        }
        None
    }

    fn holds(&self, assert: Assert, at: usize) -> bool {
        let before = || self.text[..at].chars().next_back();
        let after = || self.next(at);
        match assert {
            Assert::TextStart => at == 0,
            Assert::TextEnd => at == self.text.len(),
            Assert::LastEnd => at == self.text.len() || (at + 1 == self.text.len() && after() == Some('\n')),
            Assert::SearchStart => at == self.start,
            Assert::WordEdge | Assert::NoWordEdge => {
                let word = |sign: Option<char>| sign.is_some_and(|sign| Kind::Word.has(sign));
                (word(before()) != word(after())) == matches!(assert, Assert::WordEdge)
            }
        }
    }
}
