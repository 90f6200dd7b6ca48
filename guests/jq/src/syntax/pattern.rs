//! What stands behind `as`.

use super::ast::{Ast, FieldPattern, Pattern};
use super::lexer::Token;
use super::{Parsed, Parser, SyntaxError};
use crate::value::Value;

impl Parser<'_> {
    /// One pattern, or several with `?//` between them.
    pub(super) fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
        let mut all = vec![self.pattern()?];
        while self.take_sign("?//") {
            all.push(self.pattern()?);
        }
        Ok(all)
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        self.nested(|it| match &it.token {
            Token::Variable(_) => {
                let Token::Variable(name) = it.advance() else { return Err(it.unexpected()) };
                Ok(Pattern::Variable(name))
            }
            Token::Sign("[") => {
                it.advance();
                let mut items = vec![it.pattern()?];
                while it.take_sign(",") {
                    items.push(it.pattern()?);
                }
                it.expect_sign("]")?;
                Ok(Pattern::Array(items))
            }
            Token::Sign("{") => {
                it.advance();
                let mut fields = vec![it.field_pattern()?];
                while it.take_sign(",") {
                    fields.push(it.field_pattern()?);
                }
                it.expect_sign("}")?;
                Ok(Pattern::Object(fields))
            }
            _ => Err(it.unexpected_instead_of("BINDING or '[' or '{'")),
        })
    }

    fn field_pattern(&mut self) -> Parsed<FieldPattern> {
        let at = self.start;
        let key = match &self.token {
            Token::Variable(_) => {
                let Token::Variable(name) = self.advance() else { return Err(self.unexpected()) };
                let value = if self.take_sign(":") { Some(self.pattern()?) } else { None };
                let key = Ast::Literal(Value::str(&name));
                return Ok(FieldPattern { variable: Some(name), key, value });
            }
            Token::Name(_) => {
                let Token::Name(name) = self.advance() else { return Err(self.unexpected()) };
                Ast::Literal(Value::from(name))
            }
            Token::Quote => self.string(None)?,
            Token::Format(_) => {
                let Token::Format(name) = self.advance() else { return Err(self.unexpected()) };
                if self.token == Token::Quote {
                    self.string(Some(name))?
                } else {
                    return Err(self.unexpected());
                }
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
                key
            }
            _ => return Err(self.unexpected()),
        };
        self.expect_sign(":")?;
        Ok(FieldPattern { variable: None, key, value: Some(self.pattern()?) })
    }
}
