//! In which encoding a page is: as its first bytes mark it, as its server says, as it says itself, else UTF-8.

use encoding_rs::{Encoding, UTF_8};

/// As far as a page is searched for what it says of itself.
const SEARCHED_BYTES: usize = 1024;

pub(super) fn decoded(bytes: &[u8], content_type: &str) -> String {
    let said = label(content_type.as_bytes()).or_else(|| label(&bytes[..bytes.len().min(SEARCHED_BYTES)]));
    let encoding = said.and_then(Encoding::for_label).unwrap_or(UTF_8);
    // A mark at the beginning is stronger than both, and is no part of the text.
    encoding.decode(bytes).0.into_owned()
}

/// What stands behind `charset=`.
fn label(text: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"charset=";
    let at = text.windows(KEY.len()).position(|it| it.eq_ignore_ascii_case(KEY))?;
    let rest = text[at + KEY.len()..].trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || b"-_:.".contains(b)));
    Some(&rest[..end.unwrap_or(rest.len())])
}
