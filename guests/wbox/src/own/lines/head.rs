//! `head`: the beginnings of files.

use super::bad_number;
use crate::own::arguments::{self, Arguments, refuse, size};
use crate::stream::{Input, Out, Piece, reason, text};
use std::io;

const HELP: &str = "\
Usage: head [OPTION]... [FILE]...
Writes the first 10 lines of each file, with a header if there are several.

  -c, --bytes=[-]N        the first N bytes; with -, all but the last N
  -n, --lines=[-]N        the first N lines; with -, all but the last N
  -q, --quiet, --silent   no headers
  -v, --verbose           always headers
  -z, --zero-terminated   lines end with NUL
";

/// How much of a file, and counted in what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    count: usize,
    lines: bool,
    /// All but so many at the end.
    but: bool,
    end: u8,
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    // `-5` and `-5q`, the old spelling.
    let old;
    let mut words = args.to_vec();
    if let Some([b'-', rest @ ..]) = args.first().copied()
        && rest.first().is_some_and(u8::is_ascii_digit)
    {
        let digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
        let (number, letters) = rest.split_at(digits);
        let letter = if letters.contains(&b'c') { b"-c" } else { b"-n" };
        let other: Vec<u8> = letters.iter().copied().filter(|it| b"qvz".contains(it)).collect();
        old = [&letter[..], number].concat();
        words[0] = &old;
        if !other.is_empty() {
            let flags = [b"-".to_vec(), other].concat();
            let mut more = args[1..].to_vec();
            more.insert(0, &old);
            more.insert(0, &flags);
            return run(&more);
        }
    }
    run(&words)
}

fn run(args: &[&[u8]]) -> i32 {
    let table =
        &["c,bytes=", "n,lines=", "q,quiet,silent", "v,verbose", "z,zero-terminated", "presume-input-pipe"];
    let line = match arguments::read("head", HELP, args, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let wanted = match read(&line) {
        Ok(wanted) => wanted,
        Err(problem) => return refuse("head", &problem, 1),
    };
    let names = line.inputs();
    let headed = line.has("v") || (names.len() > 1 && !line.has("q"));
    let (mut out, mut status, mut any) = (Out::new("head"), 0, false);
    for name in names {
        let shown = if name == b"-" { "standard input".into() } else { text(name) };
        let mut input = match Input::open(name) {
            Ok(input) => input,
            Err(error) => {
                out.complain(&format!("cannot open '{}' for reading: {}", text(name), reason(&error)));
                status = 1;
                continue;
            }
        };
        if headed {
            out.put(format!("{}==> {shown} <==\n", if any { "\n" } else { "" }).as_bytes());
            any = true;
        }
        let done = if wanted.but {
            all_but(&mut input, wanted, &mut out)
        } else {
            first(&mut input, wanted, &mut out)
        };
        if let Err(error) = done {
            out.complain(&format!("error reading '{shown}': {}", reason(&error)));
            status = 1;
        }
        if out.is_closed() {
            break;
        }
    }
    out.end(status)
}

fn read(line: &Arguments<'_>) -> Result<Wanted, String> {
    let end = if line.has("z") { 0 } else { b'\n' };
    let mut wanted = Wanted { count: 10, lines: true, but: false, end };
    for (id, value) in &line.flags {
        let value = value.unwrap_or_default();
        if !matches!(*id, "n" | "c") {
            continue;
        }
        wanted.lines = *id == "n";
        wanted.but = value.starts_with(b"-");
        let digits = value.strip_prefix(b"-").or(value.strip_prefix(b"+")).unwrap_or(value);
        let count =
            size(digits).ok_or_else(|| bad_number(if wanted.lines { "lines" } else { "bytes" }, value))?;
        wanted.count = usize::try_from(count).unwrap_or(usize::MAX);
    }
    Ok(wanted)
}

fn first(input: &mut Input, wanted: Wanted, out: &mut Out) -> io::Result<()> {
    let (mut left, mut piece) = (wanted.count, Piece::default());
    while left > 0 && input.next(&mut piece)? {
        let used = if wanted.lines {
            let end = memchr::memchr_iter(wanted.end, &piece).nth(left - 1);
            if end.is_none() {
                left -= memchr::memchr_iter(wanted.end, &piece).count();
            } else {
                left = 0;
            }
            end.map_or(piece.len(), |end| end + 1)
        } else {
            let used = piece.len().min(left);
            left -= used;
            used
        };
        let go_on = out.put(&piece[..used]);
        input.give_back(piece.len() - used);
        if !go_on {
            break;
        }
    }
    Ok(())
}

fn all_but(input: &mut Input, wanted: Wanted, out: &mut Out) -> io::Result<()> {
    let (mut held, mut piece) = (Vec::new(), Piece::default());
    while input.next(&mut piece)? {
        held.extend_from_slice(&piece);
        let keep = super::tail::start_of_last(&held, wanted.count, wanted.lines, wanted.end);
        // Only what is surely not among the last, and not for every small piece.
        if keep > held.len() / 2 {
            out.put(&held[..keep]);
            held.drain(..keep);
        }
    }
    let keep = super::tail::start_of_last(&held, wanted.count, wanted.lines, wanted.end);
    out.put(&held[..keep]);
    Ok(())
}
