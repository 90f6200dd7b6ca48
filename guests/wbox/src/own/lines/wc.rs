//! `wc`: lines, words, characters and bytes of files.

use crate::own::arguments::{self, refuse};
use crate::stream::{Input, Out, Piece, path, reason, text};

const HELP: &str = "\
Usage: wc [OPTION]... [FILE]...
   or: wc [OPTION]... --files0-from=F
Counts lines, words and bytes of each file, and in total if there are several.

  -c, --bytes  -m, --chars  -l, --lines  -w, --words
  -L, --max-line-length   the width of the widest line
      --files0-from=F     read the names of the files from F
      --total=WHEN        auto, always, only, never
";
/// How far a tab goes.
const TAB: u64 = 8;

#[derive(Default, Clone, Copy)]
struct Counts {
    lines: u64,
    words: u64,
    chars: u64,
    bytes: u64,
    width: u64,
}

#[derive(Default, Clone, Copy)]
struct Columns {
    lines: bool,
    words: bool,
    chars: bool,
    bytes: bool,
    width: bool,
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let table =
        &["c,bytes", "m,chars", "l,lines", "w,words", "L,max-line-length", "files0-from=", "total=", "debug"];
    let line = match arguments::read("wc", HELP, args, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let mut columns = Columns {
        lines: line.has("l"),
        words: line.has("w"),
        chars: line.has("m"),
        bytes: line.has("c"),
        width: line.has("L"),
    };
    if !["l", "w", "m", "c", "L"].iter().any(|id| line.has(id)) {
        columns = Columns { lines: true, words: true, bytes: true, ..columns };
    }
    let listed = match line.value("files0-from") {
        None => None,
        Some(_) if !line.operands.is_empty() => {
            let extra = text(line.operands[0]);
            return refuse(
                "wc",
                &format!("extra operand '{extra}'\nfile operands cannot be combined with --files0-from"),
                1,
            );
        }
        Some(list) => match Input::open(list).and_then(|mut input| input.all()) {
            Ok(content) => Some(content),
            Err(error) => {
                let problem = format!("cannot open '{}' for reading: {}", text(list), reason(&error));
                Out::new("wc").complain(&problem);
                return 1;
            }
        },
    };
    let names: Vec<&[u8]> = match &listed {
        Some(list) => list.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect(),
        None => line.inputs(),
    };
    let unnamed = listed.is_none() && line.operands.is_empty();
    let total = match line.value("total") {
        None | Some(b"auto") => names.len() > 1,
        Some(b"always" | b"only") => true,
        Some(b"never") => false,
        Some(other) => return refuse("wc", &format!("invalid argument '{}' for '--total'", text(other)), 1),
    };
    let only = line.value("total") == Some(b"only");
    let width = if only { 0 } else { width(&names, columns, total) };
    let (mut out, mut status, mut sum) = (Out::new("wc"), 0, Counts::default());
    for name in names {
        let mut counts = Counts::default();
        let counted = Input::open(name)
            .map_err(|error| (false, error))
            .and_then(|mut input| count(&mut input, columns, &mut counts).map_err(|error| (true, error)));
        if let Err((opened, error)) = &counted {
            out.complain(&format!("{}: {}", text(name), reason(error)));
            status = 1;
            if !opened {
                continue;
            }
        }
        sum.lines += counts.lines;
        sum.words += counts.words;
        sum.chars += counts.chars;
        sum.bytes += counts.bytes;
        sum.width = sum.width.max(counts.width);
        if !only {
            print(counts, columns, width, if unnamed { b"" } else { name }, &mut out);
        }
    }
    if total {
        print(sum, columns, width, if only { b"" } else { b"total" }, &mut out);
    }
    out.end(status)
}

/// As wide as the sum of all sizes; pipes, whose size nobody knows, get seven.
fn width(names: &[&[u8]], columns: Columns, total: bool) -> usize {
    let many = [columns.lines, columns.words, columns.chars, columns.bytes, columns.width];
    if names.len() == 1 && !total && many.iter().filter(|it| **it).count() == 1 {
        return 1;
    }
    let (mut sum, mut least) = (0u64, 1);
    for name in names {
        let facts = facts::of(path(name), facts::Follow::Yes).ok().filter(|_| *name != b"-");
        match facts {
            Some(facts) if facts.kind == facts::Kind::File => sum = sum.saturating_add(facts.size),
            Some(_) => least = 7,
            None if *name == b"-" => least = 7,
            None => {}
        }
    }
    sum.to_string().len().max(least)
}

fn print(counts: Counts, columns: Columns, width: usize, name: &[u8], out: &mut Out) {
    let all = [
        (columns.lines, counts.lines),
        (columns.words, counts.words),
        (columns.chars, counts.chars),
        (columns.bytes, counts.bytes),
        (columns.width, counts.width),
    ];
    let shown = all.iter().filter(|it| it.0).map(|(_, count)| format!("{count:>width$}"));
    out.put(shown.collect::<Vec<_>>().join(" ").as_bytes());
    if !name.is_empty() {
        out.sign(b' ');
        out.put(name);
    }
    out.sign(b'\n');
}

fn count(input: &mut Input, columns: Columns, counts: &mut Counts) -> std::io::Result<()> {
    let (mut piece, mut words, mut at) = (Piece::default(), Words::default(), 0);
    while input.next(&mut piece)? {
        counts.bytes += piece.len() as u64;
        if columns.lines {
            counts.lines += memchr::memchr_iter(b'\n', &piece).count() as u64;
        }
        if columns.chars {
            // A character is counted where it begins.
            counts.chars += piece.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
        }
        if columns.words {
            counts.words += words.begun_in(&piece) as u64;
        }
        if columns.width {
            for byte in piece.iter() {
                match byte {
                    b'\n' | b'\r' | 12 => {
                        counts.width = counts.width.max(at);
                        at = 0;
                    }
                    b'\t' => at += TAB - at % TAB,
                    other if other.is_ascii_control() || other & 0xc0 == 0x80 => {}
                    _ => at += 1,
                }
            }
            counts.width = counts.width.max(at);
        }
    }
    Ok(())
}

/// Counts words over pieces that may end within one.
#[derive(Default)]
struct Words {
    inside: bool,
    /// The beginning of a character that the next piece goes on with.
    broken: Vec<u8>,
}

impl Words {
    fn begun_in(&mut self, piece: &[u8]) -> usize {
        let mut count = 0;
        for byte in piece {
            if byte.is_ascii() {
                self.broken.clear();
                let space = matches!(byte, b' ' | b'\t'..=b'\r');
                count += usize::from(!space && !self.inside);
                self.inside = !space;
                continue;
            }
            if byte & 0xc0 != 0x80 {
                self.broken.clear();
            }
            self.broken.push(*byte);
            if let Some(sign) = std::str::from_utf8(&self.broken).ok().and_then(|it| it.chars().next()) {
                count += usize::from(!sign.is_whitespace() && !self.inside);
                self.inside = !sign.is_whitespace();
                self.broken.clear();
            }
        }
        count
    }
}
