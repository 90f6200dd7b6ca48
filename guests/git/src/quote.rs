//! Names as git prints them: in quotes, with escapes, if they have anything odd in them.

use bstr::BString;

/// What becomes of bytes above 127.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Non {
    /// Three octal digits each, unless `core.quotePath` is off.
    Escaped,
    /// Themselves.
    Kept,
}

/// A path, in quotes if it needs them.
pub fn path(path: &[u8], non: Non) -> BString {
    match escaped(path, non) {
        Some(text) => [b"\"".as_slice(), &text, b"\""].concat().into(),
        None => path.into(),
    }
}

/// A path with something before it, in quotes as a whole.
pub fn prefixed(prefix: &str, path: &[u8], non: Non) -> BString {
    self::path(&[prefix.as_bytes(), path].concat(), non)
}

/// In short formats also spaces ask for quotes.
pub fn short(path: &[u8], non: Non) -> BString {
    let text = self::path(path, non);
    if !text.starts_with(b"\"") && path.contains(&b' ') {
        return [b"\"", path, b"\""].concat().into();
    }
    text
}

fn escaped(path: &[u8], non: Non) -> Option<Vec<u8>> {
    let odd =
        |it: u8| it < 0x20 || it == b'"' || it == b'\\' || it == 0x7f || (it >= 0x80 && non == Non::Escaped);
    if !path.iter().copied().any(odd) {
        return None;
    }
    let mut text = Vec::with_capacity(path.len() + 8);
    for byte in path {
        match byte {
            b'"' => text.extend_from_slice(b"\\\""),
            b'\\' => text.extend_from_slice(b"\\\\"),
            7 => text.extend_from_slice(b"\\a"),
            8 => text.extend_from_slice(b"\\b"),
            b'\t' => text.extend_from_slice(b"\\t"),
            b'\n' => text.extend_from_slice(b"\\n"),
            11 => text.extend_from_slice(b"\\v"),
            12 => text.extend_from_slice(b"\\f"),
            b'\r' => text.extend_from_slice(b"\\r"),
            byte if odd(*byte) => text.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            byte => text.push(*byte),
        }
    }
    Some(text)
}
