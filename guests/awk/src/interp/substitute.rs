//! `sub`, `gsub` and `gensub`.

use super::{Interp, Stop};
use crate::ast::{Expr, Place, Var};
use crate::format::prefix_length;
use crate::value::Value;
use posix_regex::{Regex, Slots, Span};
use std::rc::Rc;

/// A part of a replacement.
enum Piece {
    Text(Vec<u8>),
    /// 0 is the whole match.
    Group(usize),
}

/// Which matches are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Number(usize),
}

impl<'p> Interp<'p> {
    #[inline(never)]
    pub(super) fn substitute(&mut self, args: &'p [Expr], global: bool) -> Result<f64, Stop> {
        let regex = self.regex_of(&args[0])?;
        let replacement = self.text(&args[1])?;
        let pieces = simple_pieces(&replacement);
        let which = if global { Which::All } else { Which::Number(1) };
        let text = match args.get(2) {
            None => Rc::new(self.record_text().to_vec()),
            Some(target) => self.text(target)?,
        };
        let mut out = Vec::new();
        let count = replace(&regex, &text, &pieces, which, &mut self.captures, &mut out);
        if count == 0 {
            return Ok(0.0);
        }
        match args.get(2) {
            None => self.set_record(&out),
            Some(target) => self.assign_expr(target, Value::text(out))?,
        }
        Ok(count as f64)
    }

    fn assign_expr(&mut self, target: &'p Expr, value: Value) -> Result<(), Stop> {
        match target {
            Expr::Var(Var::Global(number)) => self.globals[*number] = value,
            Expr::Var(Var::Local(number)) => self.slots[self.base + number].value = value,
            Expr::Var(Var::Special(special)) => self.set_special(*special, value)?,
            Expr::Field(index) => {
                let index = Self::field_index(self.num(index)?)?;
                self.set_field(index, value)?;
            }
            Expr::Element(array, keys) => {
                let array = self.array(array)?;
                let key = self.key(keys)?;
                array.borrow_mut().set(&key, value);
            }
            Expr::Group(inner) if inner.len() == 1 => self.assign_expr(&inner[0], value)?,
            // Gawk warns and forgets the result.
            Expr::Assign(place, _) => {
                if let Place::Var(Var::Global(number)) = &**place {
                    self.globals[*number] = value;
                }
            }
            _ => {}
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn gensub(&mut self, args: &'p [Expr]) -> Result<Value, Stop> {
        let regex = self.regex_of(&args[0])?;
        let replacement = self.text(&args[1])?;
        let how = self.eval(&args[2])?;
        let text = match args.get(3) {
            Some(text) => self.text(text)?,
            None => Rc::new(self.record_text().to_vec()),
        };
        let spelled = how.to_text(b"%.6g");
        let which = match spelled.first() {
            Some(b'g' | b'G') => Which::All,
            _ => Which::Number((how.num().max(1.0)) as usize),
        };
        let mut out = Vec::new();
        let count = replace(&regex, &text, &group_pieces(&replacement), which, &mut self.captures, &mut out);
        Ok(if count == 0 { Value::Str(text) } else { Value::text(out) })
    }
}

/// `&` is the match; of the backslashes before it two are one, and one that is left makes it plain.
/// Other backslashes stand for themselves.
fn simple_pieces(text: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match &text[at..] {
            [b'\\', ..] => {
                let count = text[at..].iter().take_while(|it| **it == b'\\').count();
                at += count;
                let before_match = text.get(at) == Some(&b'&');
                plain.extend(std::iter::repeat_n(b'\\', if before_match { count / 2 } else { count }));
                if before_match && count % 2 == 1 {
                    plain.push(b'&');
                    at += 1;
                }
            }
            [b'&', ..] => {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
                pieces.push(Piece::Group(0));
                at += 1;
            }
            _ => {
                plain.push(text[at]);
                at += 1;
            }
        }
    }
    pieces.push(Piece::Text(plain));
    pieces
}

/// The same for `gensub`, where `\1` is a group.
fn group_pieces(text: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let group = match &text[at..] {
            [b'\\', digit @ b'0'..=b'9', ..] => {
                at += 2;
                usize::from(digit - b'0')
            }
            [b'&', ..] => {
                at += 1;
                0
            }
            [b'\\', escaped, ..] => {
                plain.push(*escaped);
                at += 2;
                continue;
            }
            _ => {
                plain.push(text[at]);
                at += 1;
                continue;
            }
        };
        pieces.push(Piece::Text(std::mem::take(&mut plain)));
        pieces.push(Piece::Group(group));
    }
    pieces.push(Piece::Text(plain));
    pieces
}

/// Appends `text` with matches replaced; how many were.
fn replace(
    regex: &Regex,
    text: &[u8],
    pieces: &[Piece],
    which: Which,
    slots: &mut Slots,
    out: &mut Vec<u8>,
) -> usize {
    let groups = pieces.iter().any(|it| matches!(it, Piece::Group(1..)));
    let (mut done, mut seen, mut count) = (0, 0, 0);
    let mut last_end = None;
    loop {
        let found = if groups { regex.captures_at(text, done, slots) } else { regex.find_at(text, done) };
        let Some(Span { start, end }) = found else { break };
        out.extend_from_slice(&text[done..start]);
        done = start;
        // An empty match right after a match is none.
        if !(start == end && last_end == Some(start)) {
            seen += 1;
            if which == Which::All || which == Which::Number(seen) {
                count += 1;
                for piece in pieces {
                    match piece {
                        Piece::Text(plain) => out.extend_from_slice(plain),
                        Piece::Group(0) => out.extend_from_slice(&text[start..end]),
                        Piece::Group(group) => {
                            if let Some(span) = slots.get(*group) {
                                out.extend_from_slice(&text[span.start..span.end]);
                            }
                        }
                    }
                }
            } else {
                out.extend_from_slice(&text[start..end]);
            }
            (done, last_end) = (end, Some(end));
            if which == Which::Number(seen) {
                break;
            }
        }
        if start == end {
            let length = prefix_length(&text[done..], 1);
            out.extend_from_slice(&text[done..done + length]);
            done += length;
            if length == 0 {
                break;
            }
        }
    }
    out.extend_from_slice(&text[done..]);
    count
}
