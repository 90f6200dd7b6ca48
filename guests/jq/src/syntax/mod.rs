//! The text of a program to its tree.
//!
//! Precedence climbing over jq's table of operators. Every level of nesting is counted, so that no
//! text can exhaust the stack, here or in what walks the tree later.

pub mod ast;
mod lexer;
mod module;
mod object;
mod pattern;
mod string;
mod term;
#[cfg(test)]
mod tests;

use ast::{Assignment, Ast, Definition, Operator, Param};
use lexer::{Lexer, Token, is_keyword};

/// How deeply a program may nest.
const DEPTH_MAX: usize = 200;
/// How many operators of one level may follow each other.
const CHAIN_MAX: usize = 1000;

/// What is wrong with a text, with the place where it shows.
#[derive(Debug)]
pub struct SyntaxError {
    pub what: String,
    pub at: usize,
}

pub(crate) struct Parser<'s> {
    lexer: Lexer<'s>,
    token: Token,
    /// Where the current token starts.
    start: usize,
    depth: usize,
    /// `as` does not belong to the term before it, but to the `reduce` or `foreach` around it.
    no_bind: bool,
    /// Where the token before started.
    before: usize,
}

type Parsed<T> = Result<T, SyntaxError>;

/// Reads a program or a module.
pub fn parse(text: &str) -> Parsed<ast::Module> {
    Parser::new(text).module()
}

/// Reads definitions only.
pub fn parse_definitions(text: &str) -> Parsed<Vec<Definition>> {
    let mut parser = Parser::new(text);
    let mut all = Vec::new();
    while parser.at_name("def") {
        all.push(parser.definition()?);
    }
    parser.expect_end()?;
    Ok(all)
}

impl<'s> Parser<'s> {
    fn new(text: &'s str) -> Self {
        let mut parser = Self {
            lexer: Lexer { text, at: 0 },
            token: Token::End,
            start: 0,
            depth: 0,
            no_bind: false,
            before: 0,
        };
        parser.advance();
        parser
    }

    fn advance(&mut self) -> Token {
        self.lexer.skip_blank();
        (self.before, self.start) = (self.start, self.lexer.at);
        let next = self.lexer.next();
        std::mem::replace(&mut self.token, next)
    }

    fn at_sign(&self, sign: &str) -> bool {
        matches!(&self.token, Token::Sign(found) if *found == sign)
    }

    fn at_name(&self, name: &str) -> bool {
        matches!(&self.token, Token::Name(found) if found == name)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let there = self.at_sign(sign);
        if there {
            self.advance();
        }
        there
    }

    fn take_name(&mut self, name: &str) -> bool {
        let there = self.at_name(name);
        if there {
            self.advance();
        }
        there
    }

    fn expect_sign(&mut self, sign: &str) -> Parsed<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_name(&mut self, name: &str) -> Parsed<()> {
        if self.take_name(name) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_end(&mut self) -> Parsed<()> {
        match &self.token {
            Token::End => Ok(()),
            // A bracket that nothing opened is no token to jq.
            Token::Sign(")" | "]" | "}") => {
                Err(self.error("syntax error, unexpected INVALID_CHARACTER, expecting end of file (Unix shell quoting issues?)"))
            }
            _ => Err(self.unexpected_instead_of("end of file")),
        }
    }

    /// jq's message for a token that cannot stand here.
    fn unexpected(&self) -> SyntaxError {
        let found = match &self.token {
            Token::End => "end of file".to_owned(),
            Token::Wrong => "INVALID_CHARACTER".to_owned(),
            Token::Quote => "QQSTRING_START".to_owned(),
            Token::Number(_) => "LITERAL".to_owned(),
            Token::Format(_) => "FORMAT".to_owned(),
            Token::Field(_) => "FIELD".to_owned(),
            Token::Variable(name) if name == "__loc__" => "$__loc__".to_owned(),
            Token::Variable(_) => "BINDING".to_owned(),
            Token::Name(name) if is_keyword(name) => name.clone(),
            Token::Name(_) => "IDENT".to_owned(),
            Token::Sign(sign) if sign.len() > 1 => (*sign).to_owned(),
            Token::Sign(sign) => format!("'{sign}'"),
        };
        self.error(&format!("syntax error, unexpected {found} (Unix shell quoting issues?)"))
    }

    /// The same, where jq says what it had expected.
    fn unexpected_instead_of(&self, expected: &str) -> SyntaxError {
        let mut error = self.unexpected();
        error.what = error.what.replacen(" (Unix", &format!(", expecting {expected} (Unix"), 1);
        error
    }

    fn error(&self, what: &str) -> SyntaxError {
        // At the end, jq points at the last token there was.
        let at = if self.token == Token::End { self.before } else { self.start };
        SyntaxError { what: what.to_owned(), at }
    }

    /// Runs `parse` one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_MAX {
            return Err(self.error("memory exhausted"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// The loosest level: `a | b`, and what takes all the rest with it.
    pub(crate) fn pipe(&mut self) -> Parsed<Ast> {
        let outer = std::mem::take(&mut self.no_bind);
        let parsed = self.stages();
        self.no_bind = outer;
        parsed
    }

    fn stages(&mut self) -> Parsed<Ast> {
        self.nested(|it| {
            let mut stages = Vec::new();
            loop {
                stages.push(it.comma()?);
                if !it.take_sign("|") {
                    break;
                }
            }
            Ok(one_or(stages, Ast::Pipe))
        })
    }

    fn without_bind<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.no_bind, true);
        let parsed = parse(self);
        self.no_bind = outer;
        parsed
    }

    fn comma(&mut self) -> Parsed<Ast> {
        let mut items = vec![self.binary(0)?];
        while self.take_sign(",") {
            items.push(self.binary(0)?);
        }
        Ok(one_or(items, Ast::Comma))
    }

    /// Everything between `,` and the terms, by precedence climbing.
    fn binary(&mut self, level_min: u8) -> Parsed<Ast> {
        let mut left = self.unary()?;
        let (mut count, mut closed) = (0, u8::MAX);
        loop {
            let Some((level, side)) = self.operator() else { return Ok(left) };
            if level < level_min {
                return Ok(left);
            }
            // `a == b == c` and `a = b = c` mean nothing.
            if level == closed {
                return Err(self.unexpected());
            }
            count += 1;
            if count > CHAIN_MAX {
                return Err(self.error("memory exhausted"));
            }
            let sign = self.advance();
            let right = match side {
                Side::Right => self.nested(|it| it.binary(level))?,
                Side::Left | Side::None => self.nested(|it| it.binary(level + 1))?,
            };
            closed = if matches!(side, Side::None) { level } else { u8::MAX };
            left = combine(&sign, left, right);
        }
    }

    fn operator(&self) -> Option<(u8, Side)> {
        Some(match &self.token {
            Token::Name(name) if name == "or" => (2, Side::Left),
            Token::Name(name) if name == "and" => (3, Side::Left),
            Token::Sign(sign) => match *sign {
                "//" => (0, Side::Right),
                "=" | "|=" | "+=" | "-=" | "*=" | "/=" | "%=" | "//=" => (1, Side::None),
                "==" | "!=" | "<" | "<=" | ">" | ">=" => (4, Side::None),
                "+" | "-" => (5, Side::Left),
                "*" | "/" | "%" => (6, Side::Left),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn unary(&mut self) -> Parsed<Ast> {
        match &self.token {
            Token::Sign("-") => {
                self.advance();
                let operand = self.nested(|it| it.binary(6))?;
                Ok(Ast::Negate(Box::new(operand)))
            }
            Token::Name(name) if name == "def" => {
                let definition = self.nested(Self::definition)?;
                let rest = self.pipe()?;
                Ok(Ast::Define(Box::new(definition), Box::new(rest)))
            }
            Token::Name(name) if name == "label" => {
                self.advance();
                let Token::Variable(name) = self.advance() else { return Err(self.unexpected()) };
                self.expect_sign("|")?;
                Ok(Ast::Label(name, Box::new(self.pipe()?)))
            }
            _ => {
                let term = self.postfix()?;
                if self.no_bind || !self.take_name("as") {
                    return Ok(term);
                }
                let patterns = self.patterns()?;
                self.expect_sign("|")?;
                Ok(Ast::Bind(Box::new(term), patterns, Box::new(self.pipe()?)))
            }
        }
    }

    /// `def name(a; $b): body;`
    pub(crate) fn definition(&mut self) -> Parsed<Definition> {
        self.expect_name("def")?;
        let name = match self.advance() {
            Token::Name(name) => name,
            _ => return Err(self.unexpected()),
        };
        let mut params = Vec::new();
        if self.take_sign("(") {
            loop {
                params.push(match self.advance() {
                    Token::Name(name) => Param { name, is_value: false },
                    Token::Variable(name) => Param { name, is_value: true },
                    _ => return Err(self.unexpected()),
                });
                if !self.take_sign(";") {
                    break;
                }
            }
            self.expect_sign(")")?;
        }
        self.expect_sign(":")?;
        let body = self.pipe()?;
        self.expect_sign(";")?;
        Ok(Definition { name, params, body })
    }
}

enum Side {
    Left,
    Right,
    None,
}

fn one_or(mut all: Vec<Ast>, make: fn(Vec<Ast>) -> Ast) -> Ast {
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            all.extend(last);
            make(all)
        }
    }
}

fn combine(sign: &Token, left: Ast, right: Ast) -> Ast {
    use Operator::{
        Add, Divide, Equal, Greater, GreaterEqual, Less, LessEqual, Multiply, NotEqual, Remainder, Subtract,
    };
    let (left, right) = (Box::new(left), Box::new(right));
    let sign = match sign {
        Token::Name(name) if name == "or" => return Ast::Or(left, right),
        Token::Name(_) => return Ast::And(left, right),
        Token::Sign(sign) => *sign,
        _ => "",
    };
    let assign = |how| move |left, right| Ast::Assign(how, left, right);
    match sign {
        "//" => Ast::Alternative(left, right),
        "=" => assign(Assignment::Set)(left, right),
        "|=" => assign(Assignment::Update)(left, right),
        "//=" => assign(Assignment::Default)(left, right),
        "+=" => assign(Assignment::Compute(Add))(left, right),
        "-=" => assign(Assignment::Compute(Subtract))(left, right),
        "*=" => assign(Assignment::Compute(Multiply))(left, right),
        "/=" => assign(Assignment::Compute(Divide))(left, right),
        "%=" => assign(Assignment::Compute(Remainder))(left, right),
        "==" => Ast::Binary(Equal, left, right),
        "!=" => Ast::Binary(NotEqual, left, right),
        "<" => Ast::Binary(Less, left, right),
        "<=" => Ast::Binary(LessEqual, left, right),
        ">" => Ast::Binary(Greater, left, right),
        ">=" => Ast::Binary(GreaterEqual, left, right),
        "+" => Ast::Binary(Add, left, right),
        "-" => Ast::Binary(Subtract, left, right),
        "*" => Ast::Binary(Multiply, left, right),
        "/" => Ast::Binary(Divide, left, right),
        _ => Ast::Binary(Remainder, left, right),
    }
}
