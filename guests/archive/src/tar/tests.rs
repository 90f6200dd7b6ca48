//! Headers there and back, names, and bytes nobody meant as an archive.

use super::header::{BLOCK, Header, Kind};
use super::name::{excludes, harmless, matches, selects, strip};
use super::reader::Reader;
use proptest::prelude::*;
use std::io::Read as _;

fn header(name: &str, size: u64) -> Header {
    let (user, group) = super::options::default_owner();
    Header {
        name: name.into(),
        link: Vec::new(),
        kind: Kind::File,
        mode: 0o644,
        size,
        mtime: 1_700_000_000,
        user,
        group,
    }
}

#[test]
fn a_member_is_read_as_it_was_written() {
    // The header has room for a hundred bytes of a name; the last one ends there, at a slash.
    let cut = format!("{}/{}", "x".repeat(99), "file");
    for name in ["a", "folder/file.txt", &"long/".repeat(60), &"x".repeat(511), &cut] {
        let content: &[u8] = if name.ends_with('/') { b"" } else { b"abc" };
        let mut bytes = header(name, content.len() as u64).blocks();
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(BLOCK) + 2 * BLOCK, 0);
        let mut reader = Reader::new(&bytes[..]);
        let found = reader.member().ok().flatten();
        assert_eq!(found.as_ref().map(|it| &it.name[..]), Some(name.as_bytes()), "{name}");
        let mut got = Vec::new();
        assert!(reader.read_to_end(&mut got).is_ok());
        assert_eq!(got, content);
        assert!(matches!(reader.member(), Ok(None)));
    }
}

#[test]
fn names_never_lead_out() {
    let cases = [
        ("a/b", Some("a/b")),
        ("/etc/passwd", Some("etc/passwd")),
        ("./a//b/", Some("a/b")),
        ("a/../b", None),
        ("..", None),
        ("..a/b..", Some("..a/b..")),
    ];
    for (name, want) in cases {
        assert_eq!(harmless(name).as_deref(), want, "{name}");
    }
    assert_eq!(strip("a/b/c", 1).as_deref(), Some("b/c"));
    assert_eq!(strip("a/", 1), None);
}

#[test]
fn patterns_select_and_exclude() {
    let cases = [
        ("*.txt", "a/b.txt", true),
        ("a?c", "abc", true),
        ("[a-c]x", "bx", true),
        ("[!a]x", "ax", false),
        ("*", "", true),
        ("a*b*c", "axxbyyc", true),
        ("a*b", "ac", false),
    ];
    for (pattern, name, want) in cases {
        assert_eq!(matches(pattern, name), want, "{pattern} {name}");
    }
    assert!(
        selects("dir", "dir/a", false) && !selects("dir", "dirt", false) && selects("*.c", "x/y.c", true)
    );
    assert!(
        excludes("node_modules", "a/node_modules/b")
            && excludes("*.log", "x/y.log")
            && !excludes("log", "a.log")
    );
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..3000), name in "[ -~]{0,20}") {
        let mut archive = header(&name, 700).blocks();
        archive.extend_from_slice(&bytes);
        for source in [&bytes[..], &archive[..]] {
            let mut reader = Reader::new(source);
            for _ in 0..20 {
                if !matches!(reader.member(), Ok(Some(_))) {
                    break;
                }
            }
        }
    }

    #[test]
    fn no_pattern_makes_the_matcher_panic(pattern in "[a-c*?\\[\\]!^\\\\-]{0,12}", name in "[a-c/]{0,12}") {
        let _ = (matches(&pattern, &name), excludes(&pattern, &name), selects(&pattern, &name, true));
    }
}
