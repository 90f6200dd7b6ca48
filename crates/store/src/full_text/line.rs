//! The line of a file that is shown of it: the one where most of what was looked for stands, and the first of these.

use std::collections::HashSet;

/// What stands around a word that was found. Neither is ever in a text that is indexed.
pub(super) const FROM: char = '\u{fdd0}';
pub(super) const TO: char = '\u{fdd1}';

/// The longest line that is shown, in characters.
pub(super) const SNIPPET_CHARS_MAX: usize = 240;
/// What stands before the word in a line that is cut.
const BEFORE_CHARS: usize = 60;
/// Words of a line that are compared: a line of a million of them says no more.
const WORDS_MAX: usize = 256;

/// What is shown of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// From 1 on.
    pub(super) line: u64,
    pub(super) snippet: String,
    /// Lines in which something was found.
    pub(super) lines_found: u64,
}

/// The line of a text whose found words are marked. Where none is, because the path had them, it is the first that is not
/// blank.
pub(super) fn shown(marked: &str) -> Shown {
    let (mut best, mut best_words, mut lines_found) = (None, 0, 0);
    for (at, line) in (1_u64..).zip(marked.lines()) {
        // A phrase may begin in one line and end in another.
        if !line.contains([FROM, TO]) {
            continue;
        }
        lines_found += 1;
        let words: HashSet<String> =
            line.split(FROM).skip(1).take(WORDS_MAX).map(|it| word(it).to_lowercase()).collect();
        if best.is_none() || words.len() > best_words {
            (best, best_words) = (Some((at, line)), words.len());
        }
    }
    let first = || (1_u64..).zip(marked.lines()).find(|it| !it.1.trim().is_empty());
    let (line, text) = best.or_else(first).unwrap_or((1, ""));
    Shown { line, snippet: cut(text), lines_found }
}

/// What was found, up to its mark.
fn word(text: &str) -> &str {
    text.split_once(TO).map_or(text, |it| it.0)
}

/// The line without marks and blanks around it, and no longer than it may be.
fn cut(marked: &str) -> String {
    let marked = marked.trim_matches(|it: char| it.is_whitespace() || it == '\u{feff}');
    let found = marked.split_once(FROM).map_or(0, |it| it.0.chars().count());
    let plain = || marked.chars().filter(|it| !matches!(*it, FROM | TO));
    if plain().nth(SNIPPET_CHARS_MAX).is_none() {
        return plain().collect();
    }
    let from = found.saturating_sub(BEFORE_CHARS);
    let mut snippet: String = if from > 0 { "…".into() } else { String::new() };
    snippet.extend(plain().skip(from).take(SNIPPET_CHARS_MAX));
    if plain().nth(from + SNIPPET_CHARS_MAX).is_some() {
        snippet.push('…');
    }
    snippet
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks as people can read them.
    fn of(text: &str) -> (u64, String, u64) {
        let Shown { line, snippet, lines_found } =
            shown(&text.replace('<', &FROM.to_string()).replace('>', &TO.to_string()));
        (line, snippet, lines_found)
    }

    #[test]
    fn the_line_with_most_of_the_words_is_shown_and_the_first_of_these() {
        for (text, line, snippet, lines_found) in [
            ("a\n<b>\n", 2, "b", 1),
            ("<b>\n  <b> and <c>  \n<c> <b>", 2, "b and c", 3),
            ("<b> <B> <b>\n<b> <c>", 2, "b c", 2),
            ("\n\n first\nsecond", 3, "first", 0),
            ("", 1, "", 0),
            ("a <b\nc> d", 1, "a b", 2),
        ] {
            assert_eq!(of(text), (line, snippet.to_owned(), lines_found), "{text:?}");
        }
    }

    #[test]
    fn a_long_line_is_cut_around_what_was_found() {
        let (_, snippet, _) = of(&format!("{}<wörd>{}", "ä".repeat(1_000), "ö".repeat(1_000)));
        assert!(snippet.starts_with('…') && snippet.ends_with('…') && snippet.contains("wörd"), "{snippet}");
        assert_eq!(snippet.chars().count(), SNIPPET_CHARS_MAX + 2);
        let (_, snippet, _) = of(&format!("<word>{}", "x".repeat(1_000)));
        assert!(snippet.starts_with("word"), "{snippet}");
    }
}
