//! `rev [FILE]...`: each line with its characters in reverse order.
//!
//! Bytes that are not UTF-8 are each a character of their own. A last line without a line feed
//! stays without one.

use super::arguments;
use crate::stream::{Input, Out, Piece, reason, text};
use std::io;

const HELP: &str = "Usage: rev [FILE]...\nReverses the characters of every line.\n";

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("rev", HELP, args, &[], 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let (mut out, mut status) = (Out::new("rev"), 0);
    for name in line.inputs() {
        if let Err(error) = Input::open(name).and_then(|mut input| lines(&mut input, &mut out)) {
            out.complain(&format!("{}: {}", text(name), reason(&error)));
            status = 1;
        }
    }
    out.end(status)
}

fn lines(input: &mut Input, out: &mut Out) -> io::Result<()> {
    let (mut piece, mut held, mut turned) = (Piece::default(), Vec::new(), Vec::new());
    while input.next(&mut piece)? {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &piece) {
            held.extend_from_slice(&piece[start..end]);
            turned.clear();
            reverse(&held, &mut turned);
            turned.push(b'\n');
            if !out.put(&turned) {
                return Ok(());
            }
            held.clear();
            start = end + 1;
        }
        held.extend_from_slice(&piece[start..]);
    }
    turned.clear();
    reverse(&held, &mut turned);
    out.put(&turned);
    Ok(())
}

fn reverse(mut text: &[u8], out: &mut Vec<u8>) {
    if text.is_ascii() {
        return out.extend(text.iter().rev());
    }
    while let Some(last) = text.last() {
        // Step back over continuation bytes; if that is no character, one byte is.
        let tail = text.iter().rev().take(4).position(|byte| byte & 0xc0 != 0x80).map_or(1, |at| at + 1);
        let start = text.len() - tail;
        let whole = !last.is_ascii() && std::str::from_utf8(&text[start..]).is_ok();
        let start = if whole { start } else { text.len() - 1 };
        out.extend_from_slice(&text[start..]);
        text = &text[..start];
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn characters_turn_around_and_broken_ones_byte_by_byte() {
        let cases: [(&[u8], &[u8]); 5] = [
            (b"", b""),
            (b"abc", b"cba"),
            ("aé🦀b".as_bytes(), "b🦀éa".as_bytes()),
            (b"a\xffb", b"b\xffa"),
            (b"\x80\xc3\xa9\xc3", b"\xc3\xc3\xa9\x80"),
        ];
        for (text, want) in cases {
            let mut out = Vec::new();
            super::reverse(text, &mut out);
            assert_eq!(out, want, "{text:?}");
        }
    }
}
