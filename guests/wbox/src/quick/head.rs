//! `head [-n COUNT | -COUNT | -c COUNT] [FILE]`

use super::options::{Options, number};
use super::stream::{Input, Out, Piece, reason, text};

pub fn head(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    let (mut left, mut lines) = (10, true);
    while let Some(letter) = options.next()? {
        (left, lines) = match letter {
            b'n' => (number(options.value()?)?, true),
            b'c' => (number(options.value()?)?, false),
            b'0'..=b'9' => (options.digits(letter)?, true),
            _ => return None,
        };
    }
    let name = options.one_input()?;
    let mut out = Out::new("head");
    let mut input = match Input::open(name) {
        Ok(input) => input,
        Err(error) => {
            out.complain(&format!("cannot open '{}' for reading: {}", text(name), reason(&error)));
            return Some(1);
        }
    };
    let mut piece = Piece::default();
    while left > 0 {
        match input.next(&mut piece) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                let name = if name == b"-" { "standard input".into() } else { text(name) };
                out.complain(&format!("error reading '{name}': {}", reason(&error)));
                return Some(out.end(1));
            }
        }
        let used = if lines { take_lines(&piece, &mut left) } else { take_bytes(&piece, &mut left) };
        let go_on = out.put(&piece[..used]);
        input.give_back(piece.len() - used);
        if !go_on {
            break;
        }
    }
    Some(out.end(0))
}

fn take_lines(piece: &[u8], left: &mut usize) -> usize {
    for end in memchr::memchr_iter(b'\n', piece) {
        *left -= 1;
        if *left == 0 {
            return end + 1;
        }
    }
    piece.len()
}

fn take_bytes(piece: &[u8], left: &mut usize) -> usize {
    let used = piece.len().min(*left);
    *left -= used;
    used
}
