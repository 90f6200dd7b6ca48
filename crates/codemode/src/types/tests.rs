//! Proofs for declarations: every keyword, and schemas that mean no good.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn tool(name: &str, description: Option<&str>, input: Option<Value>, output: Option<Value>) -> Declared {
    Declared {
        name: name.into(),
        description: description.map(Arc::from),
        input: input.map(Arc::new),
        output: output.map(Arc::new),
    }
}

/// The type of one schema, and the named types it needs.
fn typed(schema: Value) -> String {
    let text = namespace("n", &[tool("f", None, None, Some(schema))]);
    let body = text.strip_prefix("declare namespace n {\n").unwrap().strip_suffix("\n}").unwrap();
    let body = body.replace("  function f(input?: unknown): Promise<", "").replace("\n\n", "\n");
    body.strip_suffix(">;").unwrap().to_owned()
}

#[test]
fn every_keyword_has_its_type() {
    for (schema, want) in [
        (json!({"type": "string"}), "string"),
        (json!({"type": "integer"}), "number"),
        (json!({"type": "null"}), "null"),
        (json!({}), "unknown"),
        (json!(true), "unknown"),
        (json!(false), "never"),
        (json!({"type": "array"}), "unknown[]"),
        (json!({"type": "array", "items": {"type": "string"}}), "string[]"),
        (json!({"type": "array", "items": {"type": ["string", "null"]}}), "Array<string | null>"),
        (json!({"type": "object"}), "Record<string, unknown>"),
        (json!({"type": "object", "additionalProperties": false}), "Record<string, never>"),
        (json!({"type": "object", "additionalProperties": {"type": "number"}}), "{ [key: string]: number }"),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b-c": {}}, "required": ["a"]}),
            r#"{ a: string; "b-c"?: unknown }"#,
        ),
        (
            json!({"properties": {"a": {"type": "string"}}, "additionalProperties": true}),
            "{ a?: string; [key: string]: unknown }",
        ),
        (json!({"type": ["string", "integer", "number"]}), "string | number"),
        (json!({"type": "string", "nullable": true}), "string | null"),
        (json!({"const": "a\"b"}), r#""a\"b""#),
        (json!({"enum": ["a", 1, null, true, "a"]}), r#""a" | 1 | null | true"#),
        (json!({"type": "string", "enum": ["x", "y"]}), r#""x" | "y""#),
        (json!({"enum": []}), "never"),
        (json!({"const": {"a": [1]}}), "{ a: [1] }"),
        (json!({"anyOf": [{"type": "string"}, {"type": "number"}]}), "string | number"),
        (json!({"oneOf": [{"type": "string"}, {}]}), "unknown"),
        (
            json!({"allOf": [{"properties": {"a": {"const": 1}}}, {"anyOf": [{"type": "string"}, {"type": "null"}]}]}),
            "{ a?: 1 } & (string | null)",
        ),
        (
            json!({"type": "object", "properties": {"a": {"const": 1}}, "oneOf": [{"required": ["a"]}]}),
            "{ a?: 1 } & unknown",
        ),
        (
            json!({"type": "array", "items": [{"type": "string"}, {"type": "number"}], "minItems": 1, "additionalItems": false}),
            "[string, number?]",
        ),
        (
            json!({"type": "array", "prefixItems": [{"enum": [1, 2]}], "items": {"type": "string"}, "minItems": 1}),
            "[(1 | 2), ...string[]]",
        ),
        (json!({"items": {"type": "boolean"}}), "boolean[]"),
        (json!({"$ref": "https://example.com/x"}), "unknown"),
        (json!({"$ref": "#/nowhere"}), "unknown"),
        (json!({"type": "weird"}), "unknown"),
        (json!({"type": []}), "never"),
        (json!(7), "unknown"),
    ] {
        let want = want.replace(" & unknown", "");
        assert_eq!(typed(schema.clone()), want, "{schema}");
    }
}

#[test]
fn references_become_named_types_also_to_themselves() {
    let schema = json!({
        "$defs": {
            "tree-node": {
                "type": "object",
                "properties": {"value": {"type": "number"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree-node"}}},
                "required": ["value"],
            },
        },
        "type": "array", "items": {"$ref": "#/$defs/tree-node"},
    });
    insta::assert_snapshot!(typed(schema), @r"
      type FOutputTreeNode = { kids?: FOutputTreeNode[]; value: number };
    FOutputTreeNode[]
    ");
    let whole = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    insta::assert_snapshot!(typed(whole), @r"
      type FOutput = { next?: FOutput };
    { next?: FOutput }
    ");
    let escaped = json!({"definitions": {"a/b%c": {"type": "string"}}, "$ref": "#/definitions/a~1b%25c"});
    insta::assert_snapshot!(typed(escaped), @r"
      type FOutputABC = string;
    FOutputABC
    ");
}

#[test]
fn references_that_mean_nothing_are_unknown() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
    ] {
        assert_eq!(typed(schema.clone()), "unknown", "{schema}");
    }
    let bare =
        json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}, "$ref": "#/$defs/a"});
    insta::assert_snapshot!(typed(bare), @r"
      type FOutputA = unknown;
    FOutputA
    ");
}

#[test]
fn no_description_and_no_name_breaks_out() {
    let text = namespace(
        "tools",
        &[
            tool(
                "one",
                Some("Ends */ declare const evil: 1; /* here\r\nand\u{2028}there\u{7}\n\n*"),
                Some(json!({
                    "type": "object",
                    "properties": {
                        "a*/b": {"const": "*/ x", "description": "*/ also */"},
                        "\u{2028}": {"const": "\u{2029}"},
                    },
                })),
                None,
            ),
            tool("two", Some("  "), None, Some(json!({"type": "string"}))),
        ],
    );
    insta::assert_snapshot!(text, @r#"
    declare namespace tools {
      /**
       * Ends *\/ declare const evil: 1; /* here
       * and there
       *
       * *
       */
      function one(input: {
        /** *\/ also *\/ */
        "a*\/b"?: "*\/ x";
        "\u2028"?: "\u2029";
      }): Promise<unknown>;

      function two(input?: unknown): Promise<string>;
    }
    "#);
}

#[test]
fn an_empty_namespace_is_empty() {
    assert_eq!(namespace("n", &[]), "declare namespace n {}");
}

#[test]
fn names_of_types_do_not_collide() {
    let schema = |kind: &str| {
        json!({"$defs": {"x": {"type": kind}, "X": {"type": "null"}}, "type": "array",
        "prefixItems": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/X"}]})
    };
    let text = namespace("n", &[tool("a", None, Some(schema("string")), Some(schema("number")))]);
    for line in ["type AInputX = string;", "type AInputX__2 = null;", "type AOutputX = number;"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn a_schema_of_any_size_ends() {
    let deep = (0..2_000)
        .fold(json!({}), |inner, _| Value::Object([("items".to_owned(), inner)].into_iter().collect()));
    let text = namespace("n", &[tool("f", None, None, Some(deep))]);
    assert!(text.len() < 10_000);
    let wide: serde_json::Map<String, Value> =
        (0..50_000).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
    let text = namespace("n", &[tool("f", None, None, Some(json!({"properties": wide})))]);
    assert!(text.contains("p9") && text.len() < 4 << 20, "{}", text.len());
    let fan = json!({"$defs": (0..40).map(|n| (format!("d{n}"), json!({"anyOf": [
        {"items": {"$ref": format!("#/$defs/d{}", n + 1)}}, {"properties": {"x": {"$ref": format!("#/$defs/d{}", n + 1)}}}]})))
        .collect::<serde_json::Map<_, _>>(), "$ref": "#/$defs/d0"});
    assert!(typed(fan).len() < 100_000);
}

fn schemas() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("string"),
        Just("object"),
        Just("array"),
        Just("#"),
        Just("#/$defs/a"),
        Just("#/properties/a"),
        Just("*/"),
        Just("a b"),
        Just("number"),
        Just("\u{2028}"),
    ];
    let leaf = prop_oneof![
        word.clone().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        (0..5_i64).prop_map(Value::from),
        Just(Value::Null),
    ];
    let keyword = prop_oneof![
        Just("type"),
        Just("items"),
        Just("prefixItems"),
        Just("properties"),
        Just("required"),
        Just("anyOf"),
        Just("oneOf"),
        Just("allOf"),
        Just("enum"),
        Just("const"),
        Just("$ref"),
        Just("$defs"),
        Just("a"),
        Just("additionalProperties"),
        Just("description"),
        Just("nullable"),
        Just("minItems"),
        Just("maxItems"),
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((keyword.clone(), inner), 0..5).prop_map(|list| Value::Object(
                list.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_has_a_type_whose_brackets_match(schema in schemas()) {
        let text = namespace("n", &[tool("f", None, Some(schema.clone()), Some(schema))]);
        balanced(&text).map_err(|why| TestCaseError::fail(format!("{why}: {text}")))?;
    }
}

/// Whether brackets match outside of strings and comments, and every comment ends.
fn balanced(text: &str) -> Result<(), &'static str> {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("/*") {
            let end = rest.find("*/").ok_or("a comment without end")?;
            rest = &rest[end + 2..];
            continue;
        }
        rest = &rest[first.len_utf8()..];
        match first {
            '"' => loop {
                let next = rest.chars().next().ok_or("a string without end")?;
                rest = &rest[next.len_utf8()..];
                match next {
                    '"' => break,
                    '\\' => rest = &rest[1..],
                    _ => {}
                }
            },
            '{' | '[' | '(' | '<' => open.push(first),
            '}' | ']' | ')' | '>' => {
                let pair = matches!(
                    (open.pop(), first),
                    (Some('{'), '}') | (Some('['), ']') | (Some('('), ')') | (Some('<'), '>')
                );
                if !pair {
                    return Err("brackets that do not match");
                }
            }
            _ => {}
        }
    }
    if open.is_empty() { Ok(()) } else { Err("an open bracket") }
}
