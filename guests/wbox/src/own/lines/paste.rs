//! `paste`: lines of files side by side, or those of one file behind each other.

use crate::own::arguments::{self, refuse};
use crate::stream::{Input, Out, reason, text};

const HELP: &str = "\
Usage: paste [OPTION]... [FILE]...
Writes the lines of files side by side.

  -d, --delimiters=LIST   between them, one after the other, instead of tabs
  -s, --serial            the lines of each file in one line
  -z, --zero-terminated   lines end with NUL
";

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line =
        match arguments::read("paste", HELP, args, &["d,delimiters=", "s,serial", "z,zero-terminated"], 1) {
            Ok(line) => line,
            Err(status) => return status,
        };
    let between = match line.value("d").map_or(Some(vec![vec![b'\t']]), delimiters) {
        Some(between) => between,
        None => {
            let list = text(line.value("d").unwrap_or_default()).into_owned();
            return refuse("paste", &format!("delimiter list ends with an unescaped backslash: {list}"), 1);
        }
    };
    let (names, serial) = (line.inputs(), line.has("s"));
    let end = if line.has("z") { 0 } else { b'\n' };
    let mut out = Out::new("paste");
    let mut inputs: Vec<Lines<'_>> = Vec::new();
    let mut status = 0;
    for name in &names {
        let shared = inputs.iter().position(|it| it.name == b"-" && *name == b"-");
        let content = match shared {
            Some(_) => Ok(Vec::new()),
            None => Input::open(name).and_then(|mut it| it.all()),
        };
        match content {
            Ok(content) if serial => {
                let mut one = [Lines { name, content, at: 0, shared: None, end }];
                one_by_one(&mut one, &between, &mut out);
            }
            Ok(content) => inputs.push(Lines { name, content, at: 0, shared, end }),
            Err(error) => {
                out.complain(&format!("{}: {}", text(name), reason(&error)));
                status = 1;
                if !serial {
                    return out.end(1);
                }
            }
        }
        if out.is_closed() {
            break;
        }
    }
    if !serial {
        side_by_side(&mut inputs, &between, &mut out);
    }
    out.end(status)
}

/// An input, and how far it was read. Standard input named twice is read in turns.
struct Lines<'a> {
    name: &'a [u8],
    content: Vec<u8>,
    at: usize,
    shared: Option<usize>,
    end: u8,
}

fn next<'l>(inputs: &'l mut [Lines<'_>], which: usize) -> Option<&'l [u8]> {
    let which = inputs[which].shared.unwrap_or(which);
    let Lines { content, at, end, .. } = &mut inputs[which];
    let rest = content.get(*at..).filter(|rest| !rest.is_empty())?;
    let stop = memchr::memchr(*end, rest).unwrap_or(rest.len());
    *at += stop + 1;
    Some(&rest[..stop])
}

fn one_by_one(inputs: &mut [Lines<'_>], between: &[Vec<u8>], out: &mut Out) {
    let end = inputs.first().map_or(b'\n', |it| it.end);
    let mut count = 0;
    while let Some(line) = next(inputs, 0) {
        if count > 0 {
            out.put(&between[(count - 1) % between.len()]);
        }
        count += 1;
        if !out.put(line) {
            return;
        }
    }
    out.sign(end);
}

fn side_by_side(inputs: &mut [Lines<'_>], between: &[Vec<u8>], out: &mut Out) {
    let end = inputs.first().map_or(b'\n', |it| it.end);
    let mut row = Vec::new();
    loop {
        row.clear();
        let mut any = false;
        for which in 0..inputs.len() {
            if which > 0 {
                row.extend_from_slice(&between[(which - 1) % between.len()]);
            }
            if let Some(line) = next(inputs, which) {
                any = true;
                row.extend_from_slice(line);
            }
        }
        row.push(end);
        if !any || !out.put(&row) {
            return;
        }
    }
}

/// One sign after the other; `\0` is none at all. Nothing if it ends within an escape.
fn delimiters(given: &[u8]) -> Option<Vec<Vec<u8>>> {
    let text = text(given);
    let (mut all, mut signs) = (Vec::new(), text.chars());
    while let Some(sign) = signs.next() {
        let one = match sign {
            '\\' => match signs.next()? {
                '0' => String::new(),
                'n' => "\n".to_owned(),
                't' => "\t".to_owned(),
                'b' => "\u{8}".to_owned(),
                'f' => "\u{c}".to_owned(),
                'r' => "\r".to_owned(),
                'v' => "\u{b}".to_owned(),
                other => other.to_string(),
            },
            other => other.to_string(),
        };
        all.push(one.into_bytes());
    }
    if all.is_empty() {
        all.push(Vec::new());
    }
    Some(all)
}
