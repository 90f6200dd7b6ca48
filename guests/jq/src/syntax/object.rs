//! `{…}`: keys of many spellings, values that are pipes of terms.

use super::ast::Ast;
use super::lexer::Token;
use super::{Parsed, Parser, SyntaxError};
use crate::value::Value;

impl Parser<'_> {
    pub(super) fn object(&mut self) -> Parsed<Ast> {
        self.expect_sign("{")?;
        let mut fields = Vec::new();
        while !self.at_sign("}") {
            fields.push(self.nested(Self::field)?);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect_sign("}")?;
        Ok(Ast::Object(fields))
    }

    fn field(&mut self) -> Parsed<(Ast, Option<Ast>)> {
        let (at, line) =
            (self.start, self.lexer.text[..self.start].bytes().filter(|byte| *byte == b'\n').count() + 1);
        let key = match &self.token {
            Token::Quote => self.string(None)?,
            Token::Format(_) => {
                let Token::Format(name) = self.advance() else { return Err(self.unexpected()) };
                if self.token == Token::Quote {
                    self.string(Some(name))?
                } else {
                    return Err(self.unexpected());
                }
            }
            Token::Variable(_) => {
                let Token::Variable(name) = self.advance() else { return Err(self.unexpected()) };
                let value =
                    if name == "__loc__" { Ast::Location(line) } else { Ast::Variable(name.clone(), at) };
                if self.take_sign(":") {
                    return Ok((value, Some(self.field_value()?)));
                }
                return Ok((Ast::Literal(Value::from(name)), Some(value)));
            }
            Token::Sign("(") => {
                self.advance();
                let key = self.pipe()?;
                if let Ast::Literal(value) = &key
                    && value.as_str().is_none()
                {
                    let what = format!("Cannot use {} as object key", value.described());
                    return Err(SyntaxError { what, at });
                }
                self.expect_sign(")")?;
                self.expect_sign(":")?;
                return Ok((key, Some(self.field_value()?)));
            }
            Token::Number(_) => {
                self.advance();
                if self.at_sign(":") {
                    return Err(self.error("May need parentheses around object key expression"));
                }
                return Err(self.unexpected());
            }
            Token::Name(_) => {
                let Token::Name(name) = self.advance() else { return Err(self.unexpected()) };
                Ast::Literal(Value::from(name))
            }
            _ => return Err(self.unexpected()),
        };
        if self.take_sign(":") {
            return Ok((key, Some(self.field_value()?)));
        }
        // `{a}` is `{a: .a}`, and a string is looked up the same way.
        Ok((key, None))
    }

    fn field_value(&mut self) -> Parsed<Ast> {
        let mut stages = Vec::new();
        loop {
            stages.push(self.binary(0)?);
            if !self.take_sign("|") {
                break;
            }
        }
        Ok(super::one_or(stages, Ast::Pipe))
    }
}
