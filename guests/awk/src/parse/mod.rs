//! Reads a program: rules and functions. Statements and expressions have files of their own.

mod expr;
mod operand;
mod stmt;
#[cfg(test)]
mod tests;

use crate::ast::{ArrayRef, Expr, Function, Match, Program, Rule, SPECIALS, Var};
use crate::lexer::{Keyword, Lexer, Token};
use std::collections::BTreeMap;

/// Statements inside one another: `else if` is one inside the other.
const STATEMENTS_MAX: usize = 200;
/// Expressions inside one another, each of which takes a dozen calls to read.
const EXPRESSIONS_MAX: usize = 50;

/// Reads a program; the error is a message with the line.
pub fn parse(text: &[u8]) -> Result<Program, String> {
    let mut parser = Parser {
        lexer: Lexer::new(text),
        token: Token::Newline,
        program: Program::default(),
        names: BTreeMap::new(),
        functions: BTreeMap::new(),
        locals: BTreeMap::new(),
        current: None,
        passed: Vec::new(),
        no_greater: false,
        no_in: false,
        in_begin: false,
        statements: 0,
        expressions: 0,
    };
    let read = parser.program();
    read.map_err(|problem| parser.located(&problem))?;
    Ok(parser.program)
}

/// An argument that is a parameter's bare name: whether that is an array is known only at the end.
struct Passed {
    function: usize,
    parameter: usize,
    to: usize,
    position: usize,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    program: Program,
    names: BTreeMap<String, usize>,
    functions: BTreeMap<String, usize>,
    locals: BTreeMap<String, usize>,
    /// The function that is being read.
    current: Option<usize>,
    passed: Vec<Passed>,
    /// In the values of `print`, `>` is a redirection.
    no_greater: bool,
    no_in: bool,
    /// Before the first record, where none can be left for the next.
    in_begin: bool,
    statements: usize,
    expressions: usize,
}

impl Parser<'_> {
    fn program(&mut self) -> Result<(), String> {
        self.advance()?;
        loop {
            while self.token == Token::Newline || self.is(";") {
                self.advance()?;
            }
            if self.token == Token::End {
                break;
            }
            self.item()?;
        }
        for function in &self.program.functions {
            if !function.defined {
                return Err(format!("fatal: function `{}' not defined", function.name));
            }
        }
        self.spread_arrays();
        Ok(())
    }

    fn item(&mut self) -> Result<(), String> {
        match self.token {
            Token::Word(Keyword::Function) => self.function(),
            Token::Word(key @ (Keyword::Begin | Keyword::EndKey | Keyword::BeginFile | Keyword::EndFile)) => {
                self.advance()?;
                self.newlines()?;
                self.in_begin = key == Keyword::Begin;
                let body = self.block()?;
                self.in_begin = false;
                let program = &mut self.program;
                match key {
                    Keyword::Begin => program.begin.push(body),
                    Keyword::EndKey => program.end.push(body),
                    Keyword::BeginFile => program.begin_file.push(body),
                    _ => program.end_file.push(body),
                }
                Ok(())
            }
            _ => self.rule(),
        }
    }

    fn rule(&mut self) -> Result<(), String> {
        let pattern = if self.is("{") {
            Match::Always
        } else {
            let from = self.expr()?;
            if self.eat(",")? {
                self.newlines()?;
                let number = self.program.ranges;
                self.program.ranges += 1;
                Match::Range { from, to: self.expr()?, number }
            } else {
                Match::If(from)
            }
        };
        let body = if self.is("{") { Some(self.block()?) } else { None };
        self.program.rules.push(Rule { pattern, body });
        Ok(())
    }

    fn function(&mut self) -> Result<(), String> {
        self.advance()?;
        let (Token::Name(name) | Token::Call(name)) = self.token.clone() else {
            return Err(self.unexpected());
        };
        self.advance()?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.is(")") {
            let Token::Name(parameter) = self.token.clone() else { return Err(self.unexpected()) };
            parameters.push(parameter);
            self.advance()?;
            self.newlines()?;
            if !self.is(")") {
                self.expect(",")?;
                self.newlines()?;
            }
        }
        self.expect(")")?;
        self.newlines()?;
        let number = self.function_number(&name);
        if self.program.functions[number].defined {
            return Err(format!("function name `{name}' previously defined"));
        }
        self.program.functions[number].defined = true;
        self.program.functions[number].arrays = vec![false; parameters.len()];
        self.locals = parameters.into_iter().enumerate().map(|(at, name)| (name, at)).collect();
        self.current = Some(number);
        let body = self.block()?;
        self.program.functions[number].body = body;
        self.locals.clear();
        self.current = None;
        Ok(())
    }

    fn function_number(&mut self, name: &str) -> usize {
        if let Some(number) = self.functions.get(name) {
            return *number;
        }
        let number = self.program.functions.len();
        self.program.functions.push(Function { name: name.to_owned(), ..Function::default() });
        self.functions.insert(name.to_owned(), number);
        number
    }

    fn global(&mut self, name: &str) -> usize {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = self.program.globals.len();
        self.program.globals.push(name.to_owned());
        self.names.insert(name.to_owned(), number);
        number
    }

    fn var(&mut self, name: &str) -> Var {
        if let Some(local) = self.locals.get(name) {
            return Var::Local(*local);
        }
        if let Some((_, special)) = SPECIALS.iter().find(|(known, _)| *known == name) {
            return Var::Special(*special);
        }
        Var::Global(self.global(name))
    }

    /// The array of that name.
    fn array(&mut self, name: &str) -> ArrayRef {
        match self.locals.get(name) {
            Some(local) => {
                let local = *local;
                self.mark_array(local);
                ArrayRef::Local(local)
            }
            None => ArrayRef::Global(self.global(name)),
        }
    }

    fn mark_array(&mut self, local: usize) {
        if let Some(current) = self.current {
            self.program.functions[current].arrays[local] = true;
        }
    }

    /// A parameter is an array, too, if it is passed to a function that uses it as one.
    fn spread_arrays(&mut self) {
        loop {
            let mut changed = false;
            for Passed { function, parameter, to, position } in &self.passed {
                let functions = &mut self.program.functions;
                let wanted = functions[*to].arrays.get(*position).copied().unwrap_or(false);
                if wanted && !functions[*function].arrays[*parameter] {
                    functions[*function].arrays[*parameter] = true;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Notes which arguments are parameters of the function that is being read.
    fn note_passed(&mut self, to: usize, arguments: &[Expr]) {
        let Some(function) = self.current else { return };
        for (position, argument) in arguments.iter().enumerate() {
            if let Expr::Var(Var::Local(parameter)) = argument {
                self.passed.push(Passed { function, parameter: *parameter, to, position });
            }
        }
    }

    fn advance(&mut self) -> Result<(), String> {
        self.token = self.lexer.next()?;
        Ok(())
    }

    fn is(&self, sign: &str) -> bool {
        matches!(&self.token, Token::Sign(it) if *it == sign)
    }

    fn eat(&mut self, sign: &str) -> Result<bool, String> {
        let found = self.is(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.eat(sign)? { Ok(()) } else { Err(self.unexpected()) }
    }

    fn newlines(&mut self) -> Result<(), String> {
        while self.token == Token::Newline {
            self.advance()?;
        }
        Ok(())
    }

    fn unexpected(&self) -> String {
        match self.token {
            Token::Newline | Token::End => "unexpected newline or end of string".to_owned(),
            _ => "syntax error".to_owned(),
        }
    }

    /// The message as gawk gives it: what is about words of the program shows where.
    fn located(&self, problem: &str) -> String {
        let line = self.lexer.line - usize::from(self.token == Token::Newline && self.lexer.line > 1);
        if problem.starts_with("fatal: ") {
            return problem.to_owned();
        }
        if problem.starts_with("error: ") {
            return format!("cmd. line:{line}: {problem}");
        }
        let (text, column) = self.lexer.around();
        let blanks = " ".repeat(column);
        format!("cmd. line:{line}: {text}\nawk: cmd. line:{line}: {blanks}^ {problem}")
    }

    /// Reads an expression one level deeper.
    fn deeper(&mut self, read: fn(&mut Self) -> Result<Expr, String>) -> Result<Expr, String> {
        if self.expressions >= EXPRESSIONS_MAX {
            return Err("expressions are nested too deeply".to_owned());
        }
        self.expressions += 1;
        let result = read(self);
        self.expressions -= 1;
        result
    }
}
