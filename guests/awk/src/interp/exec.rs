//! Rules and statements.

use super::{Interp, Stop};
use crate::ast::{Case, Expr, Match, Redirect, Stmt};
use crate::value::{Text, Value};

/// How a statement ended.
#[derive(PartialEq, Eq)]
pub(super) enum Flow {
    On,
    Break,
    Continue,
    Return,
}

impl<'p> Interp<'p> {
    /// All rules, on the record.
    pub(super) fn rules(&mut self) -> Result<(), Stop> {
        let program = self.program;
        for rule in &program.rules {
            let selected = match &rule.pattern {
                Match::Always => true,
                Match::If(expr) => self.truth(expr)?,
                Match::Range { from, to, number } => {
                    if !self.ranges[*number] && !self.truth(from)? {
                        false
                    } else {
                        self.ranges[*number] = !self.truth(to)?;
                        true
                    }
                }
            };
            if !selected {
                continue;
            }
            match &rule.body {
                Some(body) => {
                    self.block(body)?;
                }
                None => self.print(&[], None)?,
            }
        }
        Ok(())
    }

    pub(super) fn block(&mut self, body: &'p [Stmt]) -> Result<Flow, Stop> {
        for stmt in body {
            let flow = self.statement(stmt)?;
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn statement(&mut self, stmt: &'p Stmt) -> Result<Flow, Stop> {
        match stmt {
            Stmt::Expr(expr) => {
                self.discard(expr)?;
            }
            Stmt::Print { values, to } => self.print(values, to.as_ref())?,
            Stmt::Printf { values, to } => self.printf(values, to.as_ref())?,
            Stmt::Block(body) => return self.block(body),
            Stmt::If(condition, then, otherwise) => {
                if self.truth(condition)? {
                    return self.statement(then);
                }
                if let Some(otherwise) = otherwise {
                    return self.statement(otherwise);
                }
            }
            Stmt::While(condition, body) => {
                while self.truth(condition)? {
                    match self.statement(body)? {
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                        Flow::On | Flow::Continue => {}
                    }
                }
            }
            Stmt::Do(body, condition) => loop {
                match self.statement(body)? {
                    Flow::Break => break,
                    Flow::Return => return Ok(Flow::Return),
                    Flow::On | Flow::Continue => {}
                }
                if !self.truth(condition)? {
                    break;
                }
            },
            Stmt::For(start, condition, step, body) => {
                if let Some(start) = start {
                    self.statement(start)?;
                }
                loop {
                    if let Some(condition) = condition
                        && !self.truth(condition)?
                    {
                        break;
                    }
                    match self.statement(body)? {
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                        Flow::On | Flow::Continue => {}
                    }
                    if let Some(step) = step {
                        self.statement(step)?;
                    }
                }
            }
            Stmt::ForIn(place, array, body) => {
                let array = self.array(array)?;
                for key in self.ordered_keys(&array)? {
                    self.assign(place, index_value(key))?;
                    match self.statement(body)? {
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                        Flow::On | Flow::Continue => {}
                    }
                }
            }
            Stmt::Switch(subject, cases) => return self.switch(subject, cases),
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
            Stmt::Next => return Err(Stop::Next),
            Stmt::NextFile => return Err(Stop::NextFile),
            Stmt::Exit(status) => {
                if let Some(status) = status {
                    self.status = self.num(status)? as i32 & 0xff;
                }
                return Err(Stop::Exit);
            }
            Stmt::Return(value) => {
                self.returned = match value {
                    Some(value) => self.eval(value)?,
                    None => Value::Nothing,
                };
                return Ok(Flow::Return);
            }
            Stmt::Delete(array, keys) => {
                let array = self.array(array)?;
                match keys {
                    Some(keys) => {
                        let key = self.key(keys)?;
                        array.borrow_mut().remove(&key);
                    }
                    None => array.borrow_mut().clear(),
                }
            }
        }
        Ok(Flow::On)
    }

    #[inline(never)]
    fn switch(&mut self, subject: &'p Expr, cases: &'p [(Option<Case>, Vec<Stmt>)]) -> Result<Flow, Stop> {
        let subject = self.eval(subject)?;
        let mut chosen = None;
        for (index, (case, _)) in cases.iter().enumerate() {
            let hit = match case {
                None => false,
                Some(Case::Regex(pattern)) => {
                    self.regex(pattern)?.is_match(&subject.to_text(&self.vars.convfmt))
                }
                Some(Case::Value(value)) => {
                    let value = self.eval(value)?;
                    self.order(&subject, &value).is_eq()
                }
            };
            if hit {
                chosen = Some(index);
                break;
            }
        }
        let default = || cases.iter().position(|(case, _)| case.is_none());
        let Some(first) = chosen.or_else(default) else { return Ok(Flow::On) };
        for (_, body) in &cases[first..] {
            match self.block(body)? {
                Flow::On => {}
                Flow::Break => return Ok(Flow::On),
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    #[inline(never)]
    fn print(&mut self, values: &'p [Expr], to: Option<&'p (Redirect, Expr)>) -> Result<(), Stop> {
        let Some((how, name)) = to else {
            // Apart, because a function that is called for a value may print as well, and comes first.
            let mut out = std::mem::take(&mut self.printed);
            out.clear();
            let filled = self.fill(values, &mut out);
            self.outputs.stdout.extend_from_slice(&out);
            self.printed = out;
            filled?;
            self.outputs.settle();
            return Ok(());
        };
        let mut out = Vec::new();
        self.fill(values, &mut out)?;
        let name = self.text(name)?;
        self.outputs.write(*how, &name, &out)?;
        Ok(())
    }

    fn fill(&mut self, values: &'p [Expr], out: &mut Vec<u8>) -> Result<(), Stop> {
        let start = out.len();
        let filled = self.fill_values(values, out);
        if filled.is_err() {
            out.truncate(start);
        }
        filled
    }

    fn fill_values(&mut self, values: &'p [Expr], out: &mut Vec<u8>) -> Result<(), Stop> {
        if values.is_empty() {
            out.extend_from_slice(self.record_text());
        }
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(&self.vars.ofs);
            }
            self.push_printed(value, out)?;
        }
        out.extend_from_slice(&self.vars.ors);
        Ok(())
    }

    #[inline(never)]
    fn printf(&mut self, values: &'p [Expr], to: Option<&'p (Redirect, Expr)>) -> Result<(), Stop> {
        let mut out = Vec::new();
        self.format(values, &mut out)?;
        match to {
            None => {
                self.outputs.stdout.append(&mut out);
                self.outputs.settle();
            }
            Some((how, name)) => {
                let name = self.text(name)?;
                self.outputs.write(*how, &name, &out)?;
            }
        }
        Ok(())
    }

    /// What `printf` and `sprintf` make of a format and its values.
    #[inline(never)]
    pub(super) fn format(&mut self, values: &'p [Expr], out: &mut Vec<u8>) -> Result<(), Stop> {
        let format = self.text(&values[0])?;
        let mut evaluated = Vec::with_capacity(values.len() - 1);
        for value in &values[1..] {
            evaluated.push(self.eval(value)?);
        }
        crate::format::push(out, &format, &evaluated, &self.vars.convfmt)?;
        Ok(())
    }
}

/// An index as `for` gives it: a text, but one that is a whole number in its usual spelling counts as
/// that number, as gawk's do.
fn index_value(key: Text) -> Value {
    let digits = key.strip_prefix(b"-").unwrap_or(&key);
    let whole = digits.iter().all(u8::is_ascii_digit)
        && match digits {
            [] | [b'0', _, ..] => false,
            [b'0'] => key.len() == 1,
            _ => true,
        };
    if whole { Value::Input(key) } else { Value::Str(key) }
}
