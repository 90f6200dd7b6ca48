//! Statements.

use super::{Parser, STATEMENTS_MAX};
use crate::ast::{ArrayRef, Case, Expr, Place, Redirect, Stmt};
use crate::lexer::{Keyword, Token};

/// The values of a `print`, and where they go.
type Printed = (Vec<Expr>, Option<(Redirect, Expr)>);

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Result<Vec<Stmt>, String> {
        self.expect("{")?;
        let body = self.statements()?;
        self.expect("}")?;
        Ok(body)
    }

    /// Statements up to a `}`, `case` or `default`.
    fn statements(&mut self) -> Result<Vec<Stmt>, String> {
        let mut body = Vec::new();
        loop {
            while self.token == Token::Newline || self.is(";") {
                self.advance()?;
            }
            if self.is("}") || matches!(self.token, Token::Word(Keyword::Case | Keyword::Default)) {
                return Ok(body);
            }
            body.push(self.statement()?);
        }
    }

    fn statement(&mut self) -> Result<Stmt, String> {
        if self.statements >= STATEMENTS_MAX {
            return Err("statements are nested too deeply".to_owned());
        }
        self.statements += 1;
        let result = self.any_statement();
        self.statements -= 1;
        result
    }

    fn any_statement(&mut self) -> Result<Stmt, String> {
        if self.is("{") {
            return Ok(Stmt::Block(self.block()?));
        }
        if self.eat(";")? {
            return Ok(Stmt::Block(Vec::new()));
        }
        let Token::Word(word) = self.token else {
            let stmt = self.simple()?;
            self.end()?;
            return Ok(stmt);
        };
        match word {
            Keyword::If => {
                self.advance()?;
                let condition = self.condition()?;
                let then = Box::new(self.body()?);
                // A `;` or line ends may stand between the two.
                let (at, line, token) = (self.lexer.at, self.lexer.line, self.token.clone());
                while self.token == Token::Newline || self.is(";") {
                    self.advance()?;
                }
                if self.token == Token::Word(Keyword::Else) {
                    self.advance()?;
                    return Ok(Stmt::If(condition, then, Some(Box::new(self.body()?))));
                }
                (self.lexer.at, self.lexer.line, self.token) = (at, line, token);
                Ok(Stmt::If(condition, then, None))
            }
            Keyword::While => {
                self.advance()?;
                let condition = self.condition()?;
                if self.eat(";")? {
                    return Ok(Stmt::While(condition, Box::new(Stmt::Block(Vec::new()))));
                }
                Ok(Stmt::While(condition, Box::new(self.body()?)))
            }
            Keyword::Do => {
                self.advance()?;
                let body = self.body()?;
                while self.token == Token::Newline || self.is(";") {
                    self.advance()?;
                }
                if self.token != Token::Word(Keyword::While) {
                    return Err(self.unexpected());
                }
                self.advance()?;
                let condition = self.condition()?;
                Ok(Stmt::Do(Box::new(body), condition))
            }
            Keyword::For => self.for_loop(),
            Keyword::Switch => self.switch(),
            _ => {
                let stmt = self.simple()?;
                self.end()?;
                Ok(stmt)
            }
        }
    }

    fn condition(&mut self) -> Result<Expr, String> {
        self.expect("(")?;
        let condition = self.expr()?;
        self.expect(")")?;
        Ok(condition)
    }

    fn body(&mut self) -> Result<Stmt, String> {
        self.newlines()?;
        self.statement()
    }

    fn end(&mut self) -> Result<(), String> {
        if self.token == Token::Newline || self.is(";") {
            return self.advance();
        }
        if self.is("}") || self.token == Token::End { Ok(()) } else { Err(self.unexpected()) }
    }

    fn for_loop(&mut self) -> Result<Stmt, String> {
        self.advance()?;
        self.expect("(")?;
        let start = if self.is(";") { None } else { Some(self.for_start()?) };
        if let Some(Stmt::Expr(Expr::In(keys, array))) = start {
            self.expect(")")?;
            let Ok([key]) = <[Expr; 1]>::try_from(keys) else { return Err(self.unexpected()) };
            let place = self.place(key)?;
            return Ok(Stmt::ForIn(place, array, Box::new(self.body()?)));
        }
        self.expect(";")?;
        self.newlines()?;
        let condition = if self.is(";") { None } else { Some(self.expr()?) };
        self.expect(";")?;
        self.newlines()?;
        let step = if self.is(")") { None } else { Some(Box::new(self.simple()?)) };
        self.expect(")")?;
        if self.eat(";")? {
            return Ok(Stmt::For(start.map(Box::new), condition, step, Box::new(Stmt::Block(Vec::new()))));
        }
        let body = self.body()?;
        Ok(Stmt::For(start.map(Box::new), condition, step, Box::new(body)))
    }

    /// `name in array` alone is a loop over the array.
    fn for_start(&mut self) -> Result<Stmt, String> {
        let start = self.simple()?;
        Ok(match start {
            Stmt::Expr(Expr::Group(mut inner)) if inner.len() == 1 => Stmt::Expr(inner.remove(0)),
            start => start,
        })
    }

    fn switch(&mut self) -> Result<Stmt, String> {
        self.advance()?;
        let subject = self.condition()?;
        self.newlines()?;
        self.expect("{")?;
        self.newlines()?;
        let mut cases = Vec::new();
        while !self.is("}") {
            let case = match self.token {
                Token::Word(Keyword::Default) => {
                    self.advance()?;
                    None
                }
                Token::Word(Keyword::Case) => {
                    self.advance()?;
                    match self.unary()? {
                        Expr::Regex(pattern) => Some(Case::Regex(pattern)),
                        value => Some(Case::Value(value)),
                    }
                }
                _ => return Err(self.unexpected()),
            };
            self.expect(":")?;
            cases.push((case, self.statements()?));
        }
        self.expect("}")?;
        Ok(Stmt::Switch(subject, cases))
    }

    /// A statement that can stand in the head of a `for`.
    fn simple(&mut self) -> Result<Stmt, String> {
        let Token::Word(word) = self.token else { return Ok(Stmt::Expr(self.expr()?)) };
        if word == Keyword::Getline {
            return Ok(Stmt::Expr(self.expr()?));
        }
        self.advance()?;
        Ok(match word {
            Keyword::Print => {
                let (values, to) = self.printed()?;
                Stmt::Print { values, to }
            }
            Keyword::Printf => {
                let (values, to) = self.printed()?;
                if values.is_empty() {
                    return Err("printf: no arguments".to_owned());
                }
                Stmt::Printf { values, to }
            }
            Keyword::Break => Stmt::Break,
            Keyword::Continue => Stmt::Continue,
            Keyword::Next | Keyword::NextFile if self.in_begin => {
                let name = if word == Keyword::Next { "next" } else { "nextfile" };
                return Err(format!("error: `{name}' used in BEGIN action"));
            }
            Keyword::Next => Stmt::Next,
            Keyword::NextFile => Stmt::NextFile,
            Keyword::Exit => Stmt::Exit(self.optional()?),
            Keyword::Return if self.current.is_none() => {
                return Err("`return' used outside function context".to_owned());
            }
            Keyword::Return => Stmt::Return(self.optional()?),
            Keyword::Delete => self.delete()?,
            _ => return Err(self.unexpected()),
        })
    }

    fn optional(&mut self) -> Result<Option<Expr>, String> {
        let none = self.token == Token::Newline || self.token == Token::End || self.is(";") || self.is("}");
        if none { Ok(None) } else { Ok(Some(self.expr()?)) }
    }

    fn delete(&mut self) -> Result<Stmt, String> {
        let parenthesised = self.eat("(")?;
        let (Token::Name(name) | Token::Call(name)) = self.token.clone() else {
            return Err(self.unexpected());
        };
        self.advance()?;
        let mut array = self.array(&name);
        let mut stmt = None;
        while self.is("[") {
            let Place::Element(outer, keys) = self.subscripts(array)? else { return Err(self.unexpected()) };
            if self.is("[") {
                array = ArrayRef::Element(Box::new(outer), keys);
            } else {
                let keys = std::rc::Rc::try_unwrap(keys).map_err(|_| self.unexpected())?;
                stmt = Some(Stmt::Delete(outer, Some(keys)));
                array = ArrayRef::Global(0);
            }
        }
        let stmt = stmt.unwrap_or(Stmt::Delete(array, None));
        if parenthesised {
            self.expect(")")?;
        }
        Ok(stmt)
    }

    /// What `print` and `printf` print, and where to.
    fn printed(&mut self) -> Result<Printed, String> {
        let mut values = Vec::new();
        let ends = |it: &Self| {
            it.token == Token::Newline
                || it.token == Token::End
                || [";", "}", ">", ">>", "|"].iter().any(|sign| it.is(sign))
        };
        if !ends(self) {
            let was = std::mem::replace(&mut self.no_greater, true);
            let read = self.list();
            self.no_greater = was;
            values = read?;
            if let [Expr::Group(inner)] = values.as_mut_slice() {
                values = std::mem::take(inner);
            }
        }
        let redirect = match self.token {
            Token::Sign(">") => Redirect::Write,
            Token::Sign(">>") => Redirect::Append,
            Token::Sign("|") => Redirect::Pipe,
            Token::Sign("|&") => {
                return Err("`|&' is not supported: no other programs are run here".to_owned());
            }
            _ => return Ok((values, None)),
        };
        self.advance()?;
        let was = std::mem::replace(&mut self.no_greater, true);
        let target = self.concatenation();
        self.no_greater = was;
        Ok((values, Some((redirect, target?))))
    }

    fn list(&mut self) -> Result<Vec<Expr>, String> {
        let mut values = vec![self.expr()?];
        while self.eat(",")? {
            self.newlines()?;
            values.push(self.expr()?);
        }
        Ok(values)
    }
}
