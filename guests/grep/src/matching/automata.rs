//! Patterns by ripgrep's matcher, which is the fastest over much text.
//!
//! Line selection asks only whether and where a match begins. When matches are shown, POSIX wants the
//! longest of the leftmost; Rust's alternatives give the first, so the end is then looked up again by
//! an automaton that keeps all of them.

use super::Span;
use crate::cli::Options;
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::{Anchored, Input, MatchKind};
use std::cell::RefCell;

/// See the module.
pub(super) struct Automata {
    regex: RegexMatcher,
    longest: Option<Longest>,
}

struct Longest {
    dfa: DFA,
    cache: RefCell<Cache>,
}

impl Automata {
    /// From patterns in Rust's syntax; `None` if they are too large.
    pub(super) fn new(patterns: &[String], options: &Options) -> Option<Self> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(!options.null_data)
            .dot_matches_new_line(options.null_data)
            .case_insensitive(options.ignore_case)
            .whole_line(options.line)
            .word(options.word && !options.line);
        if !options.null_data {
            builder.line_terminator(Some(b'\n'));
        }
        let regex = builder.build_many(patterns).ok()?;
        let shown = options.only_matching || options.color;
        let several = patterns.len() > 1 || patterns.iter().any(|pattern| pattern.contains('|'));
        let bounded = options.word || options.line;
        // The automaton knows no Unicode word boundaries; a pattern with those keeps the first end.
        let longest = (shown && several && !bounded).then(|| Longest::new(patterns, options)).flatten();
        Some(Self { regex, longest })
    }

    /// The bounds of the next line that matches, its end included.
    pub(super) fn next_line(&self, block: &[u8], at: usize) -> Option<(usize, usize)> {
        let found = self.find_at(block, at)?.start;
        // An empty match after the last line feed is on no line.
        if found == block.len() && block.ends_with(b"\n") {
            return None;
        }
        Some(super::plain::line_around(block, at, found, b'\n'))
    }

    /// The first match at or after `at`.
    pub(super) fn find_at(&self, text: &[u8], at: usize) -> Option<Span> {
        // This matcher's error type has no values.
        let found = self.regex.find_at(text, at).ok().flatten()?;
        Some(Span { start: found.start(), end: found.end() })
    }

    /// The same, as long as it can be.
    pub(super) fn find_longest_at(&self, text: &[u8], at: usize) -> Option<Span> {
        let found = self.find_at(text, at)?;
        let end = self.longest.as_ref().and_then(|longest| longest.end(text, found.start));
        Some(Span { end: end.unwrap_or(found.end).max(found.end), ..found })
    }
}

impl Longest {
    fn new(patterns: &[String], options: &Options) -> Option<Self> {
        let flags = regex_automata::util::syntax::Config::new()
            .multi_line(true)
            .utf8(false)
            .case_insensitive(options.ignore_case);
        let dfa = DFA::builder()
            .configure(DFA::config().match_kind(MatchKind::All))
            .syntax(flags)
            .thompson(regex_automata::nfa::thompson::Config::new().utf8(false))
            .build_many(patterns)
            .ok()?;
        let cache = RefCell::new(dfa.create_cache());
        Some(Self { dfa, cache })
    }

    fn end(&self, text: &[u8], start: usize) -> Option<usize> {
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let found = self.dfa.try_search_fwd(&mut self.cache.borrow_mut(), &input);
        Some(found.ok()??.offset())
    }
}
