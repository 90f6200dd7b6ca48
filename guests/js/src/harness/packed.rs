//! The request in the form that costs least to read: lengths and texts, one after the other.
//!
//! `01`, then the length of all that follows; the program; 1 and the arguments as JSON, or 0; how many
//! providers, and of each its name, how many tools, and their names; if anything follows, how many bytes of
//! console, and if anything follows that, the program's own path. A number is four bytes, little-endian, a text
//! its length and its bytes. No JSON begins with that first byte.

use js::prelude::*;
/// The first byte.
pub const MARK: u8 = 1;

/// What the request says, nothing of it copied.
pub struct Packed<'a> {
    pub code: &'a str,
    pub args: Option<&'a [u8]>,
    pub providers: Vec<(&'a str, Vec<&'a str>)>,
    pub log_bytes_max: Option<u32>,
    pub file: Option<&'a str>,
}

/// Whether nothing is missing from a request that tells its length.
pub fn is_whole(bytes: &[u8]) -> bool {
    matches!(bytes, [MARK, a, b, c, d, rest @ ..] if rest.len() >= u32::from_le_bytes([*a, *b, *c, *d]) as usize)
}

/// Reads a request that begins with the mark; nothing if it is not well formed.
pub fn read(bytes: &[u8]) -> Option<Packed<'_>> {
    let mut rest = Rest(bytes.get(1..)?);
    let length = rest.number()? as usize;
    rest.0 = rest.0.get(..length)?;
    let code = rest.text()?;
    let args = match rest.number()? {
        0 => None,
        _ => Some(rest.bytes()?),
    };
    let mut providers = Vec::new();
    for _ in 0..rest.number()? {
        let (name, mut tools) = (rest.text()?, Vec::new());
        for _ in 0..rest.number()? {
            tools.push(rest.text()?);
        }
        providers.push((name, tools));
    }
    let log_bytes_max = if rest.0.is_empty() { None } else { Some(rest.number()?) };
    let file = if rest.0.is_empty() { None } else { Some(rest.text()?) };
    Some(Packed { code, args, providers, log_bytes_max, file })
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn number(&mut self) -> Option<u32> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*head))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<&'a str> {
        core::str::from_utf8(self.bytes()?).ok()
    }
}
