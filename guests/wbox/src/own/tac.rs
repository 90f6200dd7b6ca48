//! `tac [-b] [-s SEPARATOR] [FILE]...`: the lines of each file, last first.
//!
//! coreutils' own maps files into memory, which WASI cannot. Regular expressions as separators
//! (`-r`) are refused.

use super::lines::for_each_input;
use std::ffi::OsString;

const HELP: &str = "Usage: tac [-b] [-s SEPARATOR] [FILE]...\nWrites the lines of each file, last first.\n";

struct Options {
    separator: Vec<u8>,
    attached: Attached,
    operands: Vec<OsString>,
}

/// Which record a separator belongs to.
enum Attached {
    After,
    Before,
}

/// The applet.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    match parse(args.skip(1)) {
        Ok(Some(options)) => for_each_input("tac", options.operands, |content, out| {
            let records = records(&content, &options.separator, &options.attached);
            records.iter().rev().try_for_each(|record| out.write_all(record))
        }),
        Ok(None) => {
            print!("{HELP}");
            0
        }
        Err(problem) => {
            eprintln!("tac: {problem}\nTry 'tac --help' for more information.");
            1
        }
    }
}

fn parse(args: impl Iterator<Item = OsString>) -> Result<Option<Options>, String> {
    let mut options = Options { separator: vec![b'\n'], attached: Attached::After, operands: Vec::new() };
    let mut args = args;
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--help") => return Ok(None),
            Some("-b" | "--before") => options.attached = Attached::Before,
            Some("-s" | "--separator") => {
                let text = args.next().ok_or("option requires an argument -- 's'")?;
                options.separator = text.into_encoded_bytes();
            }
            Some("--") => options.operands.extend(args.by_ref()),
            Some(text) if text.starts_with("--separator=") => {
                options.separator = text["--separator=".len()..].into();
            }
            Some(text) if text.starts_with("-s") => options.separator = text[2..].into(),
            Some(text) if text.starts_with('-') && text != "-" => {
                return Err(format!("unrecognized option '{text}'"));
            }
            _ => options.operands.push(arg),
        }
    }
    if options.separator.is_empty() {
        options.separator = vec![0];
    }
    Ok(Some(options))
}

fn records<'a>(content: &'a [u8], separator: &[u8], attached: &Attached) -> Vec<&'a [u8]> {
    let mut records = Vec::new();
    let (mut start, mut from) = (0, 0);
    while let Some(at) = find(&content[from..], separator).map(|at| from + at) {
        let cut = match attached {
            Attached::After => at + separator.len(),
            Attached::Before => at,
        };
        records.push(&content[start..cut]);
        (start, from) = (cut, at + separator.len());
    }
    records.push(&content[start..]);
    records
}

fn find(content: &[u8], separator: &[u8]) -> Option<usize> {
    content.windows(separator.len()).position(|it| it == separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_stay_with_the_record_they_end_or_begin() {
        let after = records(b"a\nb\nc", b"\n", &Attached::After);
        assert_eq!(after, [&b"a\n"[..], b"b\n", b"c"]);
        let before = records(b"a--b--", b"--", &Attached::Before);
        assert_eq!(before, [&b"a"[..], b"--b", b"--"]);
    }
}
