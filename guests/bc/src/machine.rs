//! Runs code: values on a stack, names in tables, calls in frames.
//!
//! A failure ends the current item and everything it called; names keep what they had before the
//! calls. Output goes to a buffer that the caller drains.

mod calls;
mod printing;

use crate::code::{Builtin, Function, Op, Place};
use crate::number::{Number, SCALE_MAX};
use crate::{math, text};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::Read as _;

/// Larger indices than this are refused, as GNU does.
const INDEX_MAX: i64 = 16_777_215;

/// The state of a run.
pub struct Machine {
    variables: BTreeMap<String, Number>,
    arrays: BTreeMap<String, BTreeMap<i64, Number>>,
    functions: BTreeMap<String, Function>,
    frames: Vec<calls::Frame>,
    stack: Vec<Number>,
    input_base: u32,
    output_base: u32,
    scale: usize,
    last: Number,
    /// Whether the functions of `-l` are there.
    library: bool,
    pub out: Vec<u8>,
}

/// How an item ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    Done,
    Halted,
}

impl Machine {
    pub fn new(library: bool) -> Self {
        Self {
            variables: BTreeMap::new(),
            arrays: BTreeMap::new(),
            functions: BTreeMap::new(),
            frames: Vec::new(),
            stack: Vec::new(),
            input_base: 10,
            output_base: 10,
            scale: if library { 20 } else { 0 },
            last: Number::default(),
            library,
            out: Vec::new(),
        }
    }

    pub fn define(&mut self, name: String, function: Function) {
        self.functions.insert(name, function);
    }

    /// Runs one item; a failure comes with the name of the function it happened in.
    pub fn run(&mut self, code: &[Op]) -> Result<Ended, (String, String)> {
        self.stack.clear();
        let result = self.steps(code);
        let function = self.frames.last().map_or("(main)".to_owned(), |frame| frame.name.clone());
        while let Some(frame) = self.frames.pop() {
            self.restore(frame);
        }
        result.map_err(|problem| (function, problem))
    }

    fn steps(&mut self, main: &[Op]) -> Result<Ended, String> {
        let mut main_at = 0;
        loop {
            let op = match self.frames.last_mut() {
                None => {
                    let Some(op) = main.get(main_at) else { return Ok(Ended::Done) };
                    main_at += 1;
                    op.clone()
                }
                Some(frame) => {
                    let Some(op) = frame.code.get(frame.at) else { return Err("code ended".to_owned()) };
                    frame.at += 1;
                    op.clone()
                }
            };
            let mut jump = None;
            match op {
                Op::Halt => return Ok(Ended::Halted),
                Op::Jump(to) => jump = Some(to),
                Op::JumpIfZero(to) => jump = self.pop().is_zero().then_some(to),
                Op::JumpIfNot(to) => jump = (!self.pop().is_zero()).then_some(to),
                other => self.step(other)?,
            }
            match (jump, self.frames.last_mut()) {
                (Some(to), Some(frame)) => frame.at = to,
                (Some(to), None) => main_at = to,
                (None, _) => {}
            }
        }
    }

    fn step(&mut self, op: Op) -> Result<(), String> {
        match op {
            Op::Constant(digits) => {
                self.stack.push(text::parse(&digits, self.input_base, text::Digits::Bounded))
            }
            Op::Get(place) => {
                let value = self.get(&place)?;
                self.stack.push(value);
            }
            Op::Set(place) => {
                let value = self.pop();
                self.set(&place, value.clone())?;
                self.stack.push(value);
            }
            Op::Step { place, by, old } => self.increment(&place, by, old)?,
            Op::Copy => {
                let top = self.stack.last().cloned().unwrap_or_default();
                self.stack.push(top);
            }
            Op::Drop => drop(self.pop()),
            Op::Math(sign) => {
                let (right, left) = (self.pop(), self.pop());
                let result = self.compute(sign, &left, &right)?;
                self.stack.push(result);
            }
            Op::Compare(sign) => {
                let (right, left) = (self.pop(), self.pop());
                self.stack.push(Number::from(i64::from(holds(sign, left.compare(&right)))));
            }
            Op::Negate => {
                let value = self.pop().neg();
                self.stack.push(value);
            }
            Op::Not => {
                let zero = self.pop().is_zero();
                self.stack.push(Number::from(i64::from(zero)));
            }
            Op::Truth => {
                let zero = self.pop().is_zero();
                self.stack.push(Number::from(i64::from(!zero)));
            }
            Op::Call { name, args } => self.call(name, &args)?,
            Op::Return => self.give_back(),
            Op::Builtin(builtin) => self.builtin(builtin)?,
            Op::ArrayLength(name) => {
                let length =
                    self.arrays.get(&name).and_then(|it| it.keys().last()).map_or(0, |last| last + 1);
                self.stack.push(Number::from(length));
            }
            Op::PrintValue => {
                let value = self.pop();
                self.print_line(&value);
                self.last = value;
            }
            Op::PrintItem => {
                let value = self.pop();
                self.print_item(&value);
                self.last = value;
            }
            Op::PrintText(text) => self.out.extend_from_slice(text.as_bytes()),
            Op::PrintEscaped(text) => self.print_escaped(&text),
            Op::Jump(_) | Op::JumpIfZero(_) | Op::JumpIfNot(_) | Op::Halt => {}
        }
        Ok(())
    }

    fn pop(&mut self) -> Number {
        self.stack.pop().unwrap_or_default()
    }

    fn compute(&self, sign: char, left: &Number, right: &Number) -> Result<Number, String> {
        let result = match sign {
            '+' => Ok(left.add(right)),
            '-' => Ok(left.sub(right)),
            '*' => Ok(left.mul(right, self.scale)),
            '/' => left.div(right, self.scale),
            '%' => left.rem(right, self.scale),
            _ => left.pow(right, self.scale),
        };
        result.map_err(|problem| problem.text().to_owned())
    }

    fn get(&mut self, place: &Place) -> Result<Number, String> {
        Ok(match place {
            Place::Variable(name) => self.variables.get(name).cloned().unwrap_or_default(),
            Place::Element(name) => {
                let at = self.index(name)?;
                self.arrays.get(name).and_then(|it| it.get(&at)).cloned().unwrap_or_default()
            }
            Place::InputBase => Number::from(i64::from(self.input_base)),
            Place::OutputBase => Number::from(i64::from(self.output_base)),
            Place::Scale => Number::from(i64::try_from(self.scale).unwrap_or_default()),
            Place::Last => self.last.clone(),
        })
    }

    fn set(&mut self, place: &Place, value: Number) -> Result<(), String> {
        let number = value.to_i64().unwrap_or(i64::MAX);
        match place {
            Place::Variable(name) => drop(self.variables.insert(name.clone(), value)),
            Place::Element(name) => {
                let at = self.index(name)?;
                self.arrays.entry(name.clone()).or_default().insert(at, value);
            }
            Place::InputBase => self.input_base = number.clamp(2, 16) as u32,
            Place::OutputBase => self.output_base = number.clamp(2, 999) as u32,
            Place::Scale if number < 0 => return Err("negative scale, set to 0".to_owned()),
            Place::Scale => self.scale = usize::try_from(number).unwrap_or(SCALE_MAX).min(SCALE_MAX),
            Place::Last => self.last = value,
        }
        Ok(())
    }

    fn index(&mut self, name: &str) -> Result<i64, String> {
        let at = self.pop().to_i64().filter(|at| (0..=INDEX_MAX).contains(at));
        at.ok_or_else(|| format!("Array {name} subscript out of bounds."))
    }

    fn increment(&mut self, place: &Place, by: i64, old: bool) -> Result<(), String> {
        let index = if matches!(place, Place::Element(_)) { self.stack.last().cloned() } else { None };
        let before = self.get(place)?;
        let after = before.add(&Number::from(by));
        self.stack.extend(index);
        self.set(place, after.clone())?;
        self.stack.push(if old { before } else { after });
        Ok(())
    }

    fn builtin(&mut self, builtin: Builtin) -> Result<(), String> {
        let result = match builtin {
            Builtin::Length => Number::from(i64::try_from(self.pop().length()).unwrap_or_default()),
            Builtin::Scale => Number::from(i64::try_from(self.pop().scale).unwrap_or_default()),
            Builtin::SquareRoot => {
                let value = self.pop();
                value.sqrt(self.scale).map_err(|problem| problem.text().to_owned())?
            }
            Builtin::Read => text::parse(&read_word(), self.input_base, text::Digits::Bounded),
        };
        self.stack.push(result);
        Ok(())
    }

    /// A function of `-l`, if it is one and the library is loaded.
    fn library_call(&mut self, name: &str, args: usize) -> Option<Result<(), String>> {
        if !self.library {
            return None;
        }
        let start = self.stack.len().checked_sub(args)?;
        let result = math::call(name, &self.stack[start..], self.scale)?;
        self.stack.truncate(start);
        Some(result.map(|value| self.stack.push(value)).map_err(|problem| problem.text().to_owned()))
    }
}

fn holds(sign: &str, order: Ordering) -> bool {
    match sign {
        "==" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        ">" => order.is_gt(),
        "<=" => order.is_le(),
        _ => order.is_ge(),
    }
}

/// One word of standard input, as far as it is a number.
fn read_word() -> String {
    let mut word = String::new();
    for byte in std::io::stdin().lock().bytes().map_while(Result::ok) {
        match byte {
            b'0'..=b'9' | b'A'..=b'F' | b'.' => word.push(char::from(byte)),
            _ if word.is_empty() && byte != b'\n' => {}
            _ => break,
        }
    }
    word
}
