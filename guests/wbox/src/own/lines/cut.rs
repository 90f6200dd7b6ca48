//! `cut`: bytes or fields of every line. Characters are bytes, as with GNU's.

use super::each_line;
use crate::own::arguments::{self, Arguments, count, refuse};
use crate::stream::{Input, Out, reason, text};

const HELP: &str = "\
Usage: cut OPTION... [FILE]...
Writes parts of every line. LIST is N, N-, N-M or -M, with commas between them.

  -b, --bytes=LIST           these bytes
  -c, --characters=LIST      the same
  -f, --fields=LIST          these fields, and lines without a delimiter
  -d, --delimiter=SIGN       between fields, instead of a tab
  -w                         fields are separated by blanks
  -s, --only-delimited       no lines without a delimiter
      --complement           all but these
      --output-delimiter=T   between what is written
  -z, --zero-terminated      lines end with NUL
";

/// First and last, from 1, in order and apart.
type Ranges = Vec<(usize, usize)>;

struct Cutter<'a> {
    ranges: Ranges,
    fields: bool,
    /// Blanks in a row, if there is none.
    delimiter: Option<u8>,
    between: &'a [u8],
    /// Whether what is written between parts was chosen.
    chosen: bool,
    only_delimited: bool,
    end: u8,
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let table = &[
        "b,bytes=",
        "c,characters=",
        "f,fields=",
        "d,delimiter=",
        "w",
        "s,only-delimited",
        "complement",
        "output-delimiter=",
        "z,zero-terminated",
        "n",
    ];
    let line = match arguments::read("cut", HELP, args, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let cutter = match read(&line) {
        Ok(cutter) => cutter,
        Err(problem) => return refuse("cut", &problem, 1),
    };
    let (mut out, mut status) = (Out::new("cut"), 0);
    for name in line.inputs() {
        let done = Input::open(name).and_then(|mut input| {
            each_line(&mut input, cutter.end, |line| {
                cutter.line(line, &mut out);
                !out.is_closed()
            })
        });
        if let Err(error) = done {
            out.complain(&format!("{}: {}", text(name), reason(&error)));
            status = 1;
        }
    }
    out.end(status)
}

fn read<'a>(line: &Arguments<'a>) -> Result<Cutter<'a>, String> {
    let lists: Vec<_> = line.flags.iter().filter(|(id, _)| matches!(*id, "b" | "c" | "f")).collect();
    let (id, given) = match lists.as_slice() {
        [] => return Err("you must specify a list of bytes, characters, or fields".to_owned()),
        [one] => **one,
        _ => return Err("only one list may be specified".to_owned()),
    };
    let fields = id == "f";
    if !fields && (line.has("d") || line.has("w")) {
        return Err("an input delimiter may be specified only when operating on fields".to_owned());
    }
    if !fields && line.has("s") {
        return Err("suppressing non-delimited lines makes sense\n\tonly when operating on fields".to_owned());
    }
    let delimiter = match line.value("d") {
        Some([]) => Some(0),
        Some([one]) => Some(*one),
        Some(_) => return Err("the delimiter must be a single character".to_owned()),
        None if line.has("w") => None,
        None => Some(b'\t'),
    };
    let mut ranges = list(given.unwrap_or_default(), fields)?;
    if line.has("complement") {
        ranges = others(&ranges);
    }
    let chosen = line.value("output-delimiter");
    let between = match (chosen, line.value("d")) {
        (Some(chosen), _) => chosen,
        (None, Some(given)) if !given.is_empty() => given,
        (None, Some(_)) => b"\0",
        (None, None) => b"\t",
    };
    let end = if line.has("z") { 0 } else { b'\n' };
    Ok(Cutter {
        ranges,
        fields,
        delimiter,
        between,
        chosen: chosen.is_some(),
        only_delimited: line.has("s"),
        end,
    })
}

/// A list of numbers and ranges, sorted; those of bytes stay apart, for what is written between them.
fn list(given: &[u8], fields: bool) -> Result<Ranges, String> {
    let what = if fields { "field" } else { "byte/character position" };
    let wrong = |part: &[u8]| match fields {
        true => format!("invalid field value '{}'", text(part)),
        false => format!("invalid byte/character position '{}'", text(part)),
    };
    let number = |part: &[u8]| -> Result<usize, String> {
        let value = count(part).ok_or_else(|| wrong(part))?;
        Ok(usize::try_from(value).unwrap_or(usize::MAX))
    };
    let mut ranges = Vec::new();
    for part in given.split(|byte| matches!(byte, b',' | b' ' | b'\t')) {
        let range = match part.iter().position(|byte| *byte == b'-') {
            None => (number(part)?, number(part)?),
            Some(0) if part.len() == 1 => return Err("invalid range with no endpoint: -".to_owned()),
            Some(0) => (1, number(&part[1..])?),
            Some(dash) if dash + 1 == part.len() => (number(&part[..dash])?, usize::MAX),
            Some(dash) => (number(&part[..dash])?, number(&part[dash + 1..])?),
        };
        if range.0 == 0 {
            return Err(format!("{what}s are numbered from 1"));
        }
        if range.0 > range.1 {
            return Err("invalid decreasing range".to_owned());
        }
        ranges.push(range);
    }
    ranges.sort_unstable();
    let mut joined: Ranges = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match joined.last_mut() {
            // Ranges that only touch are still two, for what is written between them.
            Some(before) if first <= before.1 => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    Ok(joined)
}

fn others(ranges: &Ranges) -> Ranges {
    let mut all = Vec::with_capacity(ranges.len() + 1);
    let mut next = 1;
    for (first, last) in ranges {
        if next < *first {
            all.push((next, first - 1));
        }
        next = last.saturating_add(1);
    }
    if next != usize::MAX {
        all.push((next, usize::MAX));
    }
    all
}

impl Cutter<'_> {
    fn line(&self, line: &[u8], out: &mut Out) {
        if self.fields {
            return self.fields_of(line, out);
        }
        let mut any = false;
        for (first, last) in &self.ranges {
            let part = line.get(first - 1..line.len().min(*last)).unwrap_or_default();
            if part.is_empty() {
                continue;
            }
            if any && self.chosen {
                out.put(self.between);
            }
            any = true;
            out.put(part);
        }
        out.sign(self.end);
    }

    /// Where the next field ends, and where the one after begins.
    fn next_end(&self, line: &[u8], from: usize) -> Option<(usize, usize)> {
        let rest = line.get(from..)?;
        match self.delimiter {
            Some(delimiter) => memchr::memchr(delimiter, rest).map(|at| (from + at, from + at + 1)),
            None => {
                let at = memchr::memchr2(b' ', b'\t', rest)?;
                let blanks = rest[at..].iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
                Some((from + at, from + at + blanks))
            }
        }
    }

    fn fields_of(&self, line: &[u8], out: &mut Out) {
        let mut end = self.next_end(line, 0);
        if end.is_none() {
            if !self.only_delimited {
                out.put(line);
                out.sign(self.end);
            }
            return;
        }
        let (mut field, mut start, mut any) = (0, 0, false);
        let mut ranges = self.ranges.iter();
        let mut range = ranges.next();
        while let Some((first, last)) = range {
            field += 1;
            if field >= *first {
                if any {
                    out.put(self.between);
                }
                any = true;
                // The rest as it is.
                let all = *last == usize::MAX && !self.chosen && self.delimiter.is_some();
                out.put(&line[start..end.filter(|_| !all).map_or(line.len(), |it| it.0)]);
                if all {
                    break;
                }
                if field == *last {
                    range = ranges.next();
                }
            }
            let Some((_, next)) = end else { break };
            start = next;
            end = self.next_end(line, start);
        }
        out.sign(self.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_wrong_ones_refused() {
        assert_eq!(list(b"3,1-2,5-", true), Ok(vec![(1, 2), (3, 3), (5, usize::MAX)]));
        assert_eq!(others(&vec![(2, 3), (5, 5)]), [(1, 1), (4, 4), (6, usize::MAX)]);
        for bad in ["", "0", "a", "3-1", "-", "1,,2"] {
            assert!(list(bad.as_bytes(), true).is_err(), "{bad}");
        }
    }
}
