//! `atob` and `btoa` as the web has them: forgiving when reading, with padding when writing.

use crate::prelude::*;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64.
pub fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for position in 0..4 {
            let six = (group >> (18 - 6 * position)) as usize & 63;
            out.push(if position > chunk.len() { b'=' } else { ALPHABET[six] });
        }
    }
    out
}

/// Base64 as bytes: white space is skipped, padding may be left out. None if it is none.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut signs: Vec<u8> =
        text.iter().copied().filter(|it| !matches!(it, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)).collect();
    if signs.len().is_multiple_of(4) {
        for _ in 0..2 {
            if signs.last() == Some(&b'=') {
                signs.pop();
            }
        }
    }
    if signs.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(signs.len() / 4 * 3 + 2);
    for chunk in signs.chunks(4) {
        let mut group = 0u32;
        for sign in chunk {
            let six = match sign {
                b'A'..=b'Z' => sign - b'A',
                b'a'..=b'z' => sign - b'a' + 26,
                b'0'..=b'9' => sign - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            group = group << 6 | u32::from(six);
        }
        group <<= 6 * (4 - chunk.len());
        out.extend_from_slice(&group.to_be_bytes()[1..chunk.len()]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        for (bytes, text) in [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("abcd", "YWJjZA==")]
        {
            assert_eq!(encode(bytes.as_bytes()), text.as_bytes());
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
    }

    #[test]
    fn reading_forgives_as_the_web_does() {
        for (text, want) in [
            ("YQ", Some("a")),
            (" Y Q=\n=", Some("a")),
            ("Y", None),
            ("YQ=", None),
            ("Y*==", None),
            ("====", None),
            ("YQ==YQ==", None),
        ] {
            assert_eq!(decode(text.as_bytes()).as_deref(), want.map(str::as_bytes), "{text}");
        }
    }
}
