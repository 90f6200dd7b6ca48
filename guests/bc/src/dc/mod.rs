//! dc's language: a stack, registers, and texts that are programs. Its numbers are bc's.
//!
//! Programs that call programs live in frames of their own and not on the machine's stack, and a call in
//! the last place takes the place of its caller: a loop written as recursion runs for ever if it likes.

mod arithmetic;
mod reader;
#[cfg(test)]
mod tests;

use crate::number::Number;
use crate::text;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Calls inside one another, not counting those in the last place.
const FRAMES_MAX: usize = 100_000;
/// Values on the stack, and in all registers.
const VALUES_MAX: usize = 10_000_000;

/// What the stack and the registers hold.
#[derive(Clone, Debug)]
enum Value {
    Number(Number),
    Text(Rc<[u8]>),
}

/// One level of a register: a value and an array.
#[derive(Default)]
struct Level {
    value: Option<Value>,
    array: BTreeMap<i64, Value>,
}

/// A program that is running.
struct Frame {
    code: Rc<[u8]>,
    at: usize,
    /// How many calls it stands for, with those whose place it took.
    levels: usize,
}

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    Done,
    Quit,
}

/// Where output and complaints go, and where `?` reads.
pub trait Console {
    fn print(&mut self, bytes: &[u8]);
    fn complain(&mut self, problem: &str);
    /// The next line of standard input, if there is one.
    fn line(&mut self) -> Option<Vec<u8>>;
}

/// The state of a run.
pub struct Machine {
    stack: Vec<Value>,
    registers: BTreeMap<u8, Vec<Level>>,
    held: usize,
    frames: Vec<Frame>,
    input_base: u32,
    output_base: u32,
    scale: usize,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            stack: Vec::new(),
            registers: BTreeMap::new(),
            held: 0,
            frames: Vec::new(),
            input_base: 10,
            output_base: 10,
            scale: 0,
        }
    }
}

/// What is said of a command that cannot be done; the next command runs all the same.
type Step = Result<(), String>;

impl Machine {
    /// Runs all of `code`.
    pub fn run(&mut self, code: &[u8], console: &mut dyn Console) -> Ended {
        self.frames = vec![Frame { code: code.into(), at: 0, levels: 1 }];
        while let Some(frame) = self.frames.last_mut() {
            let Some(command) = frame.code.get(frame.at).copied() else {
                self.frames.pop();
                continue;
            };
            frame.at += 1;
            if let b'q' | b'Q' = command {
                match self.leave(command) {
                    Ok(Ended::Quit) => return Ended::Quit,
                    Ok(Ended::Done) => {}
                    Err(problem) => console.complain(&problem),
                }
            } else if let Err(problem) = self.command(command, console) {
                console.complain(&problem);
            }
        }
        Ended::Done
    }

    /// One long table of letters, so that each is found at a glance.
    fn command(&mut self, command: u8, console: &mut dyn Console) -> Step {
        match command {
            b' ' | b'\t' | b'\n' | b'\r' | 0 => {}
            b'0'..=b'9' | b'A'..=b'F' | b'.' | b'_' => self.number()?,
            b'[' => self.text()?,
            b'#' => self.skip_line(),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'^' => self.operate(command)?,
            b'~' => self.divide_both()?,
            b'|' => self.power_modulo()?,
            b'v' => {
                let root = self.pop_number()?.sqrt(self.scale);
                self.push_number(root.map_err(|_| "square root of negative number".to_owned())?)?;
            }
            b'p' => console.print(&[self.shown(self.top()?), b"\n".to_vec()].concat()),
            b'n' => {
                let value = self.pop()?;
                console.print(&self.shown(&value));
            }
            b'P' => {
                let value = self.pop()?;
                console.print(&bytes(&value));
            }
            b'f' => self.stack.iter().rev().for_each(|value| {
                console.print(&[self.shown(value), b"\n".to_vec()].concat());
            }),
            b'c' => {
                self.held -= self.stack.len();
                self.stack.clear();
            }
            b'd' => self.push(self.top()?.clone())?,
            b'r' => self.rotate(2)?,
            b'R' => {
                let count = self.pop_number()?.to_i64().unwrap_or(0);
                self.rotate(count)?;
            }
            b's' | b'S' | b'l' | b'L' | b':' | b';' => self.register(command)?,
            b'i' | b'o' | b'k' => self.set(command)?,
            b'I' => self.push_number(i64::from(self.input_base).into())?,
            b'O' => self.push_number(i64::from(self.output_base).into())?,
            b'K' => self.push_number((self.scale as i64).into())?,
            b'z' => self.push_number((self.stack.len() as i64).into())?,
            b'Z' | b'X' => self.measure(command)?,
            b'a' => {
                let value = self.pop()?;
                let first: Vec<u8> = match &value {
                    Value::Text(text) => text.iter().take(1).copied().collect(),
                    Value::Number(_) => bytes(&value).last().copied().into_iter().collect(),
                };
                self.push(Value::Text(first.into()))?;
            }
            b'x' => match self.pop()? {
                Value::Text(code) => self.call(code)?,
                number => self.push(number)?,
            },
            b'<' | b'>' | b'=' => self.compare(command, true)?,
            b'!' => match self.take() {
                Some(sign @ (b'<' | b'>' | b'=')) => self.compare(sign, false)?,
                _ => {
                    self.skip_line();
                    return Err("no command can be run from here".to_owned());
                }
            },
            b'?' => {
                if let Some(line) = console.line() {
                    self.call(line.into())?;
                }
            }
            other => return Err(format!("{} unimplemented", named(other))),
        }
        Ok(())
    }

    fn shown(&self, value: &Value) -> Vec<u8> {
        match value {
            Value::Number(number) => text::print(number, self.output_base).into_bytes(),
            Value::Text(text) => text.to_vec(),
        }
    }

    fn push(&mut self, value: Value) -> Step {
        if self.held >= VALUES_MAX {
            return Err("out of room for values".to_owned());
        }
        self.held += 1;
        self.stack.push(value);
        Ok(())
    }

    fn push_number(&mut self, number: Number) -> Step {
        self.push(Value::Number(number))
    }

    fn top(&self) -> Result<&Value, String> {
        self.stack.last().ok_or_else(|| "stack empty".to_owned())
    }

    fn pop(&mut self) -> Result<Value, String> {
        let value = self.stack.pop().ok_or_else(|| "stack empty".to_owned())?;
        self.held -= 1;
        Ok(value)
    }

    /// The number on top; anything else stays where it is.
    fn pop_number(&mut self) -> Result<Number, String> {
        match self.pop()? {
            Value::Number(number) => Ok(number),
            other => {
                self.push(other)?;
                Err("non-numeric value".to_owned())
            }
        }
    }

    /// Moves the value that is `count` deep to the top, or the top down there.
    fn rotate(&mut self, count: i64) -> Step {
        let deep = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
        let start = self.stack.len().checked_sub(deep).ok_or_else(|| "stack empty".to_owned())?;
        match count {
            -1..=1 => {}
            2.. => self.stack[start..].rotate_left(1),
            _ => self.stack[start..].rotate_right(1),
        }
        Ok(())
    }

    fn call(&mut self, code: Rc<[u8]>) -> Step {
        let ends = |frame: &Frame| frame.code[frame.at..].iter().all(u8::is_ascii_whitespace);
        let deep = self.frames.len();
        match self.frames.last_mut() {
            Some(frame) if ends(frame) => {
                *frame = Frame { code, at: 0, levels: frame.levels.saturating_add(1) };
            }
            _ if deep >= FRAMES_MAX => return Err("calls are nested too deeply".to_owned()),
            _ => self.frames.push(Frame { code, at: 0, levels: 1 }),
        }
        Ok(())
    }

    /// `q` leaves two calls, `Q` as many as the stack says but never the program.
    fn leave(&mut self, command: u8) -> Result<Ended, String> {
        let total = self.frames.iter().fold(0_usize, |sum, frame| sum.saturating_add(frame.levels));
        let mut count = match command {
            b'q' if total <= 2 => return Ok(Ended::Quit),
            b'q' => 2,
            _ => {
                let asked = self.pop_number()?.to_i64().unwrap_or(0);
                if asked < 1 {
                    return Err("Q command requires a number >= 1".to_owned());
                }
                usize::try_from(asked).unwrap_or(usize::MAX).min(total.saturating_sub(1))
            }
        };
        while count > 0
            && let Some(frame) = self.frames.pop()
        {
            // Callers whose place was taken had nothing left to do.
            count = count.saturating_sub(frame.levels);
        }
        Ok(Ended::Done)
    }

    fn register(&mut self, command: u8) -> Step {
        let name = self.take().ok_or_else(|| "a register must follow".to_owned())?;
        let levels = self.registers.entry(name).or_default();
        match command {
            b's' | b'S' => {
                // What leaves the stack stays held, in the register.
                let value = self.stack.pop().ok_or_else(|| "stack empty".to_owned())?;
                if command == b'S' || levels.is_empty() {
                    levels.push(Level::default());
                }
                if let Some(level) = levels.last_mut()
                    && level.value.replace(value).is_some()
                {
                    self.held -= 1;
                }
            }
            b'l' => {
                let value = levels.last().and_then(|level| level.value.clone());
                self.push(value.unwrap_or_else(|| Value::Number(Number::default())))?;
            }
            b'L' => {
                let level = levels.pop();
                let lost = level.as_ref().map_or(0, |it| it.array.len() + usize::from(it.value.is_some()));
                self.held -= lost;
                match level.and_then(|it| it.value) {
                    Some(value) => self.push(value)?,
                    None => return Err(format!("stack register {} is empty", named(name))),
                }
            }
            _ => self.array(command, name)?,
        }
        Ok(())
    }

    fn array(&mut self, command: u8, name: u8) -> Step {
        let index = self.pop_number()?.to_i64().filter(|it| *it >= 0);
        let index = index.ok_or_else(|| "array index must be a nonnegative integer".to_owned())?;
        let levels = self.registers.entry(name).or_default();
        if command == b';' {
            let value = levels.last().and_then(|level| level.array.get(&index)).cloned();
            return self.push(value.unwrap_or_else(|| Value::Number(Number::default())));
        }
        let value = self.stack.pop().ok_or_else(|| "stack empty".to_owned())?;
        if levels.is_empty() {
            levels.push(Level::default());
        }
        if let Some(level) = levels.last_mut()
            && level.array.insert(index, value).is_some()
        {
            self.held -= 1;
        }
        Ok(())
    }

    fn compare(&mut self, sign: u8, wanted: bool) -> Step {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let name = self.take().ok_or_else(|| "a register must follow".to_owned())?;
        let (top, below) = (self.pop_number()?, self.pop_number()?);
        let holds = match (sign, top.compare(&below)) {
            (b'<', order) => order == Less,
            (b'>', order) => order == Greater,
            (_, order) => order == Equal,
        };
        if holds != wanted {
            return Ok(());
        }
        let value = self.registers.get(&name).and_then(|it| it.last()).and_then(|level| level.value.clone());
        match value {
            Some(Value::Text(code)) => self.call(code),
            Some(number) => self.push(number),
            None => Err(format!("register {} is empty", named(name))),
        }
    }
}

/// What `P` prints: a text, or the bytes of a whole number.
fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::Text(text) => text.to_vec(),
        Value::Number(number) => number.at(0).digits.magnitude().to_bytes_be(),
    }
}

/// A letter as GNU shows it: `'a' (0141)`.
fn named(letter: u8) -> String {
    match letter {
        b' '..=b'~' => format!("'{}' (0{letter:o})", char::from(letter)),
        _ => format!("0{letter:o}"),
    }
}
