//! Rust source as the rules see it: comments blanked, the insides of strings and tests hidden.
//!
//! A scanner, not a parser: it knows where comments, strings and braces are and nothing else.
//! Lines keep their numbers.

/// The source with comments as blanks and the insides of strings and characters as underscores.
pub(super) fn masked(source: &str) -> String {
    Masker { rest: source, out: String::with_capacity(source.len()) }.run()
}

/// Likewise, and every item under `#[cfg(test)]` blanked too.
pub(super) fn without_tests(source: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let code = masked(source);
    let mut out = String::with_capacity(code.len());
    let mut rest = code.as_str();
    while let Some(at) = rest.find(MARK) {
        out.push_str(&rest[..at]);
        let end = at + MARK.len() + item_len(&rest[at + MARK.len()..]);
        blank(&rest[at..end], &mut out);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Lines that hold code.
pub(super) fn lines_of_code(code: &str) -> usize {
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Whether `word` stands in `text` with no letter, digit or underscore beside it.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let part_of_a_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(part_of_a_word) && !after.is_some_and(part_of_a_word)
    })
}

/// Bytes to the end of the item that begins here: its closing brace, or its semicolon.
fn item_len(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && c == '}' {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

fn blank(text: &str, out: &mut String) {
    out.extend(text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
}

struct Masker<'a> {
    rest: &'a str,
    out: String,
}

impl Masker<'_> {
    fn run(mut self) -> String {
        while let Some(c) = self.rest.chars().next() {
            if self.rest.starts_with("//") {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.hide(end, ' ');
            } else if self.rest.starts_with("/*") {
                let end = block_comment_len(self.rest);
                self.hide(end, ' ');
            } else if let Some(hashes) = raw_string_hashes(self.rest, self.out.chars().next_back()) {
                let open = self.rest.find('"').map_or(0, |at| at + 1);
                let close = format!("\"{}", "#".repeat(hashes));
                let end =
                    self.rest[open..].find(&close).map_or(self.rest.len(), |at| open + at + close.len());
                self.hide(end, '_');
            } else if c == '"' {
                let end = quoted_len(self.rest, '"');
                self.hide(end, '_');
            } else if c == '\'' && is_char_literal(self.rest) {
                let end = quoted_len(self.rest, '\'');
                self.hide(end, '_');
            } else {
                self.out.push(c);
                self.rest = &self.rest[c.len_utf8()..];
            }
        }
        self.out
    }

    fn hide(&mut self, bytes: usize, with: char) {
        let (hidden, rest) = self.rest.split_at(bytes);
        self.out.extend(hidden.chars().map(|c| if c == '\n' { '\n' } else { with }));
        self.rest = rest;
    }
}

fn block_comment_len(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The number of `#` if a raw string starts here: `r"`, `r#"`, `br"`, `cr##"`.
fn raw_string_hashes(text: &str, before: Option<char>) -> Option<usize> {
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let after_prefix = text.strip_prefix(['b', 'c']).unwrap_or(text).strip_prefix('r')?;
    let after_hashes = after_prefix.trim_start_matches('#');
    after_hashes.starts_with('"').then_some(after_prefix.len() - after_hashes.len())
}

fn quoted_len(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// `'a'` and `'\n'` are characters; `'a` is a lifetime.
fn is_char_literal(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    matches!((chars.next(), chars.next()), (Some('\\'), _) | (Some(_), Some('\'')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_blank_and_strings_are_opaque() {
        let cases = [
            ("let a = 1; // {", "let a = 1;     "),
            ("a /* { /* } */ */ b", "a                 b"),
            ("f(\"}\\\"{\")", "f(______)"),
            ("f(r#\"\"}\"#, '{', '\\'')", "f(_______, ___, ____)"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("let four\"x\"", "let four___"),
        ];
        for (source, want) in cases {
            assert_eq!(masked(source), want, "{source}");
        }
    }

    #[test]
    fn tests_do_not_count_as_code() {
        let source =
            "//! Doc.\n\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() { \"}\"; }\n}\nfn c() {}\n";
        let code = without_tests(source);
        assert_eq!(lines_of_code(&code), 2, "{code}");
        assert_eq!(lines_of_code(&without_tests("#[cfg(test)]\nmod tests;\nfn a() {}\n")), 1);
    }

    #[test]
    fn a_word_is_not_a_part_of_a_word() {
        assert!(has_word("use std::fs;", "fs"));
        assert!(!has_word("use std::offset;", "fs"));
        assert!(!has_word("fs_max", "fs"));
    }
}
