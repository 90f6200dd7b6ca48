//! `rev [FILE]...`: each line with its characters in reverse order.
//!
//! Bytes that are not UTF-8 are each a character of their own. A last line without a line feed
//! stays without one.

use super::lines::for_each_input;
use std::ffi::OsString;

const HELP: &str = "Usage: rev [FILE]...\nReverses the characters of every line.\n";

/// The applet.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    let operands: Vec<OsString> = args.skip(1).filter(|it| it != "--").collect();
    if operands.first().is_some_and(|it| it == "--help") {
        print!("{HELP}");
        return 0;
    }
    for_each_input("rev", operands, |content, out| {
        let mut reversed = Vec::with_capacity(content.len());
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            let (text, end) = match line.split_last() {
                Some((b'\n', text)) => (text, &b"\n"[..]),
                _ => (line, &b""[..]),
            };
            reverse(text, &mut reversed);
            reversed.extend_from_slice(end);
        }
        out.write_all(&reversed)
    })
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
