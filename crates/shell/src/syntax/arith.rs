//! Where arithmetic ends. Its own grammar is in [`crate::arith`]; here only parentheses and
//! expansions count.

use super::{
    Parsed, Parser,
    ast::{Arith, Piece, Word},
    word::Pieces,
};
use crate::arith;

/// How many `((` may turn out to be nested subshells.
const RETRIES_MAX: u32 = 32;

/// What ended a stretch of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Byte(u8),
    Text,
}

impl Parser<'_> {
    /// Up to `))`, the parser after them; `None` if this is no arithmetic but a nested subshell.
    pub(super) fn arith_until_parens(&mut self) -> Parsed<Option<Arith>> {
        let pending = self.pending.len();
        let read = self.deeper(|it| it.arith_text(b")"));
        let closed = matches!(read, Ok((_, End::Byte(b')')))) && self.peek_at(1) == Some(b')');
        let Ok((word, _)) = read else { return self.not_arith(pending) };
        if !closed {
            return self.not_arith(pending);
        }
        self.at += 2;
        Ok(Some(self.arith_noted(word)))
    }

    /// The other reading is tried, but not for ever: nested ambiguities would double the work.
    fn not_arith(&mut self, pending: usize) -> Parsed<Option<Arith>> {
        self.pending.truncate(pending);
        self.retries += 1;
        if self.retries > RETRIES_MAX {
            return Err(self.error("too many `((` that are no arithmetic; write `( (`"));
        }
        Ok(None)
    }

    /// One clause of `for ((…; …; …))` or `$[…]`, the parser after what ends it.
    pub(super) fn arith_clause(&mut self, close: u8) -> Parsed<Option<Arith>> {
        let start = self.at;
        let (word, end) = self.deeper(|it| it.arith_text(&[close]))?;
        if end != End::Byte(close) {
            return Err(self.expected(&format!("`{}`", close as char)));
        }
        let blank = self.text[start..self.at].trim().is_empty();
        self.at += 1;
        Ok((!blank).then(|| self.arith_noted(word)))
    }

    /// Arithmetic, its assignments noted as names of the shell.
    fn arith_noted(&mut self, word: Word) -> Arith {
        let arith = arith_of_word(word);
        if let Arith::Parsed(expr, _) = &arith {
            expr.assigned(&mut self.names);
        }
        arith
    }

    /// Offset or length of a substring, up to `:` or `}`.
    pub(super) fn arith_part(&mut self) -> Parsed<Arith> {
        let (word, _) = self.deeper(|it| it.arith_text(b":}"))?;
        Ok(arith_of_word(word))
    }

    /// A word of arithmetic that may hold blanks within its parentheses.
    pub(super) fn arith_word(&mut self) -> Parsed<Word> {
        Ok(self.deeper(|it| it.arith_text(b" \t\r\n;&|)"))?.0)
    }

    fn arith_text(&mut self, stops: &[u8]) -> Parsed<(Word, End)> {
        let start = self.at;
        let mut pieces = Pieces::default();
        let (mut open, mut questions) = (0u32, 0u32);
        while let Some(byte) = self.peek() {
            if open == 0 && stops.contains(&byte) && !(byte == b':' && questions > 0) {
                self.grow_arith(self.at - start)?;
                return Ok((Word::of(pieces.0), End::Byte(byte)));
            }
            match byte {
                b'$' => match self.dollar(true)? {
                    Some(piece) => {
                        pieces.0.push(piece);
                        continue;
                    }
                    None => pieces.text("$"),
                },
                b'`' => {
                    let piece = self.backquoted(false)?;
                    pieces.0.push(piece);
                    continue;
                }
                b'"' => {
                    let Piece::Double(inner) = self.double_quoted()? else { continue };
                    pieces.0.extend(inner);
                    continue;
                }
                b'\'' => {
                    // A key of a map may have them; anywhere else they are no operand, as in bash.
                    let text = self.single_quoted()?;
                    pieces.text(&format!("'{text}'"));
                    continue;
                }
                b'\\' if self.peek_at(1) == Some(b'\n') => self.at += 1,
                b'(' | b'[' => {
                    open += 1;
                    pieces.text(if byte == b'(' { "(" } else { "[" });
                }
                b')' | b']' => {
                    open = open.saturating_sub(1);
                    pieces.text(if byte == b')' { ")" } else { "]" });
                }
                _ => {
                    match byte {
                        b'?' => questions += 1,
                        b':' => questions = questions.saturating_sub(1),
                        _ => {}
                    }
                    let next = self.next_char().unwrap_or(' ');
                    pieces.text(next.encode_utf8(&mut [0; 4]));
                    continue;
                }
            }
            self.at += 1;
        }
        Ok((Word::of(pieces.0), End::Text))
    }
}

/// Parses now if there is nothing to expand.
pub(super) fn arith_of_word(word: Word) -> Arith {
    let Some(text) = word.literal() else { return Arith::Text(word) };
    match arith::parse(&text) {
        Ok(expr) => Arith::Parsed(expr, text.into()),
        Err(_) => Arith::Text(word),
    }
}
