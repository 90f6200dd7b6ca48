//! Values out of text: one, many, broken, raw and slurped.

use super::*;
use proptest::prelude::*;

fn compact(text: &str) -> String {
    match parse_all(text.to_owned().into()) {
        Ok(values) => values.iter().map(|value| crate::write::compact(value) + ";").collect(),
        Err(problem) => problem,
    }
}

#[test]
fn json_texts_are_read_one_after_the_other() {
    let cases = [
        ("", ""),
        (" 1 2\n\"a\"[]{}", "1;2;\"a\";[];{};"),
        (r#"{"a":{"b":[1,[2],{"c":null}]},"d":true}"#, r#"{"a":{"b":[1,[2],{"c":null}]},"d":true};"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2};"#),
        ("-0", "-0;"),
        ("007", "7;"),
        ("1.10", "1.10;"),
        ("1e3", "1E+3;"),
        ("1e-5", "0.00001;"),
        ("\"\\ud83e\\udd80\"", "\"🦀\";"),
        ("nan", "null;"),
    ];
    for (text, want) in cases {
        assert_eq!(compact(text), want, "{text:?}");
    }
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    let cases = [
        ("{\"a\":1", "Unfinished JSON term"),
        ("[1,", "Unfinished JSON term"),
        ("[1 2]", "Expected separator"),
        ("{1:2}", "Object keys must be strings"),
        ("{\"a\" 1}", "Expected separator between values at line 1, column 7"),
        ("[1}", "Unmatched"),
        ("\n\n  tru", "Invalid literal at EOF at line 3, column 5"),
        ("\"ab", "Unfinished string"),
        ("\"\\x\"", "Invalid escape"),
        ("\"\\u12g4\"", "Invalid characters in \\uXXXX escape"),
        ("{,}", "Expected value before ',' at line 1, column 2"),
        ("[,]", "Expected value before ','"),
        ("]", "Unmatched ']'"),
        ("\"a\nb\"", "control characters"),
        ("\"\\ud800\"", "surrogate pair"),
    ];
    for (text, want) in cases {
        let got = compact(text);
        assert!(got.contains(want), "{text:?}: {got}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(parse_one(deep(10_000).into()).is_ok());
    assert!(parse_one(deep(10_002).into()).is_err_and(|it| it.contains("depth limit")));
}

#[test]
fn lines_are_counted_to_the_end_of_the_value_s_line() {
    let mut reader = Reader::new("1\n[2,\n3] 4".into(), false);
    let mut seen = Vec::new();
    while let Some(Ok(_)) = reader.next_value() {
        seen.push(reader.lines());
    }
    assert_eq!(seen, [1, 2, 2]);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = parse_all(bytes);
    }

    #[test]
    fn what_is_printed_reads_back_as_the_same(text in "[\\[\\]{}:,\"a-c0-2 \\\\.eE+-]{0,60}|(\"[ -~é🦀]{0,30}\",?){0,3}") {
        if let Ok(values) = parse_all(format!("[{text}]").into_bytes()) {
            for value in values {
                let printed = crate::write::compact(&value);
                let again = parse_one(printed.clone().into_bytes()).map(|it| crate::write::compact(&it));
                prop_assert_eq!(Ok(printed), again);
            }
        }
    }
}
