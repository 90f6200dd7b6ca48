//! Runs a program.

mod builtin;
mod call;
mod eval;
mod exec;
mod files;
mod record;
mod sorted;
mod substitute;
mod text;
mod vars;

use crate::FATAL;
use crate::array::Array;
use crate::ast::{ArrayRef, Program};
use crate::cli::Options;
use crate::input::{Reader, Separator};
use crate::output::Outputs;
use crate::pattern::Pattern;
use crate::value::{Shared, Value};
use posix_regex::Slots;
use record::Record;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Functions that have called one another. Deeper, the host's stack might not do; so that it does for
/// these, what evaluates calls its larger parts and has none of them in its own frame.
const CALLS_MAX: usize = 1000;
/// Regular expressions made from strings that are kept.
const PATTERNS_MAX: usize = 500;

/// Why the usual course ends.
#[derive(Debug)]
pub(crate) enum Stop {
    Fatal(String),
    Next,
    NextFile,
    Exit,
}

impl From<String> for Stop {
    fn from(problem: String) -> Self {
        Self::Fatal(problem)
    }
}

/// A parameter or a variable of a function.
#[derive(Default)]
struct Slot {
    value: Value,
    array: Option<Shared>,
}

/// All that changes while a program runs.
struct Interp<'p> {
    program: &'p Program,
    globals: Vec<Value>,
    arrays: Vec<Shared>,
    slots: Vec<Slot>,
    /// Where the variables of the running function begin.
    base: usize,
    calls: usize,
    returned: Value,
    vars: vars::Vars,
    record: Record,
    outputs: Outputs,
    files: files::Files,
    readers: BTreeMap<Vec<u8>, Option<Reader>>,
    /// How the commands ended whose output is read.
    statuses: BTreeMap<Vec<u8>, i32>,
    /// What a `print` is putting together.
    printed: Vec<u8>,
    /// Which ranges are open.
    ranges: Vec<bool>,
    patterns: BTreeMap<Vec<u8>, Rc<Pattern>>,
    captures: Slots,
    /// The state of `rand`, and the seed it was made from.
    random: u64,
    seed: f64,
    status: i32,
    /// Room for the next record, so that reading one allocates nothing.
    spare: Vec<u8>,
    procinfo: Option<usize>,
}

/// Runs; the exit status.
pub(crate) fn run(program: &Program, options: Options) -> i32 {
    let mut interp = Interp::new(program);
    let status = match interp.everything(options) {
        Ok(()) => interp.status,
        Err(problem) => interp.fatal(&problem),
    };
    match interp.outputs.close_all() {
        Ok(()) => status,
        Err(problem) => interp.fatal(&problem),
    }
}

impl<'p> Interp<'p> {
    fn new(program: &'p Program) -> Self {
        let count = program.globals.len();
        let procinfo = program.globals.iter().position(|name| name == "PROCINFO");
        Self {
            program,
            globals: vec![Value::Nothing; count],
            arrays: (0..count).map(|_| Rc::new(RefCell::new(Array::default()))).collect(),
            slots: Vec::new(),
            base: 0,
            calls: 0,
            returned: Value::Nothing,
            vars: vars::Vars::default(),
            record: Record::default(),
            outputs: Outputs::default(),
            files: files::Files::default(),
            readers: BTreeMap::new(),
            statuses: BTreeMap::new(),
            printed: Vec::new(),
            ranges: vec![false; program.ranges],
            patterns: BTreeMap::new(),
            captures: Slots::default(),
            random: 0x2545_f491_4f6c_dd1d,
            seed: 0.0,
            status: 0,
            spare: Vec::new(),
            procinfo,
        }
    }

    fn fatal(&mut self, problem: &str) -> i32 {
        self.outputs.flush_stdout();
        let started = self.vars.nr > 0.0;
        if self.vars.fnr > 0.0 {
            let name = self.vars.file_name.to_text(b"%.6g");
            let name = if name.is_empty() { "-".into() } else { String::from_utf8_lossy(&name) };
            crate::complain(&format!("cmd. line:1: (FILENAME={name} FNR={}) {problem}", self.vars.fnr));
        } else if problem.starts_with("fatal: cannot open file") && !started {
            crate::complain(problem);
        } else {
            crate::complain(&format!("cmd. line:1: {problem}"));
        }
        FATAL
    }

    fn everything(&mut self, options: Options) -> Result<(), String> {
        self.prepare(&options)?;
        let mut ended = false;
        for body in &self.program.begin {
            if self.top(body)? {
                ended = true;
                break;
            }
        }
        let program = self.program;
        let reads = !program.rules.is_empty()
            || !program.end.is_empty()
            || !program.begin_file.is_empty()
            || !program.end_file.is_empty();
        if !ended && reads {
            self.records()?;
        }
        for body in &program.end {
            if self.top(body)? {
                break;
            }
        }
        Ok(())
    }

    /// Runs a rule outside the records; whether the program is to end.
    fn top(&mut self, body: &'p [crate::ast::Stmt]) -> Result<bool, String> {
        match self.block(body) {
            Ok(_) | Err(Stop::Next | Stop::NextFile) => Ok(false),
            Err(Stop::Exit) => Ok(true),
            Err(Stop::Fatal(problem)) => Err(problem),
        }
    }

    fn records(&mut self) -> Result<(), String> {
        loop {
            match self.next_record() {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(Stop::Exit) => return Ok(()),
                Err(Stop::Fatal(problem)) => return Err(problem),
                Err(Stop::Next | Stop::NextFile) => continue,
            }
            match self.rules() {
                Ok(()) | Err(Stop::Next) => {}
                Err(Stop::NextFile) => self.files.skip(),
                Err(Stop::Exit) => return Ok(()),
                Err(Stop::Fatal(problem)) => return Err(problem),
            }
        }
    }

    /// The array; made if it is not there.
    #[inline(never)]
    fn array(&mut self, array: &'p ArrayRef) -> Result<Shared, Stop> {
        Ok(match array {
            ArrayRef::Global(number) => {
                if !matches!(self.globals[*number], Value::Nothing) {
                    let name = &self.program.globals[*number];
                    return Err(format!("fatal: attempt to use scalar `{name}' as an array").into());
                }
                Rc::clone(&self.arrays[*number])
            }
            ArrayRef::Local(number) => {
                let slot = &mut self.slots[self.base + number];
                Rc::clone(slot.array.get_or_insert_with(Shared::default))
            }
            ArrayRef::Element(outer, keys) => {
                let outer = self.array(outer)?;
                let key = self.key(keys)?;
                let mut outer = outer.borrow_mut();
                let element = outer.entry(&key);
                if !matches!(element, Value::Array(_)) {
                    *element = Value::Array(Shared::default());
                }
                let Value::Array(inner) = element else { return Err("no array".to_owned().into()) };
                Rc::clone(inner)
            }
        })
    }

    /// Refuses a name that has elements where it is to be a value.
    #[inline]
    fn check_scalar(&self, number: usize) -> Result<(), Stop> {
        if matches!(self.globals[number], Value::Nothing) && !self.arrays[number].borrow().is_empty() {
            let name = &self.program.globals[number];
            return Err(format!("fatal: attempt to use array `{name}' in a scalar context").into());
        }
        Ok(())
    }

    /// The regular expression that a string stands for.
    #[inline(never)]
    fn pattern(&mut self, text: &[u8]) -> Rc<Pattern> {
        if let Some(known) = self.patterns.get(text) {
            return Rc::clone(known);
        }
        if self.patterns.len() >= PATTERNS_MAX {
            self.patterns.clear();
        }
        let made = Rc::new(Pattern::new(text.to_vec()));
        self.patterns.insert(text.to_vec(), Rc::clone(&made));
        made
    }

    fn regex(&self, pattern: &Pattern) -> Result<Rc<posix_regex::Regex>, Stop> {
        self.vars.regex(pattern).map_err(Stop::Fatal)
    }

    fn separator(&mut self) -> Result<Separator, Stop> {
        if let Some(known) = &self.vars.record_separator {
            return Ok(known.clone());
        }
        let text = self.vars.rs.clone();
        let made = match text.as_slice() {
            [] => Separator::Paragraph,
            [byte] => Separator::Byte(*byte),
            more => {
                let pattern = self.pattern(more);
                Separator::Matches(self.regex(&pattern)?)
            }
        };
        self.vars.record_separator = Some(made.clone());
        Ok(made)
    }
}
