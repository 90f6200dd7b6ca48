//! Values into text, to the byte as jq prints them.

use super::*;
use crate::read::parse_one;

fn printed(text: &str, options: &Output) -> String {
    let value = parse_one(text.to_owned().into()).unwrap_or(Value::Null);
    let mut out = Vec::new();
    write(&mut out, &value, options);
    String::from_utf8_lossy(&out).into_owned()
}

#[test]
fn values_are_laid_out_as_jq_does() {
    let pretty = Output::default();
    let compact = Output { indent: Indent::Compact, ..Output::default() };
    let sorted = Output { indent: Indent::Compact, sort_keys: true, ..Output::default() };
    let tab = Output { indent: Indent::Tab, ..Output::default() };
    let cases = [
        (r#"{"b":[1,{}],"a":[]}"#, &pretty, "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": []\n}\n"),
        (r#"{"b":[1,{}],"a":[]}"#, &compact, "{\"b\":[1,{}],\"a\":[]}\n"),
        (r#"{"b":{"d":1,"c":2},"a":3}"#, &sorted, "{\"a\":3,\"b\":{\"c\":2,\"d\":1}}\n"),
        (r#"[[1]]"#, &tab, "[\n\t[\n\t\t1\n\t]\n]\n"),
        (r#""a\u0007\"\\\n\u00e9\u007f""#, &compact, "\"a\\u0007\\\"\\\\\\né\\u007f\"\n"),
        ("nan", &compact, "null\n"),
        ("1e1000", &compact, "1E+1000\n"),
        ("[0,-1,1.50,100000000000000000000]", &compact, "[0,-1,1.50,100000000000000000000]\n"),
    ];
    for (text, options, want) in cases {
        assert_eq!(printed(text, options), want, "{text}");
    }
}

#[test]
fn raw_and_ascii_change_strings_only() {
    let raw = Output { raw: true, end: End::Nothing, ..Output::default() };
    assert_eq!(printed(r#""a\nb""#, &raw), "a\nb");
    assert_eq!(printed("1", &raw), "1");
    let ascii = Output { ascii: true, ..Output::default() };
    assert_eq!(printed(r#""é🦀""#, &ascii), "\"\\u00e9\\ud83e\\udd80\"\n");
}
