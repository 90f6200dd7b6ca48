//! Values in block style, quoted only where they have to be.

use super::super::Layout;
use super::scalar::resolve;
use jq::value::Value as Val;
use std::io::Write as _;

/// Appends a value, without a line end behind it.
pub fn write(out: &mut Vec<u8>, value: &Val, layout: &Layout) {
    Emitter { step: layout.indent.clamp(1, 8), sort_keys: layout.sort_keys }.node(out, value, 0);
}

/// The same where lines begin with so many blanks; the first one stands where it is put.
pub fn write_at(out: &mut Vec<u8>, value: &Val, level: usize) {
    Emitter { step: 2, sort_keys: false }.node(out, value, level);
}

/// A key that goes on for longer than 1,024 characters is none, unless a question mark says so first.
const KEY_BYTES_MAX: usize = 1_000;

struct Emitter {
    step: usize,
    sort_keys: bool,
}

impl Emitter {
    /// Writes a node that starts where the line stands; `level` is the indentation of its own lines.
    fn node(&self, out: &mut Vec<u8>, value: &Val, level: usize) {
        match value {
            Val::Arr(items) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    self.start(out, at, level);
                    out.extend_from_slice(b"- ");
                    self.node(out, item, level + 2);
                }
            }
            Val::Obj(fields) if !fields.is_empty() => {
                let all = if self.sort_keys { fields.sorted() } else { fields.iter().collect() };
                for (at, (key, item)) in all.into_iter().enumerate() {
                    self.start(out, at, level);
                    let from = out.len();
                    self.text(out, key, level, true);
                    if out.len() - from > KEY_BYTES_MAX {
                        out.splice(from..from, *b"? ");
                        out.push(b'\n');
                        out.resize(out.len() + level, b' ');
                    }
                    out.push(b':');
                    self.field(out, item, level);
                }
            }
            Val::Arr(_) => out.extend_from_slice(b"[]"),
            Val::Obj(_) => out.extend_from_slice(b"{}"),
            scalar => self.scalar(out, scalar, level),
        }
    }

    fn start(&self, out: &mut Vec<u8>, at: usize, level: usize) {
        if at > 0 {
            out.push(b'\n');
            out.resize(out.len() + level, b' ');
        }
    }

    fn field(&self, out: &mut Vec<u8>, item: &Val, level: usize) {
        let block = match item {
            Val::Arr(items) => !items.is_empty(),
            Val::Obj(fields) => !fields.is_empty(),
            _ => false,
        };
        if !block {
            out.push(b' ');
            return self.node(out, item, level + self.step);
        }
        out.push(b'\n');
        out.resize(out.len() + level + self.step, b' ');
        self.node(out, item, level + self.step);
    }

    fn scalar(&self, out: &mut Vec<u8>, value: &Val, level: usize) {
        match value {
            Val::Str(text) => self.text(out, text, level, false),
            other => out.extend_from_slice(super::super::plain(other).as_bytes()),
        }
    }

    fn text(&self, out: &mut Vec<u8>, text: &str, level: usize, key: bool) {
        match style(text, key) {
            Style::Plain => out.extend_from_slice(text.as_bytes()),
            Style::Single => {
                let quoted = text.replace('\'', "''");
                // Writing to a vector cannot fail.
                let _ = write!(out, "'{quoted}'");
            }
            Style::Double => double(out, text),
            Style::Literal => self.literal(out, text, level.max(self.step)),
        }
    }

    fn literal(&self, out: &mut Vec<u8>, text: &str, level: usize) {
        let kept = text.len() - text.trim_end_matches('\n').len();
        out.extend_from_slice(match kept {
            0 => b"|-",
            1 => b"|",
            _ => b"|+",
        });
        let body = if kept == 0 { text } else { &text[..text.len() - 1] };
        for line in body.split('\n') {
            out.push(b'\n');
            if !line.is_empty() {
                out.resize(out.len() + level, b' ');
                out.extend_from_slice(line.as_bytes());
            }
        }
    }
}

enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

fn style(text: &str, key: bool) -> Style {
    let breaks = text.contains('\n');
    let control = text.chars().any(|sign| sign.is_control() && sign != '\n');
    // A block's indentation is told by its first line, so blanks there would be taken for it.
    let unclear =
        text.starts_with(['\n', ' ']) || text.lines().any(|line| !line.is_empty() && line.trim().is_empty());
    if control || (breaks && (key || unclear)) {
        return Style::Double;
    }
    if breaks {
        return Style::Literal;
    }
    // What would be read as something else; the empty string among it.
    if resolve(text).is_some() {
        return Style::Double;
    }
    let first = text.chars().next().unwrap_or(' ');
    let follows_blank = |at: usize| text[at + 1..].chars().next().is_none_or(|next| next == ' ');
    let indicator = match first {
        '-' | '?' | ':' => text.len() == 1 || follows_blank(0),
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
            true
        }
        _ => false,
    };
    let inner = text.contains(": ") || text.contains(" #") || text.ends_with(':');
    let edges = text.starts_with(' ') || text.ends_with(' ');
    let marker = text.starts_with("---") || text.starts_with("...") || text == "=" || text == "<<";
    if indicator || inner || edges || marker { Style::Single } else { Style::Plain }
}

fn double(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for sign in text.chars() {
        let _ = match sign {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\t' => write!(out, "\\t"),
            '\r' => write!(out, "\\r"),
            control if control.is_control() => write!(out, "\\x{:02x}", u32::from(control)),
            plain => write!(out, "{plain}"),
        };
    }
    out.push(b'"');
}

#[test]
fn a_key_of_any_length_is_read_again() {
    let layout = Layout { indent: 2, sort_keys: false, raw: Some(false) };
    let text = format!("a:\n  ? {}\n  : [1, {{b: c}}]\n  d: e\n", "k".repeat(5_000));
    let first = super::read(&text, 0).unwrap_or_default();
    assert_eq!(first.len(), 1);
    let mut out = Vec::new();
    first.iter().for_each(|it| write(&mut out, it, &layout));
    assert_eq!(super::read(&String::from_utf8_lossy(&out), 0), Ok(first));
}
