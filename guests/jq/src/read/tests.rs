//! Values out of text: one, many, broken, raw and slurped.

use super::feed::{Fed, Feed};
use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

/// A text in pieces; an empty piece stands for the beginning of another file.
struct Pieces(VecDeque<Vec<u8>>);

impl Feed for Pieces {
    fn more(&mut self, text: &mut Vec<u8>, within: bool) -> Fed {
        let mut fed = Fed::Bytes;
        while let Some(piece) = self.0.front() {
            if piece.is_empty() {
                if within {
                    return Fed::Nothing;
                }
                fed = Fed::NewFile;
                self.0.pop_front();
                continue;
            }
            text.extend_from_slice(piece);
            self.0.pop_front();
            return fed;
        }
        Fed::Nothing
    }
}

fn in_pieces(text: &[u8], cuts: &[usize]) -> Pieces {
    let mut pieces = VecDeque::new();
    let mut rest = text;
    for cut in cuts {
        let (piece, behind) = rest.split_at((*cut).min(rest.len()));
        if !piece.is_empty() {
            pieces.push_back(piece.to_vec());
        }
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push_back(rest.to_vec());
    }
    Pieces(pieces)
}

fn all_of(reader: &mut Reader) -> Vec<String> {
    let mut seen = Vec::new();
    while let Some(value) = reader.next_value() {
        let broken = value.is_err();
        seen.push(value.map_or_else(|problem| problem, |value| crate::write::compact(&value)));
        if broken {
            break;
        }
    }
    seen
}

#[test]
fn a_value_goes_on_in_the_next_file_and_lines_begin_anew() {
    let pieces = ["[1,\n", "", "2]\n1", "", "2 \"a", "b\"\n\n3"].map(|it| it.as_bytes().to_vec());
    let mut reader = Reader::of_feed(Box::new(Pieces(pieces.into())), false);
    let mut seen = Vec::new();
    while let Some(Ok(value)) = reader.next_value() {
        seen.push((crate::write::compact(&value), reader.lines()));
    }
    let want = [("[1,2]", 1), ("12", 1), ("\"ab\"", 1), ("3", 2)];
    assert_eq!(seen, want.map(|(text, lines)| (text.to_owned(), lines)));
}

#[test]
fn what_was_read_is_dropped() {
    let pieces: VecDeque<Vec<u8>> = (0..2_000).map(|it| format!("[{it},\n\"abc\"] ").into_bytes()).collect();
    let mut reader = Reader::of_feed(Box::new(Pieces(pieces)), false);
    let mut count = 0;
    while let Some(Ok(_)) = reader.next_value() {
        count += 1;
        assert!(reader.text.len() < 200, "{}", reader.text.len());
    }
    assert_eq!((count, reader.lines()), (2_000, 2_000));
}

#[test]
fn a_line_goes_on_in_the_next_file() {
    let pieces = ["a\nb", "", "c\n\n", "", "d"].map(|it| it.as_bytes().to_vec());
    let mut lines = lines::Lines::new(Box::new(Pieces(pieces.into())), Rc::default());
    let seen: Vec<String> =
        std::iter::from_fn(|| lines.next_line()).map(|it| crate::write::compact(&it)).collect();
    assert_eq!(seen, ["\"a\"", "\"bc\"", "\"\"", "\"d\""]);
}

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
    fn pieces_are_read_as_the_whole_is(
        text in "([\\[\\]{}:,\"a0-2 \\\\.e+\\n\u{1}é-]|null|true|\"[a-c]{0,20}\"|[\\[,]1|\\{\"a\":){0,40}",
        cuts in proptest::collection::vec(1..9usize, 0..30),
    ) {
        let mut whole = Reader::new(text.clone().into_bytes(), false);
        let mut cut = Reader::of_feed(Box::new(in_pieces(text.as_bytes(), &cuts)), false);
        prop_assert_eq!(all_of(&mut whole), all_of(&mut cut), "{}", text);
    }

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
