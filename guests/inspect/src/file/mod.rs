//! `file`: what kind of thing a file is, by its first bytes.

mod magic;
mod text;

use crate::{complain, print};
use facts::{Follow, Kind};
use options::{Item, Order};
use std::io::Read as _;
use std::path::Path;

/// What is behind it is not looked at, as by the file command of others.
const LOOKED_AT_BYTES_MAX: u64 = 1 << 20;

const TABLE: &[&str] = &[
    "b,brief",
    "i,mime",
    "mime-type",
    "mime-encoding",
    "L,dereference",
    "h,no-dereference",
    "f,files-from=",
    "0,print0",
    "N,no-pad",
    "F,separator=",
    "k,keep-going",
    "z,uncompress",
    "s,special-files",
    "r,raw",
    "E",
    "p,preserve-date",
    "n,no-buffer",
    "e,exclude=",
    "P,parameter=",
    "m,magic-file=",
    "l,list",
    "help",
    "v,version",
];
const HELP: &str = "Usage: file [OPTION...] [FILE...]
Determine type of FILEs.

  -b, --brief           do not prepend filenames to output lines
  -i, --mime            output MIME type strings (--mime-type and --mime-encoding)
  -L, --dereference     follow symlinks
  -f, --files-from FILE read the filenames to be examined from FILE
  -F, --separator SEP   use string as separator instead of `:'
  -N, --no-pad          do not pad output
";

/// What a file turned out to be.
pub(crate) struct Verdict {
    pub words: String,
    pub mime: &'static str,
    pub charset: &'static str,
}

impl Verdict {
    fn new(words: impl Into<String>, mime: &'static str) -> Self {
        Self { words: words.into(), mime, charset: "binary" }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    Words,
    Mime,
    MimeType,
    Encoding,
}

/// Names each file's kind and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let items = match options::parse(args, TABLE, Order::Anywhere) {
        Ok(items) => items,
        Err(problem) => return complain("file", &problem),
    };
    let (mut brief, mut show, mut follow, mut pad, mut separator) =
        (false, Show::Words, Follow::No, true, ":".to_owned());
    let mut files = Vec::new();
    for item in items {
        match item {
            Item::Flag("b", _) => brief = true,
            Item::Flag("i", _) => show = Show::Mime,
            Item::Flag("mime-type", _) => show = Show::MimeType,
            Item::Flag("mime-encoding", _) => show = Show::Encoding,
            Item::Flag("L", _) => follow = Follow::Yes,
            Item::Flag("h", _) => follow = Follow::No,
            Item::Flag("N", _) => pad = false,
            Item::Flag("F", Some(text)) => separator = text,
            Item::Flag("f", Some(list)) => match place::stdio::read(&list) {
                Ok(bytes) => files.extend(String::from_utf8_lossy(&bytes).lines().map(str::to_owned)),
                Err(error) => {
                    return complain("file", &format!("Cannot open `{list}' ({})", place::reason(&error)));
                }
            },
            Item::Flag("help", _) => return print(HELP.as_bytes()),
            Item::Flag("v", _) => return print(b"file-5.44 compatible, drydock\n"),
            Item::Flag(..) => {}
            Item::Operand(file) => files.push(file),
        }
    }
    if files.is_empty() {
        return complain("file", "Usage: file [OPTION...] [FILE...]");
    }
    let names: Vec<&str> =
        files.iter().map(|it| if it == "-" { "/dev/stdin" } else { it.as_str() }).collect();
    let longest = names.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (file, name) in files.iter().zip(&names) {
        let verdict = judge(file, follow);
        let text = match show {
            Show::Words => verdict.words,
            _ if verdict.mime.is_empty() => verdict.words,
            Show::Mime => format!("{}; charset={}", verdict.mime, verdict.charset),
            Show::MimeType => verdict.mime.to_owned(),
            Show::Encoding => verdict.charset.to_owned(),
        };
        if !brief {
            let gap = if pad { longest - name.chars().count() } else { 0 };
            out.push_str(&format!("{name}{separator} {}", " ".repeat(gap)));
        }
        out.push_str(&text);
        out.push('\n');
    }
    print(out.as_bytes())
}

fn judge(name: &str, follow: Follow) -> Verdict {
    let path = Path::new(name);
    if name != "-" {
        let facts = match facts::of(path, follow) {
            Ok(facts) => facts,
            Err(error) => {
                return Verdict::new(format!("cannot open `{name}' ({})", place::reason(&error)), "");
            }
        };
        let special = [(0o4000, "setuid"), (0o2000, "setgid"), (0o1000, "sticky")];
        let bits: Vec<&str> = special.iter().filter(|it| facts.mode & it.0 != 0).map(|it| it.1).collect();
        let bits = bits.join(", ");
        let comma = if bits.is_empty() { "" } else { ", " };
        match facts.kind {
            Kind::Directory => return Verdict::new(format!("{bits}{comma}directory"), "inode/directory"),
            Kind::Symlink => {
                let target = std::fs::read_link(path).unwrap_or_default();
                let broken = if facts::of(path, Follow::Yes).is_err() { "broken " } else { "" };
                return Verdict::new(
                    format!("{broken}symbolic link to {}", target.display()),
                    "inode/symlink",
                );
            }
            Kind::Fifo => return Verdict::new("fifo (named pipe)", "inode/fifo"),
            Kind::Socket => return Verdict::new("socket", "inode/socket"),
            Kind::Character => return Verdict::new("character special", "inode/chardevice"),
            Kind::Block => return Verdict::new("block special", "inode/blockdevice"),
            Kind::File => {}
        }
        if !bits.is_empty() {
            let verdict = of_file(name);
            return Verdict { words: format!("{bits} {}", verdict.words), ..verdict };
        }
    }
    of_file(name)
}

fn of_file(name: &str) -> Verdict {
    match beginning(name) {
        Ok(bytes) => of_bytes(&bytes),
        Err(error) => Verdict::new(format!("cannot open `{name}' ({})", place::reason(&error)), ""),
    }
}

/// As much of a file as tells what it is.
fn beginning(name: &str) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match name {
        "-" => std::io::stdin().lock().take(LOOKED_AT_BYTES_MAX).read_to_end(&mut bytes)?,
        _ => std::fs::File::open(name)?.take(LOOKED_AT_BYTES_MAX).read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

fn of_bytes(bytes: &[u8]) -> Verdict {
    if bytes.is_empty() {
        return Verdict::new("empty", "inode/x-empty");
    }
    if let Some(verdict) = magic::of(bytes) {
        return verdict;
    }
    text::of(bytes).unwrap_or_else(|| Verdict::new("data", "application/octet-stream"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds_are_known_by_their_bytes() {
        let cases: [(&[u8], &str); 8] = [
            (b"", "empty"),
            (b"hello\n", "ASCII text"),
            (b"h\xc3\xa9llo\n", "Unicode text, UTF-8 text"),
            (b"#!/bin/bash\n", "Bourne-Again shell script, ASCII text executable"),
            (b"{\"a\": 1}\n", "JSON text data"),
            (
                b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0",
                "ELF 64-bit LSB executable, x86-64, version 1 (SYSV)",
            ),
            (b"\x01\x02\xff", "data"),
            (b"a\r\n", "ASCII text, with CRLF line terminators"),
        ];
        for (bytes, want) in cases {
            assert_eq!(of_bytes(bytes).words, want, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = of_bytes(&bytes);
        }
    }
}
