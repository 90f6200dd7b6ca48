//! The files named by `ARGV`, one after the other, and `getline`.

use super::vars::split_assignment;
use super::{Interp, Stop};
use crate::ast::{Place, Source};
use crate::input::Reader;
use crate::value::{Shared, Value};
use place::reason;

/// Where reading stands.
#[derive(Default)]
pub(super) struct Files {
    pub(super) arguments: Shared,
    next: usize,
    current: Option<Reader>,
    /// A file, or standard input, has been read.
    any: bool,
    done: bool,
    skip: bool,
}

impl Files {
    /// Nothing more is wanted of this file.
    pub(super) fn skip(&mut self) {
        self.skip = true;
    }
}

impl<'p> Interp<'p> {
    /// Reads the next record of the files into the record.
    pub(super) fn next_record(&mut self) -> Result<bool, Stop> {
        let mut text = std::mem::take(&mut self.spare);
        let found = self.next_text(&mut text);
        if matches!(found, Ok(true)) {
            std::mem::swap(&mut self.record.text, &mut text);
            self.record.renew();
        }
        self.spare = text;
        found
    }

    fn next_text(&mut self, text: &mut Vec<u8>) -> Result<bool, Stop> {
        loop {
            if std::mem::take(&mut self.files.skip) && self.files.current.take().is_some() {
                self.end_file()?;
            }
            if self.files.current.is_none() && !self.open_next()? {
                return Ok(false);
            }
            let by = self.separator()?;
            let Some(reader) = &mut self.files.current else { continue };
            match reader.record(&by, text, &mut self.vars.rt) {
                Ok(true) => {
                    self.vars.nr += 1.0;
                    self.vars.fnr += 1.0;
                    return Ok(true);
                }
                Ok(false) => {}
                Err(error) => {
                    let name = self.vars.file_name.to_text(b"%.6g");
                    let name = String::from_utf8_lossy(&name);
                    self.warn(&format!("warning: error reading input file `{name}': {}", reason(&error)));
                }
            }
            // The last record stays what it was, for END.
            self.files.current = None;
            self.end_file()?;
        }
    }

    fn end_file(&mut self) -> Result<(), Stop> {
        let program = self.program;
        for body in &program.end_file {
            self.block(body)?;
        }
        Ok(())
    }

    fn open_next(&mut self) -> Result<bool, Stop> {
        let program = self.program;
        loop {
            if self.files.done {
                return Ok(false);
            }
            self.files.next += 1;
            let count = self.vars.argc.num();
            let argument = if (self.files.next as f64) < count {
                let key = self.files.next.to_string().into_bytes();
                let argument = self.files.arguments.borrow().get(&key).cloned();
                match argument {
                    Some(argument) => argument.to_text(b"%.6g").to_vec(),
                    None => continue,
                }
            } else if !self.files.any {
                self.files.done = true;
                b"-".to_vec()
            } else {
                self.files.done = true;
                return Ok(false);
            };
            if argument.is_empty() {
                continue;
            }
            if let Some((name, value)) = split_assignment(&argument) {
                self.assign_text(name, value)?;
                continue;
            }
            let standard = self.files.done;
            self.files.any = true;
            self.vars.fnr = 0.0;
            self.vars.file_name = if standard { Value::text("-") } else { Value::input(argument.clone()) };
            let opened = Reader::open(&argument);
            self.vars.errno = opened.as_ref().err().map(|it| reason(it).into_bytes()).unwrap_or_default();
            for body in &program.begin_file {
                match self.block(body) {
                    Err(Stop::NextFile) => self.files.skip = true,
                    other => {
                        other?;
                    }
                }
            }
            match opened {
                Ok(reader) if !self.files.skip => {
                    self.files.current = Some(reader);
                    return Ok(true);
                }
                Ok(_) => {
                    self.files.skip = false;
                    self.end_file()?;
                }
                Err(error) => {
                    if std::mem::take(&mut self.files.skip) {
                        continue;
                    }
                    let name = String::from_utf8_lossy(&argument).into_owned();
                    let folder = std::fs::metadata(place::stdio::path(&argument)).is_ok_and(|it| it.is_dir());
                    if folder {
                        self.warn(&format!(
                            "warning: command line argument `{name}' is a directory: skipped"
                        ));
                        continue;
                    }
                    let why = reason(&error);
                    return Err(format!("fatal: cannot open file `{name}' for reading: {why}").into());
                }
            }
        }
    }

    fn warn(&mut self, text: &str) {
        self.outputs.flush_stdout();
        crate::complain(text);
    }

    /// 1 if a record was read, 0 at the end, -1 if the file cannot be read.
    #[inline(never)]
    pub(super) fn getline(&mut self, source: &'p Source, place: Option<&'p Place>) -> Result<f64, Stop> {
        match source {
            Source::Main => {
                let Some(place) = place else {
                    return Ok(f64::from(u8::from(self.next_record()?)));
                };
                let mut text = Vec::new();
                if !self.next_text(&mut text)? {
                    return Ok(0.0);
                }
                self.assign(place, Value::input(text))?;
                Ok(1.0)
            }
            Source::Command(command) => {
                let command = self.text(command)?;
                if !self.readers.contains_key(&*command) {
                    self.outputs.flush()?;
                    let (printed, status) = crate::command::capture(&command);
                    self.readers.insert(command.to_vec(), Some(Reader::of_bytes(printed)));
                    self.statuses.insert(command.to_vec(), status);
                }
                let found = self.getline_file(&command, place)?;
                if found > 0.0 {
                    self.vars.nr += 1.0;
                }
                Ok(found)
            }
            Source::File(name) => {
                let name = self.text(name)?;
                self.getline_file(&name, place)
            }
        }
    }

    #[inline(never)]
    fn getline_file(&mut self, name: &Vec<u8>, place: Option<&'p Place>) -> Result<f64, Stop> {
        if name.is_empty() {
            return Ok(-1.0);
        }
        // A file that is being written is to be read as it is now.
        self.outputs.flush()?;
        let by = self.separator()?;
        if !self.readers.contains_key(name) {
            match Reader::open(name) {
                Ok(reader) => drop(self.readers.insert(name.clone(), Some(reader))),
                Err(error) => {
                    self.vars.errno = reason(&error).into_bytes();
                    return Ok(-1.0);
                }
            }
        }
        let Some(Some(reader)) = self.readers.get_mut(name) else { return Ok(-1.0) };
        let mut text = Vec::new();
        match reader.record(&by, &mut text, &mut self.vars.rt) {
            Ok(true) => {}
            Ok(false) => return Ok(0.0),
            Err(_) => return Ok(-1.0),
        }
        match place {
            Some(place) => self.assign(place, Value::input(text))?,
            None => self.set_record(&text),
        }
        Ok(1.0)
    }
}
