//! Values as text, laid out as jq does it.
//!
//! Works without recursion, so that the depth of a value cannot exhaust the stack; below jq's own
//! limit it prints what jq prints there.

mod color;
mod string;
#[cfg(test)]
mod tests;

use crate::cli::{End, Indent, Output};
use crate::value::{Array, Map, Text, Value, number};
use color::Colors;
pub use string::quoted;

/// Deeper values are not printed, as in jq.
const DEPTH_MAX: usize = 10_000;
const TOO_DEEP: &[u8] = b"<skipped: too deep>";

/// Writes outputs one after the other.
pub struct Printer<'a> {
    options: &'a Output,
    colors: Option<Colors>,
}

/// A container being written, and what of it comes next.
enum Open<'v> {
    Array(&'v Array, usize),
    Object(&'v Map, usize),
    Sorted(Vec<&'v (Text, Value)>, usize),
}

impl<'a> Printer<'a> {
    /// One for all outputs of a run.
    pub fn new(options: &'a Output) -> Self {
        let colors = options.color.then(|| Colors::parse(std::env::var("JQ_COLORS").ok().as_deref()));
        Self { options, colors }
    }

    /// Appends one output, with what follows it.
    pub fn output(&self, out: &mut Vec<u8>, value: &Value) {
        if self.options.seq {
            out.push(0x1e);
        }
        match value {
            Value::Str(text) if self.options.raw && self.options.ascii => string::ascii(out, text),
            Value::Str(text) if self.options.raw => out.extend_from_slice(text.as_bytes()),
            _ => self.value(out, value),
        }
        match self.options.end {
            End::Line => out.push(b'\n'),
            End::Nul => out.push(0),
            End::Nothing => {}
        }
    }

    /// Appends a value.
    pub fn value<'v>(&self, out: &mut Vec<u8>, value: &'v Value) {
        if !value.is_container() {
            return self.scalar(out, value);
        }
        let mut open: Vec<Open<'v>> = Vec::new();
        self.begin(out, value, &mut open);
        while let Some(last) = open.last_mut() {
            let next = match last {
                Open::Array(items, at) => {
                    *at += 1;
                    items.get(*at - 1).map(|item| (None, item, *at - 1))
                }
                Open::Object(fields, at) => {
                    *at += 1;
                    fields.at(*at - 1).map(|(key, item)| (Some(key), item, *at - 1))
                }
                Open::Sorted(fields, at) => {
                    *at += 1;
                    fields.get(*at - 1).map(|(key, item)| (Some(key), item, *at - 1))
                }
            };
            let (start, sign) = match last {
                Open::Array(..) => (5, b']'),
                _ => (6, b'}'),
            };
            let Some((key, item, at)) = next else {
                open.pop();
                self.close(out, start, sign, open.len());
                continue;
            };
            if at > 0 {
                self.paint(out, start);
                out.push(b',');
            }
            self.line(out, open.len());
            if let Some(key) = key {
                self.key(out, key);
            }
            if !item.is_container() {
                self.scalar(out, item);
            } else if open.len() > DEPTH_MAX {
                out.extend_from_slice(TOO_DEEP);
            } else {
                self.begin(out, item, &mut open);
            }
        }
    }

    fn begin<'v>(&self, out: &mut Vec<u8>, value: &'v Value, open: &mut Vec<Open<'v>>) {
        match value {
            Value::Arr(items) => {
                self.paint(out, 5);
                out.push(b'[');
                if items.is_empty() {
                    return self.finish(out, 5, b']');
                }
                open.push(Open::Array(items, 0));
            }
            Value::Obj(fields) => {
                self.paint(out, 6);
                out.push(b'{');
                if fields.is_empty() {
                    return self.finish(out, 6, b'}');
                }
                open.push(if self.options.sort_keys {
                    Open::Sorted(fields.sorted(), 0)
                } else {
                    Open::Object(fields, 0)
                });
            }
            scalar => self.scalar(out, scalar),
        }
    }

    fn scalar(&self, out: &mut Vec<u8>, value: &Value) {
        let Some(colors) = &self.colors else { return self.bare(out, value) };
        out.extend_from_slice(colors.of(usize::from(value.rank())));
        self.bare(out, value);
        out.extend_from_slice(color::RESET);
    }

    #[inline]
    fn bare(&self, out: &mut Vec<u8>, value: &Value) {
        match value {
            Value::Bool(true) => out.extend_from_slice(b"true"),
            Value::Bool(false) => out.extend_from_slice(b"false"),
            Value::Num(number) => number::write(out, *number),
            Value::Lit(literal) => out.extend_from_slice(literal.spelled.as_bytes()),
            Value::Str(text) => quoted(out, text, self.options.ascii),
            _ => out.extend_from_slice(b"null"),
        }
    }

    fn key(&self, out: &mut Vec<u8>, key: &str) {
        let colon: &[u8] = if self.options.indent == Indent::Compact { b":" } else { b": " };
        let Some(colors) = &self.colors else {
            quoted(out, key, self.options.ascii);
            return out.extend_from_slice(colon);
        };
        out.extend_from_slice(color::RESET);
        out.extend_from_slice(colors.key());
        quoted(out, key, self.options.ascii);
        out.extend_from_slice(color::RESET);
        out.extend_from_slice(colors.of(6));
        out.extend_from_slice(colon);
        out.extend_from_slice(color::RESET);
    }

    fn close(&self, out: &mut Vec<u8>, kind: usize, sign: u8, level: usize) {
        self.paint(out, kind);
        self.line(out, level);
        self.paint(out, kind);
        self.finish(out, kind, sign);
    }

    fn finish(&self, out: &mut Vec<u8>, _kind: usize, sign: u8) {
        out.push(sign);
        if self.colors.is_some() {
            out.extend_from_slice(color::RESET);
        }
    }

    fn paint(&self, out: &mut Vec<u8>, kind: usize) {
        if let Some(colors) = &self.colors {
            out.extend_from_slice(colors.of(kind));
        }
    }

    #[inline]
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

/// The value on one line.
pub fn compact(value: &Value) -> String {
    if let Value::Str(text) = value {
        let mut out = Vec::with_capacity(text.len() + 2);
        quoted(&mut out, text, false);
        return String::from_utf8(out).unwrap_or_default();
    }
    let options = Output { indent: Indent::Compact, ..Output::default() };
    let mut out = Vec::new();
    Printer { options: &options, colors: None }.value(&mut out, value);
    String::from_utf8(out).unwrap_or_default()
}

/// Appends one output.
pub fn write(out: &mut Vec<u8>, value: &Value, options: &Output) {
    Printer::new(options).output(out, value);
}
