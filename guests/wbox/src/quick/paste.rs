//! `paste [-s] [-d LIST] [FILE]...`

use super::options::Options;
use super::stream::{Input, Out, reason, text};

pub fn paste(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    let (mut serial, mut between) = (false, vec![Some(b'\t')]);
    while let Some(letter) = options.next()? {
        match letter {
            b's' => serial = true,
            b'd' => between = delimiters(options.value()?)?,
            _ => return None,
        }
    }
    let names = options.inputs();
    let mut out = Out::new("paste");
    let mut inputs: Vec<Lines> = Vec::new();
    for name in &names {
        let shared = inputs.iter().position(|it| it.name == b"-" && *name == b"-");
        let content = match shared {
            Some(_) => Ok(Vec::new()),
            None => Input::open(name).and_then(|mut it| it.all()),
        };
        match content {
            Ok(content) => inputs.push(Lines { name, content, at: 0, shared }),
            Err(error) => {
                out.complain(&format!("{}: {}", text(name), reason(&error)));
                if !serial {
                    return Some(out.end(1));
                }
            }
        }
    }
    let status = i32::from(inputs.len() < names.len());
    if serial {
        one_by_one(&mut inputs, &between, &mut out)
    } else {
        side_by_side(&mut inputs, &between, &mut out)
    }
    Some(out.end(status))
}

/// An input, and how far it was read. Standard input named twice is read in turns.
struct Lines<'a> {
    name: &'a [u8],
    content: Vec<u8>,
    at: usize,
    shared: Option<usize>,
}

fn next<'l>(inputs: &'l mut [Lines<'_>], which: usize) -> Option<&'l [u8]> {
    let which = inputs[which].shared.unwrap_or(which);
    let Lines { content, at, .. } = &mut inputs[which];
    let rest = content.get(*at..).filter(|rest| !rest.is_empty())?;
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    *at += end + 1;
    Some(&rest[..end])
}

fn one_by_one(inputs: &mut [Lines<'_>], between: &[Option<u8>], out: &mut Out) {
    for which in 0..inputs.len() {
        let mut count = 0;
        while let Some(line) = next(inputs, which) {
            if count > 0
                && let Some(sign) = between[(count - 1) % between.len()]
            {
                out.sign(sign);
            }
            count += 1;
            out.put(line);
        }
        out.sign(b'\n');
    }
}

fn side_by_side(inputs: &mut [Lines<'_>], between: &[Option<u8>], out: &mut Out) {
    let mut row = Vec::new();
    loop {
        row.clear();
        let mut any = false;
        for which in 0..inputs.len() {
            if which > 0
                && let Some(sign) = between[(which - 1) % between.len()]
            {
                row.push(sign);
            }
            if let Some(line) = next(inputs, which) {
                any = true;
                row.extend_from_slice(line);
            }
        }
        if !any {
            return;
        }
        row.push(b'\n');
        out.put(&row);
    }
}

/// One sign after the other; `\0` is none at all.
fn delimiters(text: &[u8]) -> Option<Vec<Option<u8>>> {
    let mut found = Vec::new();
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        found.push(match byte {
            b'\\' => match bytes.next()? {
                b'n' => Some(b'\n'),
                b't' => Some(b'\t'),
                b'\\' => Some(b'\\'),
                b'0' => None,
                _ => return None,
            },
            byte if byte.is_ascii() => Some(*byte),
            _ => return None,
        });
    }
    (!found.is_empty()).then_some(found)
}
