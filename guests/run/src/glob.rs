//! Shell patterns as `fnmatch` takes them: `*`, `?`, `[a-z]`, `[!x]`, `[[:alpha:]]`, `\x`. A slash or
//! a leading dot is a character like any other.

/// A pattern that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Char(char),
    One,
    Many,
    Set { not: bool, members: Vec<Member> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Member {
    Range(char, char),
    Class(String),
}

/// Whether upper and lower case are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// They differ.
    Sensitive,
    /// They do not.
    Folded,
}

impl Glob {
    /// Reads a pattern. Every text is one: what cannot be a set stands for itself.
    pub(crate) fn new(text: &str, case: Case) -> Self {
        let text: Vec<char> = fold(text, case);
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(&letter) = text.get(at) {
            at += 1;
            pieces.push(match letter {
                '*' if pieces.last() == Some(&Piece::Many) => continue,
                '*' => Piece::Many,
                '?' => Piece::One,
                '\\' if at < text.len() => {
                    at += 1;
                    Piece::Char(text[at - 1])
                }
                '[' => match set(&text[at..]) {
                    Some((piece, used)) => {
                        at += used;
                        piece
                    }
                    None => Piece::Char('['),
                },
                other => Piece::Char(other),
            });
        }
        Self(pieces)
    }

    /// Whether the whole text fits. Takes time linear in pattern times text.
    pub(crate) fn fits(&self, text: &str, case: Case) -> bool {
        let text = fold(text, case);
        let (mut at, mut piece) = (0, 0);
        // Where the last star was, and how far it reached: it alone ever needs to take more.
        let mut star: Option<(usize, usize)> = None;
        while at < text.len() {
            match self.0.get(piece) {
                Some(Piece::Many) => {
                    star = Some((piece, at));
                    piece += 1;
                }
                Some(one) if one.takes(text[at]) => {
                    piece += 1;
                    at += 1;
                }
                _ => match star {
                    Some((from, reached)) => {
                        star = Some((from, reached + 1));
                        piece = from + 1;
                        at = reached + 1;
                    }
                    None => return false,
                },
            }
        }
        self.0[piece..].iter().all(|it| *it == Piece::Many)
    }
}

fn fold(text: &str, case: Case) -> Vec<char> {
    match case {
        Case::Sensitive => text.chars().collect(),
        Case::Folded => text.chars().flat_map(char::to_lowercase).collect(),
    }
}

impl Piece {
    fn takes(&self, letter: char) -> bool {
        match self {
            Self::Char(own) => *own == letter,
            Self::One => true,
            Self::Many => false,
            Self::Set { not, members } => members.iter().any(|it| it.has(letter)) != *not,
        }
    }
}

impl Member {
    fn has(&self, letter: char) -> bool {
        match self {
            Self::Range(from, to) => (*from..=*to).contains(&letter),
            Self::Class(name) => match name.as_str() {
                "alpha" => letter.is_alphabetic(),
                "digit" => letter.is_ascii_digit(),
                "alnum" => letter.is_alphanumeric(),
                "upper" => letter.is_uppercase(),
                "lower" => letter.is_lowercase(),
                "space" => letter.is_whitespace(),
                "blank" => letter == ' ' || letter == '\t',
                "punct" => letter.is_ascii_punctuation(),
                "xdigit" => letter.is_ascii_hexdigit(),
                "cntrl" => letter.is_control(),
                "print" => !letter.is_control(),
                "graph" => !letter.is_control() && letter != ' ',
                _ => false,
            },
        }
    }
}

/// Reads what follows `[`, and says how many characters it took.
fn set(text: &[char]) -> Option<(Piece, usize)> {
    let mut at = 0;
    let not = matches!(text.first(), Some('!' | '^'));
    at += usize::from(not);
    let first = at;
    let mut members = Vec::new();
    loop {
        let letter = *text.get(at)?;
        if letter == ']' && at > first {
            return Some((Piece::Set { not, members }, at + 1));
        }
        if letter == '[' && text.get(at + 1) == Some(&':') {
            let length = text[at + 2..].windows(2).position(|pair| pair == [':', ']'])?;
            members.push(Member::Class(text[at + 2..at + 2 + length].iter().collect()));
            at += length + 4;
            continue;
        }
        let (from, next) = one(text, at)?;
        at = next;
        if text.get(at) == Some(&'-') && text.get(at + 1).is_some_and(|it| *it != ']') {
            let (to, next) = one(text, at + 1)?;
            at = next;
            members.push(Member::Range(from, to));
        } else {
            members.push(Member::Range(from, from));
        }
    }
}

fn one(text: &[char], at: usize) -> Option<(char, usize)> {
    match text.get(at)? {
        '\\' => Some((*text.get(at + 1)?, at + 2)),
        other => Some((*other, at + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_fit_as_in_fnmatch() {
        let cases = [
            ("*.rs", "main.rs", true),
            ("*.rs", ".rs", true),
            ("*.rs", "main.rc", false),
            ("a?c", "abc", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[[:digit:]]*", "7up", true),
            ("[", "[", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("*a*b*c*", "xxaxxbxxc", true),
            ("", "", true),
            ("*", "", true),
        ];
        for (pattern, text, want) in cases {
            assert_eq!(
                Glob::new(pattern, Case::Sensitive).fits(text, Case::Sensitive),
                want,
                "{pattern} {text}"
            );
        }
        assert!(Glob::new("*.TXT", Case::Folded).fits("a.txt", Case::Folded));
    }

    proptest! {
        #[test]
        fn no_pattern_makes_it_panic(pattern in "\\PC{0,30}", text in "\\PC{0,30}") {
            let _ = Glob::new(&pattern, Case::Folded).fits(&text, Case::Folded);
        }

        #[test]
        fn a_text_without_special_letters_fits_itself(text in "[a-zA-Z0-9 ./-]{0,30}") {
            prop_assert!(Glob::new(&text, Case::Sensitive).fits(&text, Case::Sensitive));
        }
    }
}
