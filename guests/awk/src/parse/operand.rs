//! Parts of operands: what follows `$`, parentheses, arguments and subscripts.

use super::Parser;
use crate::ast::{ArrayRef, BUILTINS, Builtin, Expr, Place, Var};
use crate::lexer::{Keyword, Token};
use std::rc::Rc;

impl Parser<'_> {
    /// What follows `$`: `$i++` is `($i)++`, and `$++i` is `$(++i)`.
    pub(super) fn field_number(&mut self) -> Result<Expr, String> {
        match self.token {
            Token::Sign(sign @ ("-" | "+" | "!")) => {
                self.advance()?;
                let operand = Box::new(self.deeper(Self::field_number)?);
                Ok(match sign {
                    "-" => Expr::Negate(operand),
                    "!" => Expr::Not(operand),
                    _ => Expr::Plus(operand),
                })
            }
            _ => self.primary(),
        }
    }

    pub(super) fn group(&mut self) -> Result<Expr, String> {
        self.advance()?;
        let was = (std::mem::take(&mut self.no_greater), std::mem::take(&mut self.no_in));
        let mut inner = vec![self.expr()?];
        self.newlines()?;
        while self.eat(",")? {
            self.newlines()?;
            inner.push(self.expr()?);
            self.newlines()?;
        }
        (self.no_greater, self.no_in) = was;
        self.expect(")")?;
        if inner.len() > 1 && self.token != Token::Word(Keyword::In) && !self.no_greater {
            return Err(self.unexpected());
        }
        Ok(Expr::Group(inner))
    }

    pub(super) fn arguments(&mut self) -> Result<Vec<Expr>, String> {
        self.expect("(")?;
        let was = (std::mem::take(&mut self.no_greater), std::mem::take(&mut self.no_in));
        let mut arguments = Vec::new();
        self.newlines()?;
        while !self.is(")") {
            arguments.push(self.expr()?);
            self.newlines()?;
            if !self.is(")") {
                self.expect(",")?;
                self.newlines()?;
            }
        }
        (self.no_greater, self.no_in) = was;
        self.expect(")")?;
        Ok(arguments)
    }

    /// One pair of brackets after an array.
    pub(super) fn subscripts(&mut self, array: ArrayRef) -> Result<Place, String> {
        self.expect("[")?;
        let was = (std::mem::take(&mut self.no_greater), std::mem::take(&mut self.no_in));
        let mut keys = vec![self.expr()?];
        while self.eat(",")? {
            self.newlines()?;
            keys.push(self.expr()?);
        }
        (self.no_greater, self.no_in) = was;
        self.expect("]")?;
        Ok(Place::Element(array, Rc::new(keys)))
    }

    pub(super) fn getline_place(&mut self) -> Result<Option<Box<Place>>, String> {
        match self.token {
            Token::Name(_) | Token::Sign("$") => {
                let operand = self.primary()?;
                Ok(Some(Box::new(self.place(operand)?)))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn builtin(&mut self, builtin: Builtin) -> Result<Expr, String> {
        if builtin == Builtin::Length && !self.is("(") {
            return Ok(Expr::Builtin(builtin, Vec::new()));
        }
        let arguments = self.arguments()?;
        let known = BUILTINS.iter().find(|(_, it, ..)| *it == builtin);
        let Some((name, _, min, max)) = known else { return Err(self.unexpected()) };
        if arguments.len() < *min || arguments.len() > *max {
            return Err(format!("{} is invalid as number of arguments for {name}", arguments.len()));
        }
        // Which arguments are arrays, so that a parameter's bare name is known to be one.
        let arrays: &[usize] = match builtin {
            Builtin::Split | Builtin::PatSplit => &[1, 3],
            Builtin::Asort | Builtin::Asorti => &[0, 1],
            Builtin::Match => &[2],
            _ => &[],
        };
        for position in arrays {
            if let Some(Expr::Var(Var::Local(local))) = arguments.get(*position) {
                self.mark_array(*local);
            }
        }
        Ok(Expr::Builtin(builtin, arguments))
    }
}
