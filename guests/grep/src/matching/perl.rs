//! `-P`: Perl's patterns, with look-around, lazy repetition and back-references.
//!
//! Line by line, because such a pattern may look further than its match. The first match counts and
//! not the longest, as everywhere with Perl's patterns.

use super::Span;
use crate::cli::Options;
use fancy_regex::{BytesMode, Regex, RegexBuilder};

/// See the module.
pub(super) struct Perl(Regex);

impl Perl {
    /// Prepares the pattern; there can be only one.
    pub(super) fn new(patterns: &[String], options: &Options) -> Result<Self, String> {
        let [pattern] = patterns else {
            return Err("the -P option only supports a single pattern".to_owned());
        };
        let pattern = rewrite(pattern);
        let bounded = match options {
            Options { line: true, .. } => format!("^(?:{pattern})$"),
            Options { word: true, .. } => format!("(?<!\\w)(?:{pattern})(?!\\w)"),
            _ => pattern,
        };
        let mut builder = RegexBuilder::new(&bounded);
        builder.case_insensitive(options.ignore_case).multi_line(true).bytes_mode(BytesMode::Unicode);
        let regex = builder.build().map_err(|error| message(&error.to_string()))?;
        Ok(Self(regex))
    }

    /// The first match at or after `at`. A search that was given up as too long finds nothing.
    pub(super) fn find_at(&self, line: &[u8], at: usize) -> Option<Span> {
        let found = self.0.find_from_pos(line, at).ok()??;
        Some(Span { start: found.start(), end: found.end() })
    }
}

/// Spellings that mean something else to the matcher, or nothing: `\Q...\E`, `\h`, `\R`, `\N`.
fn rewrite(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let (mut signs, mut in_class, mut quoted) = (pattern.chars().peekable(), false, false);
    while let Some(sign) = signs.next() {
        if quoted {
            if sign == '\\' && signs.next_if_eq(&'E').is_some() {
                quoted = false;
                continue;
            }
            if sign.is_ascii_punctuation() {
                out.push('\\');
            }
            out.push(sign);
            continue;
        }
        match sign {
            '\\' => match (signs.next(), in_class) {
                (Some('Q'), _) => quoted = true,
                (Some('E'), _) => {}
                (Some('h'), true) => out.push_str(" \\t"),
                (Some('h'), false) => out.push_str("[ \\t]"),
                (Some('H'), false) => out.push_str("[^ \\t]"),
                (Some('R'), false) => out.push_str("(?:\\r\\n|[\\n\\x0b\\f\\r])"),
                (Some('N'), false) => out.push('.'),
                (Some(other), _) => out.extend(['\\', other]),
                (None, _) => out.push('\\'),
            },
            '[' => {
                out.push(sign);
                if !in_class {
                    in_class = true;
                    if signs.next_if_eq(&'^').is_some() {
                        out.push('^');
                    }
                    // A bracket that closes nothing yet stands for itself.
                    if signs.next_if_eq(&']').is_some() {
                        out.push_str("\\]");
                    }
                } else if signs.next_if_eq(&':').is_some() {
                    // A class by name: its own bracket ends before the outer one.
                    out.push(':');
                    for inner in signs.by_ref() {
                        out.push(inner);
                        if inner == ']' {
                            break;
                        }
                    }
                } else {
                    out.insert(out.len() - 1, '\\');
                }
            }
            ']' => {
                in_class = false;
                out.push(sign);
            }
            // Only Rust's classes know operators.
            '&' | '~' | '-' if in_class && signs.peek() == Some(&sign) => out.extend(['\\', sign]),
            _ => out.push(sign),
        }
    }
    out
}

/// PCRE's words for the usual mistakes; else the last line of the error says what is wrong.
fn message(text: &str) -> String {
    for (part, words) in [
        ("Opening parenthesis without closing", "missing closing parenthesis"),
        ("Closing parenthesis without opening", "unmatched closing parenthesis"),
        ("Invalid character class", "missing terminating ] for character class"),
        ("Target of repeat operator is invalid", "quantifier does not follow a repeatable item"),
    ] {
        if text.contains(part) {
            return words.to_owned();
        }
    }
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(text);
    last.trim().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perl_s_own_spellings_are_rewritten() {
        let cases = [
            (r"\Qa.b\E.", r"a\.b."),
            (r"\h+\H", r"[ \t]+[^ \t]"),
            (r"[\h\d]", r"[ \t\d]"),
            (r"[[:alpha:]_]", "[[:alpha:]_]"),
            ("[a[b]", r"[a\[b]"),
            ("[]a]", r"[\]a]"),
        ];
        for (pattern, want) in cases {
            assert_eq!(rewrite(pattern), want, "{pattern}");
        }
    }

    #[test]
    fn look_around_and_lazy_repetition_are_known() {
        let find = |pattern: &str, text: &str| {
            let perl = Perl::new(&[pattern.to_owned()], &Options::default()).unwrap();
            perl.find_at(text.as_bytes(), 0).map(|it| text[it.start..it.end].to_owned())
        };
        assert_eq!(find(r"(?<=a)b+?", "xbabb").as_deref(), Some("b"));
        assert_eq!(find(r"id=\K\d+", "id=42").as_deref(), Some("42"));
        assert_eq!(find(r"foo(?!bar)\w", "foobar food").as_deref(), Some("food"));
        assert_eq!(find(r"(\w)\1", "hello").as_deref(), Some("ll"));
    }
}
