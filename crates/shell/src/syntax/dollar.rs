//! What follows a `$`, and backquotes.

use std::sync::Arc;

use super::{
    Parsed, Parser,
    ast::{Param, ParamName, ParamOp, Piece, Script, Word},
    escape::ansi_c,
};

impl Parser<'_> {
    /// The expansion here, or `None` if the `$` stands for itself.
    pub(super) fn dollar(&mut self, quoted: bool) -> Parsed<Option<Piece>> {
        let start = self.at;
        self.stop_at_joint(1)?;
        let Some(next) = self.peek_at(1) else { return Ok(None) };
        match next {
            b'(' => self.stop_at_joint(2)?,
            b'{' => {
                let name = |b: &u8| b.is_ascii_alphanumeric() || b"_#!@*?:+-=%/^,".contains(b);
                let inside = self.rest().as_bytes()[2..].iter().take_while(|it| name(it)).count();
                self.stop_at_joint(2 + inside)?;
            }
            _ => {}
        }
        let piece = match next {
            b'\'' if !quoted => self.ansi_quoted()?,
            b'"' if !quoted => {
                self.at += 1;
                self.double_quoted()?
            }
            b'(' => self.dollar_paren()?,
            b'{' => {
                let param = self.deeper(|it| it.braced(quoted))?;
                Piece::Param(Arc::new(param))
            }
            b'[' => {
                self.at += 2;
                let arith = self.arith_clause(b']')?;
                arith.map_or_else(|| Piece::Quoted("0".into()), |it| Piece::Arith(Arc::new(it)))
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let rest = &self.rest()[1..];
                let name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
                let length = rest.bytes().position(|b| !name(b)).unwrap_or(rest.len());
                self.at += 1 + length;
                self.plain_param(start, ParamName::Var(rest[..length].to_owned()))
            }
            b'1'..=b'9' => {
                self.at += 2;
                self.plain_param(start, ParamName::Position(usize::from(next - b'0')))
            }
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0' => {
                self.at += 2;
                self.plain_param(start, ParamName::Special(char::from(next)))
            }
            _ => return Ok(None),
        };
        self.grow::<(Piece, Param, String)>(1)?;
        Ok(Some(piece))
    }

    fn plain_param(&self, start: usize, name: ParamName) -> Piece {
        let typed = self.text[start..self.at].to_owned();
        Piece::Param(Arc::new(Param { name, index: None, indirect: false, op: ParamOp::None, typed }))
    }

    fn ansi_quoted(&mut self) -> Parsed<Piece> {
        let start = self.at;
        self.at += 2;
        let bytes = self.text.as_bytes();
        let mut end = self.at;
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'\\' => end += 2,
                b'\'' => {
                    let text = ansi_c(&self.text[self.at..end]);
                    self.at = end + 1;
                    return Ok(Piece::Quoted(text));
                }
                _ => end += 1,
            }
        }
        Err(self.unclosed_at(start, "the quote `$'` is never closed"))
    }

    /// `$((…))`, `$(<file)` or `$(…)`.
    fn dollar_paren(&mut self) -> Parsed<Piece> {
        let start = self.at;
        if self.peek_at(2) == Some(b'(') {
            self.at += 3;
            if let Some(arith) = self.arith_until_parens()? {
                return Ok(Piece::Arith(Arc::new(arith)));
            }
            self.at = start;
        }
        self.at += 2;
        if let Some(word) = self.file_text()? {
            return Ok(Piece::FileText(Arc::new(word)));
        }
        let script = self.substitution(start, "$(")?;
        Ok(Piece::Command(Arc::new(script)))
    }

    fn substitution(&mut self, start: usize, what: &str) -> Parsed<Script> {
        self.substituting += 1;
        let script = self.script();
        self.substituting -= 1;
        let script = script?;
        if self.eat(")") {
            return Ok(script);
        }
        if self.at >= self.text.len() {
            return Err(self.unclosed_at(start, format!("`{what}` is never closed")));
        }
        Err(self.expected("`)`"))
    }

    fn file_text(&mut self) -> Parsed<Option<Word>> {
        let start = self.at;
        self.skip_blanks();
        if self.peek() == Some(b'<') && !matches!(self.peek_at(1), Some(b'<' | b'(' | b'&' | b'>')) {
            self.at += 1;
            self.skip_blanks();
            let word = self.word()?;
            self.skip_blanks();
            if !word.pieces.is_empty() && self.eat(")") {
                return Ok(Some(word));
            }
        }
        self.at = start;
        Ok(None)
    }

    pub(super) fn process(&mut self) -> Parsed<Piece> {
        let start = self.at;
        let writes = self.peek() == Some(b'>');
        self.at += 2;
        let script = self.substitution(start, if writes { ">(" } else { "<(" })?;
        Ok(Piece::Process { script: Arc::new(script), writes })
    }

    /// `` `…` ``: its text, one layer of backslashes removed, is parsed here and now.
    pub(super) fn backquoted(&mut self, in_quotes: bool) -> Parsed<Piece> {
        let start = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.next_char() {
                None => return Err(self.unclosed_at(start, "the backquote is never closed")),
                Some('`') => break,
                Some('\\') => match self.peek() {
                    Some(b'$' | b'`' | b'\\') => inner.extend(self.next_char()),
                    Some(b'"') if in_quotes => inner.extend(self.next_char()),
                    _ => inner.push('\\'),
                },
                Some(other) => inner.push(other),
            }
        }
        let (line, column) = self.place(start);
        // `` `<file` `` is the older spelling of `$(<file)`.
        let closed = format!("{inner})");
        let file = self.inner(&closed, self.depth, |it| {
            let word = it.file_text()?;
            Ok(word.filter(|_| it.at == closed.len()))
        });
        if let Ok(Some(word)) = file {
            return Ok(Piece::FileText(Arc::new(word)));
        }
        let depth = self.depth;
        let script = self.deeper(|it| {
            it.inner(&inner, depth + 1, |it| it.whole()).map_err(|mut error| {
                error.line += line - 1;
                error.column += column;
                error
            })
        })?;
        Ok(Piece::Command(Arc::new(script)))
    }
}
