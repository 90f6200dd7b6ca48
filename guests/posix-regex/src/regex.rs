//! A pattern that is ready to be looked for.
//!
//! Plain text is found by a searcher of plain text; where a match begins is found by Rust's automata;
//! the longest end by an automaton that keeps all ways; the groups by going back and forth between the
//! two ends. Each of these is made when it is first needed, because most programs need few.
//!
//! Making the automata costs as much as matching some hundred short lines by trying. So a pattern is
//! tried at first, and the automata take over when that has cost about as much.

use crate::ast::{Assert, Node, Parsed};
use crate::backtrack::{Goal, Memory};
use crate::error::SyntaxError;
use crate::parse::{Flavor, parse};
use crate::print::{TextEnds, print};
use crate::program::{Flags, Program, compile};
use memchr::memmem::Finder;
use regex_automata::hybrid::dfa::{Cache as DfaCache, DFA};
use regex_automata::meta::{Cache as MetaCache, Regex as Meta};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use std::cell::{Cell, OnceCell, RefCell};

/// How a pattern is to be read and matched.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub flavor: Flavor,
    pub ignore_case: bool,
    /// `^` and `$` also match beside a line feed.
    pub multi_line: bool,
    /// `.` and negated brackets take line feeds, too.
    pub line_feed: bool,
    pub around: Around,
}

impl Options {
    /// For a text that is one record.
    pub fn of(flavor: Flavor) -> Self {
        Self { flavor, ignore_case: false, multi_line: false, line_feed: true, around: Around::Anything }
    }
}

/// What may stand around a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    Anything,
    /// No character of a word.
    NoWord,
    /// The ends of a line.
    Line,
}

/// Where a match is, in bytes.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// Where the whole match and its groups are.
#[derive(Debug, Default, Clone)]
pub struct Slots(Vec<Option<Span>>);

impl Slots {
    /// The group; the whole match is group 0.
    pub fn get(&self, group: usize) -> Option<Span> {
        self.0.get(group).copied().flatten()
    }
}

/// Steps of trying that cost about what it costs to make the automata.
const TRIED_STEPS_MAX: usize = 12_000;

/// See the module.
pub struct Regex {
    node: Node,
    groups: usize,
    back_references: bool,
    options: Options,
    first_may_be_short: bool,
    literal: Option<Finder<'static>>,
    meta: OnceCell<Option<(Meta, RefCell<MetaCache>)>>,
    longest: OnceCell<Option<(DFA, RefCell<DfaCache>)>>,
    program: OnceCell<Program>,
    memory: RefCell<Memory>,
    /// Steps of trying that are left before the automata are made.
    allowance: Cell<usize>,
}

impl std::fmt::Debug for Regex {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Regex").field("node", &self.node).finish_non_exhaustive()
    }
}

impl Regex {
    /// Reads `pattern`.
    pub fn new(pattern: &[u8], options: Options) -> Result<Self, SyntaxError> {
        Ok(Self::from_parsed(parse(pattern, options.flavor)?, options))
    }

    /// Any of the patterns, each with its own numbers for its groups.
    pub fn any_of(patterns: Vec<Parsed>, options: Options) -> Self {
        let (mut groups, mut back_references) = (0, false);
        let mut nodes = Vec::new();
        for mut parsed in patterns {
            shift_groups(&mut parsed.node, groups);
            groups += parsed.groups;
            back_references |= parsed.back_references;
            nodes.push(parsed.node);
        }
        Self::from_parsed(Parsed { node: Node::Either(nodes), groups, back_references }, options)
    }

    fn from_parsed(parsed: Parsed, options: Options) -> Self {
        let Parsed { node, groups, back_references } = parsed;
        let (node, groups) = match options.around {
            Around::Anything => (node, groups),
            Around::NoWord => surround(node, groups, Assert::NoWordBefore, Assert::NoWordAfter),
            Around::Line => surround(node, groups, Assert::LineStart, Assert::LineEnd),
        };
        let mut text = Vec::new();
        let plain = !options.ignore_case && node.literal(&mut text);
        Self {
            first_may_be_short: node.first_may_be_short(),
            literal: plain.then(|| Finder::new(&text).into_owned()),
            node,
            groups,
            back_references,
            options,
            meta: OnceCell::new(),
            longest: OnceCell::new(),
            program: OnceCell::new(),
            memory: RefCell::default(),
            allowance: Cell::new(TRIED_STEPS_MAX),
        }
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The text it stands for, if it is plain text.
    pub fn literal(&self) -> Option<&[u8]> {
        self.literal.as_ref().map(Finder::needle)
    }

    /// Whether it matches anywhere.
    pub fn is_match(&self, text: &[u8]) -> bool {
        if let Some(finder) = &self.literal {
            return finder.find(text).is_some();
        }
        if let Some(found) = self.try_briefly(text, 0, Goal::First) {
            return found.is_some();
        }
        match self.meta() {
            Some((meta, cache)) => {
                meta.search_half_with(&mut cache.borrow_mut(), &Input::new(text).earliest(true)).is_some()
            }
            None => self.find_at(text, 0).is_some(),
        }
    }

    /// The longest of the leftmost matches that begin at `at` or later.
    pub fn find_at(&self, text: &[u8], at: usize) -> Option<Span> {
        if let Some(finder) = &self.literal {
            let start = at + finder.find(&text[at..])?;
            return Some(Span { start, end: start + finder.needle().len() });
        }
        let goal = if self.first_may_be_short { Goal::Longest } else { Goal::First };
        if let Some(found) = self.try_briefly(text, at, goal) {
            return found;
        }
        let Some((meta, cache)) = self.meta() else { return self.try_all(text, at, goal, usize::MAX).0 };
        let found = meta.search_with(&mut cache.borrow_mut(), &Input::new(text).range(at..))?;
        let first = Span { start: found.start(), end: found.end() };
        if !self.first_may_be_short {
            return Some(first);
        }
        Some(Span { end: self.longest_end(text, first.start).unwrap_or(first.end), ..first })
    }

    /// The same as [`Self::find_at`], without ever making the automata; `None` when they would be the
    /// better choice by now.
    pub fn find_by_trying(&self, text: &[u8], at: usize) -> Option<Option<Span>> {
        if let Some(finder) = &self.literal {
            let found = finder.find(&text[at..]).map(|found| at + found);
            return Some(found.map(|start| Span { start, end: start + finder.needle().len() }));
        }
        self.try_briefly(text, at, if self.first_may_be_short { Goal::Longest } else { Goal::First })
    }

    /// The same, with its groups.
    pub fn captures_at(&self, text: &[u8], at: usize, slots: &mut Slots) -> Option<Span> {
        let found = self.find_at(text, at)?;
        slots.0.clear();
        slots.0.resize(self.groups + 1, None);
        slots.0[0] = Some(found);
        if self.groups == 0 {
            return Some(found);
        }
        let mut memory = self.memory.borrow_mut();
        memory.steps_left = usize::MAX;
        if memory.run(self.program(), text, found.start, Goal::EndAt(found.end)).is_some() {
            for group in 1..=self.groups {
                let (start, end) = (memory.slot(2 * group), memory.slot(2 * group + 1));
                slots.0[group] = start.zip(end).map(|(start, end)| Span { start, end });
            }
        }
        Some(found)
    }

    /// The search by trying; `None` if it was given up, and the automata are to do it.
    fn try_briefly(&self, text: &[u8], at: usize, goal: Goal) -> Option<Option<Span>> {
        if self.back_references {
            return Some(self.try_all(text, at, goal, usize::MAX).0);
        }
        let left = self.allowance.get();
        // Looking for where to begin is work as well.
        let scan = (text.len() - at) / 8;
        if left <= scan {
            self.allowance.set(0);
            return None;
        }
        let (found, left) = self.try_all(text, at, goal, left - scan);
        self.allowance.set(left);
        (left > 0).then_some(found)
    }

    /// The first match by trying, and how many of `steps` are left. With none left nothing was found.
    fn try_all(&self, text: &[u8], at: usize, goal: Goal, steps: usize) -> (Option<Span>, usize) {
        let mut memory = self.memory.borrow_mut();
        let program = self.program();
        memory.steps_left = steps;
        let mut from = at;
        while let Some(start) = program.start.next(text, from) {
            // Nothing begins inside a character.
            let inside = text.get(start).is_some_and(|it| it & 0xc0 == 0x80);
            let end = if inside { None } else { memory.run(program, text, start, goal) };
            if let Some(end) = end {
                return (Some(Span { start, end }), memory.steps_left.max(1));
            }
            if memory.steps_left == 0 {
                return (None, 0);
            }
            from = start + 1;
        }
        (None, memory.steps_left)
    }

    fn longest_end(&self, text: &[u8], start: usize) -> Option<usize> {
        if let Some((dfa, cache)) = self.longest() {
            let input = Input::new(text).range(start..).anchored(Anchored::Yes);
            // It gives up at edges of words beside other characters than ASCII's.
            if let Ok(found) = dfa.try_search_fwd(&mut cache.borrow_mut(), &input) {
                return found.map(|it| it.offset());
            }
        }
        let mut memory = self.memory.borrow_mut();
        memory.steps_left = usize::MAX;
        memory.run(self.program(), text, start, Goal::Longest)
    }

    fn program(&self) -> &Program {
        self.program.get_or_init(|| {
            let Options { ignore_case, multi_line, line_feed, .. } = self.options;
            let flags = Flags { ignore_case, multi_line, line_feed };
            compile(&self.node, self.groups, self.back_references, &flags)
        })
    }

    fn syntax(&self) -> syntax::Config {
        syntax::Config::new()
            .utf8(false)
            .multi_line(self.options.multi_line)
            .dot_matches_new_line(self.options.line_feed)
            .case_insensitive(self.options.ignore_case)
    }

    /// `None` for what Rust's automata cannot do, or are too large for.
    fn meta(&self) -> Option<&(Meta, RefCell<MetaCache>)> {
        let made = self.meta.get_or_init(|| {
            // A line feed in a negated bracket is no matter of syntax; only `grep` cares, and only here.
            if self.back_references || !self.options.line_feed {
                return None;
            }
            let pattern = print(&self.node, TextEnds::OfText);
            let config = Meta::config().utf8_empty(false).which_captures(thompson::WhichCaptures::Implicit);
            let meta = Meta::builder().configure(config).syntax(self.syntax()).build(&pattern).ok()?;
            let cache = RefCell::new(meta.create_cache());
            Some((meta, cache))
        });
        made.as_ref()
    }

    fn longest(&self) -> Option<&(DFA, RefCell<DfaCache>)> {
        let made = self.longest.get_or_init(|| {
            let pattern = print(&self.node, TextEnds::OfText);
            let dfa = DFA::builder()
                .configure(DFA::config().match_kind(MatchKind::All).unicode_word_boundary(true))
                .syntax(self.syntax())
                .thompson(thompson::Config::new().utf8(false).which_captures(thompson::WhichCaptures::None))
                .build(&pattern)
                .ok()?;
            let cache = RefCell::new(dfa.create_cache());
            Some((dfa, cache))
        });
        made.as_ref()
    }
}

fn surround(node: Node, groups: usize, before: Assert, after: Assert) -> (Node, usize) {
    // A group that nobody asks for, so that alternatives stay together.
    let node = Node::Group(Box::new(node), groups + 1);
    (Node::Sequence(vec![Node::Assert(before), node, Node::Assert(after)]), groups + 1)
}

fn shift_groups(node: &mut Node, by: usize) {
    match node {
        Node::Group(node, index) => {
            *index += by;
            shift_groups(node, by);
        }
        Node::BackReference(index) => *index += by,
        Node::Sequence(nodes) | Node::Either(nodes) => nodes.iter_mut().for_each(|it| shift_groups(it, by)),
        Node::Repeat { node, .. } => shift_groups(node, by),
        _ => {}
    }
}
