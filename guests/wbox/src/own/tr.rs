//! `tr SET1 SET2` for plain sets, by a table. Everything else is coreutils', whose option parser alone
//! costs more than such a run.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::vec::IntoIter;

pub fn uumain(args: IntoIter<OsString>) -> i32 {
    let table = match args.as_slice() {
        [_, from, to] => table(from.as_encoded_bytes(), to.as_encoded_bytes()),
        _ => None,
    };
    table.map_or_else(|| uu_tr::uumain(args), |table| translate(&table))
}

/// What becomes of each byte; none if a set is more than bytes and ranges of them.
fn table(from: &[u8], to: &[u8]) -> Option<[u8; 256]> {
    let (from, to) = (bytes(from)?, bytes(to)?);
    let last = *to.last()?;
    let mut table: [u8; 256] = std::array::from_fn(|byte| byte as u8);
    for (at, byte) in from.iter().enumerate() {
        table[usize::from(*byte)] = to.get(at).copied().unwrap_or(last);
    }
    Some(table)
}

fn bytes(set: &[u8]) -> Option<Vec<u8>> {
    let plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'[' | b']') || *byte == b' ';
    if set.is_empty() || set[0] == b'-' || !set.iter().all(plain) {
        return None;
    }
    let mut all = Vec::with_capacity(set.len());
    let mut at = 0;
    while at < set.len() {
        match set[at..] {
            [first, b'-', last, ..] => {
                // A range the wrong way round is an error with words of its own.
                if first > last {
                    return None;
                }
                all.extend(first..=last);
                at += 3;
            }
            _ => {
                all.push(set[at]);
                at += 1;
            }
        }
    }
    Some(all)
}

fn translate(table: &[u8; 256]) -> i32 {
    let (mut stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut piece = vec![0; 16 << 10];
    loop {
        let count = match stdin.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) => return complain("read error", &error),
        };
        for byte in &mut piece[..count] {
            *byte = table[usize::from(*byte)];
        }
        if let Err(error) = stdout.write_all(&piece[..count]) {
            return complain("write error", &error);
        }
    }
    match stdout.flush() {
        Ok(()) => 0,
        Err(error) => complain("write error", &error),
    }
}

fn complain(what: &str, error: &std::io::Error) -> i32 {
    let _ = writeln!(std::io::stderr(), "tr: {what}: {error}");
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_sets_are_a_table_and_others_are_not() {
        let table = table(b"a-cx", b"A-C").unwrap();
        assert_eq!([b'a', b'b', b'c', b'x', b'y'].map(|it: u8| table[usize::from(it)]), *b"ABCCy");
        for set in [&b"[:upper:]"[..], b"\\n", b"", b"c-a", b"-d", b"\xff"] {
            assert!(bytes(set).is_none(), "{set:?}");
        }
    }
}
