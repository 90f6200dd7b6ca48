//! The words of a program.
//!
//! Line ends are words, because they end statements. What is no word of the language is kept as
//! [`Word::Wrong`], so that only its line is lost.

/// One word, and the line it stands on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    Number(String),
    Name(String),
    Text(String),
    Sign(&'static str),
    LineEnd,
    Wrong(char),
    End,
}

/// Longer ones first.
const SIGNS: [&str; 37] = [
    "+=", "-=", "*=", "/=", "%=", "^=", "==", "<=", ">=", "!=", "&&", "||", "++", "--", "+", "-", "*", "/",
    "%", "^", "=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ",", ";", ".", "&", "|", "$", "@",
];

/// All words of `source`, each with its line; the last one is [`Word::End`].
pub(crate) fn words(source: &str) -> Vec<(Word, usize)> {
    let (mut rest, mut line, mut found) = (source, 1, Vec::new());
    while let Some(first) = rest.chars().next() {
        let (word, length) = word(rest, first);
        let lines = rest[..length].matches('\n').count();
        if let Some(word) = word {
            found.push((word, line));
        }
        line += lines;
        rest = &rest[length..];
    }
    found.push((Word::End, line));
    found
}

fn word(rest: &str, first: char) -> (Option<Word>, usize) {
    let run = |test: fn(char) -> bool| rest.find(|sign| !test(sign)).unwrap_or(rest.len());
    match first {
        '\n' => (Some(Word::LineEnd), 1),
        ' ' | '\t' | '\r' | '\u{c}' => (None, 1),
        '\\' if rest[1..].starts_with('\n') => (None, 2),
        '#' => (None, rest.find('\n').unwrap_or(rest.len())),
        '/' if rest.starts_with("/*") => (None, rest[2..].find("*/").map_or(rest.len(), |at| at + 4)),
        '"' => {
            let end = rest[1..].find('"').map_or(rest.len(), |at| at + 2);
            (Some(Word::Text(rest[1..end].trim_end_matches('"').to_owned())), end)
        }
        'a'..='z' => {
            let length = run(|sign| matches!(sign, 'a'..='z' | '0'..='9' | '_'));
            (Some(Word::Name(rest[..length].to_owned())), length)
        }
        '0'..='9' | 'A'..='F' | '.' => number(rest),
        _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            Some(sign) => (Some(Word::Sign(sign)), sign.len()),
            None => (Some(Word::Wrong(first)), first.len_utf8()),
        },
    }
}

/// A constant may go on over a backslash at the end of its line. A lone point is the last result.
fn number(rest: &str) -> (Option<Word>, usize) {
    let (mut text, mut at, mut point) = (String::new(), 0, false);
    while let Some(sign) = rest[at..].chars().next() {
        match sign {
            '0'..='9' | 'A'..='F' => text.push(sign),
            '.' if !point => {
                point = true;
                text.push('.');
            }
            '\\' if rest[at..].starts_with("\\\n") => at += 1,
            _ => break,
        }
        at += 1;
    }
    if text == "." {
        return (Some(Word::Sign(".")), 1);
    }
    (Some(Word::Number(text)), at)
}
