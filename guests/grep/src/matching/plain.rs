//! A pattern that is plain text: no automaton, and whole blocks at a time.

use super::Span;
use crate::cli::Options;
use memchr::memmem::Finder;

/// See the module.
pub(super) struct Plain {
    text: Vec<u8>,
    search: Search,
    /// No character of a word may stand beside it.
    word: bool,
    /// It must be all of the line.
    line: bool,
}

enum Search {
    Exact(Box<Finder<'static>>),
    /// Either case: look for both of one byte, then compare around it.
    AnyCase {
        at: usize,
        bytes: [u8; 2],
        /// A letter of it is also the case of a character outside ASCII: `K` of the Kelvin sign, `s` of
        /// the long s.
        has_relatives: bool,
    },
}

/// The letters of English, the usual ones first.
const BY_FREQUENCY: &[u8] = b"etaoinsrhldcumfpgwybvkxjqz";

impl Plain {
    /// `None` if the options want more than this can do.
    pub(super) fn new(text: Vec<u8>, options: &Options) -> Option<Self> {
        if text.is_empty() && (options.word || options.ignore_case) || text.contains(&b'\n') {
            return None;
        }
        let search =
            if options.ignore_case && text.iter().any(|it| it.is_ascii_alphabetic() || !it.is_ascii()) {
                if !text.is_ascii() {
                    return None;
                }
                let at = (0..text.len()).max_by_key(|at| rarity(text[*at]))?;
                let bytes = [text[at].to_ascii_lowercase(), text[at].to_ascii_uppercase()];
                let has_relatives = text.iter().any(|it| matches!(it.to_ascii_lowercase(), b'k' | b's'));
                Search::AnyCase { at, bytes, has_relatives }
            } else {
                Search::Exact(Box::new(Finder::new(&text).into_owned()))
            };
        Some(Self { text, search, word: options.word && !options.line, line: options.line })
    }

    /// Whether it finds everything in that block.
    pub(super) fn knows(&self, block: &[u8]) -> bool {
        !matches!(self.search, Search::AnyCase { has_relatives: true, .. }) || block.is_ascii()
    }

    /// The bounds of the next line with a match that begins at or after `at`, its end included.
    pub(super) fn next_line(&self, block: &[u8], mut at: usize, end: u8) -> Option<(usize, usize)> {
        let mut from = at;
        loop {
            let found = self.find(block, from)?;
            // An empty match after the end of the last line is on no line.
            if found == block.len() && block.last() == Some(&end) {
                return None;
            }
            if self.line {
                let (start, next) = line_around(block, at, found, end);
                let stop = if block[..next].last() == Some(&end) { next - 1 } else { next };
                if stop - start == self.text.len() && found == start {
                    return Some((start, next));
                }
                (at, from) = (next, next);
                if at >= block.len() {
                    return None;
                }
                continue;
            }
            if !self.word || self.stands_alone(block, found) {
                return Some(line_around(block, at, found, end));
            }
            from = found + 1;
        }
    }

    /// The first match in a line at or after `at`.
    pub(super) fn find_in_line(&self, line: &[u8], mut at: usize) -> Option<Span> {
        loop {
            let start = self.find(line, at)?;
            let end = start + self.text.len();
            let fits = match (self.line, self.word) {
                (true, _) => start == 0 && end == line.len(),
                (false, true) => self.stands_alone(line, start),
                (false, false) => true,
            };
            if fits {
                return Some(Span { start, end });
            }
            at = start + 1;
        }
    }

    fn find(&self, block: &[u8], at: usize) -> Option<usize> {
        let rest = block.get(at..)?;
        match &self.search {
            Search::Exact(finder) => finder.find(rest).map(|found| at + found),
            Search::AnyCase { at: offset, bytes, .. } => {
                let found = memchr::memchr2_iter(bytes[0], bytes[1], rest).find(|found| {
                    let start = found.checked_sub(*offset);
                    start
                        .and_then(|start| rest.get(start..start + self.text.len()))
                        .is_some_and(|there| there.eq_ignore_ascii_case(&self.text))
                })?;
                Some(at + found - offset)
            }
        }
    }

    fn stands_alone(&self, text: &[u8], start: usize) -> bool {
        !posix_regex::is_word_before(text, start) && !posix_regex::is_word_at(text, start + self.text.len())
    }
}

/// The line that `found` is on, its end included, if no line begins before `at`.
pub(super) fn line_around(block: &[u8], at: usize, found: usize, end: u8) -> (usize, usize) {
    let start = memchr::memrchr(end, &block[at..found]).map_or(at, |before| at + before + 1);
    let next = memchr::memchr(end, &block[found..]).map_or(block.len(), |after| found + after + 1);
    (start, next)
}

fn rarity(byte: u8) -> usize {
    let letter = byte.to_ascii_lowercase();
    BY_FREQUENCY.iter().position(|it| *it == letter).unwrap_or(match byte {
        b' ' => 0,
        _ => BY_FREQUENCY.len() / 2,
    })
}
