//! `-regex`: the expressions of Emacs, grep and egrep as ours, matching the whole path.

use crate::glob::Case;
use regex_lite::{Regex, RegexBuilder};

/// How an expression is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `\(`, `\|`, but `+` and `?`.
    Emacs,
    /// `\(`, `\|`, `\+`, `\?`, `\{`.
    Basic,
    /// `(`, `|`, `+`, `?`, `{`.
    Extended,
}

impl Dialect {
    /// By the name `-regextype` takes.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "emacs" | "findutils-default" => Self::Emacs,
            "posix-basic" | "posix-minimal-basic" | "grep" | "sed" | "ed" => Self::Basic,
            "posix-extended" | "egrep" | "posix-egrep" | "posix-awk" | "awk" | "gnu-awk" => Self::Extended,
            _ => return None,
        })
    }

    /// Whether this letter is special without a backslash.
    fn plain_is_special(self, letter: char) -> bool {
        match self {
            Self::Emacs => matches!(letter, '+' | '?'),
            Self::Basic => false,
            Self::Extended => true,
        }
    }
}

/// Compiles an expression.
pub(super) fn compile(text: &str, dialect: Dialect, case: Case) -> Result<Regex, String> {
    let ours = format!("^(?:{})$", translate(text, dialect));
    let built =
        RegexBuilder::new(&ours).case_insensitive(case == Case::Folded).dot_matches_new_line(true).build();
    built.map_err(|_| format!("failed to compile regular expression '{text}'"))
}

fn translate(text: &str, dialect: Dialect) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(next @ ('(' | ')' | '|' | '{' | '}' | '+' | '?')) => {
                    if dialect.plain_is_special(next) {
                        out.push('\\');
                    }
                    out.push(next);
                }
                Some('`') => out.push_str("\\A"),
                Some('\'') => out.push_str("\\z"),
                Some('<') => out.push_str("\\b{start}"),
                Some('>') => out.push_str("\\b{end}"),
                Some(next @ ('w' | 'W' | 's' | 'S' | 'b' | 'B')) => out.extend(['\\', next]),
                Some(next) if next.is_alphanumeric() => out.push(next),
                Some(next) => out.extend(['\\', next]),
                None => out.push_str("\\\\"),
            },
            '(' | ')' | '|' | '{' | '}' | '+' | '?' => {
                if !dialect.plain_is_special(letter) {
                    out.push('\\');
                }
                out.push(letter);
            }
            '[' => bracket(&mut letters, &mut out),
            other => out.push(other),
        }
    }
    out
}

/// A set, in which a backslash is a letter and `[` starts nothing but a class.
fn bracket(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    out.push('[');
    if letters.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    if letters.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    while let Some(letter) = letters.next() {
        match letter {
            ']' => {
                out.push(']');
                return;
            }
            '[' if letters.peek() == Some(&':') => {
                out.push('[');
                for inner in letters.by_ref() {
                    out.push(inner);
                    if inner == ']' {
                        break;
                    }
                }
            }
            '\\' | '[' | '&' | '~' => out.extend(['\\', letter]),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_has_its_own_special_letters() {
        let cases = [
            (r".*\.\(c\|h\)", Dialect::Emacs, "./a.c", true),
            (r".*\.(c|h)", Dialect::Emacs, "./a.c", false),
            (r".*\.(c|h)", Dialect::Extended, "./a.h", true),
            (r"./a+", Dialect::Emacs, "./aaa", true),
            (r"./a+", Dialect::Basic, "./a+", true),
            (r"./[a-c]\{2\}", Dialect::Basic, "./ab", true),
            (r".*[^/]\.txt", Dialect::Emacs, "./x.txt", true),
            ("a", Dialect::Emacs, "./a", false),
        ];
        for (text, dialect, path, want) in cases {
            let found = compile(text, dialect, Case::Sensitive).map(|it| it.is_match(path));
            assert_eq!(found, Ok(want), "{text} {path}");
        }
    }
}
