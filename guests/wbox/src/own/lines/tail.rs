//! `tail`: the ends of files, and what is added to them.

use super::bad_number;
use crate::own::arguments::{self, Arguments, refuse, size};
use crate::stream::{Input, Out, Piece, reason, text};
use std::io;
use std::time::Duration;

const HELP: &str = "\
Usage: tail [OPTION]... [FILE]...
Writes the last 10 lines of each file, with a header if there are several.

  -c, --bytes=[+]N        the last N bytes; with +, from byte N on
  -n, --lines=[+]N        the last N lines; with +, from line N on
  -f, --follow[=HOW], -F  go on with what is added
  -s, --sleep-interval=N  look for it every N seconds
      --retry, --pid=P, --max-unchanged-stats=N   change nothing
  -q, --quiet, --silent   no headers
  -v, --verbose           always headers
  -z, --zero-terminated   lines end with NUL
";
/// More than this of what will not be printed is not kept.
const KEPT_BYTES_MAX: usize = 256 << 10;

/// What is wanted of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Last(usize),
    /// From the line or byte of that number on.
    From(usize),
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let old = args.first().and_then(|arg| old_spelling(arg, args.len()));
    let words: Vec<&[u8]> = match &old {
        None => args.to_vec(),
        Some(words) => words.iter().map(Vec::as_slice).chain(args[1..].iter().copied()).collect(),
    };
    let table = &[
        "c,bytes=",
        "n,lines=",
        "f",
        "follow?",
        "F",
        "s,sleep-interval=",
        "retry",
        "pid=",
        "max-unchanged-stats=",
        "q,quiet,silent",
        "v,verbose",
        "z,zero-terminated",
        "use-polling",
        "presume-input-pipe",
    ];
    let line = match arguments::read("tail", HELP, &words, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    match read(&line) {
        Ok((wanted, lines, pause)) => run(&line, wanted, lines, pause),
        Err(problem) => refuse("tail", &problem, 1),
    }
}

/// `-5`, `+5`, `-5c`, `-5f`: only as the first argument.
fn old_spelling(arg: &[u8], count: usize) -> Option<Vec<Vec<u8>>> {
    let (sign, rest) = arg.split_first().filter(|(sign, _)| matches!(sign, b'-' | b'+'))?;
    let digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
    let letters = &rest[digits..];
    // `+5` is a file's name as soon as there is more to read.
    if digits == 0 || !letters.iter().all(|it| b"cblf".contains(it)) || (*sign == b'+' && count > 2) {
        return None;
    }
    let number = if *sign == b'+' { [b"+", &rest[..digits]].concat() } else { rest[..digits].to_vec() };
    let letter = if letters.contains(&b'c') { b"-c" } else { b"-n" };
    let mut words = vec![[&letter[..], &number].concat()];
    if letters.contains(&b'f') {
        words.push(b"-f".to_vec());
    }
    Some(words)
}

fn read(line: &Arguments<'_>) -> Result<(Wanted, bool, Option<Duration>), String> {
    let (mut wanted, mut lines) = (Wanted::Last(10), true);
    let mut pause = Duration::from_secs(1);
    for (id, value) in &line.flags {
        let value = value.unwrap_or_default();
        match *id {
            "n" | "c" => {
                lines = *id == "n";
                let digits = value.strip_prefix(b"-").or(value.strip_prefix(b"+")).unwrap_or(value);
                let count =
                    size(digits).ok_or_else(|| bad_number(if lines { "lines" } else { "bytes" }, value))?;
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                wanted = if value.starts_with(b"+") { Wanted::From(count) } else { Wanted::Last(count) };
            }
            "s" => {
                let seconds = text(value).parse().ok().filter(|it: &f64| *it >= 0.0);
                let seconds =
                    seconds.ok_or_else(|| format!("invalid number of seconds: '{}'", text(value)))?;
                pause = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            }
            _ => {}
        }
    }
    let follows = line.has("f") || line.has("F") || line.has("follow");
    Ok((wanted, lines, follows.then_some(pause)))
}

fn run(line: &Arguments<'_>, wanted: Wanted, lines: bool, pause: Option<Duration>) -> i32 {
    let names = line.inputs();
    let headed = line.has("v") || (names.len() > 1 && !line.has("q"));
    let end = if line.has("z") { 0 } else { b'\n' };
    let (mut out, mut status, mut any) = (Out::new("tail"), 0, false);
    let mut open = Vec::new();
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
        let done = match wanted {
            Wanted::Last(count) => last(&mut input, count, lines, end, &mut out),
            Wanted::From(first) => from(&mut input, first.max(1) - 1, lines, end, &mut out),
        };
        match done {
            Err(error) => {
                out.complain(&format!("error reading '{shown}': {}", reason(&error)));
                status = 1;
            }
            // A pipe that ended stays so.
            Ok(()) if pause.is_some() && name != b"-" => open.push((shown, input)),
            Ok(()) => {}
        }
        if out.is_closed() {
            break;
        }
    }
    if let Some(pause) = pause {
        follow(&mut open, pause, headed, &mut out);
    }
    out.end(status)
}

/// Writes what is added, for as long as somebody reads it.
fn follow(open: &mut [(std::borrow::Cow<'_, str>, Input)], pause: Duration, headed: bool, out: &mut Out) {
    let (mut piece, mut shown) = (Piece::default(), open.len().saturating_sub(1));
    while !open.is_empty() && out.flush() {
        for (at, (name, input)) in open.iter_mut().enumerate() {
            while input.next(&mut piece).unwrap_or(false) {
                if headed && shown != at {
                    out.put(format!("\n==> {name} <==\n").as_bytes());
                }
                shown = at;
                out.put(&piece);
            }
        }
        if !out.flush() {
            return;
        }
        std::thread::sleep(pause.max(Duration::from_millis(10)));
    }
}

fn last(input: &mut Input, count: usize, lines: bool, end: u8, out: &mut Out) -> io::Result<()> {
    // A file is not read from its beginning for its end.
    if count.saturating_mul(if lines { 4096 } else { 1 }) < KEPT_BYTES_MAX {
        input.skip_to_last(KEPT_BYTES_MAX, |tail| !lines || start_of_last(tail, count, lines, end) > 0)?;
    }
    let (mut kept, mut piece) = (Vec::new(), Piece::default());
    let mut trimmed_at = KEPT_BYTES_MAX;
    while input.next(&mut piece)? {
        kept.extend_from_slice(&piece);
        if kept.len() > trimmed_at {
            kept.drain(..start_of_last(&kept, count, lines, end));
            trimmed_at = 2 * kept.len().max(KEPT_BYTES_MAX / 2);
        }
    }
    out.put(&kept[start_of_last(&kept, count, lines, end)..]);
    Ok(())
}

/// Where the last `count` lines or bytes begin.
pub fn start_of_last(text: &[u8], count: usize, lines: bool, end: u8) -> usize {
    if !lines {
        return text.len().saturating_sub(count);
    }
    if count == 0 {
        return text.len();
    }
    // The end of the last line ends no line before it.
    let body = text.strip_suffix(&[end]).unwrap_or(text);
    memchr::memrchr_iter(end, body).nth(count - 1).map_or(0, |end| end + 1)
}

fn from(input: &mut Input, mut skip: usize, lines: bool, end: u8, out: &mut Out) -> io::Result<()> {
    let mut piece = Piece::default();
    while input.next(&mut piece)? {
        let mut start = 0;
        if skip > 0 && lines {
            start = match memchr::memchr_iter(end, &piece).nth(skip - 1) {
                Some(at) => {
                    skip = 0;
                    at + 1
                }
                None => {
                    skip -= memchr::memchr_iter(end, &piece).count();
                    piece.len()
                }
            };
        } else if skip > 0 {
            start = skip.min(piece.len());
            skip -= start;
        }
        if !out.put(&piece[start..]) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::old_spelling;

    #[test]
    fn the_old_spelling_is_understood() {
        let show = |arg: &str, count| {
            old_spelling(arg.as_bytes(), count).map(|it| {
                it.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(show("-5", 2).as_deref(), Some("-n5"));
        assert_eq!(show("+5", 1).as_deref(), Some("-n+5"));
        assert_eq!(show("-5cf", 1).as_deref(), Some("-c5 -f"));
        for other in ["-n", "-", "x", "-5x"] {
            assert_eq!(show(other, 1), None, "{other}");
        }
        assert_eq!(show("+5", 3), None);
    }
}
