//! Reads a script, part by part; blocks and the text of `a`, `i` and `c` may go on in the next part.

use super::escape;
use super::reader::{Part, Reader};
use super::types::{Action, Command, Dialect, Script};
use posix_regex::{Flavor, Options, Regex};
use std::collections::HashMap;
use std::rc::Rc;

/// Blocks inside one another.
const DEPTH_MAX: usize = 1000;

/// Reads the script.
pub fn parse(parts: &[Part], dialect: Dialect) -> Result<Script, String> {
    let mut script = Script::default();
    let nothing = Part::expression(0, Vec::new());
    let first = parts.first().unwrap_or(&nothing);
    let mut parser = Parser {
        reader: Reader::new(first),
        dialect,
        commands: Vec::new(),
        outputs: Vec::new(),
        blocks: Vec::new(),
        labels: HashMap::new(),
        jumps: Vec::new(),
        unfinished: None,
    };
    script.quiet = first.text.starts_with(b"#n\n") || first.text == b"#n";
    for part in parts {
        parser.reader = Reader::new(part);
        parser.part()?;
    }
    if !parser.blocks.is_empty() {
        return Err(parser.error_at_start("unmatched `{'"));
    }
    parser.resolve()?;
    script.commands = parser.commands;
    script.outputs = parser.outputs;
    Ok(script)
}

/// Which side of a `s` is read: escapes differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Pattern,
    Replacement,
}

pub(super) struct Parser<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) dialect: Dialect,
    pub(super) commands: Vec<Command>,
    pub(super) outputs: Vec<Vec<u8>>,
    pub(super) blocks: Vec<usize>,
    pub(super) labels: HashMap<Vec<u8>, usize>,
    /// Commands that go to a label, by name.
    pub(super) jumps: Vec<(usize, Vec<u8>)>,
    /// The command whose text goes on in the next part.
    pub(super) unfinished: Option<usize>,
}

impl Parser<'_> {
    pub(super) fn error(&self, problem: &str) -> String {
        self.reader.error(problem)
    }

    fn error_at_start(&self, problem: &str) -> String {
        let text = self.reader.error(problem);
        // GNU counts no characters for what is only found at the end.
        match text.split_once(", char ") {
            Some((head, _)) => format!("{head}, char 0: {problem}"),
            None => text,
        }
    }

    fn part(&mut self) -> Result<(), String> {
        if let Some(command) = self.unfinished.take() {
            self.continue_text(command);
        }
        loop {
            while self.reader.peek().is_some_and(|it| it.is_ascii_whitespace() || it == b';') {
                self.reader.next();
            }
            if self.reader.peek().is_none() {
                return Ok(());
            }
            if self.reader.eat(b'#') {
                self.reader.line();
                continue;
            }
            self.one()?;
        }
    }

    fn one(&mut self) -> Result<(), String> {
        let range = self.range()?;
        self.reader.skip_blanks();
        let mut negated = false;
        while self.reader.eat(b'!') {
            if negated {
                return Err(self.error("multiple `!'s"));
            }
            negated = true;
            self.reader.skip_blanks();
        }
        let Some(name) = self.reader.next() else { return Err(self.error("missing command")) };
        let has_range = range.is_some();
        if matches!(name, b'q' | b'Q') && range.as_ref().is_some_and(|it| it.end.is_some()) {
            return Err(self.error("command only uses one address"));
        }
        let number = self.commands.len();
        self.commands.push(Command { range, negated, action: Action::Nothing });
        match name {
            b'{' => {
                if self.blocks.len() >= DEPTH_MAX {
                    return Err(self.error("too many `{'s"));
                }
                self.blocks.push(number);
            }
            b'}' => {
                let Some(open) = self.blocks.pop() else { return Err(self.error("unexpected `}'")) };
                if has_range {
                    return Err(self.error("} doesn't want any addresses"));
                }
                self.commands[open].action = Action::Block { end: number };
                self.end_of_command()?;
            }
            _ => {
                let action = self.action(name, number)?;
                self.commands[number].action = action;
            }
        }
        Ok(())
    }

    /// Nothing but blanks up to the end of the command.
    pub(super) fn end_of_command(&mut self) -> Result<(), String> {
        self.reader.skip_blanks();
        match self.reader.next() {
            None | Some(b'\n' | b';') => Ok(()),
            Some(b'}' | b'#') => {
                self.reader.back();
                Ok(())
            }
            Some(b'\r') if matches!(self.reader.peek(), None | Some(b'\n')) => Ok(()),
            Some(_) => Err(self.error("extra characters after command")),
        }
    }

    /// What stands before the next `delimiter`, which is read too; `None` if it does not come.
    pub(super) fn until(&mut self, delimiter: u8, side: Side) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        loop {
            let byte = self.reader.next()?;
            if byte == delimiter {
                return Some(out);
            }
            if byte == b'\n' {
                self.reader.back();
                return None;
            }
            if byte == b'[' && side == Side::Pattern {
                // The delimiter may stand in a bracket expression.
                let rest = self.reader.rest();
                let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
                let whole = [b"[", line].concat();
                let Some(end) = escape::bracket_end(&whole, 0) else {
                    self.reader.skip(line.len());
                    return None;
                };
                out.extend_from_slice(&whole[..end]);
                self.reader.skip(end - 1);
                continue;
            }
            if byte != b'\\' {
                out.push(byte);
                continue;
            }
            match self.reader.next()? {
                // In a replacement `&` has to stay what it is.
                b'&' if delimiter == b'&' && side == Side::Replacement => out.extend(b"\\&"),
                escaped if escaped == delimiter => out.push(escaped),
                b'n' if side == Side::Pattern => out.extend(b"\\n"),
                b'\n' if side == Side::Pattern => out.push(b'\n'),
                escaped => out.extend([b'\\', escaped]),
            }
        }
    }

    /// The regular expression, or `None` for the last one used.
    pub(super) fn regex(
        &self,
        pattern: &[u8],
        ignore_case: bool,
        multi_line: bool,
    ) -> Result<Option<Rc<Regex>>, String> {
        if pattern.is_empty() {
            if ignore_case || multi_line {
                return Err(self.error("no previous regular expression"));
            }
            return Ok(None);
        }
        let outer = pattern.strip_prefix(b"[:").and_then(|it| it.strip_suffix(b":]"));
        if outer.is_some_and(|it| it.iter().all(u8::is_ascii_alphabetic)) {
            return Err("sed: character class syntax is [[:space:]], not [:space:]".to_owned());
        }
        let flavor = if self.dialect.extended { Flavor::Extended } else { Flavor::Basic };
        // With `-z` lines end with a zero byte, and the pattern space is always one line.
        let multi_line = multi_line && !self.dialect.null_data;
        let options = Options { ignore_case, multi_line, ..Options::of(flavor) };
        let pattern = escape::in_pattern(pattern);
        let regex = Regex::new(&pattern, options).map_err(|problem| self.error(problem.text()))?;
        Ok(Some(Rc::new(regex)))
    }

    fn resolve(&mut self) -> Result<(), String> {
        for (number, label) in std::mem::take(&mut self.jumps) {
            let Some(target) = self.labels.get(&label).copied() else {
                let label = String::from_utf8_lossy(&label);
                return Err(format!("sed: can't find label for jump to `{label}'"));
            };
            match &mut self.commands[number].action {
                Action::Branch(to) | Action::BranchIfDone(to) | Action::BranchIfNotDone(to) => {
                    *to = Some(target);
                }
                _ => {}
            }
        }
        Ok(())
    }
}
