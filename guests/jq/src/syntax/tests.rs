//! Programs as text: what is one, and what is not, whatever the bytes.

use super::parse;
use proptest::prelude::*;

#[test]
fn programs_parse() {
    let programs = [
        ".",
        ".a.b[0].\"c d\"?",
        ".a.[1:2], .[:-1], .[\"k\"], ..",
        "reduce .[] as [$a, {b: $c, $d, \"e\": [$f], (\"g\" + \"h\"): $i}] (0; . + $a)",
        "foreach .[] as $x (0; . + $x; [$x, .])",
        ". as [$a] ?// {a: $a} ?// $a | $a",
        "def f(g; $h): def i: g | $h; i; f(.; 1)",
        "try error(\"x\") catch . // 1",
        "if . then 1 elif 2 then 3 end",
        "label $out | 1, break $out",
        "@base64 \"x\\(1 + 1)y\\(\"z\\(.)\")\"",
        "{a, \"b\", $__loc__, @text \"c\": 1, (\"d\"): 2, if: 3, $x: 4}",
        "-1 + -.a * - 2",
        ".a |= . + 1 | .b //= 2 | .c += 3",
        "1 # a comment \\\nthat goes on\n + 2",
        "import \"a\" as a; import \"b\" as $b; include \"c\" {search: \"./\"}; a::f",
    ];
    for program in programs {
        assert!(parse(program).is_ok(), "{program}: {:?}", parse(program).err());
    }
}

#[test]
fn what_is_no_program_is_refused() {
    for program in [
        ".a |",
        "{",
        "}",
        "1 2",
        ".a as x | 1",
        "if 1 then",
        "{(1): 2}",
        "\"\\x\"",
        "1 == 2 == 3",
        "break",
        "%",
    ] {
        assert!(parse(program).is_err(), "{program}");
    }
}

#[test]
fn no_depth_exhausts_the_stack() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{a:", "}"),
        ("-", ""),
        ("try ", ""),
        ("if 1 then ", " end"),
        ("\"\\(", ")\""),
    ] {
        for depth in [50, 100_000] {
            let text = open.repeat(depth) + "1" + &close.repeat(depth);
            assert_eq!(parse(&text).is_ok(), depth == 50, "{open}");
        }
    }
    assert!(parse(&"1+".repeat(100_000)).is_err());
    assert!(parse(&(".a".repeat(100_000))).is_err());
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "[-a-c0-1.|,;:?/=<>+*%$@\"\\\\(){}\\[\\]# \n]{0,60}") {
        let _ = parse(&text);
    }

    #[test]
    fn nor_do_words(words in proptest::collection::vec("def |if |then |else |end |as |\\$x |\\| |reduce |foreach |\\( |\\) |; |: |\\. |1 |label |break |try |catch |\\?// |\\{ |\\} |\\[ |\\] ", 0..20)) {
        let _ = parse(&words.concat());
    }
}
