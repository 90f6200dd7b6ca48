//! `${…}` and its operators.

use super::{
    Parsed, Parser,
    ast::{CaseChange, Param, ParamName, ParamOp, Replace, Subscript, Word},
    word::Stop,
};

const BAD: &str = "bad substitution";

impl Parser<'_> {
    /// With the parser on the `$`. What closes and still is no substitution fails when it is reached.
    pub(super) fn braced(&mut self, quoted: bool) -> Parsed<Param> {
        let start = self.at;
        let result = self.braced_here(quoted);
        match result {
            Err(error) if error.message.starts_with(BAD) => {
                let Some(length) = self.text[start..].find('}') else { return Err(error) };
                self.at = start + length + 1;
                let typed = self.text[start..self.at].to_owned();
                let name = ParamName::Special('?');
                Ok(Param { name, index: None, indirect: false, op: ParamOp::Bad, typed })
            }
            other => other,
        }
    }

    fn braced_here(&mut self, quoted: bool) -> Parsed<Param> {
        let start = self.at;
        self.at += 2;
        if self.peek() == Some(b'#')
            && let Some(param) = self.length(start)?
        {
            return Ok(param);
        }
        let mut param = Param {
            name: ParamName::Special('!'),
            index: None,
            indirect: false,
            op: ParamOp::None,
            typed: String::new(),
        };
        let follows = self.peek_at(1);
        let names = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'@' | b'*' | b'#' | b'?');
        if self.peek() == Some(b'!') && follows.is_some_and(names) {
            self.at += 1;
            param.indirect = true;
        }
        let Some(name) = self.param_name() else {
            return Err(self.bad_substitution(start));
        };
        param.name = name;
        if param.indirect && matches!(param.name, ParamName::Var(_)) {
            for (text, joined) in [("*}", true), ("@}", false)] {
                if self.eat(text) {
                    param.indirect = false;
                    param.op = ParamOp::Names { joined };
                    param.typed = self.text[start..self.at].to_owned();
                    return Ok(param);
                }
            }
        }
        if self.peek() == Some(b'[') && matches!(param.name, ParamName::Var(_)) {
            param.index = Some(self.subscript()?);
            if matches!(&param.index, Some(Subscript::At { key, .. }) if key.pieces.is_empty()) {
                return Err(self.bad_substitution(start));
            }
        }
        let keys = match param.index {
            Some(Subscript::All) => Some(false),
            Some(Subscript::Joined) => Some(true),
            _ => None,
        };
        if param.indirect
            && let Some(joined) = keys
            && self.eat("}")
        {
            param.indirect = false;
            param.op = ParamOp::Keys { joined };
        } else {
            param.op = self.param_op(start, quoted)?;
            if !self.eat("}") {
                return Err(self.bad_substitution(start));
            }
        }
        if let (ParamOp::Assign { .. }, ParamName::Var(name)) = (&param.op, &param.name) {
            self.names.push(name.clone());
        }
        param.typed = self.text[start..self.at].to_owned();
        Ok(param)
    }

    fn bad_substitution(&self, start: usize) -> super::SyntaxError {
        if self.at >= self.text.len() {
            return self.unclosed_at(start, "`${` is never closed");
        }
        let typed: String = self.text[start..].chars().take(30).collect();
        self.error_at(start, format!("{BAD}: `{typed}`"))
    }

    /// `${#name}`, if that is what it is.
    fn length(&mut self, start: usize) -> Parsed<Option<Param>> {
        let before = self.at;
        self.at += 1;
        if self.peek() != Some(b'}')
            && let Some(name) = self.param_name()
        {
            let mut index = None;
            if self.peek() == Some(b'[') && matches!(name, ParamName::Var(_)) {
                index = Some(self.subscript()?);
            }
            if self.eat("}") {
                let typed = self.text[start..self.at].to_owned();
                return Ok(Some(Param { name, index, indirect: false, op: ParamOp::Length, typed }));
            }
        }
        self.at = before;
        Ok(None)
    }

    fn param_name(&mut self) -> Option<ParamName> {
        let rest = self.rest();
        let first = self.peek()?;
        if first.is_ascii_digit() {
            let length = rest.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
            let number = rest[..length].parse().unwrap_or(usize::MAX);
            self.at += length;
            return Some(if number == 0 { ParamName::Special('0') } else { ParamName::Position(number) });
        }
        if first.is_ascii_alphabetic() || first == b'_' {
            let name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            let length = rest.bytes().position(|b| !name(b)).unwrap_or(rest.len());
            self.at += length;
            return Some(ParamName::Var(rest[..length].to_owned()));
        }
        if matches!(first, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') {
            self.at += 1;
            return Some(ParamName::Special(char::from(first)));
        }
        None
    }

    fn param_op(&mut self, start: usize, quoted: bool) -> Parsed<ParamOp> {
        let Some(first) = self.peek() else { return Err(self.bad_substitution(start)) };
        if first == b'}' {
            return Ok(ParamOp::None);
        }
        let colon = first == b':' && matches!(self.peek_at(1), Some(b'-' | b'=' | b'?' | b'+'));
        let sign = if colon { self.peek_at(1).unwrap_or(0) } else { first };
        if matches!(sign, b'-' | b'=' | b'?' | b'+') {
            self.at += if colon { 2 } else { 1 };
            let word = self.operand(quoted)?;
            return Ok(match sign {
                b'-' => ParamOp::Default { colon, word },
                b'=' => ParamOp::Assign { colon, word },
                b'?' => ParamOp::Error { colon, word },
                _ => ParamOp::Alternative { colon, word },
            });
        }
        self.at += 1;
        let doubled = self.peek() == Some(first) && first != b':' && first != b'@';
        Ok(match first {
            b':' if self.peek() == Some(b'}') => return Err(self.bad_substitution(start)),
            b':' => {
                let offset = self.arith_part()?;
                let length = if self.eat(":") { Some(self.arith_part()?) } else { None };
                ParamOp::Substring { offset, length }
            }
            b'#' | b'%' => {
                self.at += usize::from(doubled);
                let pattern = self.pattern(Stop::Brace)?;
                if first == b'#' {
                    ParamOp::RemovePrefix { longest: doubled, pattern }
                } else {
                    ParamOp::RemoveSuffix { longest: doubled, pattern }
                }
            }
            b'/' => {
                let how = match self.peek() {
                    Some(b'/') => Replace::All,
                    Some(b'#') => Replace::Prefix,
                    Some(b'%') => Replace::Suffix,
                    _ => Replace::First,
                };
                self.at += usize::from(how != Replace::First);
                let mut pattern = Word::default();
                if how == Replace::All && self.peek() == Some(b'/') {
                    // `${x///y}`: the pattern starts with the slash.
                    self.at += 1;
                    pattern.pieces.push(super::ast::Piece::Quoted("/".into()));
                }
                pattern.pieces.extend(self.pattern(Stop::Slash)?.pieces);
                let with = if self.eat("/") { self.pattern(Stop::Brace)? } else { Word::default() };
                ParamOp::Replace { how, pattern, with }
            }
            b'^' | b',' | b'~' => {
                self.at += usize::from(doubled);
                let how = match first {
                    b'^' => CaseChange::Upper,
                    b',' => CaseChange::Lower,
                    _ => CaseChange::Toggle,
                };
                let pattern = match self.peek() {
                    Some(b'}') => None,
                    _ => Some(self.pattern(Stop::Brace)?),
                };
                ParamOp::Case { how, all: doubled, pattern }
            }
            b'@' => match self.next_char() {
                Some(letter @ ('Q' | 'E' | 'P' | 'A' | 'a' | 'U' | 'u' | 'L' | 'K' | 'k')) => {
                    ParamOp::Transform(letter)
                }
                _ => return Err(self.bad_substitution(start)),
            },
            _ => return Err(self.bad_substitution(start)),
        })
    }

    fn operand(&mut self, quoted: bool) -> Parsed<Word> {
        let pieces = if quoted { self.quoted_pieces(Stop::Brace)? } else { self.bare_pieces(Stop::Brace)? };
        Ok(Word::of(pieces))
    }

    /// Patterns read quotes as quotes even inside double quotes.
    fn pattern(&mut self, stop: Stop) -> Parsed<Word> {
        Ok(Word::of(self.bare_pieces(stop)?))
    }
}
