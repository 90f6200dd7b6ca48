//! Expressions, from the operators that bind least to those that bind most.

use super::Parser;
use crate::ast::{ArrayRef, Compare, Expr, Moment, Op, Place, Source};
use crate::lexer::{Keyword, Token};
use crate::pattern::Pattern;
use std::rc::Rc;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Result<Expr, String> {
        if self.expressions == 0 {
            self.links = 0;
        }
        self.deeper(Self::ternary)
    }

    fn ternary(&mut self) -> Result<Expr, String> {
        let condition = self.or()?;
        if !self.is("?") {
            return Ok(condition);
        }
        self.advance()?;
        self.newlines()?;
        let then = self.expr()?;
        self.newlines()?;
        self.expect(":")?;
        self.newlines()?;
        let otherwise = self.expr()?;
        Ok(Expr::If(Box::new((condition, then, otherwise))))
    }

    fn or(&mut self) -> Result<Expr, String> {
        let mut left = self.and()?;
        while self.eat("||")? {
            self.newlines()?;
            self.link()?;
            left = Expr::Or(Box::new((left, self.and()?)));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr, String> {
        let mut left = self.membership()?;
        while self.eat("&&")? {
            self.newlines()?;
            self.link()?;
            left = Expr::And(Box::new((left, self.membership()?)));
        }
        Ok(left)
    }

    fn membership(&mut self) -> Result<Expr, String> {
        let mut left = self.matching()?;
        while self.token == Token::Word(Keyword::In) && !self.no_in {
            self.advance()?;
            let Token::Name(name) = self.token.clone() else { return Err(self.unexpected()) };
            self.advance()?;
            let mut array = self.array(&name);
            while self.is("[") {
                let Place::Element(outer, keys) = self.subscripts(array)? else {
                    return Err(self.unexpected());
                };
                array = ArrayRef::Element(Box::new(outer), keys);
            }
            let keys = match left {
                Expr::Group(keys) => keys,
                key => vec![key],
            };
            self.link()?;
            left = Expr::In(keys, array);
        }
        if let Expr::Group(inner) = &left
            && inner.len() > 1
            && !self.no_greater
        {
            return Err("syntax error".to_owned());
        }
        Ok(left)
    }

    fn matching(&mut self) -> Result<Expr, String> {
        let mut left = self.comparison()?;
        while self.is("~") || self.is("!~") {
            let negated = self.is("!~");
            self.advance()?;
            self.link()?;
            left = Expr::Match(Box::new((left, self.comparison()?)), negated);
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Expr, String> {
        let mut left = self.piped()?;
        loop {
            let compare = match self.token {
                Token::Sign("<") => Compare::Less,
                Token::Sign("<=") => Compare::LessEqual,
                Token::Sign("==") => Compare::Equal,
                Token::Sign("!=") => Compare::NotEqual,
                Token::Sign(">") if !self.no_greater => Compare::Greater,
                Token::Sign(">=") => Compare::GreaterEqual,
                _ => return Ok(left),
            };
            self.advance()?;
            self.link()?;
            left = Expr::Compare(compare, Box::new((left, self.piped()?)));
        }
    }

    /// `command | getline`.
    fn piped(&mut self) -> Result<Expr, String> {
        let mut left = self.concatenation()?;
        while self.is("|") && self.getline_follows() {
            self.advance()?;
            self.advance()?;
            let place = self.getline_place()?;
            self.link()?;
            left = Expr::Getline(Source::Command(Box::new(left)), place);
            // `command | getline x y` is what was read and then `y`.
            if self.begins_operand() {
                let mut parts = vec![left];
                while self.begins_operand() {
                    parts.push(self.additive()?);
                }
                left = Expr::Concat(parts);
            }
        }
        Ok(left)
    }

    fn getline_follows(&mut self) -> bool {
        let (at, line) = (self.lexer.at, self.lexer.line);
        let next = self.lexer.next();
        (self.lexer.at, self.lexer.line) = (at, line);
        matches!(next, Ok(Token::Word(Keyword::Getline)))
    }

    pub(super) fn concatenation(&mut self) -> Result<Expr, String> {
        let first = self.additive()?;
        let mut parts = vec![first];
        while self.begins_operand() {
            parts.push(self.additive()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Concat(parts) })
    }

    fn begins_operand(&self) -> bool {
        match &self.token {
            Token::Num(_) | Token::Str(_) | Token::Name(_) | Token::Call(_) | Token::Builtin(_) => true,
            Token::Sign(sign) => matches!(*sign, "$" | "!" | "(" | "-" | "+" | "++" | "--"),
            _ => false,
        }
    }

    fn additive(&mut self) -> Result<Expr, String> {
        let mut left = self.multiplicative()?;
        loop {
            let op = match self.token {
                Token::Sign("+") => Op::Add,
                Token::Sign("-") => Op::Subtract,
                _ => return Ok(left),
            };
            self.advance()?;
            self.link()?;
            left = Expr::Binary(op, Box::new((left, self.multiplicative()?)));
        }
    }

    fn multiplicative(&mut self) -> Result<Expr, String> {
        let mut left = self.unary()?;
        loop {
            let op = match self.token {
                Token::Sign("*") => Op::Multiply,
                Token::Sign("/") => Op::Divide,
                Token::Sign("%") => Op::Modulo,
                _ => return Ok(left),
            };
            self.advance()?;
            let right = self.unary()?;
            // Gawk calculates with constants before it runs.
            if op != Op::Multiply && matches!((&left, &right), (Expr::Num(_), Expr::Num(0.0))) {
                let what = if op == Op::Modulo { " in `%'" } else { "" };
                return Err(format!("error: division by zero attempted{what}"));
            }
            self.link()?;
            left = Expr::Binary(op, Box::new((left, right)));
        }
    }

    pub(super) fn unary(&mut self) -> Result<Expr, String> {
        let Token::Sign(sign @ ("!" | "-" | "+")) = self.token else { return self.power() };
        self.advance()?;
        let operand = Box::new(self.deeper(Self::unary)?);
        Ok(match sign {
            "!" => Expr::Not(operand),
            "-" => Expr::Negate(operand),
            _ => Expr::Plus(operand),
        })
    }

    fn power(&mut self) -> Result<Expr, String> {
        let base = self.postfix()?;
        if !self.eat("^")? {
            return Ok(base);
        }
        // To the right, and with a sign: 2^-3^2.
        let exponent = self.deeper(Self::unary)?;
        Ok(Expr::Binary(Op::Power, Box::new((base, exponent))))
    }

    fn postfix(&mut self) -> Result<Expr, String> {
        let operand = self.primary()?;
        let is_place = matches!(operand, Expr::Var(_) | Expr::Field(_) | Expr::Element(..));
        if !is_place {
            return Ok(operand);
        }
        let Token::Sign(sign) = self.token else { return Ok(operand) };
        let op = match sign {
            "++" | "--" => {
                self.advance()?;
                let by = if sign == "++" { 1.0 } else { -1.0 };
                return Ok(Expr::Step(Box::new(self.place(operand)?), by, Moment::After));
            }
            "=" => {
                self.advance()?;
                self.newlines()?;
                let place = Box::new(self.place(operand)?);
                return Ok(Expr::Assign(place, Box::new(self.expr()?)));
            }
            "+=" => Op::Add,
            "-=" => Op::Subtract,
            "*=" => Op::Multiply,
            "/=" => Op::Divide,
            "%=" => Op::Modulo,
            "^=" => Op::Power,
            _ => return Ok(operand),
        };
        self.advance()?;
        self.newlines()?;
        let place = Box::new(self.place(operand)?);
        Ok(Expr::AssignOp(place, op, Box::new(self.expr()?)))
    }

    /// An expression as something to assign to.
    pub(super) fn place(&self, expr: Expr) -> Result<Place, String> {
        Ok(match expr {
            Expr::Var(var) => Place::Var(var),
            Expr::Field(index) => Place::Field(index),
            Expr::Element(array, keys) => Place::Element(array, keys),
            Expr::Group(mut inner) if inner.len() == 1 => return self.place(inner.remove(0)),
            _ => return Err(self.unexpected()),
        })
    }

    pub(super) fn primary(&mut self) -> Result<Expr, String> {
        let token = std::mem::replace(&mut self.token, Token::Newline);
        match token {
            Token::Sign(sign @ ("/" | "/=")) => {
                let mut pattern = self.lexer.regex()?;
                if sign == "/=" {
                    pattern.insert(0, b'=');
                }
                self.advance()?;
                let pattern = Rc::new(Pattern::new(pattern));
                let shown = String::from_utf8_lossy(&pattern.text).into_owned();
                pattern.regex(false).map_err(|it| format!("error: {}: /{shown}/", it.text()))?;
                Ok(Expr::Regex(pattern))
            }
            Token::Num(value) => self.then(Expr::Num(value)),
            Token::Str(text) => self.then(Expr::Str(Rc::new(text))),
            Token::Sign("$") => {
                self.advance()?;
                let operand = self.deeper(Self::field_number)?;
                Ok(Expr::Field(Box::new(operand)))
            }
            Token::Sign(sign @ ("++" | "--")) => {
                self.advance()?;
                let operand = self.deeper(Self::primary)?;
                let by = if sign == "++" { 1.0 } else { -1.0 };
                Ok(Expr::Step(Box::new(self.place(operand)?), by, Moment::Before))
            }
            Token::Sign("(") => self.group(),
            Token::Word(Keyword::Getline) => {
                self.advance()?;
                let place = self.getline_place()?;
                if !self.eat("<")? {
                    return Ok(Expr::Getline(Source::Main, place));
                }
                let file = self.deeper(Self::primary)?;
                Ok(Expr::Getline(Source::File(Box::new(file)), place))
            }
            Token::Name(name) => {
                self.advance()?;
                if !self.is("[") {
                    return Ok(Expr::Var(self.var(&name)));
                }
                let mut array = self.array(&name);
                loop {
                    let Place::Element(outer, keys) = self.subscripts(array)? else {
                        return Err(self.unexpected());
                    };
                    if !self.is("[") {
                        return Ok(Expr::Element(outer, keys));
                    }
                    array = ArrayRef::Element(Box::new(outer), keys);
                }
            }
            Token::Call(name) => {
                self.advance()?;
                let arguments = self.arguments()?;
                let number = self.function_number(&name);
                self.note_passed(number, &arguments);
                Ok(Expr::Call(number, arguments))
            }
            Token::Builtin(builtin) => {
                self.advance()?;
                self.builtin(builtin)
            }
            token => {
                self.token = token;
                Err(self.unexpected())
            }
        }
    }

    fn then(&mut self, expr: Expr) -> Result<Expr, String> {
        self.advance()?;
        Ok(expr)
    }
}
