//! The command line, read as jq reads it.

use super::*;

fn options(line: &str) -> Options {
    let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
    match parse(&args) {
        Ok(Request::Run(options)) => *options,
        other => unreachable!("{line}: {other:?}"),
    }
}

fn fails(line: &str) -> bool {
    let args: Vec<String> = line.split(' ').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    parse(&args).is_err_and(|failure| failure.status() == 2)
}

#[test]
fn short_flags_combine_and_operands_follow_the_program() {
    let got = options("-rc .a one two");
    assert_eq!(got.program, ".a");
    assert_eq!(got.files, ["one", "two"]);
    assert!(got.output.raw);
    assert_eq!(got.output.indent, Indent::Compact);
    assert_eq!(options("-L lib -Lmore .").library, ["lib", "more"]);
}

#[test]
fn the_last_layout_wins_and_the_first_value_of_a_name() {
    assert_eq!(options("-c --tab .").output.indent, Indent::Tab);
    assert_eq!(options("--tab --indent 3 .").output.indent, Indent::Spaces(3));
    let named = options("--arg a 1 --argjson a 2 . ").named;
    assert_eq!(named, [("a".to_owned(), Source::Text("1".to_owned()))]);
}

#[test]
fn operands_after_args_are_values() {
    let got = options("-n --args $ARGS a --jsonargs 1");
    let want = [Source::Text("a".to_owned()), Source::Json("1".to_owned())];
    assert_eq!(got.positional, want);
    assert_eq!(options("-- -n -r").files, ["-r"]);
}

#[test]
fn a_wrong_command_line_is_a_usage_failure() {
    for line in ["--nope .", "-rz .", "--arg a", "--indent 9 .", "--indent"] {
        assert!(fails(line), "{line:?}");
    }
}
