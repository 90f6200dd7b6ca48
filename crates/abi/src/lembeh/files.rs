//! Payloads of cap.files.v1: `files.list.v1` and `files.open.v1`.

use super::{
    handle::{HFLAG_READABLE, Opened},
    hopper::{Hopper, Malformed, TooLong, put_h4, put_hbytes, put_hstr, put_length},
};

/// Its kind: singular on the wire.
pub const KIND: &str = "file";
/// Its name.
pub const NAME: &str = "view";
/// Names the files of a scope.
pub const LIST: &str = "files.list.v1";
/// Opens one for reading.
pub const OPEN: &str = "files.open.v1";

/// The only mode there is.
pub const MODE_READ: u32 = 1;

/// The entry is a directory.
pub const ENTRY_DIRECTORY: u32 = 1;
/// The entry can be read.
pub const ENTRY_READABLE: u32 = 1 << 1;

/// One file of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Opaque, stable for the run.
    pub id: &'a [u8],
    /// What a person reads.
    pub display: &'a str,
    /// [`ENTRY_DIRECTORY`], [`ENTRY_READABLE`].
    pub flags: u32,
}

/// Reads the params of `files.list.v1`: a scope that leads nowhere.
pub fn decode_list(bytes: &[u8]) -> Result<&str, Malformed> {
    let mut hopper = Hopper::new(bytes);
    let scope = hopper.hstr("scope")?;
    hopper.end()?;
    if scope.contains('/') || scope.contains("..") {
        return Err(Malformed::Spelling("scope"));
    }
    Ok(scope)
}

/// Writes the params of `files.list.v1`.
pub fn encode_list(scope: &str) -> Result<Vec<u8>, TooLong> {
    let mut out = Vec::new();
    put_hstr(&mut out, scope)?;
    Ok(out)
}

/// Reads the value of `files.list.v1`: in the order of display and id, each once.
pub fn decode_entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, Malformed> {
    let mut hopper = Hopper::new(bytes);
    // Two lengths and flags are the least an entry can be.
    let count = hopper.count("entries", 12)?;
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for _ in 0..count {
        let id = hopper.hbytes("id")?;
        let display = hopper.hstr("display")?;
        let flags = hopper.h4("entry flags")?;
        if display.is_empty() {
            return Err(Malformed::Spelling("display"));
        }
        if flags & !(ENTRY_DIRECTORY | ENTRY_READABLE) != 0 {
            return Err(Malformed::Value { what: "entry flags", value: flags.into() });
        }
        if entries.last().is_some_and(|last| (last.display, last.id) >= (display, id)) {
            return Err(Malformed::Order("entries"));
        }
        entries.push(Entry { id, display, flags });
    }
    hopper.end()?;
    Ok(entries)
}

/// Writes the value of `files.list.v1`. Sorts the entries.
pub fn encode_entries(entries: &[Entry<'_>]) -> Result<Vec<u8>, TooLong> {
    let mut rows: Vec<&Entry<'_>> = entries.iter().collect();
    rows.sort_by_key(|it| (it.display, it.id));
    let mut out = Vec::new();
    put_length(&mut out, rows.len())?;
    for row in rows {
        put_hbytes(&mut out, row.id)?;
        put_hstr(&mut out, row.display)?;
        put_h4(&mut out, row.flags);
    }
    Ok(out)
}

/// Reads the params of `files.open.v1`, and gives the file's id: there is one mode only.
pub fn decode_open(bytes: &[u8]) -> Result<&[u8], Malformed> {
    let mut hopper = Hopper::new(bytes);
    let id = hopper.hbytes("id")?;
    let mode = hopper.h4("mode")?;
    hopper.end()?;
    if mode != MODE_READ {
        return Err(Malformed::Value { what: "mode", value: mode.into() });
    }
    Ok(id)
}

/// Writes the params of `files.open.v1`.
pub fn encode_open(id: &[u8]) -> Result<Vec<u8>, TooLong> {
    let mut out = Vec::new();
    put_hbytes(&mut out, id)?;
    put_h4(&mut out, MODE_READ);
    Ok(out)
}

/// Reads the value of `files.open.v1`: a handle that can be read, and nothing else.
pub fn decode_opened(bytes: &[u8]) -> Result<Opened<'_>, Malformed> {
    let opened = Opened::decode(bytes, HFLAG_READABLE)?;
    if opened.hflags != HFLAG_READABLE {
        return Err(Malformed::Value { what: "handle flags", value: opened.hflags.into() });
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_scope_leads_nowhere() {
        for (scope, want) in [("", true), ("docs", true), ("a/b", false), ("..", false), ("a..b", false)] {
            assert_eq!(decode_list(&encode_list(scope).unwrap()).is_ok(), want, "{scope:?}");
        }
    }

    #[test]
    fn entries_are_sorted_when_written_and_must_be_when_read() {
        let entry = |display| Entry { id: b"x", display, flags: ENTRY_READABLE };
        let wire = encode_entries(&[entry("b"), entry("a")]).unwrap();
        assert_eq!(decode_entries(&wire), Ok(vec![entry("a"), entry("b")]));
        let twice = encode_entries(&[entry("a"), entry("a")]).unwrap();
        assert_eq!(decode_entries(&twice), Err(Malformed::Order("entries")));
        let writable = Entry { flags: 4, ..entry("a") };
        assert!(decode_entries(&encode_entries(&[writable]).unwrap()).is_err());
        assert!(decode_entries(b"\xff\xff\xff\xff").is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_decoders_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode_list(&bytes);
            let _ = decode_entries(&bytes);
            let _ = decode_open(&bytes);
            let _ = decode_opened(&bytes);
        }

        #[test]
        fn an_open_round_trips(id in prop::collection::vec(any::<u8>(), 0..30)) {
            let wire = encode_open(&id).unwrap();
            prop_assert_eq!(decode_open(&wire), Ok(&id[..]));
            for cut in 0..wire.len() {
                prop_assert!(decode_open(&wire[..cut]).is_err());
            }
        }
    }
}
