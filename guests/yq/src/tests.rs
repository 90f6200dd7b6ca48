//! Documents from one format to another, and texts nobody meant as documents.

use crate::format::{Format, Layout};
use proptest::prelude::*;

fn convert(from: Format, to: Format, text: &str) -> Result<String, String> {
    let layout = Layout { indent: if to == Format::Json { 0 } else { 2 }, sort_keys: false, raw: None };
    let mut out = Vec::new();
    for document in from.read(text)? {
        to.write(&mut out, &document, &layout)?;
        out.push(b'\n');
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[test]
fn documents_change_their_format() {
    use Format::{Csv, Json, Props, Toml, Xml, Yaml};
    let cases = [
        (Yaml, Json, "b: 1\na: [x, true, ~, 1.50, '2']\n", "{\"b\":1,\"a\":[\"x\",true,null,1.50,\"2\"]}\n"),
        (Yaml, Json, "x: &a {k: 1}\ny:\n  <<: *a\n  z: 2\n", "{\"x\":{\"k\":1},\"y\":{\"k\":1,\"z\":2}}\n"),
        (Yaml, Json, "---\n1\n---\n2\n", "1\n2\n"),
        (
            Yaml,
            Json,
            "t: |\n  a\n  b\nzip: 007\non: yes\n",
            "{\"t\":\"a\\nb\\n\",\"zip\":\"007\",\"on\":\"yes\"}\n",
        ),
        (
            Json,
            Yaml,
            r#"{"a":{"b":[1,{"c":"d","e":[]}]},"f":""}"#,
            "a:\n  b:\n    - 1\n    - c: d\n      e: []\nf: \"\"\n",
        ),
        (
            Json,
            Yaml,
            r#"["true","1","a: b","- x","x\ny","it's",null]"#,
            "- \"true\"\n- \"1\"\n- 'a: b'\n- '- x'\n- |-\n  x\n  y\n- it's\n- null\n",
        ),
        (
            Toml,
            Json,
            "a = 1\n[b]\nc = 'd'\n[[e]]\nf = 1.5\n",
            "{\"a\":1,\"b\":{\"c\":\"d\"},\"e\":[{\"f\":1.5}]}\n",
        ),
        (
            Json,
            Toml,
            r#"{"a":1,"b":{"c":"d","e":{"f":[1,2]}},"g":[{"h":true}]}"#,
            "a = 1\n\n[b]\nc = \"d\"\n\n[b.e]\nf = [1, 2]\n\n[[g]]\nh = true\n",
        ),
        (
            Xml,
            Json,
            "<a x=\"1\"><b>t</b><b>u</b><c/></a>",
            "{\"a\":{\"+@x\":\"1\",\"b\":[\"t\",\"u\"],\"c\":null}}\n",
        ),
        (Json, Xml, r#"{"a":{"+@x":"1","b":["t","<"]}}"#, "<a x=\"1\">\n  <b>t</b>\n  <b>&lt;</b>\n</a>\n"),
        (Csv, Json, "n,v\na,1\n\"b,c\",\n", "[{\"n\":\"a\",\"v\":1},{\"n\":\"b,c\",\"v\":\"\"}]\n"),
        (Json, Csv, r#"[{"a":1,"b":"x,y"},{"a":2}]"#, "a,b\n1,\"x,y\"\n2,\n"),
        (Props, Json, "a.b = 1\n# c\na.c: x\n", "{\"a\":{\"b\":1,\"c\":\"x\"}}\n"),
        (Json, Props, r#"{"a":{"b":[1,"x"]}}"#, "a.b.0 = 1\na.b.1 = x\n"),
    ];
    for (from, to, text, want) in cases {
        assert_eq!(convert(from, to, text).as_deref(), Ok(want), "{text}");
    }
}

#[test]
fn bombs_and_towers_are_refused() {
    let tower = "[".repeat(5000);
    assert!(convert(Format::Yaml, Format::Json, &tower).is_err());
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{},", level - 1).repeat(10);
        bomb += &format!("a{level}: &a{level} [{below}]\n");
    }
    assert!(convert(Format::Yaml, Format::Json, &bomb).is_err());
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(text in "[-a-c0-2:,&*!|>{}\\[\\]'\"#%=.<>/ \t\n]{0,60}") {
        for format in [Format::Yaml, Format::Json, Format::Toml, Format::Xml, Format::Csv, Format::Props] {
            let _ = format.read(&text);
        }
    }

    #[test]
    fn yaml_reads_what_it_writes(text in "[ -~\n\t]{0,40}", more in "[a-z:#' -]{1,10}") {
        let value = jq::read::parse_one(format!("{{\"k\":{}}}", serde(&text)).into_bytes());
        let Ok(value) = value else { return Ok(()) };
        let layout = Layout { indent: 2, sort_keys: false, raw: None };
        let array: jq::value::Value = [value, jq::value::Value::from(more)].into_iter().collect();
        let mut out = Vec::new();
        let written = Format::Yaml.write(&mut out, &array, &layout);
        prop_assert!(written.is_ok());
        let out = String::from_utf8_lossy(&out).into_owned() + "\n";
        prop_assert_eq!(Format::Yaml.read(&out).ok(), Some(vec![array]), "{}", out);
    }
}

fn serde(text: &str) -> String {
    jq::write::compact(&jq::value::Value::from(text.to_owned()))
}
