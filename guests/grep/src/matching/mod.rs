//! Finds the patterns in bytes, by the cheapest means that will do.
//!
//! A plain text is searched for as such, over whole blocks. Other POSIX patterns are tried line by
//! line at first; when that has cost as much as making automata, these go on. Perl's patterns have a
//! matcher of their own. What is shown of a match is the longest of the leftmost, except Perl's.

mod automata;
mod perl;
mod plain;

use crate::cli::{Options, Syntax};
use automata::Automata;
use perl::Perl;
use plain::Plain;
use posix_regex::{Around, Flavor, Parsed, Regex};
use std::cell::OnceCell;

/// Where a match is, in bytes.
#[derive(Debug, PartialEq, Clone, Copy)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
}

/// All patterns at once.
pub(crate) struct Matcher<'a> {
    options: &'a Options,
    means: Means,
    /// Ends a line: a line feed, or NUL with `-z`.
    end: u8,
}

enum Means {
    /// There are no patterns.
    Nothing,
    Perl(Perl),
    Posix(Box<Posix>),
}

struct Posix {
    plain: Option<Plain>,
    patterns: Vec<Parsed>,
    tried: OnceCell<Regex>,
    /// `None` for what has back-references, or is too large.
    automata: OnceCell<Option<Automata>>,
}

impl<'a> Matcher<'a> {
    /// Prepares the patterns.
    pub(crate) fn new(patterns: &[String], options: &'a Options) -> Result<Self, String> {
        let end = if options.null_data { 0 } else { b'\n' };
        let means = match options.syntax {
            _ if patterns.is_empty() => Means::Nothing,
            Syntax::Perl => Means::Perl(Perl::new(patterns, options)?),
            _ => Means::Posix(Box::new(Posix::new(patterns, options)?)),
        };
        Ok(Self { options, means, end })
    }

    /// The bounds of the next line with a match that begins at or after `at`, its end included.
    pub(crate) fn next_line(&self, block: &[u8], at: usize) -> Option<(usize, usize)> {
        match &self.means {
            Means::Nothing => None,
            Means::Perl(perl) => self.by_line(block, at, |line| Some(perl.find_at(line, 0).is_some())).0,
            Means::Posix(posix) => {
                if let Some(plain) = posix.plain.as_ref().filter(|it| it.knows(block)) {
                    return plain.next_line(block, at, self.end);
                }
                let tried = posix.tried(self.options);
                let (found, at) =
                    self.by_line(block, at, |line| tried.find_by_trying(line, 0).map(|it| it.is_some()));
                let Some(at) = at else { return found };
                let automata = posix.automata(self.options);
                if let Some(automata) = automata.filter(|_| !self.options.null_data) {
                    return automata.next_line(block, at);
                }
                let matches = |line: &[u8]| match automata {
                    Some(automata) => automata.find_at(line, 0).is_some(),
                    None => tried.find_at(line, 0).is_some(),
                };
                self.by_line(block, at, |line| Some(matches(line))).0
            }
        }
    }

    /// The first match in a line at or after `at`, as long as it can be.
    pub(crate) fn find_at(&self, line: &[u8], at: usize) -> Option<Span> {
        let posix = match &self.means {
            Means::Nothing => return None,
            Means::Perl(perl) => return perl.find_at(line, at),
            Means::Posix(posix) => posix,
        };
        if let Some(plain) = posix.plain.as_ref().filter(|it| it.knows(line)) {
            return plain.find_in_line(line, at);
        }
        let tried = posix.tried(self.options);
        let span = |it: posix_regex::Span| Span { start: it.start, end: it.end };
        match tried.find_by_trying(line, at) {
            Some(found) => found.map(span),
            None => match posix.automata(self.options) {
                Some(automata) => automata.find_longest_at(line, at),
                None => tried.find_at(line, at).map(span),
            },
        }
    }

    /// The first line that matches; or, when that can no longer be told, where the rest begins.
    fn by_line(
        &self,
        block: &[u8],
        mut at: usize,
        matches: impl Fn(&[u8]) -> Option<bool>,
    ) -> (Option<(usize, usize)>, Option<usize>) {
        while at < block.len() {
            let length = memchr::memchr(self.end, &block[at..]);
            let (text, next) = match length {
                Some(length) => (&block[at..at + length], at + length + 1),
                None => (&block[at..], block.len()),
            };
            match matches(text) {
                Some(true) => return (Some((at, next)), None),
                Some(false) => at = next,
                None => return (None, Some(at)),
            }
        }
        (None, None)
    }
}

impl Posix {
    fn new(patterns: &[String], options: &Options) -> Result<Self, String> {
        let flavor = flavor(options.syntax);
        let parse = |pattern: &String| {
            let escaped = (options.syntax == Syntax::Fixed).then(|| escape(pattern));
            let text = escaped.as_ref().unwrap_or(pattern);
            if escaped.is_none() && has_bare_class(text) {
                return Err("character class syntax is [[:space:]], not [:space:]".to_owned());
            }
            posix_regex::parse(text.as_bytes(), flavor).map_err(|error| error.text().to_owned())
        };
        let patterns = patterns.iter().map(parse).collect::<Result<Vec<Parsed>, String>>()?;
        let plain = match patterns.as_slice() {
            [pattern] => pattern.literal().and_then(|text| Plain::new(text, options)),
            _ => None,
        };
        Ok(Self { plain, patterns, tried: OnceCell::new(), automata: OnceCell::new() })
    }

    fn tried(&self, options: &Options) -> &Regex {
        self.tried.get_or_init(|| {
            let around = match options {
                Options { line: true, .. } => Around::Line,
                Options { word: true, .. } => Around::NoWord,
                _ => Around::Anything,
            };
            let ignore_case = options.ignore_case;
            let flavor = flavor(options.syntax);
            // It sees one line at a time, so that nothing needs to be kept from a line feed.
            let wanted =
                posix_regex::Options { flavor, ignore_case, multi_line: false, line_feed: true, around };
            Regex::any_of(self.patterns.clone(), wanted)
        })
    }

    fn automata(&self, options: &Options) -> Option<&Automata> {
        let made = self.automata.get_or_init(|| {
            let translated: Option<Vec<String>> = self.patterns.iter().map(posix_regex::translate).collect();
            Automata::new(&translated?, options)
        });
        made.as_ref()
    }
}

/// `[:space:]` where a bracket begins: a set of letters, which nobody means.
fn has_bare_class(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(at) = rest.find(['[', '\\']) {
        if rest.as_bytes()[at] == b'\\' {
            rest = rest.get(at + 2..).unwrap_or_default();
            continue;
        }
        let inside = &rest[at + 1..];
        // The first bracket stands for itself, and classes have brackets of their own.
        let skip = inside.len() - inside.trim_start_matches('^').len();
        let mut end = skip + usize::from(inside[skip..].starts_with(']'));
        while let Some(sign) = inside.as_bytes().get(end).filter(|sign| **sign != b']') {
            let class = *sign == b'[' && matches!(inside.as_bytes().get(end + 1), Some(b':' | b'.' | b'='));
            let length = class.then(|| inside[end + 2..].find(']').map(|length| length + 3)).flatten();
            end += length.unwrap_or(1);
        }
        let Some(set) = inside.get(skip..end).filter(|_| end < inside.len()) else { return false };
        if set.len() > 1 && set.starts_with(':') && set.ends_with(':') {
            return true;
        }
        rest = &inside[end + 1..];
    }
    false
}

fn flavor(syntax: Syntax) -> Flavor {
    if syntax == Syntax::Extended { Flavor::Egrep } else { Flavor::Grep }
}

/// A text as a basic pattern that stands for it.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        if matches!(sign, '\\' | '.' | '[' | '*' | '^' | '$') {
            out.push('\\');
        }
        out.push(sign);
    }
    out
}
