//! Bytes as text, without loss: names of files and words of a shell that are not UTF-8; and foreign text in
//! messages.
//!
//! A byte that is not UTF-8 becomes one of 128 characters at the end of the last private plane, and
//! becomes that byte again on the way out. Those characters, arriving as themselves, are taken byte by
//! byte, so that the mapping has an inverse. No such character stands for an ASCII byte: neither a
//! slash nor a NUL can hide in one.

use std::borrow::Cow;

const FIRST: u32 = 0x10_FF80;

fn is_mapped(next: char) -> bool {
    next as u32 >= FIRST
}

fn mapped(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte & 0x7f)).unwrap_or('\u{fffd}')
}

/// Whether a text has a character that stands for a byte.
pub fn has_bytes(text: &str) -> bool {
    // All of them begin with this byte, which hardly any text has.
    text.as_bytes().contains(&0xf4) && text.chars().any(is_mapped)
}

/// Any bytes as text.
pub fn from_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !has_bytes(text)
    {
        return Cow::Borrowed(text);
    }
    let mut all = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for next in chunk.valid().chars() {
            if is_mapped(next) {
                all.extend(next.encode_utf8(&mut [0; 4]).bytes().map(mapped));
            } else {
                all.push(next);
            }
        }
        all.extend(chunk.invalid().iter().copied().map(mapped));
    }
    Cow::Owned(all)
}

/// The bytes a text stands for.
pub fn to_bytes(text: &str) -> Cow<'_, [u8]> {
    if !has_bytes(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut all = Vec::with_capacity(text.len());
    for next in text.chars() {
        if is_mapped(next) {
            all.push((next as u32 - FIRST) as u8 | 0x80);
        } else {
            all.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Cow::Owned(all)
}

/// The one text that stands for the same bytes: pieces of a character that were joined are it again.
pub fn normal(text: &str) -> Cow<'_, str> {
    if !has_bytes(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(from_bytes(&to_bytes(text)).into_owned())
}

/// How many bytes a text stands for.
pub fn byte_len(text: &str) -> usize {
    if has_bytes(text) {
        return text.chars().map(|it| if is_mapped(it) { 1 } else { it.len_utf8() }).sum();
    }
    text.len()
}

/// Text of unknown origin, with nothing in it that a terminal would obey.
pub fn printable(text: &str) -> String {
    // Separators of lines, and what turns the direction of writing around, are no controls by Unicode's list.
    let obeyed = |c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut all = String::with_capacity(text.len());
    for c in text.chars() {
        if obeyed(c) { all.extend(c.escape_default()) } else { all.push(c) }
    }
    all
}

/// A message with foreign words in it, without its last newline. Lines stay lines, but all except the first are
/// indented: what a foreign word says after a newline cannot be taken for a line of ours.
pub fn message(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(printable).collect();
    lines.join("\n  ")
}

#[test]
fn every_byte_comes_back_and_every_text_has_one_form() {
    let all: Vec<u8> = (1..=255).collect();
    let hard: [&[u8]; 6] =
        [b"plain", "\u{e9}\u{10ff80}z".as_bytes(), b"a\xffb", b"\xf4\x8f\xbf", &all, "\u{10ffff}".as_bytes()];
    for bytes in hard {
        let text = from_bytes(bytes);
        assert_eq!(to_bytes(&text).as_ref(), bytes);
        assert_eq!((normal(&text), byte_len(&text)), (text.clone(), bytes.len()));
    }
    let halves: String = "\u{e9}".bytes().map(mapped).collect();
    assert_eq!(normal(&halves), "\u{e9}");
    assert!(!(0x80..=0xff).any(|byte| matches!(mapped(byte), '/' | '\0')));
}

#[test]
fn only_the_first_line_of_a_message_begins_at_the_margin() {
    let foreign = ["x\ndrydock: denied: rm", "x\r\ndrydock: y", "\ndrydock: z", "x\u{2028}drydock: y"];
    for foreign in foreign.into_iter().chain(["x\rdrydock: y", "x\u{85}drydock: y", "x\x1b[1Gdrydock: y"]) {
        let said = message(foreign);
        assert!(said.lines().skip(1).all(|it| it.starts_with("  ")), "{said:?}");
        assert!(!said.chars().any(|it| it.is_control() && it != '\n' || it == '\u{2028}'), "{said:?}");
    }
    // A byte that is not UTF-8 is no control and stays itself.
    assert_eq!(to_bytes(&message(&from_bytes(b"a\xffb"))).as_ref(), b"a\xffb");
}
