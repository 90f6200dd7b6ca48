//! Statements to code, one input line at a time.
//!
//! The order of precedence is GNU's: assignments bind tighter than comparisons, and a minus sign
//! tighter than `^`.

mod expression;

use crate::code::{Function, Item, Local, Op};
use crate::lexer::{Word, words};

/// Deeper nesting than this is refused, as it would use up the guest's stack.
const DEPTH_MAX: usize = 120;

/// Turns a source into items.
pub struct Parser {
    words: Vec<(Word, usize)>,
    at: usize,
    depth: usize,
    code: Vec<Op>,
    loops: Vec<Loop>,
}

/// Jumps that can only be filled in when the loop is closed.
#[derive(Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

type Parsed<T> = Result<T, String>;

fn wrong<T>() -> Parsed<T> {
    Err("syntax error".to_owned())
}

impl Parser {
    pub fn new(source: &str) -> Self {
        Self { words: words(source), at: 0, depth: 0, code: Vec::new(), loops: Vec::new() }
    }

    /// The next item; `None` at the end.
    pub fn item(&mut self) -> Option<Item> {
        while matches!(self.peek(), Word::LineEnd | Word::Sign(";")) {
            self.at += 1;
        }
        if *self.peek() == Word::End {
            return None;
        }
        (self.depth, self.code, self.loops) = (0, Vec::new(), Vec::new());
        let line = self.line();
        let item = if self.is_name("define") { self.definition() } else { self.statement_item() };
        Some(item.unwrap_or_else(|problem| {
            let line = self.line().max(line);
            while !matches!(self.peek(), Word::LineEnd | Word::End) {
                self.at += 1;
            }
            Item::Wrong(line, problem)
        }))
    }

    fn statement_item(&mut self) -> Parsed<Item> {
        if self.is_name("quit") {
            return Ok(Item::Quit);
        }
        self.statement()?;
        match self.peek() {
            Word::LineEnd | Word::End | Word::Sign(";") => Ok(Item::Run(std::mem::take(&mut self.code))),
            Word::Wrong(sign) => Err(format!("illegal character: {sign}")),
            _ => wrong(),
        }
    }

    fn statement(&mut self) -> Parsed<()> {
        self.deeper()?;
        self.one_statement()?;
        self.depth -= 1;
        Ok(())
    }

    fn one_statement(&mut self) -> Parsed<()> {
        match self.peek().clone() {
            Word::Text(text) => {
                self.at += 1;
                self.code.push(Op::PrintText(text));
                Ok(())
            }
            Word::Sign("{") => self.block(),
            Word::Name(name) => match name.as_str() {
                "if" => self.conditional(),
                "while" => self.repetition(),
                "for" => self.counted(),
                "print" => self.print(),
                "return" => self.give_back(),
                "break" => self.leave(|it, at| it.breaks.push(at)),
                "continue" => self.leave(|it, at| it.continues.push(at)),
                "halt" | "quit" => {
                    self.at += 1;
                    self.code.push(Op::Halt);
                    Ok(())
                }
                _ => self.printed_expression(),
            },
            _ => self.printed_expression(),
        }
    }

    fn printed_expression(&mut self) -> Parsed<()> {
        let assigned = self.expression()?;
        self.code.push(if assigned { Op::Drop } else { Op::PrintValue });
        Ok(())
    }

    fn block(&mut self) -> Parsed<()> {
        self.expect("{")?;
        self.rest_of_block()
    }

    fn rest_of_block(&mut self) -> Parsed<()> {
        loop {
            while matches!(self.peek(), Word::LineEnd | Word::Sign(";")) {
                self.at += 1;
            }
            if self.take("}") {
                return Ok(());
            }
            if *self.peek() == Word::End {
                return wrong();
            }
            self.statement()?;
            if !matches!(self.peek(), Word::LineEnd | Word::Sign(";" | "}")) {
                return wrong();
            }
        }
    }

    fn conditional(&mut self) -> Parsed<()> {
        self.at += 1;
        self.expect("(")?;
        self.expression()?;
        self.expect(")")?;
        let skip = self.emit(Op::JumpIfZero(0));
        self.skip_lines();
        self.statement()?;
        // `; else` is not bc, but it is what people type.
        let before = self.at;
        if matches!(self.peek(), Word::Sign(";")) {
            self.at += 1;
        }
        if self.is_name("else") {
            self.at += 1;
            let over = self.emit(Op::Jump(0));
            self.land(skip);
            self.skip_lines();
            self.statement()?;
            self.land(over);
        } else {
            self.at = before;
            self.land(skip);
        }
        Ok(())
    }

    fn repetition(&mut self) -> Parsed<()> {
        self.at += 1;
        let start = self.code.len();
        self.expect("(")?;
        self.expression()?;
        self.expect(")")?;
        let out = self.emit(Op::JumpIfZero(0));
        self.body()?;
        self.code.push(Op::Jump(start));
        self.land(out);
        self.close_loop(start);
        Ok(())
    }

    fn counted(&mut self) -> Parsed<()> {
        self.at += 1;
        self.expect("(")?;
        if !self.take(";") {
            self.expression()?;
            self.code.push(Op::Drop);
            self.expect(";")?;
        }
        let test = self.code.len();
        let out = if self.take(";") {
            None
        } else {
            self.expression()?;
            self.expect(";")?;
            Some(self.emit(Op::JumpIfZero(0)))
        };
        let into = self.emit(Op::Jump(0));
        let step = self.code.len();
        if !self.take(")") {
            self.expression()?;
            self.code.push(Op::Drop);
            self.expect(")")?;
        }
        self.code.push(Op::Jump(test));
        self.land(into);
        self.body()?;
        self.code.push(Op::Jump(step));
        if let Some(out) = out {
            self.land(out);
        }
        self.close_loop(step);
        Ok(())
    }

    fn body(&mut self) -> Parsed<()> {
        self.loops.push(Loop::default());
        self.skip_lines();
        self.statement()
    }

    fn close_loop(&mut self, again: usize) {
        let Some(closed) = self.loops.pop() else { return };
        let end = self.code.len();
        for (jumps, target) in [(closed.breaks, end), (closed.continues, again)] {
            for at in jumps {
                self.code[at] = Op::Jump(target);
            }
        }
    }

    fn leave(&mut self, note: fn(&mut Loop, usize)) -> Parsed<()> {
        self.at += 1;
        let at = self.emit(Op::Jump(0));
        match self.loops.last_mut() {
            Some(open) => {
                note(open, at);
                Ok(())
            }
            None => Err("Break outside a for/while".to_owned()),
        }
    }

    fn print(&mut self) -> Parsed<()> {
        self.at += 1;
        loop {
            if let Word::Text(text) = self.peek().clone() {
                self.at += 1;
                self.code.push(Op::PrintEscaped(text));
            } else {
                self.expression()?;
                self.code.push(Op::PrintItem);
            }
            if !self.take(",") {
                return Ok(());
            }
        }
    }

    fn give_back(&mut self) -> Parsed<()> {
        self.at += 1;
        if matches!(self.peek(), Word::LineEnd | Word::Sign(";" | "}") | Word::End) {
            self.code.push(Op::Constant("0".to_owned()));
        } else {
            self.expression()?;
        }
        self.code.push(Op::Return);
        Ok(())
    }

    fn definition(&mut self) -> Parsed<Item> {
        self.at += 1;
        if self.is_name("void") {
            self.at += 1;
        }
        let name = self.name()?;
        self.expect("(")?;
        let params = if self.take(")") { Vec::new() } else { self.locals(")")? };
        self.skip_lines();
        self.expect("{")?;
        self.skip_lines();
        let mut autos = Vec::new();
        while self.is_name("auto") {
            self.at += 1;
            autos.extend(self.locals("")?);
            while matches!(self.peek(), Word::LineEnd | Word::Sign(";")) {
                self.at += 1;
            }
        }
        self.rest_of_block()?;
        self.code.extend([Op::Constant("0".to_owned()), Op::Return]);
        Ok(Item::Define(name, Function { params, autos, code: std::mem::take(&mut self.code) }))
    }

    fn locals(&mut self, close: &str) -> Parsed<Vec<Local>> {
        let mut found = Vec::new();
        loop {
            self.take("*");
            let name = self.name()?;
            found.push(if self.take("[") {
                self.expect("]")?;
                Local::Array(name)
            } else {
                Local::Variable(name)
            });
            if !self.take(",") {
                break;
            }
        }
        if !close.is_empty() && !self.take(close) {
            return wrong();
        }
        Ok(found)
    }

    fn name(&mut self) -> Parsed<String> {
        let Word::Name(name) = self.peek().clone() else { return wrong() };
        self.at += 1;
        Ok(name)
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err("nested too deeply".to_owned()) } else { Ok(()) }
    }

    fn emit(&mut self, op: Op) -> usize {
        self.code.push(op);
        self.code.len() - 1
    }

    /// Makes the jump at `at` end here.
    fn land(&mut self, at: usize) {
        let here = self.code.len();
        match &mut self.code[at] {
            Op::Jump(to) | Op::JumpIfZero(to) | Op::JumpIfNot(to) => *to = here,
            _ => {}
        }
    }

    fn peek(&self) -> &Word {
        self.words.get(self.at).map_or(&Word::End, |(word, _)| word)
    }

    fn line(&self) -> usize {
        self.words.get(self.at).map_or(0, |(_, line)| *line)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Word::Name(it) if it == name)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Word::Sign(it) if *it == sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.take(sign) { Ok(()) } else { wrong() }
    }

    fn skip_lines(&mut self) {
        while *self.peek() == Word::LineEnd {
            self.at += 1;
        }
    }
}
