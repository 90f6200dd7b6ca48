//! What follows the name of each command.

use super::escape;
use super::parse::{Parser, Side};
use super::types::{Action, Copy, Target, Translation};
use std::collections::HashMap;

impl Parser<'_> {
    /// The rest of the command `name`, which is number `number` of the script.
    pub(super) fn action(&mut self, name: u8, number: usize) -> Result<Action, String> {
        let action = match name {
            b'=' => Action::Equals,
            b'd' => Action::Delete,
            b'D' => Action::DeleteFirst,
            b'F' => Action::FileName,
            b'g' => Action::Get(Copy::Replace),
            b'G' => Action::Get(Copy::Append),
            b'h' => Action::Hold(Copy::Replace),
            b'H' => Action::Hold(Copy::Append),
            b'n' => Action::Next,
            b'N' => Action::NextAppend,
            b'p' => Action::Print,
            b'P' => Action::PrintFirst,
            b'x' => Action::Swap,
            b'z' => Action::Zap,
            b'l' => {
                self.reader.skip_blanks();
                Action::List(self.reader.number().map(|it| it as usize))
            }
            b'q' | b'Q' => {
                self.reader.skip_blanks();
                let status = self.reader.number().map_or(0, |it| it as i32 & 0xff);
                if name == b'q' { Action::Quit(status) } else { Action::QuitSilently(status) }
            }
            b'a' | b'i' | b'c' => return self.text_command(name, number),
            b':' => return self.label(number),
            b'b' | b't' | b'T' => return Ok(self.jump(name, number)),
            b'r' | b'R' | b'w' | b'W' => return self.file_command(name),
            b's' => return self.substitution(),
            b'y' => self.translation()?,
            b'v' => {
                let wanted = String::from_utf8_lossy(&self.reader.line()).trim().to_owned();
                if newer_than_ours(&wanted) {
                    return Err(self.error("expected newer version of sed"));
                }
                return Ok(Action::Nothing);
            }
            b'e' => {
                return Err(self.error("the `e' command is not supported: no other programs are run here"));
            }
            other => {
                let other = String::from_utf8_lossy(&[other]).into_owned();
                return Err(self.error(&format!("unknown command: `{other}'")));
            }
        };
        self.end_of_command()?;
        Ok(action)
    }

    fn text_command(&mut self, name: u8, number: usize) -> Result<Action, String> {
        self.reader.skip_blanks();
        let Some(first) = self.reader.next() else {
            return Err(self.error("expected \\ after `a', `c' or `i'"));
        };
        // `}` is not special here: `1{a foo}` wants the text `foo}`.
        let after_backslash = first == b'\\';
        if after_backslash {
            self.reader.skip_blanks_before_line_end();
            if !self.reader.eat(b'\n') {
                // The text begins on this line; its leading blanks are part of it.
                if self.reader.peek().is_none() {
                    self.unfinished = Some(number);
                }
            }
        } else {
            self.reader.back();
        }
        let text = if self.unfinished.is_some() { Vec::new() } else { self.text(number, after_backslash) };
        Ok(match name {
            b'a' => Action::Append(text),
            b'i' => Action::Insert(text),
            _ => Action::Change(text),
        })
    }

    /// Goes on with the text of a command of the part before.
    pub(super) fn continue_text(&mut self, number: usize) {
        let more = self.text(number, true);
        if let Action::Append(text) | Action::Insert(text) | Action::Change(text) =
            &mut self.commands[number].action
        {
            text.extend(more);
        }
    }

    /// Text up to a line end without a backslash before it. A backslash that begins the text of `a text`
    /// only keeps the blanks after it.
    fn text(&mut self, number: usize, escapes_at_start: bool) -> Vec<u8> {
        let mut text = Vec::new();
        while let Some(byte) = self.reader.next() {
            match byte {
                b'\n' => break,
                b'\\' => {
                    let rest = self.reader.rest();
                    match escape::character(rest).filter(|_| rest[0] != b'n' || rest.len() > 1) {
                        Some((byte, length))
                            if rest[0] != b'\n' && (escapes_at_start || !text.is_empty()) =>
                        {
                            text.push(byte);
                            self.reader.skip(length);
                        }
                        _ => match self.reader.next() {
                            Some(byte) => text.push(byte),
                            None => {
                                self.unfinished = Some(number);
                                text.push(b'\n');
                                return text;
                            }
                        },
                    }
                }
                _ => text.push(byte),
            }
        }
        text.push(b'\n');
        text
    }

    fn label(&mut self, number: usize) -> Result<Action, String> {
        if self.commands[number].range.is_some() {
            return Err(self.error(": doesn't want any addresses"));
        }
        self.reader.skip_blanks();
        let label = self.name();
        if label.is_empty() {
            return Err(self.error("\":\" lacks a label"));
        }
        self.labels.insert(label, number);
        Ok(Action::Nothing)
    }

    fn jump(&mut self, name: u8, number: usize) -> Action {
        self.reader.skip_blanks();
        let label = self.name();
        if !label.is_empty() {
            self.jumps.push((number, label));
        }
        match name {
            b'b' => Action::Branch(None),
            b't' => Action::BranchIfDone(None),
            _ => Action::BranchIfNotDone(None),
        }
    }

    fn name(&mut self) -> Vec<u8> {
        let mut name = Vec::new();
        while let Some(byte) = self.reader.peek() {
            if byte.is_ascii_whitespace() || byte == b';' || byte == b'}' {
                break;
            }
            name.push(byte);
            self.reader.next();
        }
        name
    }

    fn file_command(&mut self, name: u8) -> Result<Action, String> {
        let path = self.file_name()?;
        Ok(match name {
            b'r' => Action::ReadFile(path),
            b'R' => Action::ReadLine(path),
            b'w' => Action::Write(self.target(path)),
            _ => Action::WriteFirst(self.target(path)),
        })
    }

    pub(super) fn file_name(&mut self) -> Result<Vec<u8>, String> {
        if self.dialect.sandbox {
            return Err(self.error("e/r/w commands disabled in sandbox mode"));
        }
        self.reader.skip_blanks();
        if matches!(self.reader.peek(), None | Some(b'\n')) {
            return Err(self.error("missing filename in r/R/w/W commands"));
        }
        Ok(self.reader.line())
    }

    pub(super) fn target(&mut self, path: Vec<u8>) -> Target {
        match path.as_slice() {
            b"/dev/stdout" => return Target::Stdout,
            b"/dev/stderr" => return Target::Stderr,
            _ => {}
        }
        let known = self.outputs.iter().position(|known| *known == path);
        Target::File(known.unwrap_or_else(|| {
            self.outputs.push(path);
            self.outputs.len() - 1
        }))
    }

    fn translation(&mut self) -> Result<Action, String> {
        let unterminated = "unterminated `y' command";
        let Some(delimiter) = self.reader.next() else { return Err(self.error(unterminated)) };
        let from = self.until(delimiter, Side::Replacement).ok_or_else(|| self.error(unterminated))?;
        let to = self.until(delimiter, Side::Replacement).ok_or_else(|| self.error(unterminated))?;
        let (from, to) = (plain(&from), plain(&to));
        if from.len() != to.len() {
            return Err(self.error("strings for `y' command are different lengths"));
        }
        let mut ascii: [u8; 128] = std::array::from_fn(|it| it as u8);
        let mut others = HashMap::new();
        for (from, to) in from.into_iter().zip(to).rev() {
            match (u8::try_from(from), u8::try_from(to)) {
                (Ok(low @ 0..=0x7f), Ok(high @ 0..=0x7f)) => {
                    ascii[usize::from(low)] = high;
                    others.remove(&from);
                }
                _ => {
                    others.insert(from, to);
                }
            }
        }
        Ok(Action::Translate(Box::new(Translation { ascii, plain: others.is_empty(), others })))
    }
}

/// The characters of one side of `y`.
/// Whether a script wants more than GNU sed 4.9.
fn newer_than_ours(wanted: &str) -> bool {
    let mut parts = wanted.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) > (4, 9)
}

fn plain(text: &[u8]) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\\' && at + 1 < text.len() {
            if let Some((byte, length)) = escape::character(&text[at + 1..]) {
                out.push(byte);
                at += 1 + length;
                continue;
            }
            at += 1;
        }
        out.push(text[at]);
        at += 1;
    }
    String::from_utf8_lossy(&out).chars().collect()
}
