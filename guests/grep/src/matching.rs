//! Finds the patterns in bytes.
//!
//! Line selection asks only whether and where a match begins, which ripgrep's matcher answers fast.
//! When matches are shown, POSIX wants the longest of the leftmost; Rust's alternatives give the
//! first, so the end is then looked up again by an automaton that keeps all of them. Patterns with
//! back-references are matched by trying, which no automaton can spare them.

use crate::cli::{Options, Syntax};
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use posix_regex::{Around, Flavor, Parsed, translate};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::{Anchored, Input, MatchKind};
use std::cell::RefCell;

/// All patterns at once.
pub struct Matcher {
    /// `None`: no patterns, nothing matches.
    regex: Option<RegexMatcher>,
    longest: Option<Longest>,
    /// All patterns, if one of them has back-references.
    tried: Option<posix_regex::Regex>,
}

struct Longest {
    dfa: DFA,
    cache: RefCell<Cache>,
}

/// Where a match is, in bytes.
#[derive(Debug, PartialEq, Clone, Copy)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Matcher {
    /// Prepares the patterns.
    pub fn new(patterns: &[String], options: &Options) -> Result<Self, String> {
        if patterns.is_empty() {
            return Ok(Self { regex: None, longest: None, tried: None });
        }
        if let Some(tried) = tried(patterns, options)? {
            return Ok(Self { regex: None, longest: None, tried: Some(tried) });
        }
        let translated = patterns.iter().map(|pattern| rust(pattern, options.syntax));
        let translated = translated.collect::<Result<Vec<String>, String>>()?;
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
        let regex = builder.build_many(&translated).map_err(|error| message(&error.to_string()))?;
        let shown = options.only_matching || options.color;
        let posix = matches!(options.syntax, Syntax::Basic | Syntax::Extended | Syntax::Fixed);
        let several = translated.len() > 1 || translated.iter().any(|pattern| pattern.contains('|'));
        let bounded = options.word || options.line;
        // The automaton knows no Unicode word boundaries; a pattern with those keeps the first end.
        let longest =
            (shown && posix && several && !bounded).then(|| Longest::new(&translated, options)).flatten();
        Ok(Self { regex: Some(regex), longest, tried: None })
    }

    /// The first match at or after `at`.
    pub fn find_at(&self, text: &[u8], at: usize) -> Option<Span> {
        if let Some(tried) = &self.tried {
            return tried.find_at(text, at).map(|it| Span { start: it.start, end: it.end });
        }
        let regex = self.regex.as_ref()?;
        // This matcher's error type has no values.
        let found = regex.find_at(text, at).ok().flatten()?;
        Some(Span { start: found.start(), end: found.end() })
    }

    /// The first match at or after `at`, as long as it can be.
    pub fn find_longest_at(&self, text: &[u8], at: usize) -> Option<Span> {
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

/// The patterns for the matcher that tries, if one of them needs it.
fn tried(patterns: &[String], options: &Options) -> Result<Option<posix_regex::Regex>, String> {
    let flavor = match options.syntax {
        Syntax::Basic => Flavor::Basic,
        Syntax::Extended => Flavor::Egrep,
        Syntax::Fixed | Syntax::Perl => return Ok(None),
    };
    let parsed =
        patterns.iter().map(|pattern| parse(pattern, flavor)).collect::<Result<Vec<Parsed>, String>>()?;
    if parsed.iter().all(|it| !it.back_references) {
        return Ok(None);
    }
    let around = match options {
        Options { line: true, .. } => Around::Line,
        Options { word: true, .. } => Around::NoWord,
        _ => Around::Anything,
    };
    let (ignore_case, one) = (options.ignore_case, options.null_data);
    let wanted = posix_regex::Options { flavor, ignore_case, multi_line: !one, line_feed: one, around };
    Ok(Some(posix_regex::Regex::any_of(parsed, wanted)))
}

fn parse(pattern: &str, flavor: Flavor) -> Result<Parsed, String> {
    posix_regex::parse(pattern.as_bytes(), flavor).map_err(|error| error.text().to_owned())
}

fn rust(pattern: &str, syntax: Syntax) -> Result<String, String> {
    // Those with back-references have been set aside.
    let rust = |flavor| parse(pattern, flavor).map(|parsed| translate(&parsed).unwrap_or_default());
    match syntax {
        Syntax::Basic => rust(Flavor::Basic),
        Syntax::Extended => rust(Flavor::Egrep),
        Syntax::Fixed => Ok(escape(pattern)),
        Syntax::Perl => Ok(pattern.to_owned()),
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        if sign.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(sign);
    }
    out
}

/// The last line of a regular expression's error says what is wrong.
fn message(text: &str) -> String {
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(text);
    last.trim().trim_start_matches("error: ").to_owned()
}
