//! `uniq`: equal lines that follow each other.

use super::each_line;
use crate::own::arguments::{self, Arguments, count, refuse};
use crate::stream::{Input, Out, path, reason, text};
use std::fs::File;

const HELP: &str = "\
Usage: uniq [OPTION]... [INPUT [OUTPUT]]
Writes one of several equal lines that follow each other.

  -c, --count             with how many there were
  -d, --repeated          only lines that were repeated
  -D, --all-repeated[=M]  all of those; M: none, prepend, separate
      --group[=M]         all lines, groups apart; M: separate, prepend, append, both
  -f, --skip-fields=N     without the first N fields
  -i, --ignore-case       upper and lower case are the same
  -s, --skip-chars=N      without the first N characters
  -u, --unique            only lines that were not repeated
  -w, --check-chars=N     only N characters count
  -z, --zero-terminated   lines end with NUL
";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Show {
    One,
    All,
}

struct Wanted {
    counts: bool,
    only_repeated: bool,
    only_unique: bool,
    show: Show,
    /// An empty line before the first group, between groups, behind the last.
    apart: (bool, bool, bool),
    ignore_case: bool,
    fields: usize,
    skip: usize,
    width: usize,
    end: u8,
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    // `-5` skips fields and `+5` characters, in the old spelling.
    let words: Vec<Vec<u8>> = args
        .iter()
        .map(|arg| match arg {
            [b'-', digits @ ..] if count(digits).is_some() => [b"-f", digits].concat(),
            [b'+', digits @ ..] if count(digits).is_some() => [b"-s", digits].concat(),
            other => other.to_vec(),
        })
        .collect();
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let table = &[
        "c,count",
        "d,repeated",
        "D",
        "all-repeated?",
        "group?",
        "f,skip-fields=",
        "i,ignore-case",
        "s,skip-chars=",
        "u,unique",
        "w,check-chars=",
        "z,zero-terminated",
    ];
    let line = match arguments::read("uniq", HELP, &words, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let wanted = match read(&line) {
        Ok(wanted) => wanted,
        Err(problem) => return refuse("uniq", &problem, 1),
    };
    let (name, target) = match *line.operands.as_slice() {
        [] => (&b"-"[..], None),
        [name] => (name, None),
        [name, target] => (name, Some(target).filter(|it| *it != b"-")),
        [_, _, extra, ..] => return refuse("uniq", &format!("extra operand '{}'", text(extra)), 1),
    };
    let opened = Input::open(name);
    let mut out = match target.map(|target| (target, File::create(path(target)))) {
        None => Out::new("uniq"),
        Some((_, Ok(file))) => Out::into_file("uniq", file),
        Some((target, Err(error))) => {
            Out::new("uniq").complain(&format!("{}: {}", text(target), reason(&error)));
            return 1;
        }
    };
    let mut groups = Groups { wanted, first: Vec::new(), all: Vec::new(), count: 0, printed: 0 };
    let read = opened.and_then(|mut input| {
        each_line(&mut input, groups.wanted.end, |line| {
            groups.line(line, &mut out);
            !out.is_closed()
        })
    });
    if let Err(error) = read {
        out.complain(&format!("{}: {}", text(name), reason(&error)));
        return out.end(1);
    }
    groups.print(&mut out);
    if groups.wanted.apart.2 && groups.printed > 0 {
        out.sign(groups.wanted.end);
    }
    out.end(0)
}

fn read(line: &Arguments<'_>) -> Result<Wanted, String> {
    let number = |id: &str, what: &str, usual: usize| match line.value(id) {
        None => Ok(usual),
        Some(value) => match count(value) {
            Some(count) => Ok(usize::try_from(count).unwrap_or(usize::MAX)),
            None => Err(format!("{}: invalid number of {what}", text(value))),
        },
    };
    let mut wanted = Wanted {
        counts: line.has("c"),
        only_repeated: line.has("d") || line.has("D") || line.has("all-repeated"),
        only_unique: line.has("u"),
        show: Show::One,
        apart: (false, false, false),
        ignore_case: line.has("i"),
        fields: number("f", "fields to skip", 0)?,
        skip: number("s", "bytes to skip", 0)?,
        width: number("w", "bytes to compare", usize::MAX)?,
        end: if line.has("z") { 0 } else { b'\n' },
    };
    if line.has("D") || line.has("all-repeated") {
        wanted.show = Show::All;
        wanted.apart = match line.value("all-repeated") {
            None | Some(b"none") => (false, false, false),
            Some(b"prepend") => (true, true, false),
            Some(b"separate") => (false, true, false),
            Some(other) => return Err(format!("invalid argument '{}' for '--all-repeated'", text(other))),
        };
        if wanted.counts {
            return Err("printing all duplicated lines and repeat counts is meaningless".to_owned());
        }
    }
    if line.has("group") {
        if wanted.counts || wanted.only_repeated || wanted.only_unique {
            return Err("--group is mutually exclusive with -c/-d/-D/-u".to_owned());
        }
        wanted.show = Show::All;
        wanted.apart = match line.value("group") {
            None | Some(b"separate") => (false, true, false),
            Some(b"prepend") => (true, true, false),
            Some(b"append") => (false, true, true),
            Some(b"both") => (true, true, true),
            Some(other) => return Err(format!("invalid argument '{}' for '--group'", text(other))),
        };
    }
    Ok(wanted)
}

struct Groups {
    wanted: Wanted,
    first: Vec<u8>,
    /// The lines of the group, where all of them are shown.
    all: Vec<u8>,
    count: u64,
    printed: u64,
}

impl Wanted {
    /// The part of a line that counts.
    fn key<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let mut rest = line;
        for _ in 0..self.fields {
            let blanks = rest.iter().take_while(|it| blank(it)).count();
            let word = rest[blanks..].iter().take_while(|it| !blank(it)).count();
            if blanks + word == 0 {
                break;
            }
            rest = &rest[blanks + word..];
        }
        let rest = rest.get(self.skip..).unwrap_or_default();
        &rest[..rest.len().min(self.width)]
    }
}

impl Groups {
    fn line(&mut self, line: &[u8], out: &mut Out) {
        let (key, before) = (self.wanted.key(line), self.wanted.key(&self.first));
        let same = self.count > 0
            && if self.wanted.ignore_case { key.eq_ignore_ascii_case(before) } else { key == before };
        if !same {
            self.print(out);
            self.first.clear();
            self.first.extend_from_slice(line);
            self.all.clear();
            self.count = 0;
        }
        self.count += 1;
        if self.wanted.show == Show::All {
            self.all.extend_from_slice(line);
            self.all.push(self.wanted.end);
        }
    }

    fn print(&mut self, out: &mut Out) {
        let (unique, repeated) = (self.count == 1, self.count > 1);
        if self.count == 0 || self.wanted.only_repeated && !repeated || self.wanted.only_unique && !unique {
            return;
        }
        let apart = if self.printed == 0 { self.wanted.apart.0 } else { self.wanted.apart.1 };
        if apart {
            out.sign(self.wanted.end);
        }
        self.printed += 1;
        if self.wanted.show == Show::All {
            out.put(&self.all);
            return;
        }
        if self.wanted.counts {
            out.put(format!("{:7} ", self.count).as_bytes());
        }
        out.put(&self.first);
        out.sign(self.wanted.end);
    }
}
