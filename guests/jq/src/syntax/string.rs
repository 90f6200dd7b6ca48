//! Strings with their escapes, and with expressions inside.

use super::ast::{Ast, Part};
use super::lexer::Token;
use super::{Parsed, Parser, SyntaxError};
use crate::value::Value;

impl Parser<'_> {
    /// A string whose opening quote is the current token; inserted values go through `format`.
    pub(super) fn string(&mut self, format: Option<String>) -> Parsed<Ast> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        loop {
            let rest = &self.lexer.text[self.lexer.at..];
            let Some(len) = rest.find(['"', '\\']) else {
                self.token = Token::End;
                return Err(self.unexpected());
            };
            plain.push_str(&rest[..len]);
            self.lexer.at += len + 1;
            if rest[len..].starts_with('"') {
                break;
            }
            let Some(sign) = rest[len + 1..].chars().next() else {
                self.token = Token::End;
                return Err(self.unexpected());
            };
            self.lexer.at += sign.len_utf8();
            match sign {
                'n' => plain.push('\n'),
                't' => plain.push('\t'),
                'r' => plain.push('\r'),
                'b' => plain.push('\u{8}'),
                'f' => plain.push('\u{c}'),
                '"' | '\\' | '/' => plain.push(sign),
                'u' => plain.push(self.unicode()?),
                '(' => {
                    if !plain.is_empty() {
                        parts.push(Part::Plain(std::mem::take(&mut plain)));
                    }
                    self.advance();
                    parts.push(Part::Inserted(self.pipe()?));
                    if !self.at_sign(")") {
                        return Err(self.unexpected());
                    }
                    // The lexer stands right behind the `)`, where the string goes on.
                }
                _ => {
                    let what = format!("Invalid escape at line 1, column 4 (while parsing '\"\\{sign}\"')");
                    return Err(SyntaxError { what, at: self.lexer.at - sign.len_utf8() - 1 });
                }
            }
        }
        self.advance();
        if parts.is_empty() {
            return Ok(Ast::Literal(Value::from(plain)));
        }
        if !plain.is_empty() {
            parts.push(Part::Plain(plain));
        }
        Ok(Ast::Text(format, parts))
    }

    /// `XXXX`, or two of them with `\u` between; half a pair is the replacement character.
    fn unicode(&mut self) -> Parsed<char> {
        let first = self.hex()?;
        let rest = &self.lexer.text[self.lexer.at..];
        if (0xd800..0xdc00).contains(&first) && rest.starts_with("\\u") {
            let before = self.lexer.at;
            self.lexer.at += 2;
            let low = self.hex()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.lexer.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Parsed<u32> {
        let digits = self.lexer.text.get(self.lexer.at..self.lexer.at + 4);
        let digits = digits.filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.lexer.at += 4;
        code.ok_or_else(|| self.error("invalid \\uXXXX escape"))
    }
}
