//! Words and signs between two nodes of a tree, where there is nothing else but blanks and comments.

/// One word, or one sign, and where it begins.
pub(crate) struct Token<'a> {
    pub(crate) at: usize,
    pub(crate) text: &'a str,
}

/// The tokens of a part of the text.
pub(crate) fn tokens(text: &str, start: usize, end: usize) -> impl Iterator<Item = Token<'_>> {
    let mut at = start;
    std::iter::from_fn(move || {
        let rest = text.get(at..end)?;
        let skipped = blanks_and_comments(rest);
        let rest = rest.get(skipped..)?;
        let first = rest.chars().next()?;
        let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
        let length = match is_word(first) {
            true => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let token = Token { at: at + skipped, text: rest.get(..length)? };
        at += skipped + length;
        Some(token)
    })
}

/// How many bytes of blanks and comments a text begins with.
pub(crate) fn blanks_and_comments(text: &str) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let after = if let Some(comment) = rest.strip_prefix("//") {
            comment.find('\n').and_then(|it| comment.get(it..)).unwrap_or("")
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").and_then(|it| comment.get(it + 2..)).unwrap_or("")
        } else {
            return text.len() - rest.len();
        };
        rest = after;
    }
}
