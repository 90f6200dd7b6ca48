//! Names that are not UTF-8 in programs whose paths are text.
//!
//! A byte that is not UTF-8 becomes one of 128 characters at the end of the last private plane, and is
//! that byte again on the way out. Those characters, arriving as themselves, are taken byte by byte, so
//! that the mapping has an inverse. (The host and the shell map names alike; nothing depends on it.)

use std::borrow::Cow;
use std::ffi::OsStr;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt as _;
#[cfg(target_os = "wasi")]
use std::os::wasi::ffi::OsStrExt as _;
use std::path::PathBuf;

const FIRST: u32 = 0x10_FF80;

fn is_mapped(next: char) -> bool {
    next as u32 >= FIRST
}

fn mapped(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte & 0x7f)).unwrap_or('\u{fffd}')
}

/// A name of the system as text.
pub fn text(name: &OsStr) -> String {
    let bytes = name.as_bytes();
    if let Ok(text) = std::str::from_utf8(bytes)
        && !text.chars().any(is_mapped)
    {
        return text.to_owned();
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
    all
}

/// The bytes that a text stands for.
pub fn bytes(text: &str) -> Cow<'_, [u8]> {
    if !text.chars().any(is_mapped) {
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

/// The path that a text stands for.
pub fn path(text: &str) -> PathBuf {
    OsStr::from_bytes(&bytes(text)).into()
}

#[test]
fn every_name_comes_back() {
    let all: Vec<u8> = (1..=255).collect();
    for name in [&b"plain"[..], b"caf\xe9", "\u{e9}\u{10ff80}\u{10ffff}".as_bytes(), b"\xf4\x8f", &all] {
        let text = text(OsStr::from_bytes(name));
        assert_eq!(bytes(&text).as_ref(), name);
        assert_eq!(path(&text).as_os_str().as_bytes(), name);
    }
}
