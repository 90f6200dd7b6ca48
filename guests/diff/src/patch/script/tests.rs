//! Proofs for the reader of patches.

use super::*;
use proptest::prelude::*;

fn one(text: &str) -> FilePatch {
    parse(text.as_bytes()).unwrap_or_default().into_iter().next().unwrap_or_default()
}

const LINES: [(Op, &str); 4] =
    [(Op::Keep, "a\n"), (Op::Delete, "b\n"), (Op::Insert, "B\n"), (Op::Keep, "c\n")];

fn is_the_change(hunk: &Hunk) -> bool {
    let same = hunk.lines.iter().zip(LINES).all(|(a, b)| a.0 == b.0 && a.1 == b.1.as_bytes());
    same && hunk.lines.len() == LINES.len()
}

#[test]
fn three_formats_are_one_hunk() {
    let unified = one("text\n--- x\t2024\n+++ y\n@@ -1,3 +1,3 @@ fn\n a\n-b\n+B\n c\n");
    assert!(is_the_change(&unified.hunks[0]), "{unified:?}");
    assert_eq!(unified.old.map(|it| it.path).as_deref(), Some("x"));
    let context =
        one("*** x\n--- y\n***************\n*** 1,3 ****\n  a\n! b\n  c\n--- 1,3 ----\n  a\n! B\n  c\n");
    assert!(is_the_change(&context.hunks[0]), "{context:?}");
    let normal = one("2c2\n< b\n---\n> B\n");
    assert_eq!(normal.hunks[0].lines.len(), 2);
    assert_eq!(normal.hunks[0].old_start, 2);
}

#[test]
fn a_missing_end_of_line_is_noted() {
    let patch = one("--- x\n+++ x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n");
    assert_eq!(patch.hunks[0].lines, [(Op::Delete, b"a".to_vec()), (Op::Insert, b"b\n".to_vec())]);
}

#[test]
fn git_says_what_becomes_of_a_file() {
    let text = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n\
                diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n";
    let all = parse(text.as_bytes()).unwrap_or_default();
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].git.rename, Some(("x".to_owned(), "y".to_owned())));
    assert!(all[1].git.created && all[1].old.as_ref().is_some_and(|it| it.absent));
}

#[test]
fn names_end_at_a_tab_and_may_be_quoted() {
    for (line, want) in [
        ("--- a b\t2024-01-01", "a b"),
        ("--- a 2024-01-01", "a"),
        ("--- \"a b\"\t2024", "a b"),
        ("--- x", "x"),
    ] {
        assert_eq!(head::name(line.as_bytes()).map(|it| it.path).as_deref(), Some(want), "{line}");
    }
    let old = head::name(b"--- x\t1970-01-01 00:00:00.000000000 +0000");
    assert!(old.is_some_and(|it| it.absent));
}

#[test]
fn hunks_that_break_off_are_refused() {
    for text in ["--- x\n+++ x\n@@ -1,9 +1,2 @@\n a\n", "--- x\n+++ x\n@@ -x @@\n", "2,3c2\n< b\n"] {
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn no_lines_of_patches_make_the_reader_panic(
        lines in prop::collection::vec(
            prop_oneof![
                Just("--- a\t1970".to_owned()), Just("+++ b".to_owned()), Just("***************".to_owned()),
                "@@ -[0-9]{1,3}(,[0-9]{1,3})? \\+[0-9]{1,3}(,[0-9])? @@", "\\*\\*\\* [0-9],[0-9] \\*\\*\\*\\*",
                "--- [0-9],[0-9] ----", "[0-9](,[0-9])?[acd][0-9]", "[-+ !<>\\\\] ?[a-z]{0,5}",
                Just("diff --git a/x b/x".to_owned()), Just("rename from \"".to_owned()),
            ],
            0..25,
        )
    ) {
        let _ = parse(lines.join("\n").as_bytes()).map(|all| {
            all.iter().flat_map(|it| &it.hunks).map(Hunk::reversed).count()
        });
    }
}
