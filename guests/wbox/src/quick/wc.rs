//! `wc -l`, `wc -w`, `wc -c` or `wc -m` of one input: one number, and the name if there is one.

use super::options::Options;
use super::stream::{Input, Out, Piece, reason, text};

pub fn wc(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    let mut what = None;
    while let Some(letter) = options.next()? {
        if !matches!(letter, b'l' | b'w' | b'c' | b'm') || what.is_some_and(|it| it != letter) {
            return None;
        }
        what = Some(letter);
    }
    let what = what?;
    if options.operands.len() > 1 {
        return None;
    }
    let name = options.operands.first().copied();
    let (mut out, mut count, mut piece) = (Out::new("wc"), 0, Piece::default());
    let mut words = Words::default();
    let counted = Input::open(name.unwrap_or(b"-")).map_err(|error| (false, error)).and_then(|mut input| {
        while input.next(&mut piece).map_err(|error| (true, error))? {
            count += match what {
                b'l' => memchr::memchr_iter(b'\n', &piece).count(),
                b'c' => piece.len(),
                // A character is counted where it begins.
                b'm' => piece.iter().filter(|byte| **byte & 0xc0 != 0x80).count(),
                _ => words.begun_in(&piece),
            };
        }
        Ok(())
    });
    if let Err((opened, error)) = &counted {
        out.complain(&format!("{}: {}", text(name.unwrap_or(b"-")), reason(error)));
        if !opened {
            return Some(1);
        }
    }
    out.put(count.to_string().as_bytes());
    if let Some(name) = name {
        out.put(&[b" ", name].concat());
    }
    out.sign(b'\n');
    Some(out.end(i32::from(counted.is_err())))
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
