//! Scripts and what GNU sed 4.9 makes of them: output, status, and the first line of what it says.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Arguments, input, output, status, complaint.
type Case = (&'static [&'static str], &'static str, &'static str, i32, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    (&["-n", "2p"], "one\ntwo\nthree\nfour\n", "two\n", 0, ""),
    (&["-n", "$p"], "one\ntwo\nthree\nfour\n", "four\n", 0, ""),
    (&["-n", "2,3p"], "one\ntwo\nthree\nfour\n", "two\nthree\n", 0, ""),
    (&["-n", "/two/,/four/p"], "one\ntwo\nthree\nfour\n", "two\nthree\nfour\n", 0, ""),
    (&["-n", "0~2p"], "one\ntwo\nthree\nfour\n", "two\nfour\n", 0, ""),
    (&["-n", "1~2p"], "one\ntwo\nthree\nfour\n", "one\nthree\n", 0, ""),
    (&["-n", "2,+1p"], "one\ntwo\nthree\nfour\n", "two\nthree\n", 0, ""),
    (&["-n", "2,~2p"], "one\ntwo\nthree\nfour\n", "two\nthree\nfour\n", 0, ""),
    (&["-n", "0,/one/p"], "one\ntwo\nthree\nfour\n", "one\n", 0, ""),
    (&["-n", "1,/one/p"], "one\ntwo\nthree\nfour\n", "one\ntwo\nthree\nfour\n", 0, ""),
    (&["2!d"], "one\ntwo\nthree\nfour\n", "two\n", 0, ""),
    (&["/t/!d"], "one\ntwo\nthree\nfour\n", "two\nthree\n", 0, ""),
    (&["-n", "/TWO/Ip"], "one\ntwo\nthree\nfour\n", "two\n", 0, ""),
    (&["-n", "3,1p"], "one\ntwo\nthree\nfour\n", "three\n", 0, ""),
    (&["$!N;P;D"], "one\ntwo\nthree\nfour\n", "one\ntwo\nthree\nfour\n", 0, ""),
    (&["-n", "2{p;p}"], "one\ntwo\nthree\nfour\n", "two\ntwo\n", 0, ""),
    (&["\\,two,d"], "one\ntwo\nthree\nfour\n", "one\nthree\nfour\n", 0, ""),
    (&["s/o/0/"], "one\ntwo\nthree\nfour\n", "0ne\ntw0\nthree\nf0ur\n", 0, ""),
    (&["s/o/0/g"], "foo boo\n", "f00 b00\n", 0, ""),
    (&["s/o/0/2"], "foo boo\n", "fo0 boo\n", 0, ""),
    (&["s/o/0/2g"], "foo boo\n", "fo0 b00\n", 0, ""),
    (&["-n", "s/t/T/p"], "one\ntwo\nthree\nfour\n", "Two\nThree\n", 0, ""),
    (&["s/./\\U&/"], "one\ntwo\nthree\nfour\n", "One\nTwo\nThree\nFour\n", 0, ""),
    (&["s/\\w\\+/\\u&/g"], "ab cd\n", "Ab Cd\n", 0, ""),
    (&["-E", "s/(.)(.)/\\2\\1/"], "one\ntwo\nthree\nfour\n", "noe\nwto\nhtree\nofur\n", 0, ""),
    (&["s/\\(a\\)\\|b/[\\1]/g"], "abc\n", "[a][]c\n", 0, ""),
    (&["s/x*/-/g"], "abc\n", "-a-b-c-\n", 0, ""),
    (&["s/b*/-/2"], "abc\n", "a-c\n", 0, ""),
    (&["s/$/!/"], "a\n", "a!\n", 0, ""),
    (&["s/a/b\\nc/"], "a\n", "b\nc\n", 0, ""),
    (&["s|/|:|g"], "/a/b\n", ":a:b\n", 0, ""),
    (&["s/a\\|b/X/g"], "cab\n", "cXX\n", 0, ""),
    (&["-E", "s/^(a|ab)(c|bcd)$/<\\1|\\2>/"], "abcd\n", "<a|bcd>\n", 0, ""),
    (&["s/a/\\x41\\o102\\d067/"], "a\n", "ABC\n", 0, ""),
    (&["s/A/x/I"], "a\n", "x\n", 0, ""),
    (&["s/a/&&/;ta;s/^/no/;:a"], "a\n", "aa\n", 0, ""),
    (&["-E", "s/a{2}/X/"], "caat\n", "cXt\n", 0, ""),
    (&["s/.*/\"&\"/"], "", "", 0, ""),
    (&["s/a/[&]\\&/"], "a\n", "[a]&\n", 0, ""),
    (&["-E", "s/\\b/|/g"], "ab cd\n", "|ab| |cd|\n", 0, ""),
    (&["s/[^[:alpha:]]/_/g"], "a1 b-2\n", "a__b__\n", 0, ""),
    (&["s/a.c/X/"], "a\nc\n", "a\nc\n", 0, ""),
    (&["N;s/a.c/X/"], "a\nc\n", "X\n", 0, ""),
    (&["N;s/^c/X/M"], "a\nc\n", "a\nX\n", 0, ""),
    (&["-E", "s/(^|x)a/Y/g"], "axa\n", "YY\n", 0, ""),
    (&["1i top"], "x\n", "top\nx\n", 0, ""),
    (&["2c changed"], "one\ntwo\nthree\nfour\n", "one\nchanged\nthree\nfour\n", 0, ""),
    (&["y/abc/xyz/"], "aabbcc\n", "xxyyzz\n", 0, ""),
    (&["="], "a\nb\n", "1\na\n2\nb\n", 0, ""),
    (&["-n", "l"], "a\tb\\\u{1}é\n", "a\\tb\\\\\\001\\303\\251$\n", 0, ""),
    (&["-n", "l 5"], "abcdefgh\n", "abcd\\\nefgh$\n", 0, ""),
    (&["2q"], "one\ntwo\nthree\nfour\n", "one\ntwo\n", 0, ""),
    (&["2q5"], "one\ntwo\nthree\nfour\n", "one\ntwo\n", 5, ""),
    (&["2Q"], "one\ntwo\nthree\nfour\n", "one\n", 0, ""),
    (&["h;G"], "a\n", "a\na\n", 0, ""),
    (&["1!G;h;$!d"], "one\ntwo\nthree\nfour\n", "four\nthree\ntwo\none\n", 0, ""),
    (&["n;d"], "one\ntwo\nthree\nfour\n", "one\nthree\n", 0, ""),
    (&["N;N;s/\\n/,/g"], "one\ntwo\nthree\nfour\n", "one,two,three\nfour\n", 0, ""),
    (&["x;p;x"], "a\nb\n", "\na\n\nb\n", 0, ""),
    (&["-s", "-n", "$="], "one\ntwo\nthree\nfour\n", "4\n", 0, ""),
    (&["/two/{n;s/e/E/g}"], "one\ntwo\nthree\nfour\n", "one\ntwo\nthrEE\nfour\n", 0, ""),
    (&["z;s/^$/empty/"], "a\n", "empty\n", 0, ""),
    (&["-z", "s/\\n/,/g"], "a\nb\n", "a,b,", 0, ""),
    (&["$d"], "one\ntwo\nthree\nfour\n", "one\ntwo\nthree\n", 0, ""),
    (&["1d;n;d"], "one\ntwo\nthree\nfour\n", "two\nfour\n", 0, ""),
    (&[":a;s/^.\\{1,4\\}$/ &/;ta"], "ab\n", "   ab\n", 0, ""),
    (&["/one/b;s/^/+/"], "one\ntwo\nthree\nfour\n", "one\n+two\n+three\n+four\n", 0, ""),
    (&["s/a/b/;T;s/b/c/"], "a\nx\n", "c\nx\n", 0, ""),
    (&["-n", "/a/,/b/{//!p}"], "a\n1\nb\n", "1\n", 0, ""),
    (&["W/dev/stdout"], "a\nb\n", "a\na\nb\nb\n", 0, ""),
    (&["-n", "$!{p}"], "one\ntwo\nthree\nfour\n", "one\ntwo\nthree\n", 0, ""),
    (&["D"], "a\n", "", 0, ""),
    (&["s/a/x/w /dev/stdout"], "a\n", "x\nx\n", 0, ""),
    (&["s/a/b/"], "a", "b", 0, ""),
    (&["p"], "a", "a\na", 0, ""),
    (&["$!d"], "a\nb", "b", 0, ""),
    (&["G"], "a", "a\n\n", 0, ""),
    (&["a x"], "a", "a\nx\n", 0, ""),
    (&["s/a"], "", "", 1, "sed: -e expression #1, char 3: unterminated `s' command"),
    (&["s/a/b/gg"], "", "", 1, "sed: -e expression #1, char 8: multiple `g' options to `s' command"),
    (&["s/a/b/0"], "", "", 1, "sed: -e expression #1, char 7: number option to `s' command may not be zero"),
    (&["y/a/bc/"], "", "", 1, "sed: -e expression #1, char 7: strings for `y' command are different lengths"),
    (&["b nowhere"], "", "", 4, "sed: can't find label for jump to `nowhere'"),
    (&["}"], "", "", 1, "sed: -e expression #1, char 1: unexpected `}'"),
    (&["{p"], "", "", 1, "sed: -e expression #1, char 0: unmatched `{'"),
    (&["s/\\(/x/"], "", "", 1, "sed: -e expression #1, char 7: Unmatched ( or \\("),
    (&["s/a\\)/x/"], "", "", 1, "sed: -e expression #1, char 8: Unmatched ) or \\)"),
    (&["-E", "s/a{2,1}/x/"], "", "", 1, "sed: -e expression #1, char 11: Invalid content of \\{\\}"),
    (&["-E", "s/*a/x/"], "", "", 1, "sed: -e expression #1, char 7: Invalid preceding regular expression"),
    (&["s/[/x/"], "", "", 1, "sed: -e expression #1, char 6: unterminated `s' command"),
    (&["s/ab**/x/"], "", "", 1, "sed: -e expression #1, char 9: Invalid preceding regular expression"),
    (&["-E", "s/a{}/x/"], "", "", 1, "sed: -e expression #1, char 8: Invalid content of \\{\\}"),
    (&["-E", "s/[1-3-5]/x/"], "", "", 1, "sed: -e expression #1, char 12: Invalid range end"),
    (&["-E", "s/(*)b/x/"], "", "", 1, "sed: -e expression #1, char 9: Invalid preceding regular expression"),
    (&["s/\\1/x/"], "", "", 1, "sed: -e expression #1, char 7: Invalid back reference"),
    (&["s/a/\\1/"], "", "", 1, "sed: -e expression #1, char 7: invalid reference \\1 on `s' command's RHS"),
    (&["1,2="], "a\n", "1\na\n", 0, ""),
    (&["1,2q"], "", "", 1, "sed: -e expression #1, char 4: command only uses one address"),
    (&["0p"], "", "", 1, "sed: -e expression #1, char 2: invalid usage of line address 0"),
    (&["k"], "", "", 1, "sed: -e expression #1, char 1: unknown command: `k'"),
    (&["p p"], "", "", 1, "sed: -e expression #1, char 3: extra characters after command"),
    (&[":"], "", "", 1, "sed: -e expression #1, char 1: \":\" lacks a label"),
    (&["s/a/b/k"], "", "", 1, "sed: -e expression #1, char 7: unknown option to `s'"),
    (&["--nope"], "", "", 1, "sed: unrecognized option '--nope'"),
    (&["a"], "", "", 1, "sed: -e expression #1, char 1: expected \\ after `a', `c' or `i'"),
    (&["\""], "", "", 1, "sed: -e expression #1, char 1: unknown command: `\"'"),
    (&["1,p"], "", "", 1, "sed: -e expression #1, char 3: unexpected `,'"),
    (&["s/x/\\"], "", "", 1, "sed: -e expression #1, char 5: unterminated `s' command"),
    (&["u"], "", "", 1, "sed: -e expression #1, char 1: unknown command: `u'"),
    (&["v"], "a\n", "a\n", 0, ""),
    (&["v 9.0"], "", "", 1, "sed: -e expression #1, char 5: expected newer version of sed"),
    (&["r"], "", "", 1, "sed: -e expression #1, char 1: missing filename in r/R/w/W commands"),
    (&["3,2!{"], "", "", 1, "sed: -e expression #1, char 0: unmatched `{'"),
    (&["y/a/\\"], "", "", 1, "sed: -e expression #1, char 5: unterminated `y' command"),
    (&["/a"], "", "", 1, "sed: -e expression #1, char 2: unterminated address regex"),
    (&["\\"], "", "", 1, "sed: -e expression #1, char 1: unterminated address regex"),
    (&["//p"], "a\n", "", 1, "sed: -e expression #1, char 0: no previous regular expression"),
];

fn run(args: &[&str], input: &str) -> std::io::Result<(String, i32, String)> {
    let mut sed = Command::new(env!("CARGO_BIN_EXE_sed"));
    sed.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = sed.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A script that is refused reads nothing.
        let _ = stdin.write_all(input.as_bytes());
    }
    let done = child.wait_with_output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let complaint = text(&done.stderr).lines().next().unwrap_or_default().to_owned();
    Ok((text(&done.stdout), done.status.code().unwrap_or(-1), complaint))
}

#[test]
fn scripts_do_what_gnu_sed_does_with_them() -> std::io::Result<()> {
    for (args, input, out, status, complaint) in CASES {
        let got = run(args, input)?;
        assert_eq!(got, ((*out).to_owned(), *status, (*complaint).to_owned()), "sed {args:?} < {input:?}");
    }
    Ok(())
}
