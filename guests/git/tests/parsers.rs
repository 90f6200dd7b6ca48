//! Nothing that a repository holds makes a reader of ours panic.

use git::merge::text::{Favor, merge};
use git::odb::{loose, pack};
use git::person::Person;
use git::repo::{config, reflog, refs};
use git::work::checkout::is_safe;
use git::{date, index, quote};
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = index::parse(&bytes);
        let _ = loose::inflate(&bytes);
        let _ = pack::check_index(&bytes);
        let _ = refs::parse_packed(&bytes);
        let _ = reflog::parse(&bytes);
        let _ = Person::parse(&bytes);
        let _ = quote::path(&bytes, quote::Non::Escaped);
        let _ = is_safe(&bytes, 0o100_644);
    }

    #[test]
    fn any_index_with_a_right_sum_is_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..400), version in 2_u32..5) {
        // A sum of zeros says that none was made, so the entries themselves are reached.
        let mut bytes = b"DIRC".to_vec();
        bytes.extend_from_slice(&version.to_be_bytes());
        bytes.extend_from_slice(&3_u32.to_be_bytes());
        bytes.extend_from_slice(&body);
        bytes.extend_from_slice(&[0; 20]);
        let _ = index::parse(&bytes);
    }

    #[test]
    fn any_text_is_a_configuration_or_not(text in "[\\[\\]a-z\"=\\\\#; \n\t.]{0,200}", moment in "[0-9a-zT:+ .,/-]{0,40}") {
        let _ = config::parse(&text);
        let _ = config::canonical(&text);
        if let Some((seconds, zone)) = date::parse(&moment) {
            prop_assert!(!date::show(seconds, zone, &date::Style::Strict).is_empty());
        }
    }

    #[test]
    fn a_merge_with_one_side_unchanged_is_the_other_side(base in "([a-c]\n){0,12}", other in "([a-d]\n){0,12}") {
        let (base, other) = (base.as_bytes(), other.as_bytes());
        prop_assert_eq!(merge(base, base, other, ("a", "b"), Favor::None), (other.to_vec(), 0));
        prop_assert_eq!(merge(base, other, base, ("a", "b"), Favor::None), (other.to_vec(), 0));
        prop_assert_eq!(merge(base, other, other, ("a", "b"), Favor::None), (other.to_vec(), 0));
    }

    #[test]
    fn any_three_texts_merge(base in "([a-c]\n?){0,12}", ours in "([a-d]\n?){0,12}", theirs in "([a-d]\n?){0,12}") {
        let (text, conflicts) = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), ("a", "b"), Favor::None);
        let marks = text.windows(8).filter(|it| *it == b"<<<<<<< ").count();
        prop_assert_eq!(marks, conflicts);
    }
}

#[test]
fn names_that_lead_out_or_into_git_are_not_safe() {
    for bad in [
        "",
        ".",
        "..",
        "../x",
        "a/../b",
        "a//b",
        "/a",
        ".git",
        ".GIT/config",
        "a/.git/x",
        "git~1",
        ".g\u{200c}it",
        "a\0b",
        ".git ",
    ] {
        assert!(!is_safe(bad.as_bytes(), 0o100_644), "{bad:?}");
    }
    for good in ["a", "a/b", ".gitignore", "...", "a.git", "git", "ä/ö", "CON", "a\\b"] {
        assert!(is_safe(good.as_bytes(), 0o100_644), "{good:?}");
    }
    assert!(!is_safe(b".gitmodules", 0o120_000));
}

#[test]
fn an_object_that_lies_about_its_size_is_refused() {
    use std::io::Write as _;
    let packed = |head: &str, body: &[u8]| {
        let mut out = gix_zlib::stream::deflate::Write::new(Vec::new(), gix_zlib::Compression::default());
        out.write_all(head.as_bytes())
            .and_then(|()| out.write_all(body))
            .and_then(|()| out.flush())
            .map(|()| out.into_inner())
    };
    let cases = [
        ("blob 3\0", true),
        ("blob 2\0", false),
        ("blob 99999999999999999999\0", false),
        ("blob 4000000000\0", false),
        ("blob +3\0", false),
        ("blub 3\0", false),
        ("blob 3", false),
    ];
    for (head, good) in cases {
        let bytes = packed(head, b"abc").unwrap_or_default();
        assert_eq!(loose::inflate(&bytes).is_some(), good, "{head:?}");
    }
}
