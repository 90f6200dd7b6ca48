//! Values as text, laid out as jq does it.
//!
//! `nan` is written as `null` and an infinite number as the largest finite one, because JSON has
//! neither; bytes that are not UTF-8 become the replacement character.

mod color;
mod string;
#[cfg(test)]
mod tests;

use crate::cli::{End, Indent, Output};
use color::Colors;
use jaq_json::{Num, Val};
use std::io::Write as _;

/// Appends one output, with what follows it.
pub fn write(out: &mut Vec<u8>, value: &Val, options: &Output) {
    if options.seq {
        out.push(0x1e);
    }
    match value {
        Val::TStr(text) | Val::BStr(text) if options.raw && options.ascii => string::ascii(out, text),
        Val::TStr(text) | Val::BStr(text) if options.raw => string::lossy(out, text),
        _ => Printer::new(options).value(out, value, 0),
    }
    match options.end {
        End::Line => out.push(b'\n'),
        End::Nul => out.push(0),
        End::Nothing => {}
    }
}

/// The value on one line, for messages.
pub fn compact(value: &Val) -> String {
    let options = Output { indent: Indent::Compact, ..Output::default() };
    let mut out = Vec::new();
    Printer::new(&options).value(&mut out, value, 0);
    String::from_utf8_lossy(&out).into_owned()
}

struct Printer<'a> {
    options: &'a Output,
    colors: Option<Colors>,
}

impl<'a> Printer<'a> {
    fn new(options: &'a Output) -> Self {
        let colors = options.color.then(|| Colors::parse(std::env::var("JQ_COLORS").ok().as_deref()));
        Self { options, colors }
    }

    fn value(&self, out: &mut Vec<u8>, value: &Val, level: usize) {
        match (&self.colors, value) {
            (_, Val::Arr(items)) => self.array(out, value, items, level),
            (_, Val::Obj(fields)) => self.object(out, value, fields.iter().collect(), level),
            (None, _) => self.scalar(out, value),
            (Some(colors), _) => {
                out.extend_from_slice(colors.of(value));
                self.scalar(out, value);
                out.extend_from_slice(color::RESET);
            }
        }
    }

    fn scalar(&self, out: &mut Vec<u8>, value: &Val) {
        match value {
            Val::Bool(true) => out.extend_from_slice(b"true"),
            Val::Bool(false) => out.extend_from_slice(b"false"),
            Val::Num(number) => write_number(out, number),
            Val::TStr(text) | Val::BStr(text) => string::quoted(out, text, self.options.ascii),
            _ => out.extend_from_slice(b"null"),
        }
    }

    fn array(&self, out: &mut Vec<u8>, value: &Val, items: &[Val], level: usize) {
        self.open(out, value, b'[', items.is_empty());
        for (at, item) in items.iter().enumerate() {
            self.separate(out, value, at);
            self.line(out, level + 1);
            self.value(out, item, level + 1);
        }
        self.close(out, value, b']', items.is_empty(), level);
    }

    fn object(&self, out: &mut Vec<u8>, value: &Val, mut fields: Vec<(&Val, &Val)>, level: usize) {
        if self.options.sort_keys {
            fields.sort_by_key(|(key, _)| *key);
        }
        let empty = fields.is_empty();
        self.open(out, value, b'{', empty);
        for (at, (key, item)) in fields.into_iter().enumerate() {
            self.separate(out, value, at);
            self.line(out, level + 1);
            self.key(out, value, key);
            if self.options.indent != Indent::Compact {
                out.push(b' ');
            }
            self.value(out, item, level + 1);
        }
        self.close(out, value, b'}', empty, level);
    }

    fn key(&self, out: &mut Vec<u8>, object: &Val, key: &Val) {
        let Some(colors) = &self.colors else {
            self.scalar(out, key);
            return out.push(b':');
        };
        out.extend_from_slice(color::RESET);
        out.extend_from_slice(colors.key());
        self.scalar(out, key);
        out.extend_from_slice(color::RESET);
        out.extend_from_slice(colors.of(object));
        out.push(b':');
        out.extend_from_slice(color::RESET);
    }

    fn open(&self, out: &mut Vec<u8>, value: &Val, sign: u8, _empty: bool) {
        if let Some(colors) = &self.colors {
            out.extend_from_slice(colors.of(value));
        }
        out.push(sign);
    }

    fn separate(&self, out: &mut Vec<u8>, value: &Val, at: usize) {
        if at == 0 {
            return;
        }
        if let Some(colors) = &self.colors {
            out.extend_from_slice(colors.of(value));
        }
        out.push(b',');
    }

    fn close(&self, out: &mut Vec<u8>, value: &Val, sign: u8, empty: bool, level: usize) {
        if let Some(colors) = &self.colors {
            out.extend_from_slice(colors.of(value));
        }
        if !empty {
            self.line(out, level);
        }
        if let Some(colors) = self.colors.as_ref().filter(|_| !empty) {
            out.extend_from_slice(colors.of(value));
        }
        out.push(sign);
        if self.colors.is_some() {
            out.extend_from_slice(color::RESET);
        }
    }

    fn line(&self, out: &mut Vec<u8>, level: usize) {
        let (sign, count) = match self.options.indent {
            Indent::Compact => return,
            Indent::Tab => (b'\t', level),
            Indent::Spaces(spaces) => (b' ', level * spaces),
        };
        out.push(b'\n');
        out.resize(out.len() + count, sign);
    }
}

fn write_number(out: &mut Vec<u8>, number: &Num) {
    // Writing to a vector cannot fail.
    let _ = match number {
        Num::Int(integer) => return write_integer(out, *integer),
        Num::Float(float) if float.is_nan() => write!(out, "null"),
        Num::Float(float) => write!(out, "{}", Num::Float(float.clamp(f64::MIN, f64::MAX))),
        // A literal of the program; those of the input are read this way.
        Num::Dec(text) if text.contains(['e', 'E']) => match crate::input::canonical(text) {
            Some(text) => write!(out, "{text}"),
            None => write!(out, "{text}"),
        },
        _ => write!(out, "{number}"),
    };
}

fn write_integer(out: &mut Vec<u8>, integer: isize) {
    // Twenty places hold any integer, whatever the machine word.
    let mut places = [0; 20];
    let (mut rest, mut at) = (integer.unsigned_abs(), places.len());
    loop {
        at -= 1;
        places[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if integer < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&places[at..]);
}
