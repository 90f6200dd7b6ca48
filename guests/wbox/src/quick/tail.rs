//! `tail [-n [+]COUNT | -COUNT | -c [+]COUNT] [FILE]`

use super::options::{Options, number};
use super::stream::{Input, Out, Piece, reason, text};

/// What is wanted of the input.
#[derive(Clone, Copy)]
enum Wanted {
    Last(usize),
    /// From the line or byte of that number on.
    From(usize),
}

/// More than this of what will not be printed is not kept.
const KEPT_BYTES_MAX: usize = 256 << 10;

pub fn tail(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    let (mut wanted, mut lines) = (Wanted::Last(10), true);
    while let Some(letter) = options.next()? {
        (wanted, lines) = match letter {
            b'n' => (count(options.value()?)?, true),
            b'c' => (count(options.value()?)?, false),
            b'0'..=b'9' => (Wanted::Last(options.digits(letter)?), true),
            _ => return None,
        };
    }
    let name = options.one_input()?;
    // The old spelling of a count.
    if name.first() == Some(&b'+') {
        return None;
    }
    let mut out = Out::new("tail");
    let mut input = match Input::open(name) {
        Ok(input) => input,
        Err(error) => {
            out.complain(&format!("cannot open '{}' for reading: {}", text(name), reason(&error)));
            return Some(1);
        }
    };
    let done = match wanted {
        Wanted::Last(count) => last(&mut input, count, lines, &mut out),
        Wanted::From(first) => from(&mut input, first.max(1) - 1, lines, &mut out),
    };
    if let Err(error) = done {
        let name = if name == b"-" { "standard input".into() } else { text(name) };
        out.complain(&format!("error reading '{name}': {}", reason(&error)));
        return Some(out.end(1));
    }
    Some(out.end(0))
}

fn count(text: &[u8]) -> Option<Wanted> {
    match text.strip_prefix(b"+") {
        Some(first) => number(first).map(Wanted::From),
        None => number(text.strip_prefix(b"-").unwrap_or(text)).map(Wanted::Last),
    }
}

fn last(input: &mut Input, count: usize, lines: bool, out: &mut Out) -> std::io::Result<()> {
    let (mut kept, mut piece) = (Vec::new(), Piece::default());
    let mut trimmed_at = KEPT_BYTES_MAX;
    while input.next(&mut piece)? {
        kept.extend_from_slice(&piece);
        if kept.len() > trimmed_at {
            kept.drain(..start_of_last(&kept, count, lines));
            trimmed_at = 2 * kept.len().max(KEPT_BYTES_MAX / 2);
        }
    }
    out.put(&kept[start_of_last(&kept, count, lines)..]);
    Ok(())
}

fn start_of_last(text: &[u8], count: usize, lines: bool) -> usize {
    if !lines {
        return text.len().saturating_sub(count);
    }
    if count == 0 {
        return text.len();
    }
    // The end of the last line ends no line before it.
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    memchr::memrchr_iter(b'\n', body).nth(count - 1).map_or(0, |end| end + 1)
}

fn from(input: &mut Input, mut skip: usize, lines: bool, out: &mut Out) -> std::io::Result<()> {
    let mut piece = Piece::default();
    while input.next(&mut piece)? {
        let mut start = 0;
        if skip > 0 && lines {
            start = match memchr::memchr_iter(b'\n', &piece).nth(skip - 1) {
                Some(end) => {
                    skip = 0;
                    end + 1
                }
                None => {
                    skip -= memchr::memchr_iter(b'\n', &piece).count();
                    piece.len()
                }
            };
        } else if skip > 0 {
            start = skip.min(piece.len());
            skip -= start;
        }
        out.put(&piece[start..]);
    }
    Ok(())
}
