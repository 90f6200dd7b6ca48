//! What an awk program has a shell do: `system("…")`, `"…" | getline`, `print | "…"`. The program is looked through for
//! these, and not parsed.

/// What stands before a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A value: a slash divides it.
    Value,
    /// `print … |`.
    Pipe,
    /// `system(`.
    System,
    Other,
}

/// The texts that a shell would read; nothing for one that is computed.
pub(super) fn shell_texts(program: &str) -> Vec<Option<String>> {
    let (mut rest, mut before, mut texts) = (program, Before::Other, Vec::new());
    while let Some(next) = rest.chars().next() {
        let after = &rest[next.len_utf8()..];
        (rest, before) = match next {
            ' ' | '\t' => (after, before),
            '#' => (after.find('\n').map_or("", |at| &after[at..]), before),
            '"' => {
                let (text, after) = literal(after, '"');
                // What something is joined to is computed.
                let alone = after.trim_start_matches([' ', '\t']);
                let is_alone = alone.is_empty() || alone.starts_with([')', ';', '}', '\n', '|']);
                let text = text.filter(|_| is_alone);
                if before == Before::System || (before == Before::Pipe && !is_done_by_awk(text.as_deref())) {
                    texts.push(text);
                } else if let Some(tail) = alone.strip_prefix('|')
                    && tail.trim_start_matches(['&', ' ', '\t']).starts_with("getline")
                {
                    texts.push(text);
                    rest = tail;
                    before = Before::Other;
                    continue;
                }
                (after, Before::Value)
            }
            '/' if before != Before::Value => (literal(after, '/').1, Before::Value),
            '|' if after.starts_with('|') => (&after[1..], Before::Other),
            '|' => {
                let after = after.trim_start_matches(['&', ' ', '\t']);
                if !after.starts_with('"') {
                    texts.push(None);
                }
                (after, if after.starts_with('"') { Before::Pipe } else { Before::Other })
            }
            it if it.is_alphanumeric() || it == '_' => {
                let end = rest.find(|it: char| !(it.is_alphanumeric() || it == '_')).unwrap_or(rest.len());
                let after = &rest[end..];
                match (&rest[..end], after.trim_start_matches([' ', '\t']).strip_prefix('(')) {
                    ("system", Some(inside)) => {
                        let inside = inside.trim_start_matches([' ', '\t']);
                        if !inside.starts_with('"') {
                            texts.push(None);
                        }
                        (inside, if inside.starts_with('"') { Before::System } else { Before::Other })
                    }
                    ("print" | "printf" | "return" | "in", _) => (after, Before::Other),
                    _ => (after, Before::Value),
                }
            }
            ')' | ']' | '$' => (after, Before::Value),
            _ => (after, Before::Other),
        };
    }
    texts
}

/// Up to the closing sign; its text where nothing in it is escaped.
fn literal(text: &str, close: char) -> (Option<String>, &str) {
    let mut escaped = false;
    for (at, it) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        if it == '\\' {
            escaped = true;
        } else if it == close {
            let inside = &text[..at];
            return (Some(inside.to_owned()).filter(|it| !it.contains('\\')), &text[at + 1..]);
        }
    }
    (None, "")
}

/// Output to `sort` and `cat` needs no shell.
fn is_done_by_awk(text: Option<&str>) -> bool {
    let plain = |it: &&str| !it.contains(['|', ';', '&', '<', '>', '$', '`', '\'', '(']);
    text.filter(plain).is_some_and(|it| matches!(it.split_whitespace().next(), Some("sort" | "cat")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_for_a_shell_are_found_and_no_others() {
        let some = |text: &str| Some(text.to_owned());
        let cases = [
            ("{ print $1 }", vec![]),
            ("/a|b/ { print \"x | y\" }", vec![]),
            ("$1 == \"a\" || $2 ~ /c|d/ { n++ }", vec![]),
            ("{ print $1 / 2 | \"sort -n\" }", vec![]),
            ("{ print | \"cat\" }", vec![]),
            ("BEGIN { system(\"date -u\") }", vec![some("date -u")]),
            ("BEGIN { system ( cmd ) }", vec![None]),
            ("BEGIN { system(\"rm \" $1) }", vec![None]),
            ("BEGIN { \"date\" | getline d; print d }", vec![some("date")]),
            ("BEGIN { while ((cmd | getline l) > 0) n++ }", vec![None]),
            ("{ print | \"tr a b\" }", vec![some("tr a b")]),
            ("{ print | (\"tr \" x) }", vec![None]),
            ("# system(\"x\")\n{ a = \"system(1)\" }", vec![]),
            ("{ print | \"sort > \" f }", vec![None]),
        ];
        for (program, want) in cases {
            assert_eq!(shell_texts(program), want, "{program}");
        }
    }
}
