//! Programs that are read, and what is said of those that cannot be.

use super::parse;
use crate::ast::{Expr, Match, Op, Stmt};
use proptest::prelude::*;

#[test]
fn wrong_programs_are_shown_with_the_place() {
    let cases = [
        (
            "BEGIN { print ( }",
            "cmd. line:1: BEGIN { print ( }\nawk: cmd. line:1:                 ^ syntax error",
        ),
        ("{print", "cmd. line:1: {print\nawk: cmd. line:1:       ^ unexpected newline or end of string"),
        (
            "BEGIN{print \"a}",
            "cmd. line:1: BEGIN{print \"a}\nawk: cmd. line:1:             ^ unterminated string",
        ),
        ("BEGIN{f(1)}", "fatal: function `f' not defined"),
        ("BEGIN{print 1/0}", "cmd. line:1: error: division by zero attempted"),
    ];
    for (program, want) in cases {
        assert_eq!(parse(program.as_bytes()).err().as_deref(), Some(want), "{program:?}");
    }
}

#[test]
fn operators_bind_as_they_should() {
    let program = parse(b"-2^2 \"\" 1+2*3").expect("it is correct");
    let Match::If(Expr::Concat(parts)) = &program.rules[0].pattern else { panic!("it is a concatenation") };
    assert!(matches!(parts[0], Expr::Negate(_)));
    let Expr::Binary(Op::Add, sides) = &parts[2] else { panic!("a sum is one part") };
    assert!(matches!(sides.1, Expr::Binary(Op::Multiply, _)));
}

#[test]
fn a_greater_sign_after_print_names_a_file() {
    let program = parse(b"{ print 1 > \"x\"; print (1 > 2) }").expect("it is correct");
    let body = program.rules[0].body.as_ref().expect("it has one");
    assert!(matches!(&body[0], Stmt::Print { to: Some(_), .. }));
    assert!(matches!(&body[1], Stmt::Print { to: None, .. }));
}

#[test]
fn a_parameter_that_is_passed_on_as_an_array_is_one() {
    let program = parse(b"function f(a) { g(a) } function g(b) { b[1] = 2 }").expect("it is correct");
    assert_eq!(program.functions.iter().map(|it| it.arrays[0]).collect::<Vec<_>>(), [true, true]);
}

#[test]
fn nesting_has_a_limit() {
    let deep = format!("BEGIN {{ x = {}1{} }}", "(".repeat(5000), ")".repeat(5000));
    assert!(parse(deep.as_bytes()).is_err());
}

proptest! {
    /// Whatever somebody types, the outcome is a program or a message.
    #[test]
    fn no_program_panics(words in proptest::collection::vec(
        prop::sample::select(vec![
            "{", "}", "(", ")", "[", "]", ";", "\n", ",", "$", "print", "getline", "if", "else", "for", "in", "while",
            "do", "function", "f(", "a", "1", "\"s\"", "/x/", "/", "=", "==", "~", "!", "<", ">", "|", "+", "++", "-",
            "^", "?", ":", "&&", "delete", "return", "switch", "case", "default", "BEGIN", "length", "split", "\\", "é",
        ]),
        0..24,
    )) {
        let _ = parse(words.join(" ").as_bytes());
    }
}
