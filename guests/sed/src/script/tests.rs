//! Scripts that are read, and what is said of those that cannot be.

use super::{Action, Dialect, Part, Piece, Script, parse};
use proptest::prelude::*;

fn read(script: &str) -> Result<Script, String> {
    parse(&[Part::expression(1, script.as_bytes().to_vec())], Dialect::default())
}

#[test]
fn wrong_scripts_are_refused_in_gnus_words() {
    let cases = [
        ("s/a", "char 3: unterminated `s' command"),
        ("s/a/b/gg", "char 8: multiple `g' options to `s' command"),
        ("s/a/b/k", "char 7: unknown option to `s'"),
        ("y/ab/c/", "char 7: strings for `y' command are different lengths"),
        ("1,2q", "char 4: command only uses one address"),
        ("0p", "char 2: invalid usage of line address 0"),
        ("{p", "char 0: unmatched `{'"),
        ("p;}", "char 3: unexpected `}'"),
        ("k", "char 1: unknown command: `k'"),
        ("p q", "char 3: extra characters after command"),
        (r"s/\(a\)/\2/", "char 11: invalid reference \\2 on `s' command's RHS"),
        ("e ls", "char 1: the `e' command is not supported: no other programs are run here"),
    ];
    for (script, want) in cases {
        let want = format!("sed: -e expression #1, {want}");
        assert_eq!(read(script).err(), Some(want), "{script:?}");
    }
}

#[test]
fn blocks_and_labels_become_places_in_the_script() {
    let script = read(":a;/x/{s/x/y/;ta};p").expect("it is correct");
    assert!(matches!(script.commands[1].action, Action::Block { end: 4 }));
    assert!(matches!(script.commands[3].action, Action::BranchIfDone(Some(0))));
}

#[test]
fn a_replacement_is_cut_into_pieces() {
    let script = read(r"s/\(a\)/[\1&\n\x41]/").expect("it is correct");
    let Action::Substitute(made) = &script.commands[0].action else { panic!("it is an s") };
    let want = [Piece::Text(b"[".to_vec()), Piece::Group(1), Piece::Group(0), Piece::Text(b"\nA]".to_vec())];
    assert_eq!(made.replacement, want);
}

#[test]
fn the_text_of_a_command_goes_on_in_the_next_part() {
    let parts = [r"a\", r"one\", "two", "p"].iter().enumerate();
    let parts: Vec<Part> =
        parts.map(|(at, text)| Part::expression(at + 1, text.as_bytes().to_vec())).collect();
    let script = parse(&parts, Dialect::default()).expect("it is correct");
    assert!(matches!(&script.commands[0].action, Action::Append(text) if text == b"one\ntwo\n"));
    assert_eq!(script.commands.len(), 2);
}

proptest! {
    /// Whatever somebody types, the outcome is a script or a message.
    #[test]
    fn no_script_panics(script in r"[-sypdDqabtTnNgGhHxlrwic{};:!,~+$/\\\[\]()*.&0-9 \n#IMé]{0,24}") {
        for extended in [false, true] {
            let dialect = Dialect { extended, ..Dialect::default() };
            let _ = parse(&[Part::expression(1, script.clone().into_bytes())], dialect);
        }
    }
}
