//! Terms: literals, calls, brackets, and what is hung behind them.

use super::ast::Ast;
use super::lexer::{Token, is_keyword};
use super::{Parsed, Parser};
use crate::value::Value;

/// How many `.a[0]?` may follow one term.
const POSTFIX_MAX: usize = 1000;

impl Parser<'_> {
    /// A term with everything behind it: `.a`, `[0]`, `[]`, `[1:2]`, `?`.
    pub(super) fn postfix(&mut self) -> Parsed<Ast> {
        let mut term = self.nested(Self::term)?;
        for _ in 0..POSTFIX_MAX {
            match &self.token {
                Token::Field(_) => {
                    let Token::Field(name) = self.advance() else { return Err(self.unexpected()) };
                    term = index(term, Ast::Literal(Value::from(name)));
                }
                Token::Sign(".") => {
                    self.advance();
                    match &self.token {
                        Token::Quote => {
                            let key = self.string(None)?;
                            term = index(term, key);
                        }
                        Token::Sign("[") => term = self.bracket(term)?,
                        _ => return Err(self.unexpected()),
                    }
                }
                Token::Sign("[") => term = self.bracket(term)?,
                Token::Sign("?") => {
                    self.advance();
                    term = Ast::Try(Box::new(term), None);
                }
                _ => return Ok(term),
            }
        }
        Err(self.error("memory exhausted"))
    }

    fn bracket(&mut self, term: Ast) -> Parsed<Ast> {
        self.expect_sign("[")?;
        if self.take_sign("]") {
            return Ok(Ast::Iterate(Box::new(term)));
        }
        if self.take_sign(":") {
            let to = self.pipe()?;
            self.expect_sign("]")?;
            return Ok(Ast::Slice(Box::new(term), None, Some(Box::new(to))));
        }
        let key = self.pipe()?;
        if self.take_sign(":") {
            let to = if self.at_sign("]") { None } else { Some(Box::new(self.pipe()?)) };
            self.expect_sign("]")?;
            return Ok(Ast::Slice(Box::new(term), Some(Box::new(key)), to));
        }
        self.expect_sign("]")?;
        Ok(index(term, key))
    }

    fn term(&mut self) -> Parsed<Ast> {
        let at = self.start;
        match &self.token {
            Token::Number(_) => {
                let Token::Number(value) = self.advance() else { return Err(self.unexpected()) };
                Ok(Ast::Literal(value))
            }
            Token::Quote => self.string(None),
            Token::Format(_) => {
                let Token::Format(name) = self.advance() else { return Err(self.unexpected()) };
                if self.token == Token::Quote { self.string(Some(name)) } else { Ok(Ast::Format(name)) }
            }
            Token::Field(_) => {
                let Token::Field(name) = self.advance() else { return Err(self.unexpected()) };
                Ok(index(Ast::Identity, Ast::Literal(Value::from(name))))
            }
            Token::Variable(_) => {
                let line = self.line();
                let Token::Variable(name) = self.advance() else { return Err(self.unexpected()) };
                Ok(if name == "__loc__" { Ast::Location(line) } else { Ast::Variable(name, at) })
            }
            Token::Sign(sign) => match *sign {
                "." => {
                    self.advance();
                    match &self.token {
                        Token::Quote => Ok(index(Ast::Identity, self.string(None)?)),
                        _ => Ok(Ast::Identity),
                    }
                }
                ".." => {
                    self.advance();
                    Ok(Ast::Recurse)
                }
                "(" => {
                    self.advance();
                    let inner = self.pipe()?;
                    self.expect_sign(")")?;
                    Ok(inner)
                }
                "[" => {
                    self.advance();
                    if self.take_sign("]") {
                        return Ok(Ast::Array(None));
                    }
                    let inner = self.pipe()?;
                    self.expect_sign("]")?;
                    Ok(Ast::Array(Some(Box::new(inner))))
                }
                "{" => self.object(),
                _ => Err(self.unexpected()),
            },
            Token::Name(name) => match name.as_str() {
                "if" => self.condition(),
                "try" => self.attempt(),
                "reduce" | "foreach" => self.fold(),
                "break" => {
                    self.advance();
                    match self.advance() {
                        Token::Variable(name) => Ok(Ast::Break(name, at)),
                        _ => Err(self.error("break requires a label to break to")),
                    }
                }
                "def" | "label" => self.unary(),
                keyword if is_keyword(keyword) => Err(self.unexpected()),
                _ => self.call(at),
            },
            Token::End | Token::Wrong => Err(self.unexpected()),
        }
    }

    fn line(&self) -> usize {
        self.lexer.text[..self.start].bytes().filter(|byte| *byte == b'\n').count() + 1
    }

    fn call(&mut self, at: usize) -> Parsed<Ast> {
        let Token::Name(name) = self.advance() else { return Err(self.unexpected()) };
        let mut args = Vec::new();
        if self.take_sign("(") {
            loop {
                args.push(self.pipe()?);
                if !self.take_sign(";") {
                    break;
                }
            }
            self.expect_sign(")")?;
        }
        Ok(match (name.as_str(), args.is_empty()) {
            ("null", true) => Ast::Literal(Value::Null),
            ("true", true) => Ast::Literal(Value::Bool(true)),
            ("false", true) => Ast::Literal(Value::Bool(false)),
            _ => Ast::Call(name, args, at),
        })
    }

    fn condition(&mut self) -> Parsed<Ast> {
        // `if` or `elif`.
        self.advance();
        let test = self.pipe()?;
        self.expect_name("then")?;
        let then = self.pipe()?;
        let otherwise = match &self.token {
            Token::Name(name) if name == "elif" => Some(Box::new(self.nested(Self::condition)?)),
            Token::Name(name) if name == "else" => {
                self.advance();
                let otherwise = self.pipe()?;
                self.expect_name("end")?;
                Some(Box::new(otherwise))
            }
            _ => {
                self.expect_name("end")?;
                None
            }
        };
        Ok(Ast::If(Box::new(test), Box::new(then), otherwise))
    }

    fn attempt(&mut self) -> Parsed<Ast> {
        self.advance();
        let body = self.attempted()?;
        let handler = if self.take_name("catch") { Some(Box::new(self.attempted()?)) } else { None };
        Ok(Ast::Try(Box::new(body), handler))
    }

    /// `try` and `catch` bind tighter than any operator, but not than a sign before the term.
    fn attempted(&mut self) -> Parsed<Ast> {
        if self.take_sign("-") {
            return Ok(Ast::Negate(Box::new(self.postfix()?)));
        }
        self.postfix()
    }

    fn fold(&mut self) -> Parsed<Ast> {
        let is_reduce = self.at_name("reduce");
        self.advance();
        // Any operators, but the `as` is ours.
        let source = Box::new(self.without_bind(|it| it.binary(2))?);
        self.expect_name("as")?;
        let patterns = self.patterns()?;
        self.expect_sign("(")?;
        let init = Box::new(self.pipe()?);
        self.expect_sign(";")?;
        let update = Box::new(self.pipe()?);
        if is_reduce {
            self.expect_sign(")")?;
            return Ok(Ast::Reduce(source, patterns, init, update));
        }
        let extract = if self.take_sign(";") { Some(Box::new(self.pipe()?)) } else { None };
        self.expect_sign(")")?;
        Ok(Ast::Foreach(source, patterns, init, update, extract))
    }
}

fn index(target: Ast, key: Ast) -> Ast {
    Ast::Index(Box::new(target), Box::new(key))
}
