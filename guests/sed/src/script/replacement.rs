//! The command `s`: its replacement and flags.

use super::escape;
use super::parse::{Parser, Side};
use super::types::{Action, Case, Piece, Substitution};

impl Parser<'_> {
    pub(super) fn substitution(&mut self) -> Result<Action, String> {
        let unterminated = "unterminated `s' command";
        let Some(delimiter) = self.reader.next() else { return Err(self.error(unterminated)) };
        let pattern = self.until(delimiter, Side::Pattern).ok_or_else(|| self.error(unterminated))?;
        let replacement = self.until(delimiter, Side::Replacement);
        let replacement = replacement.ok_or_else(|| self.error(unterminated))?;
        let mut made = Substitution {
            regex: None,
            replacement: pieces(&replacement),
            groups: false,
            global: false,
            number: 0,
            print: 0,
            write: None,
        };
        let (mut ignore_case, mut multi_line) = (false, false);
        loop {
            match self.reader.next() {
                Some(b'i' | b'I') => ignore_case = true,
                Some(b'm' | b'M') => multi_line = true,
                Some(b'g') if made.global => {
                    return Err(self.error("multiple `g' options to `s' command"));
                }
                Some(b'g') => made.global = true,
                Some(b'p') if made.print > 0 => {
                    return Err(self.error("multiple `p' options to `s' command"));
                }
                Some(b'p') => made.print += 1,
                Some(b'e') => {
                    return Err(
                        self.error("the flag `e' of `s' is not supported: no other programs are run here")
                    );
                }
                Some(b'w') => {
                    let path = self.file_name()?;
                    made.write = Some(self.target(path));
                    break;
                }
                Some(b'0'..=b'9') => {
                    self.reader.back();
                    if made.number > 0 {
                        self.reader.next();
                        return Err(self.error("multiple number options to `s' command"));
                    }
                    made.number = self.reader.number().unwrap_or(0) as usize;
                    if made.number == 0 {
                        return Err(self.error("number option to `s' command may not be zero"));
                    }
                }
                Some(b' ' | b'\t') => {}
                None | Some(b'\n' | b';') => break,
                Some(b'}' | b'#') => {
                    self.reader.back();
                    break;
                }
                Some(b'\r') if matches!(self.reader.peek(), None | Some(b'\n')) => {}
                Some(_) => return Err(self.error("unknown option to `s'")),
            }
        }
        made.number = made.number.max(1);
        made.regex = self.regex(&pattern, ignore_case, multi_line)?;
        let highest = made.replacement.iter().map(|piece| match piece {
            Piece::Group(group) => *group,
            _ => 0,
        });
        let highest = highest.max().unwrap_or(0);
        made.groups = highest > 0;
        if made.regex.as_ref().is_some_and(|regex| regex.groups() < highest) {
            return Err(self.error(&format!("invalid reference \\{highest} on `s' command's RHS")));
        }
        Ok(Action::Substitute(Box::new(made)))
    }
}

fn pieces(text: &[u8]) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        let piece = match byte {
            b'&' => Piece::Group(0),
            b'\\' if at < text.len() => {
                let escaped = text[at];
                at += 1;
                match escaped {
                    b'0'..=b'9' => Piece::Group(usize::from(escaped - b'0')),
                    b'U' => Piece::Case(Case::Upper),
                    b'L' => Piece::Case(Case::Lower),
                    b'u' => Piece::Case(Case::UpperNext),
                    b'l' => Piece::Case(Case::LowerNext),
                    b'E' => Piece::Case(Case::End),
                    _ => {
                        match escape::character(&text[at - 1..]) {
                            Some((byte, length)) => {
                                plain.push(byte);
                                at += length - 1;
                            }
                            None => plain.push(escaped),
                        }
                        continue;
                    }
                }
            }
            _ => {
                plain.push(byte);
                continue;
            }
        };
        if !plain.is_empty() {
            out.push(Piece::Text(std::mem::take(&mut plain)));
        }
        out.push(piece);
    }
    if !plain.is_empty() {
        out.push(Piece::Text(plain));
    }
    out
}
