//! Colours while a line is typed: a command that is there is green, one that is not is red, a keyword is blue.
//! What is neither (an assignment, an expansion, a function's definition) keeps the terminal's own.
//!
//! What the words are, the shell's guest says. It is not believed to have counted well.

use drydock_embed::shell::{TypedWord, WordRole};

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const BLUE: &str = "\x1b[34m";
const PLAIN: &str = "\x1b[0m";

/// What is to stand before which byte of the text.
pub(super) fn marks(
    text: &str,
    words: &[TypedWord],
    known: impl Fn(&str) -> bool,
    is_file: impl Fn(&str) -> bool,
) -> Vec<(usize, &'static str)> {
    let (mut marks, mut last) = (Vec::new(), 0);
    for word in words {
        let (start, end) = (word.start as usize, word.end as usize);
        let Some(typed) = text.get(start..end).filter(|it| start >= last && !it.is_empty()) else { continue };
        let colour = match word.role {
            WordRole::Keyword => BLUE,
            WordRole::Command if typed.contains('/') && is_file(typed) => GREEN,
            WordRole::Command if known(typed.rsplit('/').next().unwrap_or(typed)) => GREEN,
            WordRole::Command => RED,
            WordRole::Computed | WordRole::Argument => continue,
        };
        marks.extend([(start, colour), (end, PLAIN)]);
        last = end;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::{super::lines, *};

    fn shown(text: &str, words: &[(u32, u32, WordRole)]) -> String {
        let words: Vec<TypedWord> =
            words.iter().map(|&(start, end, role)| TypedWord { start, end, role }).collect();
        let known = |word: &str| matches!(word, "ls" | "cat" | "echo");
        lines::drawn(text, &marks(text, &words, known, |word| word == "./there.sh"))
            .replace(RED, "<red ")
            .replace(GREEN, "<green ")
            .replace(BLUE, "<blue ")
            .replace(PLAIN, ">")
    }

    #[test]
    fn commands_and_keywords_have_colours() {
        use WordRole::{Argument, Command, Computed, Keyword};
        let cases = [
            ("  ls|wc", vec![(2, 4, Command), (5, 7, Command)], "  <green ls>|<red wc>"),
            ("if ls", vec![(0, 2, Keyword), (3, 5, Command)], "<blue if> <green ls>"),
            ("$x a", vec![(0, 2, Computed), (3, 4, Argument)], "$x a"),
            ("/bin/ls", vec![(0, 7, Command)], "<green /bin/ls>"),
            ("./there.sh", vec![(0, 10, Command)], "<green ./there.sh>"),
            ("./missing.sh", vec![(0, 12, Command)], "<red ./missing.sh>"),
            // A guest that counts badly.
            ("é ls", vec![(1, 3, Command), (9, 3, Command), (3, 90, Command)], "é ls"),
            ("ls ls", vec![(0, 5, Keyword), (3, 5, Command)], "<blue ls ls>"),
            ("", vec![], ""),
        ];
        for (typed, words, want) in cases {
            assert_eq!(shown(typed, &words), want, "{typed}");
        }
    }

    #[test]
    fn a_line_that_goes_on_has_its_colours_behind_the_break() {
        let edited = "ls\n\u{3fffd}cat";
        let typed = lines::plain(edited);
        let words = [TypedWord { start: 3, end: 6, role: WordRole::Command }];
        let drawn = lines::drawn(edited, &marks(&typed, &words, |_| true, |_| false));
        assert_eq!(drawn, "ls\n> \x1b[32mcat\x1b[0m");
    }
}
