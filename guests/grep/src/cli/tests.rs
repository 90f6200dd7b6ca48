//! The command line, read as grep reads it: a table of spellings and what they mean.

use super::*;

fn options(line: &str) -> Options {
    let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
    match parse(&args) {
        Ok(Request::Run(options)) => *options,
        other => unreachable!("{line}: {other:?}"),
    }
}

#[test]
fn letters_combine_and_values_may_be_attached() {
    let got = options("-inA2 -m3 --color=always x a b");
    assert!(got.ignore_case && got.line_number && got.color);
    assert_eq!((got.after, got.before, got.count_max), (2, 0, Some(3)));
    assert_eq!(got.sources, [PatternSource::Text("x".to_owned())]);
    assert_eq!(got.files, ["a", "b"]);
}

#[test]
fn numbers_are_context() {
    assert_eq!((options("-2 x").before, options("-12 x").after), (2, 12));
    assert_eq!((options("-C1 -A3 x").before, options("-C1 -A3 x").after), (1, 3));
}

#[test]
fn options_after_operands_count_until_the_double_dash() {
    let got = options("x a -n -- -v");
    assert!(got.line_number && !got.invert);
    assert_eq!(got.files, ["a", "-v"]);
    assert_eq!(options("-e a -e b f").files, ["f"]);
    assert!(options("--ignore --line-n x").line_number);
}

#[test]
fn a_wrong_command_line_is_refused() {
    for line in ["-n", "--nope x", "-A x", "-Ax y", "-m -1 x", "-K x", "--li x", "--count=3 x"] {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert!(parse(&args).is_err(), "{line:?}");
    }
}
