//! What somebody wants to find, as FTS5 has to be asked for it. The text is a model's, and anything may stand in it: only
//! words, phrases and beginnings of words come out, each quoted, so that nothing in it is an operator, a column or an error.

use super::FullTextError;

/// The longest query, in bytes.
pub const QUERY_BYTES_MAX: usize = 1_024;
/// Words and phrases of one query.
pub const QUERY_TERMS_MAX: usize = 32;

/// One thing that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    /// What FTS5 makes words of: one word, or several that follow each other.
    text: String,
    /// The last word of it may go on.
    is_beginning: bool,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query(Vec<Term>);

/// Which files are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Having {
    All,
    Any,
}

impl Query {
    /// Reads it. Blanks separate; what stands between two quotes belongs together, and a quote that is not closed is closed
    /// by the end; a star behind a word or a phrase says that it may go on. What has neither letter nor digit is left out.
    pub(super) fn parse(text: &str) -> Result<Self, FullTextError> {
        if text.len() > QUERY_BYTES_MAX {
            return Err(FullTextError::QueryTooLong { bytes: text.len() });
        }
        let mut terms = Vec::new();
        // Every second piece stands between two quotes.
        for (at, piece) in text.split('"').enumerate() {
            match at % 2 {
                0 => read_words(piece, &mut terms),
                _ => terms.push(Term { text: piece.to_owned(), is_beginning: false }),
            }
        }
        terms.retain_mut(|it| {
            // FTS5 ends a text at a NUL.
            it.text = it.text.replace('\0', " ");
            it.text.contains(char::is_alphanumeric)
        });
        let mut unique: Vec<Term> = Vec::new();
        for term in terms {
            if !unique.contains(&term) {
                unique.push(term);
            }
        }
        match unique.len() {
            0 => Err(FullTextError::NoWord),
            1..=QUERY_TERMS_MAX => Ok(Self(unique)),
            _ => Err(FullTextError::TooManyWords),
        }
    }

    /// How many things are looked for.
    pub(super) fn terms(&self) -> usize {
        self.0.len()
    }

    /// What FTS5 is asked.
    pub(super) fn expression(&self, having: Having) -> String {
        let joint = match having {
            Having::All => " AND ",
            Having::Any => " OR ",
        };
        let terms = self.0.iter().map(|it| {
            let star = if it.is_beginning { "*" } else { "" };
            // A quote is doubled within quotes; none gets here, and nothing rests on that.
            format!("\"{}\"{star}", it.text.replace('"', "\"\""))
        });
        terms.collect::<Vec<_>>().join(joint)
    }
}

/// The words of what stands outside of quotes. A star at its very beginning belongs to the phrase before it.
fn read_words(piece: &str, terms: &mut Vec<Term>) {
    let mut rest = piece;
    if let (Some(behind), Some(phrase)) = (rest.strip_prefix('*'), terms.last_mut()) {
        phrase.is_beginning = true;
        rest = behind;
    }
    for word in rest.split(|it: char| it.is_whitespace() || it == '\0') {
        let text = word.trim_end_matches('*');
        if !text.is_empty() {
            terms.push(Term { text: text.to_owned(), is_beginning: text.len() < word.len() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> String {
        match Query::parse(text) {
            Ok(query) => query.expression(Having::All),
            Err(error) => error.code().to_owned(),
        }
    }

    #[test]
    fn words_are_joined_quotes_are_phrases_and_a_star_is_a_beginning() {
        for (text, expression) in [
            ("budget", r#""budget""#),
            ("  budget \t settles\n", r#""budget" AND "settles""#),
            (r#""a budget" settles"#, r#""a budget" AND "settles""#),
            (r#"x"a b"y"#, r#""x" AND "a b" AND "y""#),
            ("bud*", r#""bud"*"#),
            (r#""a bud"* x"#, r#""a bud"* AND "x""#),
            ("bud** *", r#""bud"*"#),
            ("same same", r#""same""#),
            (r#"open "end of it"#, r#""open" AND "end of it""#),
            ("fn main() -> u64", r#""fn" AND "main()" AND "u64""#),
            ("a::b c-d", r#""a::b" AND "c-d""#),
            ("größe 日本", r#""größe" AND "日本""#),
        ] {
            assert_eq!(asked(text), expression, "{text:?}");
        }
    }

    #[test]
    fn operators_columns_and_what_else_fts5_knows_are_words_like_any() {
        for (text, expression) in [
            ("a OR b", r#""a" AND "OR" AND "b""#),
            ("NOT a", r#""NOT" AND "a""#),
            ("path:x", r#""path:x""#),
            ("^a", r#""^a""#),
            ("{path text}:x", r#""{path" AND "text}:x""#),
            ("NEAR(a b, 3)", r#""NEAR(a" AND "b," AND "3)""#),
            ("a\0b", r#""a" AND "b""#),
            ("'; DROP TABLE file; --", r#""DROP" AND "TABLE" AND "file;""#),
        ] {
            assert_eq!(asked(text), expression, "{text:?}");
        }
    }

    #[test]
    fn a_query_without_a_word_or_with_too_much_is_refused_by_name() {
        for text in ["", " ", "\"", "\"\"\"\"", "***", "-- :: ()", "\0"] {
            assert_eq!(asked(text), "search_no_word", "{text:?}");
        }
        assert_eq!(asked(&"x".repeat(QUERY_BYTES_MAX + 1)), "search_query_too_long");
        let many: Vec<_> = (0..=QUERY_TERMS_MAX).map(|it| it.to_string()).collect();
        assert_eq!(asked(&many.join(" ")), "search_too_many_words");
        assert!(Query::parse(&many[1..].join(" ")).is_ok());
    }
}
