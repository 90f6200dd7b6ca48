//! The commands, on one line.

use super::{Machine, Queued, Space};
use crate::script::{Action, Copy, Script, Translation};
use memchr::memchr;

/// How a cycle ended.
pub(super) enum After {
    /// Print the line, unless `-n`.
    Print,
    Next,
    /// With what is left of the line, without reading.
    Again,
    Quit(i32),
}

impl Machine {
    pub(super) fn cycle(&mut self, script: &Script) -> After {
        match self.commands(script) {
            Ok(after) => after,
            Err(problem) => {
                self.complain(&problem);
                After::Quit(1)
            }
        }
    }

    fn commands(&mut self, script: &Script) -> Result<After, String> {
        let mut next = 0;
        while let Some(command) = script.commands.get(next) {
            let number = next;
            next += 1;
            if self.selects(number, command)? == command.negated {
                if let Action::Block { end } = &command.action {
                    next = *end;
                }
                continue;
            }
            match &command.action {
                Action::Block { .. } | Action::Nothing => {}
                Action::Substitute(substitution) => self.substitute(substitution)?,
                Action::Print => self.print_space(),
                Action::Delete => return Ok(After::Next),
                Action::Branch(target) => match target {
                    Some(target) => next = *target,
                    None => return Ok(After::Print),
                },
                Action::BranchIfDone(target) | Action::BranchIfNotDone(target) => {
                    let wanted = matches!(command.action, Action::BranchIfDone(_));
                    if std::mem::take(&mut self.replaced) == wanted {
                        match target {
                            Some(target) => next = *target,
                            None => return Ok(After::Print),
                        }
                    }
                }
                Action::Next => {
                    if self.at_end() {
                        return Ok(if self.posix { After::Next.quit() } else { self.last_print() });
                    }
                    if !self.quiet {
                        self.print_space();
                    }
                    self.print_queue(script);
                    let replaced = self.replaced;
                    self.read(Vec::clear);
                    self.replaced = replaced;
                }
                Action::NextAppend => {
                    if self.at_end() {
                        return Ok(if self.posix { After::Next.quit() } else { self.last_print() });
                    }
                    self.print_queue(script);
                    let (separator, replaced) = (self.separator, self.replaced);
                    self.read(|text| text.push(separator));
                    self.replaced = replaced;
                }
                Action::DeleteFirst => {
                    let Some(end) = memchr(self.separator, &self.space.text) else { return Ok(After::Next) };
                    self.space.text.drain(..=end);
                    return Ok(After::Again);
                }
                Action::PrintFirst => {
                    let text = &self.space.text;
                    let end = memchr(self.separator, text).unwrap_or(text.len());
                    let first = text[..end].to_vec();
                    self.output().line(&first, true);
                }
                Action::Get(how) => copy(&self.hold, &mut self.space, *how, self.separator),
                Action::Hold(how) => copy(&self.space, &mut self.hold, *how, self.separator),
                Action::Swap => std::mem::swap(&mut self.space, &mut self.hold),
                Action::Zap => self.space.text.clear(),
                Action::Append(_) => self.queue.push(Queued::Text(number)),
                Action::Insert(text) => self.output().raw(text),
                Action::Change(text) => {
                    let ends = command.range.as_ref().is_none_or(|range| range.end.is_none());
                    if ends || command.negated || self.ranges[number].has_ended() {
                        self.output().raw(text);
                    }
                    return Ok(After::Next);
                }
                Action::Equals => {
                    let text = format!("{}\n", self.input.number);
                    self.output().raw(text.as_bytes());
                }
                Action::FileName => {
                    let name = self.input.name.clone();
                    self.output().line(&name, true);
                }
                Action::List(length) => {
                    let listed = super::list::list(
                        &self.space.text,
                        length.unwrap_or(self.line_length),
                        self.separator,
                    );
                    self.output().raw(&listed);
                }
                Action::Quit(status) => {
                    if !self.quiet {
                        self.print_space();
                    }
                    return Ok(After::Quit(*status));
                }
                Action::QuitSilently(status) => {
                    self.queue.clear();
                    return Ok(After::Quit(*status));
                }
                Action::ReadFile(name) if command.is_before_all() => self.read_in(name),
                Action::ReadFile(name) => self.queue.push(Queued::File(name.clone())),
                Action::ReadLine(name) => self.queue.push(Queued::Line(name.clone())),
                Action::Translate(table) => self.translate(table),
                Action::Write(target) => {
                    let Space { text, ended } = std::mem::replace(&mut self.space, Space::EMPTY);
                    self.write(*target, &text, ended);
                    self.space = Space { text, ended };
                }
                Action::WriteFirst(target) => {
                    let text = std::mem::take(&mut self.space.text);
                    let end = memchr(self.separator, &text).unwrap_or(text.len());
                    self.write(*target, &text[..end], true);
                    self.space.text = text;
                }
            }
        }
        Ok(After::Print)
    }

    /// No line is left to be read: GNU prints this one, and that is all.
    fn last_print(&mut self) -> After {
        if !self.quiet {
            self.print_space();
        }
        After::Quit(0)
    }

    fn translate(&mut self, table: &Translation) {
        if table.plain {
            for byte in &mut self.space.text {
                if *byte < 0x80 {
                    *byte = table.ascii[usize::from(*byte)];
                }
            }
            return;
        }
        self.scratch.clear();
        for chunk in self.space.text.utf8_chunks() {
            for sign in chunk.valid().chars() {
                let sign = match table.others.get(&sign) {
                    Some(other) => *other,
                    None if sign.is_ascii() => char::from(table.ascii[sign as usize]),
                    None => sign,
                };
                self.scratch.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
            }
            self.scratch.extend_from_slice(chunk.invalid());
        }
        std::mem::swap(&mut self.space.text, &mut self.scratch);
    }
}

impl After {
    fn quit(self) -> Self {
        Self::Quit(0)
    }
}

impl Space {
    const EMPTY: Self = Self { text: Vec::new(), ended: true };
}

fn copy(from: &Space, to: &mut Space, how: Copy, separator: u8) {
    match how {
        Copy::Replace => to.text.clear(),
        Copy::Append => to.text.push(separator),
    }
    to.text.extend_from_slice(&from.text);
    to.ended = from.ended;
}
