//! jq's functions at their edges: a table of programs, inputs and outputs, and one of error texts.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Program, input, outputs.
#[rustfmt::skip]
const CASES: &[(&str, &str, &str)] = &[
    (".[2:4]", "[1,2,3,4,5]", "[3,4]\n"),
    (".[-2:]", "\"abcdef\"", "\"ef\"\n"),
    (".[null:2]", "[1,2,3]", "[1,2]\n"),
    (".[1e1000]", "[1]", "null\n"),
    (".[:-10]", "[1,2]", "[]\n"),
    ("{} + null", "1", "{}\n"),
    ("[] - [1]", "1", "[]\n"),
    ("[1,2,1] - [1]", "1", "[2]\n"),
    ("{\"a\":{\"b\":1}} * {\"a\":{\"c\":2}}", "1", "{\"a\":{\"b\":1,\"c\":2}}\n"),
    ("\"ab\" * 3", "1", "\"ababab\"\n"),
    ("\"a,b\" / \",\"", "1", "[\"a\",\"b\"]\n"),
    ("5 % -3, -5 % 3", "1", "2\n-2\n"),
    ("[nan] | sort", "1", "[null]\n"),
    ("nan < nan", "1", "true\n"),
    ("[.[] | length]", "[[],{},\"héé\",-5,null]", "[0,0,3,5,0]\n"),
    ("utf8bytelength", "\"hé\"", "3\n"),
    ("keys", "{\"b\":1,\"a\":2}", "[\"a\",\"b\"]\n"),
    ("keys", "[5,6]", "[0,1]\n"),
    ("has(\"a\")", "{\"a\":1}", "true\n"),
    ("has(0)", "[]", "false\n"),
    ("to_entries", "{\"a\":1}", "[{\"key\":\"a\",\"value\":1}]\n"),
    ("with_entries(.value += 1)", "{\"a\":1}", "{\"a\":2}\n"),
    ("add", "[]", "null\n"),
    ("any, all", "[]", "false\ntrue\n"),
    ("flatten(1)", "[[1,[2]]]", "[1,[2]]\n"),
    ("range(3;0)", "1", ""),
    ("[range(0;1;0.3)]", "1", "[0,0.3,0.6,0.8999999999999999]\n"),
    ("floor, sqrt, pow(.;2)", "4.5", "4\n2.1213203435596424\n20.25\n"),
    ("tostring, tojson", "[1,\"a\"]", "\"[1,\\\"a\\\"]\"\n\"[1,\\\"a\\\"]\"\n"),
    ("ascii_downcase, ascii_upcase", "\"AbÉ\"", "\"abÉ\"\n\"ABÉ\"\n"),
    ("explode | implode", "\"a😀\"", "\"a😀\"\n"),
    ("split(\", \")", "\"a, b\"", "[\"a\",\"b\"]\n"),
    ("split(\"\")", "\"héy\"", "[\"h\",\"é\",\"y\"]\n"),
    ("join(\"-\")", "[\"a\",1,null,true]", "\"a-1--true\"\n"),
    ("ltrimstr(\"a\"), rtrimstr(\"c\")", "\"abc\"", "\"bc\"\n\"ab\"\n"),
    ("test(\"A\";\"i\")", "\"cat\"", "true\n"),
    ("[match(\"a\";\"g\").offset]", "\"banana\"", "[1,3,5]\n"),
    ("capture(\"(?<x>.)(?<y>.)?\")", "\"a\"", "{\"x\":\"a\",\"y\":null}\n"),
    ("sub(\"(?<l>.)\";\"\\(.l)!\")", "\"ab\"", "\"a!b\"\n"),
    ("[scan(\"\\\\d+\")]", "\"a1b22\"", "[\"1\",\"22\"]\n"),
    ("splits(\"a+\")", "\"baac\"", "\"b\"\n\"c\"\n"),
    ("@base64d", "\"aGk=\"", "\"hi\"\n"),
    ("@csv, @tsv", "[1,\"a\\\"b\",null,true]", "\"1,\\\"a\\\"\\\"b\\\",,true\"\n\"1\\ta\\\"b\\t\\ttrue\"\n"),
    ("@text \"v: \\(.)\"", "1", "\"v: 1\"\n"),
    ("@json \"v: \\(.)\"", "\"x\"", "\"v: \\\"x\\\"\"\n"),
    ("paths", "[1,[2]]", "[0]\n[1]\n[1,0]\n"),
    ("[paths(type == \"number\")]", "[1,[2]]", "[[0],[1,0]]\n"),
    ("getpath([\"a\",\"b\"])", "{\"a\":null}", "null\n"),
    ("setpath([0];1)", "null", "[1]\n"),
    ("delpaths([[\"a\"],[\"b\"]])", "{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3}\n"),
    ("del(.[0,2])", "[1,2,3]", "[2]\n"),
    ("del(.[1:])", "[1,2,3]", "[1]\n"),
    ("path(..)", "[1]", "[]\n[0]\n"),
    ("leaf_paths", "{\"a\":[1]}", "[\"a\",0]\n"),
    (". as [$a,{b:$c}] | [$a,$c]", "[1,{\"b\":2}]", "[1,2]\n"),
    (".[] as [$a] ?// $a | $a", "[[1],2]", "1\n2\n"),
    ("try error(\"x\") catch .", "1", "\"x\"\n"),
    ("try error catch .", "{\"a\":1}", "{\"a\":1}\n"),
    ("{a:1} | .b", "1", "null\n"),
    ("if empty then 1 else 2 end", "1", ""),
    ("[.[] | select(. > 1)]", "[1,2,3]", "[2,3]\n"),
    ("first, last", "[1,2]", "1\n2\n"),
    ("nth(1)", "[1,2]", "2\n"),
    ("[limit(2;.[])]", "[1,2,3]", "[1,2]\n"),
    ("until(. > 100; . * 2)", "1", "128\n"),
    ("[recurse(if . < 3 then . + 1 else empty end)]", "0", "[0,1,2,3]\n"),
    ("reduce .[] as $x (0; . + $x)", "[1,2,3]", "6\n"),
    ("[foreach .[] as $x (0; . + $x; [$x,.])]", "[1,2]", "[[1,1],[2,3]]\n"),
    ("label $out | 1, break $out, 2", "1", "1\n"),
    ("$__loc__", "1", "{\"file\":\"<top-level>\",\"line\":1}\n"),
    ("ltrimstr(1)", "\"a\"", "\"a\"\n"),
    ("[1,1.0,1e0] | unique", "1", "[1]\n"),
    ("group_by(.a)", "[{\"a\":2},{\"a\":1},{\"a\":2}]", "[[{\"a\":1}],[{\"a\":2},{\"a\":2}]]\n"),
    ("unique_by(length)", "[\"a\",\"b\",\"cc\"]", "[\"a\",\"cc\"]\n"),
    ("min_by(.a), max_by(.a)", "[{\"a\":2},{\"a\":1}]", "{\"a\":1}\n{\"a\":2}\n"),
    ("min, max", "[]", "null\nnull\n"),
    ("sort", "[null,true,false,0,\"a\",[],{}]", "[null,false,true,0,\"a\",[],{}]\n"),
    ("sort_by(-.)", "[1,3,2]", "[3,2,1]\n"),
    ("transpose", "[[1],[2,3]]", "[[1,2],[null,3]]\n"),
    ("in({\"a\":1})", "\"a\"", "true\n"),
    ("inside(\"abc\")", "\"b\"", "true\n"),
    ("contains({a:[\"b\"]})", "{\"a\":[\"bc\"]}", "true\n"),
    ("index(\",\"), rindex(\",\"), indices(\",\")", "\"a,b,c\"", "1\n3\n[1,3]\n"),
    ("indices(1)", "[0,1,2,1]", "[1,3]\n"),
    ("indices([1,2])", "[0,1,2,1,2]", "[1,3]\n"),
    ("walk(if type == \"number\" then . + 1 else . end)", "[1,[2]]", "[2,[3]]\n"),
    ("todate, (todate | fromdate)", "0", "\"1970-01-01T00:00:00Z\"\n0\n"),
    ("strftime(\"%A %B %d %Y %j %U %V\")", "1425599621", "\"Thursday March 05 2015 064 09 10\"\n"),
    ("mktime", "[2015,2,5,23,51,47,4,63]", "1425599507\n"),
    ("gmtime", "1425599621.25", "[2015,2,5,23,53,41.25,4,63]\n"),
    ("strptime(\"%Y-%m-%dT%H:%M:%SZ\")", "\"2015-03-05T23:51:47Z\"", "[2015,2,5,23,51,47,4,63]\n"),
    ("limit(-1;1)", "1", "1\n"),
    ("splits(\"a\";null)", "\"bab\"", "\"b\"\n\"b\"\n"),
    ("implode", "[1114112]", "\"�\"\n"),
    ("ltrimstr(\"x\")", "1", "1\n"),
    (".[:1] = [9]", "[1,2]", "[9,2]\n"),
    (".[1:] |= map(.+1)", "[1,2,3]", "[1,3,4]\n"),
    (".a += 1", "{}", "{\"a\":1}\n"),
    (".a //= 3", "{\"a\":false}", "{\"a\":3}\n"),
    (".[] //= 1", "[null,2]", "[1,2]\n"),
    ("getpath([\"a\",0,\"b\"])", "null", "null\n"),
    ("tojson", "\"\\u0000\\u007f\\ud83d\\ude00\"", "\"\\\"\\\\u0000\\\\u007f😀\\\"\"\n"),
    ("significand, logb, gamma", "8", "1\n3\n8.525161361065413\n"),
    ("ltrimstr(\"a\")", "\"a\"", "\"\"\n"),
    ("getpath([])", "1", "1\n"),
    ("[splits(\"a\")]", "\"\"", "[\"\"]\n"),
    ("tojson", "-0", "\"-0\"\n"),
    ("[.[]?]", "1", "[]\n"),
    ("..|numbers", "[1,[\"a\",2]]", "1\n2\n"),
    ("combinations", "[[1,2],[3,4]]", "[1,3]\n[1,4]\n[2,3]\n[2,4]\n"),
    ("[combinations(2)]", "[0,1]", "[[0,0],[0,1],[1,0],[1,1]]\n"),
    ("getpath([\"a\"])?", "1", ""),
    ("IN(1,2)", "2", "true\n"),
    ("INDEX(.a)", "[{\"a\":1}]", "{\"1\":{\"a\":1}}\n"),
    ("bsearch(2)", "[1,3]", "-2\n"),
    ("limit(3;range(10))", "1", "0\n1\n2\n"),
];

/// Program, input, status, and the first line of the complaint.
#[rustfmt::skip]
const REFUSED: &[(&str, &str, i32, &str)] = &[
    ("5 % 0", "1", 5, "jq: error (at <stdin>:0): number (5) and number (0) cannot be divided (remainder) because the divisor is zero"),
    ("true | length", "1", 5, "jq: error (at <stdin>:0): boolean (true) has no length"),
    ("keys", "1", 5, "jq: error (at <stdin>:0): number (1) has no keys"),
    ("has(0)", "{}", 5, "jq: error (at <stdin>:0): Cannot check whether object has a number key"),
    ("add", "[1,null,\"a\"]", 5, "jq: error (at <stdin>:0): number (1) and string (\"a\") cannot be added"),
    ("flatten(-1)", "[1]", 5, "jq: error (at <stdin>:0): flatten depth must not be negative"),
    ("tonumber", "\"abc\"", 5, "jq: error (at <stdin>:0): Invalid numeric literal at EOF at line 1, column 3 (while parsing 'abc')"),
    ("tonumber", "[]", 5, "jq: error (at <stdin>:0): array ([]) cannot be parsed as a number"),
    ("join(\",\")", "[[1]]", 5, "jq: error (at <stdin>:0): string (\"\") and array ([1]) cannot be added"),
    ("startswith(1)", "\"a\"", 5, "jq: error (at <stdin>:0): startswith() requires string inputs"),
    ("@base64d", "\"!\"", 5, "jq: error (at <stdin>:0): string (\"!\") is not valid base64 data"),
    ("@csv", "[[]]", 5, "jq: error (at <stdin>:0): array ([]) is not valid in a csv row"),
    ("getpath([\"a\",\"b\"])", "{\"a\":1}", 5, "jq: error (at <stdin>:0): Cannot index number with string \"b\""),
    ("setpath([\"a\"];1)", "[1]", 5, "jq: error (at <stdin>:0): Cannot index array with string \"a\""),
    ("to_entries", "1", 5, "jq: error (at <stdin>:0): number (1) has no keys"),
    ("error", "\"msg\"", 5, "jq: error (at <stdin>:0): msg"),
    (".a.b.c", "{\"a\":1}", 5, "jq: error (at <stdin>:0): Cannot index number with string \"b\""),
    (".[0]", "{}", 5, "jq: error (at <stdin>:0): Cannot index object with number"),
    (".[\"a\"]", "[]", 5, "jq: error (at <stdin>:0): Cannot index array with string \"a\""),
    (".[]", "1", 5, "jq: error (at <stdin>:0): Cannot iterate over number (1)"),
    ("{} - 1", "1", 5, "jq: error (at <stdin>:0): object ({}) and number (1) cannot be subtracted"),
    ("[] + {}", "1", 5, "jq: error (at <stdin>:0): array ([]) and object ({}) cannot be added"),
    ("\"a\" - \"b\"", "1", 5, "jq: error (at <stdin>:0): string (\"a\") and string (\"b\") cannot be subtracted"),
    ("contains(1)", "\"a\"", 5, "jq: error (at <stdin>:0): string (\"a\") and number (1) cannot have their containment checked"),
    ("splits(1)", "\"a\"", 5, "jq: error (at <stdin>:0): number (1) is not a string"),
    ("strptime(\"%d\")", "\"x\"", 5, "jq: error (at <stdin>:0): date \"x\" does not match format \"%d\""),
    ("fromdate", "\"nope\"", 5, "jq: error (at <stdin>:0): date \"nope\" does not match format \"%Y-%m-%dT%H:%M:%SZ\""),
    ("fromjson", "\"{\"", 5, "jq: error (at <stdin>:0): Unfinished JSON term at EOF at line 1, column 1 (while parsing '{')"),
    ("getpath(1)", "1", 5, "jq: error (at <stdin>:0): Path must be specified as an array"),
    ("halt_error", "\"bye\\n\"", 5, "bye"),
    ("@sh", "[{}]", 5, "jq: error (at <stdin>:0): object ({}) can not be escaped for shell"),
    ("error({})", "1", 5, "jq: error (at <stdin>:0) (not a string): {}"),
    ("limit(1;error)", "\"x\"", 5, "jq: error (at <stdin>:0): x"),
    ("error(error)", "\"q\"", 5, "jq: error (at <stdin>:0): q"),
    ("ascii_downcase", "1", 5, "jq: error (at <stdin>:0): explode input must be a string"),
    ("min_by(1)", "1", 5, "jq: error (at <stdin>:0): Cannot iterate over number (1)"),
    ("has(\"a\")", "1", 5, "jq: error (at <stdin>:0): Cannot check whether number has a string key"),
    ("join(\",\")", "1", 5, "jq: error (at <stdin>:0): Cannot iterate over number (1)"),
    ("@foo", "1", 5, "jq: error (at <stdin>:0): foo is not a valid format"),
    ("getpath([\"x\"])", "\"a\"", 5, "jq: error (at <stdin>:0): Cannot index string with string \"x\""),
    ("ascii(1)", "1", 3, "jq: error: ascii/1 is not defined at <top-level>, line 1:"),
    ("foo", "1", 3, "jq: error: foo/0 is not defined at <top-level>, line 1:"),
    (". as $x | $y", "1", 3, "jq: error: $y is not defined at <top-level>, line 1:"),
    ("def f(x): x; f", "1", 3, "jq: error: f/0 is not defined at <top-level>, line 1:"),
    ("to_number?", "1", 3, "jq: error: to_number/0 is not defined at <top-level>, line 1:"),
    ("isvalid(.a)", "1", 3, "jq: error: isvalid/1 is not defined at <top-level>, line 1:"),
    ("GROUP", "1", 3, "jq: error: GROUP/0 is not defined at <top-level>, line 1:"),
    ("splits", "1", 3, "jq: error: splits/0 is not defined at <top-level>, line 1:"),
];

fn run(program: &str, input: &str) -> std::io::Result<(String, i32, String)> {
    let mut jq = Command::new(env!("CARGO_BIN_EXE_jq"));
    jq.args(["-c", program]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = jq.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that cannot be compiled reads nothing.
        let _ = stdin.write_all(input.as_bytes());
    }
    let done = child.wait_with_output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let complaint = text(&done.stderr).lines().next().unwrap_or_default().to_owned();
    Ok((text(&done.stdout), done.status.code().unwrap_or(-1), complaint))
}

#[test]
fn functions_answer_at_their_edges() -> std::io::Result<()> {
    for (program, input, out) in CASES {
        let (got, status, complaint) = run(program, input)?;
        assert_eq!((got.as_str(), status), (*out, 0), "{program} < {input}: {complaint}");
    }
    Ok(())
}

#[test]
fn errors_have_jqs_texts() -> std::io::Result<()> {
    for (program, input, status, complaint) in REFUSED {
        let (_, code, got) = run(program, input)?;
        assert_eq!((code, got.as_str()), (*status, *complaint), "{program} < {input}");
    }
    Ok(())
}

#[test]
fn modulemeta_tells_what_a_module_says_of_itself() -> std::io::Result<()> {
    let folder = std::env::temp_dir().join(format!("jq-modulemeta-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let module = "module {\"version\": 2};\nimport \"b\" as $data {search: \"./\"};\ninclude \"c\";\ndef f: 1; def g(x): x;";
    std::fs::write(folder.join("m.jq"), module)?;
    let mut jq = Command::new(env!("CARGO_BIN_EXE_jq"));
    let done = jq.arg("-L").arg(&folder).args(["-nSc", "\"m\" | modulemeta"]).output()?;
    std::fs::remove_dir_all(&folder)?;
    let want = r#"{"defs":["f/0","g/1"],"deps":[{"as":"data","is_data":true,"relpath":"b","search":"./"},{"is_data":false,"relpath":"c"}],"version":2}"#;
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim_end(), want);
    Ok(())
}
