//! Runs a program by trying and going back.
//!
//! Without back-references no state is tried twice at a position, so the work is bounded by the length
//! of the program times that of the text. With them the worst case is exponential, as it is everywhere;
//! the host's fuel is the bound there.

use crate::ast::Assert;
use crate::program::{Program, Step};
use crate::set::{is_word_at, is_word_before};

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// The longest match.
    Longest,
    /// The first that is found: enough where no other can be longer, or none is asked for.
    First,
    /// The match that ends there.
    EndAt(usize),
}

const UNSET: usize = usize::MAX;

/// What is kept between searches, so that they allocate nothing.
#[derive(Default)]
pub(crate) struct Memory {
    stack: Vec<Undo>,
    slots: Vec<usize>,
    best: Vec<usize>,
    failed: Vec<u64>,
    /// How many steps may still be made; a search that has none left fails.
    pub(crate) steps_left: usize,
}

/// What to do when a way failed.
enum Undo {
    /// Go on there.
    Try {
        step: usize,
        at: usize,
    },
    /// Give up a character of a run, if it has more than `least`.
    Shorten {
        step: usize,
        least: usize,
        at: usize,
    },
    Restore {
        slot: usize,
        was: usize,
    },
}

impl Memory {
    /// The positions the last search noted, in pairs; `None` where a group had no part.
    pub(crate) fn slot(&self, slot: usize) -> Option<usize> {
        self.best.get(slot).copied().filter(|at| *at != UNSET)
    }

    /// Matches at exactly `start`; the end of the match.
    pub(crate) fn run(&mut self, program: &Program, text: &[u8], start: usize, goal: Goal) -> Option<usize> {
        self.stack.clear();
        self.slots.clear();
        self.slots.resize(program.slots, UNSET);
        let width = text.len() - start + 1;
        let remember = !program.back_references;
        if remember {
            self.failed.clear();
            self.failed.resize((program.splits * width).div_ceil(64), 0);
            // Cleaning is work as well.
            self.steps_left = self.steps_left.saturating_sub(self.failed.len() / 8);
        }
        let mut found: Option<usize> = None;
        let (mut step, mut at) = (0, start);
        loop {
            if self.steps_left == 0 {
                return None;
            }
            self.steps_left -= 1;
            let next = match &program.steps[step] {
                Step::Byte(byte) => (text.get(at) == Some(byte)).then(|| (step + 1, at + 1)),
                Step::Set(set) => set.length(&text[at..]).map(|length| (step + 1, at + length)),
                Step::Run { set, min, max } => {
                    let (mut end, mut count, mut least) = (at, 0, at);
                    while count < *max {
                        let Some(length) = set.length(&text[end..]) else { break };
                        end += length;
                        count += 1;
                        if count == *min {
                            least = end;
                        }
                    }
                    (count >= *min).then(|| {
                        if end > least {
                            self.stack.push(Undo::Shorten { step: step + 1, least, at: end });
                        }
                        (step + 1, end)
                    })
                }
                Step::Split { first, second, id } => {
                    let bit = id * width + (at - start);
                    if remember && self.failed[bit / 64] >> (bit % 64) & 1 == 1 {
                        None
                    } else {
                        if remember {
                            self.failed[bit / 64] |= 1 << (bit % 64);
                        }
                        self.stack.push(Undo::Try { step: *second, at });
                        Some((*first, at))
                    }
                }
                Step::Jump(target) => Some((*target, at)),
                Step::Save(slot) => {
                    self.stack.push(Undo::Restore { slot: *slot, was: self.slots[*slot] });
                    self.slots[*slot] = at;
                    Some((step + 1, at))
                }
                Step::Progress(slot) => (self.slots[*slot] != at).then_some((step + 1, at)),
                Step::Assert(kind) => holds(*kind, text, at, program.multi_line).then_some((step + 1, at)),
                Step::BackReference(group) => {
                    let (from, to) = (self.slots[2 * group], self.slots[2 * group + 1]);
                    let known = from != UNSET && to != UNSET;
                    let same = |length: usize| {
                        let there = text.get(at..at + length)?;
                        let equal = if program.ignore_case {
                            there.eq_ignore_ascii_case(&text[from..to])
                        } else {
                            *there == text[from..to]
                        };
                        equal.then_some((step + 1, at + length))
                    };
                    if known { same(to - from) } else { None }
                }
                Step::Match => {
                    let wanted = match goal {
                        Goal::Longest => found.is_none_or(|end| at > end),
                        Goal::First => true,
                        Goal::EndAt(end) => at == end,
                    };
                    if wanted {
                        found = Some(at);
                        self.best.clone_from(&self.slots);
                    }
                    if wanted && (goal != Goal::Longest || at == text.len()) {
                        return found;
                    }
                    None
                }
            };
            (step, at) = match next.or_else(|| self.back(text)) {
                Some(next) => next,
                None => return found,
            };
        }
    }

    fn back(&mut self, text: &[u8]) -> Option<(usize, usize)> {
        loop {
            match self.stack.pop()? {
                Undo::Try { step, at } => return Some((step, at)),
                Undo::Restore { slot, was } => self.slots[slot] = was,
                Undo::Shorten { step, least, at } => {
                    let mut at = at - 1;
                    while at > least && text[at] & 0xc0 == 0x80 {
                        at -= 1;
                    }
                    if at > least {
                        self.stack.push(Undo::Shorten { step, least, at });
                    }
                    return Some((step, at));
                }
            }
        }
    }
}

fn holds(kind: Assert, text: &[u8], at: usize, multi_line: bool) -> bool {
    let before = || is_word_before(text, at);
    let after = || is_word_at(text, at);
    match kind {
        Assert::TextStart => at == 0,
        Assert::TextEnd => at == text.len(),
        Assert::LineStart => at == 0 || (multi_line && text[at - 1] == b'\n'),
        Assert::LineEnd => at == text.len() || (multi_line && text[at] == b'\n'),
        Assert::WordEdge => before() != after(),
        Assert::NotWordEdge => before() == after(),
        Assert::WordStart => !before() && after(),
        Assert::WordEnd => before() && !after(),
        Assert::NoWordBefore => !before(),
        Assert::NoWordAfter => !after(),
    }
}
