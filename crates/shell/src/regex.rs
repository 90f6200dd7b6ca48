//! POSIX extended regular expressions in the words of `regex-automata`, which takes linear time
//! whatever the text. What differs between the two is rewritten; back references do not exist.

const CLASSES: [&str; 12] = [
    "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
    "xdigit",
];

/// The same expression as that spells it.
pub(crate) fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 8);
    let chars: Vec<char> = source.chars().collect();
    let mut at = 0;
    while let Some(&next) = chars.get(at) {
        at += 1;
        match next {
            '\\' => {
                let Some(&escaped) = chars.get(at) else {
                    out.push_str("\\\\");
                    break;
                };
                at += 1;
                match escaped {
                    '<' => out.push_str("\\b{start}"),
                    '>' => out.push_str("\\b{end}"),
                    'w' | 'W' | 's' | 'S' | 'b' | 'B' => {
                        out.push('\\');
                        out.push(escaped);
                    }
                    other => push_literal(other, &mut out),
                }
            }
            '[' => bracket(&chars, &mut at, &mut out),
            '{' => {
                // A brace that counts nothing stands for itself.
                let close = chars[at..].iter().position(|it| *it == '}').map(|it| at + it);
                let counts = close.is_some_and(|close| {
                    let inside = &chars[at..close];
                    !inside.is_empty()
                        && inside.iter().all(|it| it.is_ascii_digit() || *it == ',')
                        && inside[0].is_ascii_digit()
                });
                // At the start there is nothing to count.
                out.push_str(if counts || out.is_empty() { "{" } else { "\\{" });
            }
            // With nothing to repeat it is skipped, and alone it is no expression.
            '*' | '+' | '?' if out.is_empty() || out.ends_with('(') && !out.ends_with("\\(") => {
                if chars.len() == 1 {
                    out.push(next);
                }
            }
            '(' if chars.get(at) == Some(&'?') => {
                at += 1;
                out.push_str("(\\?");
            }
            other => out.push(other),
        }
    }
    out
}

fn push_literal(next: char, out: &mut String) {
    if next.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(next);
}

/// `[…]`: inside, a backslash is a backslash.
fn bracket(chars: &[char], at: &mut usize, out: &mut String) {
    let start = *at;
    out.push('[');
    if chars.get(*at) == Some(&'^') {
        out.push('^');
        *at += 1;
    }
    let first = *at;
    while let Some(&next) = chars.get(*at) {
        if next == ']' && *at > first {
            out.push(']');
            *at += 1;
            return;
        }
        if next == '[' && chars.get(*at + 1) == Some(&':') {
            let rest = &chars[*at + 2..];
            if let Some(end) = rest.windows(2).position(|two| two == [':', ']']) {
                let name: String = rest[..end].iter().collect();
                // A class nobody knows makes no expression of it.
                out.push_str(&if CLASSES.contains(&name.as_str()) {
                    format!("[:{name}:]")
                } else {
                    "\\p{none}".into()
                });
                *at += end + 4;
                continue;
            }
        }
        match next {
            '\\' | '[' | ']' | '&' | '~' | '^' => {
                out.push('\\');
                out.push(next);
            }
            '-' => {
                // A dash at either end is a dash.
                let edge = *at == first || chars.get(*at + 1) == Some(&']');
                out.push_str(if edge { "\\-" } else { "-" });
            }
            other => out.push(other),
        }
        *at += 1;
    }
    // Never closed: let the compiler of expressions say so.
    *at = start.max(*at);
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn posix_spellings_mean_the_same() {
        let cases = [
            ("^[0-9]+$", "123", true),
            ("^[[:alpha:]]+$", "abc", true),
            (r"^[\w]$", "w", true),
            (r"^[a\]$", "\\", true),
            ("a{2}", "aa", true),
            ("a{x", "a{x", true),
            (r"\.txt$", "a.txt", true),
            ("^(a|b)c$", "bc", true),
            ("[]x]", "]", true),
            ("[^]]", "]", false),
            ("^[a-z.-]+$", "a-b.c", true),
        ];
        for (source, text, want) in cases {
            let regex = regex_automata::meta::Regex::new(&translate(source)).unwrap();
            assert_eq!(regex.is_match(text), want, "{source} {text}");
        }
    }
}
