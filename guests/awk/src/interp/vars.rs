//! The variables that mean something to awk itself, ready for use.

use super::record::Splitter;
use super::{Interp, Stop};
use crate::ast::Special;
use crate::cli::Options;
use crate::input::Separator;
use crate::lexer::unescape;
use crate::pattern::Pattern;
use crate::value::Value;
use std::rc::Rc;

pub(super) struct Vars {
    pub(super) nr: f64,
    pub(super) fnr: f64,
    pub(super) fs: Vec<u8>,
    pub(super) ofs: Vec<u8>,
    pub(super) ors: Vec<u8>,
    pub(super) rs: Vec<u8>,
    pub(super) rt: Vec<u8>,
    pub(super) file_name: Value,
    pub(super) subsep: Vec<u8>,
    pub(super) rstart: f64,
    pub(super) rlength: f64,
    pub(super) convfmt: Vec<u8>,
    pub(super) ofmt: Vec<u8>,
    pub(super) argc: Value,
    pub(super) ignore_case: bool,
    ignore_case_given: Value,
    pub(super) fpat: Vec<u8>,
    pub(super) field_widths: Vec<u8>,
    pub(super) errno: Vec<u8>,
    /// Made from the above when first needed.
    pub(super) splitter: Option<Rc<Splitter>>,
    pub(super) record_separator: Option<Separator>,
    /// Which of `FS`, `FPAT` and `FIELDWIDTHS` was assigned last.
    pub(super) by: By,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Separator,
    Content,
    Widths,
}

impl Default for Vars {
    fn default() -> Self {
        Self {
            nr: 0.0,
            fnr: 0.0,
            fs: b" ".to_vec(),
            ofs: b" ".to_vec(),
            ors: b"\n".to_vec(),
            rs: b"\n".to_vec(),
            rt: Vec::new(),
            file_name: Value::Nothing,
            subsep: b"\x1c".to_vec(),
            rstart: 0.0,
            rlength: -1.0,
            convfmt: b"%.6g".to_vec(),
            ofmt: b"%.6g".to_vec(),
            argc: Value::Num(0.0),
            ignore_case: false,
            ignore_case_given: Value::Num(0.0),
            fpat: b"[^[:space:]]+".to_vec(),
            field_widths: Vec::new(),
            errno: Vec::new(),
            splitter: None,
            record_separator: None,
            by: By::Separator,
        }
    }
}

impl Vars {
    pub(super) fn regex(&self, pattern: &Pattern) -> Result<Rc<posix_regex::Regex>, String> {
        pattern.regex(self.ignore_case).map(Rc::clone).map_err(|problem| {
            let shown = String::from_utf8_lossy(&pattern.text);
            format!("fatal: invalid regexp: {}: /{shown}/", problem.text())
        })
    }
}

impl<'p> Interp<'p> {
    #[inline(never)]
    pub(super) fn special(&mut self, special: Special) -> Result<Value, Stop> {
        let vars = &self.vars;
        let text = |bytes: &Vec<u8>| Value::text(bytes.clone());
        Ok(match special {
            Special::Nf => {
                self.split_record()?;
                Value::Num(self.record.fields() as f64)
            }
            Special::Nr => Value::Num(vars.nr),
            Special::Fnr => Value::Num(vars.fnr),
            Special::Fs => text(&vars.fs),
            Special::Ofs => text(&vars.ofs),
            Special::Ors => text(&vars.ors),
            Special::Rs => text(&vars.rs),
            Special::Rt => text(&vars.rt),
            Special::FileName => vars.file_name.clone(),
            Special::Subsep => text(&vars.subsep),
            Special::Rstart => Value::Num(vars.rstart),
            Special::Rlength => Value::Num(vars.rlength),
            Special::Convfmt => text(&vars.convfmt),
            Special::Ofmt => text(&vars.ofmt),
            Special::Argc => vars.argc.clone(),
            Special::IgnoreCase => vars.ignore_case_given.clone(),
            Special::Fpat => text(&vars.fpat),
            Special::FieldWidths => text(&vars.field_widths),
            Special::Errno => text(&vars.errno),
        })
    }

    #[inline(never)]
    pub(super) fn set_special(&mut self, special: Special, value: Value) -> Result<(), Stop> {
        // The record that is there is still split by the old rules.
        if matches!(special, Special::Fs | Special::Fpat | Special::FieldWidths | Special::IgnoreCase) {
            self.split_record()?;
            self.vars.splitter = None;
        }
        if special == Special::Nf {
            return self.set_field_count(value.num());
        }
        let vars = &mut self.vars;
        let text = || value.to_text(b"%.6g").to_vec();
        match special {
            Special::Nf => {}
            Special::Nr => vars.nr = value.num(),
            Special::Fnr => vars.fnr = value.num(),
            Special::Fs => (vars.fs, vars.by) = (text(), By::Separator),
            Special::Ofs => {
                let ofs = text();
                // A record that waits to be put together is put together with the old one.
                self.record_text();
                self.vars.ofs = ofs;
            }
            Special::Ors => vars.ors = text(),
            Special::Rs => {
                (vars.rs, vars.record_separator, vars.splitter) = (text(), None, None);
            }
            Special::Rt => vars.rt = text(),
            Special::FileName => vars.file_name = value,
            Special::Subsep => vars.subsep = text(),
            Special::Rstart => vars.rstart = value.num(),
            Special::Rlength => vars.rlength = value.num(),
            Special::Convfmt => vars.convfmt = text(),
            Special::Ofmt => vars.ofmt = text(),
            Special::Argc => vars.argc = value,
            Special::IgnoreCase => {
                (vars.ignore_case, vars.record_separator) = (value.truth(), None);
                vars.ignore_case_given = value;
            }
            Special::Fpat => (vars.fpat, vars.by) = (text(), By::Content),
            Special::FieldWidths => (vars.field_widths, vars.by) = (text(), By::Widths),
            Special::Errno => vars.errno = text(),
        }
        Ok(())
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.program.globals.iter().position(|it| it == name)
    }

    /// What a program finds when it starts.
    pub(super) fn prepare(&mut self, options: &Options) -> Result<(), String> {
        if let Some(number) = self.named("ENVIRON") {
            let mut environ = self.arrays[number].borrow_mut();
            for (name, value) in std::env::vars_os() {
                environ.set(&name.into_encoded_bytes(), Value::input(value.into_encoded_bytes()));
            }
        }
        if let Some(number) = self.named("PROCINFO") {
            let mut info = self.arrays[number].borrow_mut();
            info.set(&b"version".to_vec(), Value::text("5.2.1"));
            info.set(&b"platform".to_vec(), Value::text("posix"));
        }
        let mut arguments = vec![b"awk".to_vec()];
        arguments.extend(options.operands.iter().cloned());
        self.vars.argc = Value::Num(arguments.len() as f64);
        self.files.arguments = match self.named("ARGV") {
            Some(number) => Rc::clone(&self.arrays[number]),
            None => Rc::default(),
        };
        for (number, argument) in arguments.into_iter().enumerate() {
            self.files.arguments.borrow_mut().set(&number.to_string().into_bytes(), Value::input(argument));
        }
        if let Some(separator) = &options.separator {
            self.assign_text("FS", separator)?;
        }
        for assignment in &options.assignments {
            let Some((name, value)) = split_assignment(assignment) else {
                let shown = String::from_utf8_lossy(assignment);
                return Err(format!("fatal: `{shown}' argument to `-v' not in `var=value' form"));
            };
            self.assign_text(name, value)?;
        }
        Ok(())
    }

    /// `name=value` from the command line.
    pub(super) fn assign_text(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        let mut text = Vec::with_capacity(value.len());
        let mut at = 0;
        while at < value.len() {
            if value[at] == b'\\' {
                at += 1 + unescape(&value[at + 1..], &mut text);
            } else {
                text.push(value[at]);
                at += 1;
            }
        }
        let value = Value::input(text);
        let special = crate::ast::SPECIALS.iter().find(|(known, _)| *known == name);
        if let Some((_, special)) = special {
            return match self.set_special(*special, value) {
                Err(Stop::Fatal(problem)) => Err(problem),
                _ => Ok(()),
            };
        }
        if let Some(number) = self.named(name) {
            self.globals[number] = value;
        }
        Ok(())
    }
}

/// The two sides of `name=value`, if it is that.
pub(super) fn split_assignment(text: &[u8]) -> Option<(&str, &[u8])> {
    let at = memchr::memchr(b'=', text)?;
    let name = std::str::from_utf8(&text[..at]).ok()?;
    let first = name.chars().next()?;
    let legal = (first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    legal.then_some((name, &text[at + 1..]))
}
