//! `cut -f LIST [-d SIGN] [-s]`, `cut -c LIST` and `cut -b LIST`: bytes count, as with GNU's.

use super::options::{Options, number};
use super::stream::{Input, Out, Piece, reason, text};

/// First and last, from 1, in order and apart.
type Ranges = Vec<(usize, usize)>;

pub fn cut(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    let (mut ranges, mut fields, mut delimiter, mut only_delimited) = (None, false, None, false);
    while let Some(letter) = options.next()? {
        match letter {
            b'f' | b'c' | b'b' if ranges.is_none() => {
                fields = letter == b'f';
                ranges = Some(list(options.value()?)?);
            }
            b'd' if delimiter.is_none() => {
                let [sign] = options.value()? else { return None };
                delimiter = Some(*sign).filter(|sign| sign.is_ascii() && *sign != b'\n');
                delimiter?;
            }
            b's' => only_delimited = true,
            b'n' => {}
            _ => return None,
        }
    }
    let ranges = ranges?;
    if !fields && (delimiter.is_some() || only_delimited) {
        return None;
    }
    let cutter = Cutter { ranges, fields, delimiter: delimiter.unwrap_or(b'\t'), only_delimited };
    let (mut out, mut status) = (Out::new("cut"), 0);
    for name in options.inputs() {
        if let Err(error) = Input::open(name).and_then(|mut input| cutter.input(&mut input, &mut out)) {
            out.complain(&format!("{}: {}", text(name), reason(&error)));
            status = 1;
        }
    }
    Some(out.end(status))
}

/// A list of numbers and ranges, sorted and joined.
fn list(text: &[u8]) -> Option<Ranges> {
    let mut ranges = Vec::new();
    for part in text.split(|byte| matches!(byte, b',' | b' ')) {
        let range = match part.iter().position(|byte| *byte == b'-') {
            None => (number(part)?, number(part)?),
            Some(0) => (1, number(&part[1..])?),
            Some(dash) if dash + 1 == part.len() => (number(&part[..dash])?, usize::MAX),
            Some(dash) => (number(&part[..dash])?, number(&part[dash + 1..])?),
        };
        if range.0 == 0 || range.0 > range.1 {
            return None;
        }
        ranges.push(range);
    }
    ranges.sort_unstable();
    let mut joined: Ranges = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match joined.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    Some(joined)
}

struct Cutter {
    ranges: Ranges,
    fields: bool,
    delimiter: u8,
    only_delimited: bool,
}

impl Cutter {
    fn input(&self, input: &mut Input, out: &mut Out) -> std::io::Result<()> {
        let (mut piece, mut held) = (Piece::default(), Vec::new());
        while input.next(&mut piece)? {
            let mut start = 0;
            for end in memchr::memchr_iter(b'\n', &piece) {
                if held.is_empty() {
                    self.line(&piece[start..end], out);
                } else {
                    held.extend_from_slice(&piece[start..end]);
                    self.line(&held, out);
                    held.clear();
                }
                start = end + 1;
            }
            held.extend_from_slice(&piece[start..]);
        }
        if !held.is_empty() {
            self.line(&held, out);
        }
        Ok(())
    }

    fn line(&self, line: &[u8], out: &mut Out) {
        if !self.fields {
            for (first, last) in &self.ranges {
                let start = (first - 1).min(line.len());
                out.put(&line[start..line.len().min(*last)]);
            }
            return out.sign(b'\n');
        }
        let mut ends = memchr::memchr_iter(self.delimiter, line).peekable();
        if ends.peek().is_none() {
            if !self.only_delimited {
                out.put(line);
                out.sign(b'\n');
            }
            return;
        }
        let (mut field, mut start, mut any) = (0, 0, false);
        let mut ranges = self.ranges.iter();
        let mut range = ranges.next();
        while let Some((first, last)) = range {
            let end = ends.next();
            field += 1;
            if field >= *first {
                if any {
                    out.sign(self.delimiter);
                }
                any = true;
                // The rest as it is.
                let all = *last == usize::MAX;
                out.put(&line[start..end.filter(|_| !all).unwrap_or(line.len())]);
                if all {
                    break;
                }
                if field == *last {
                    range = ranges.next();
                }
            }
            let Some(end) = end else { break };
            start = end + 1;
        }
        out.sign(b'\n');
    }
}
