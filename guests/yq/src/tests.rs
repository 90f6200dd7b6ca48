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

/// What a program makes of a text in place; `None` where edits cannot say it.
fn edited(text: &str, program: &str) -> Option<String> {
    let before = Format::Yaml.read(text).unwrap_or_default();
    let options = crate::options::parse("yq", &[program.to_owned()]).ok()?;
    let mut after = Vec::new();
    let queue = crate::evaluate::Queue::of(before.clone());
    crate::evaluate::results(&options, queue, |value, _| {
        after.push(value);
        Ok(())
    })
    .ok()?;
    crate::format::edit::edited(text, &before, &after)
}

#[test]
fn an_edit_leaves_the_rest_as_it_is() {
    let values = "# top\nname: 'a' # why\n\nlist:\n  - one # first\n  - two\nmap: &m\n  x: 1\n  y: \"2\"   # two\nuse: *m\nempty:\nflow: [1, 2]\n";
    let cases = [
        (values, ".", values.to_owned()),
        (values, ".name = \"b\"", values.replace("'a'", "b")),
        (values, ".name = \"x: y\"", values.replace("'a'", "'x: y'")),
        (values, ".name = \"x\\ny\"", values.replace("'a'", "\"x\\ny\"")),
        (values, ".list[1] = 3", values.replace("- two\n", "- 3\n")),
        (values, ".list += [\"three\"]", values.replace("- two\n", "- two\n  - three\n")),
        (values, "del(.list[0])", values.replace("  - one # first\n", "")),
        (values, "del(.empty)", values.replace("empty:\n", "")),
        (values, ".flow[0] = 9", values.replace("[1, 2]", "[9,2]")),
        (values, ".new = {\"k\": \"v\"}", format!("{values}new:\n  k: v\n")),
        (values, "del(.name) | .flow = []", values.replace("name: 'a' # why\n", "").replace("[1, 2]", "[]")),
        ("a: 1 # x\n---\n# y\nb: 2\n", ".b = 3", "a: 1 # x\nb: 3\n---\n# y\nb: 3\n".to_owned()),
        ("- a: 1 # x\n  b: 2\n- c\n", ".[0].b = 3", "- a: 1 # x\n  b: 3\n- c\n".to_owned()),
        ("- a: 1 # x\n", ".[0].b = 3 | . += [4]", "- a: 1 # x\n  b: 3\n- 4\n".to_owned()),
        ("a: é # ü\nb: ö\n", ".b = 1", "a: é # ü\nb: 1\n".to_owned()),
        ("t: |\n  x\n  y\n# c\nz: 1\n", ".z = 2", "t: |\n  x\n  y\n# c\nz: 2\n".to_owned()),
        ("a: 1", ".b = 2", "a: 1\nb: 2".to_owned()),
    ];
    for (text, program, want) in cases {
        assert_eq!(edited(text, program), Some(want), "{program}\n{text}");
    }
    assert_eq!(
        edited("t: |\n  x\n  y\n# c\nz: 1\n", ".t = \"q\""),
        None,
        "a block's text and what follows it"
    );
    // What edits cannot say: the value of an alias alone, a value where nothing stands, another order,
    // another number of documents.
    for program in [
        ".empty = true",
        ".use.x = 5",
        ".map.x = 5",
        "to_entries",
        "to_entries | reverse | from_entries",
        ".name, .list",
        ".list",
    ] {
        assert_eq!(edited(values, program), None, "{program}");
    }
}

#[test]
fn what_is_no_part_of_the_values_is_named() {
    let cases: [(&str, &[&str]); 6] = [
        ("a: 1\n", &[]),
        ("a: 'x # y'\nb: x#y\nc: |\n  # text\n", &[]),
        ("a: 1 # y\n", &["comments"]),
        ("# y\n", &["comments"]),
        ("a: &x 1\nb: *x\n", &["anchors"]),
        ("# c\na: !t 1\n", &["comments", "tags"]),
    ];
    for (text, want) in cases {
        assert_eq!(crate::format::yaml::particulars(text), want, "{text}");
    }
}

proptest! {
    #[test]
    fn no_edit_panics_or_changes_what_is_meant(
        text in "([a-c]: ([0-9]|'x'|\\[1, 2\\]|&m y)?( # z)?\n|  - [a-c]\n|- \n|[a-c]:\n|---\n|#é\n){0,12}",
        program in prop::sample::select(vec![
            ".a = 1", ".b = [1,{\"c\":2}]", "del(.a)", ".c += [1]", ".a = {\"q\":\"x\\ny\"}", "del(.[0])",
        ]),
    ) {
        if let Some(new) = edited(&text, program) {
            prop_assert!(Format::Yaml.read(&new).is_ok(), "{}", new);
        }
    }
}
