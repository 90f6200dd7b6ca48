//! Programs over values, each with what jq answers.

use super::{Exit, Run, World};
use crate::compile::compile;
use crate::read::parse_one;
use crate::value::Value;
use crate::write::compact;
use proptest::prelude::*;

struct Nothing;

impl World for Nothing {
    fn input(&self) -> Option<Result<Value, String>> {
        None
    }

    fn file(&self) -> Option<String> {
        None
    }

    fn line(&self) -> usize {
        0
    }

    fn complain(&self, _: &[u8]) {}
}

/// At most so many outputs of a program nobody wrote.
const OUTPUTS_MAX: usize = 100;

fn outputs(program: &str, input: &str) -> String {
    let program = match compile(program, Vec::new(), &[]) {
        Ok(program) => program,
        Err(failure) => return format!("{failure}"),
    };
    let input = parse_one(input.into()).unwrap_or(Value::Null);
    let (mut all, mut count) = (Vec::new(), 0);
    let result = Run::new(&program, &Nothing).run(input, &mut |value| {
        all.push(compact(&value));
        count += 1;
        if count < OUTPUTS_MAX { Ok(()) } else { Err(Exit::Enough) }
    });
    if let Err(Exit::Error(error)) = result {
        all.push(format!("error {}", compact(&error)));
    }
    all.join(" ")
}

#[test]
fn programs_answer_as_jq_does() {
    let cases = [
        (".a", r#"{"a":1}"#, "1"),
        (".[] | .x?", r#"[{"x":1},2,{}]"#, "1 null"),
        ("[.[] as [$a, {b: $c}] | $a + $c]", r#"[[1,{"b":2}],[3,{"b":4}]]"#, "[3,7]"),
        ("(1, 2) + (10, 20)", "null", "11 12 21 22"),
        (r#""\(1, 2)-\(3, 4)""#, "null", r#""1-3" "2-3" "1-4" "2-4""#),
        ("{a: (1, 2), b: 3}", "null", r#"{"a":1,"b":3} {"a":2,"b":3}"#),
        ("def f: if . < 100000 then . + 1 | f else . end; f", "0", "100000"),
        ("[limit(3; repeat(1))]", "null", "[1,1,1]"),
        ("first(range(10; 0; -3))", "null", "10"),
        ("(.[] | select(. > 1)) |= empty", "[1,2,3]", "[1]"),
        (".a += (1, 2)", r#"{"a":1}"#, r#"{"a":2} {"a":3}"#),
        (".[1:] = [9]", "[1,2,3]", "[1,9]"),
        ("try error(\"x\") catch .", "null", "\"x\""),
        ("(try 1) | error(\"later\")", "null", "error \"later\""),
        ("label $out | 1, break $out, 2", "null", "1"),
        ("[path(..)]", "[[1]]", "[[],[0],[0,0]]"),
        ("path(1)", "null", "error \"Invalid path expression with result 1\""),
        ("reduce .[] as $x (0; . + $x)", "[1,2,3]", "6"),
        ("[foreach .[] as $x (0; . + $x; [$x, .])]", "[1,2]", "[[1,1],[2,3]]"),
        (". as [$a] ?// $a | $a", "5", "5"),
        ("sub(\"(?<x>b)\"; \"<\\(.x)>\")", "\"abc\"", "\"a<b>c\""),
        ("[splits(\", *\")]", "\"a, b,c\"", r#"["a","b","c"]"#),
        ("walk(if type == \"number\" then . + 1 else . end)", r#"[1,{"a":2}]"#, r#"[2,{"a":3}]"#),
        (
            "[.[] | tojson]",
            "[1.50, 100000000000000000001, 1e1000]",
            r#"["1.50","100000000000000000001","1E+1000"]"#,
        ),
        ("1 | .a", "null", r#"error "Cannot index number with string \"a\"""#),
        ("[] - 1", "null", r#"error "array ([]) and number (1) cannot be subtracted""#),
        ("\"x\" * 1e9", "null", r#"error "Repeat string result too long""#),
        ("\"2015-03-05T23:51:47Z\" | fromdate | ., todate", "null", r#"1425599507 "2015-03-05T23:51:47Z""#),
        ("def f: 1 + f; f", "null", r#"error "Maximum recursion depth exceeded""#),
        ("[recurse(if . < 3 then . + 1 else empty end)]", "0", "[0,1,2,3]"),
    ];
    for (program, input, want) in cases {
        assert_eq!(outputs(program, input), want, "{program}");
    }
}

#[test]
fn deep_values_are_made_compared_printed_and_dropped() {
    let deep = "reduce range(20000) as $i (null; [.])";
    assert_eq!(outputs(&format!("{deep} | tojson | contains(\"too deep\")"), "null"), "true");
    assert_eq!(outputs(&format!("[{deep}, {deep}] | .[0] == .[1]"), "null"), "true");
    assert_eq!(outputs(&format!("{deep} | flatten"), "null"), "[null]");
    assert_eq!(outputs(&format!("{deep} | [..] | length"), "null"), "20001");
}

proptest! {
    #[test]
    fn no_program_makes_the_evaluator_panic(
        parts in proptest::collection::vec(0usize..24, 1..6),
        input in "(null|1|-0\\.5|\"a\"|\\[1,\\[2\\]\\]|\\{\"a\":\\[\\{\\}\\]\\})",
    ) {
        const PARTS: [&str; 24] = [
            ".a?", ".[]?", "[.[]?]", "keys?", "(.. | numbers)", "tojson", "to_entries?", ".[1:]?", "length?", "(.a |= 1)?",
            "del(.[0])?", "[paths]", "add?", "sort?", "tostring", "test(\"a|1\")?", "(. + 1)?", "reverse?", "{a: .}", "first(.[]?)",
            "[limit(3; ..)]", "(explode | implode)?", "try error catch .", "@text",
        ];
        let program: Vec<&str> = parts.iter().map(|at| PARTS[*at]).collect();
        outputs(&program.join(" | "), &input);
    }
}
