//! Proofs for providers: names, schemas, order of checks, limits, failures.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use drydock_contract::{FailureCode, ToolRequest, Tools};
use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::VirtualTime;

fn echo(name: &str) -> Tool {
    Tool::new(name, |input, _| async move { Ok(input) })
}

fn providers(tools: Vec<Tool>) -> Providers {
    Providers::new([Provider::new("tools", tools).unwrap()]).unwrap()
}

fn call(providers: &Providers, tool: &str, input: &str) -> Result<String, String> {
    let request = ToolRequest {
        provider: "tools".into(),
        tool: tool.into(),
        input: (!input.is_empty()).then(|| Bytes::copy_from_slice(input.as_bytes())),
        span: 0,
        depth: 0,
    };
    let answer = VirtualTime::default().run(providers.call(request));
    answer
        .map(|it| String::from_utf8(it.to_vec()).unwrap())
        .map_err(|it| format!("{}: {}", it.code, it.message))
}

#[test]
fn tool_names_are_made_safe_and_de_collided() {
    let names = |list: &[&str]| safe_names(list.iter().copied()).join(" ");
    for (list, want) in [
        (&["search-docs", "search_docs"][..], "search_docs search_docs__2"),
        (&["default"], "default_"),
        (&["1tool"], "_1tool"),
        (&["__proto__"], "proto"),
        (&["café"], "caf"),
        (&["日本"], "_"),
        (&["日本", "本日"], "_ ___2"),
        (&["  a  b--c  "], "a_b_c"),
        (&["$x", "a$"], "$x a$"),
        (&["", "   "], "_ ___2"),
        (&["a", "a__2", "a", "a"], "a a__2 a__3 a__4"),
        (&["a_-_b"], "a___b"),
        (&["constructor", "toString"], "constructor toString"),
        (&["`; drop", "*/ evil"], "drop evil"),
    ] {
        assert_eq!(names(list), want, "{list:?}");
    }
}

#[test]
fn reserved_hidden_and_odd_namespaces_are_refused_with_the_reason() {
    for name in [
        "",
        "1a",
        "a-b",
        "a b",
        "é",
        "await",
        "let",
        "JSON",
        "Object",
        "console",
        "globalThis",
        "__proto__",
        "undefined",
        "eval",
        "args",
        "constructor",
        "Promise",
        "a\n",
    ] {
        let error = Provider::new(name, vec![]).unwrap_err().to_string();
        assert!(error.starts_with("Invalid provider namespace: "), "{name:?} {error}");
    }
    for name in ["codemode", "mcp", "_", "$", "tools2", "json", "proto", "files", "commands"] {
        assert!(Provider::new(name, vec![]).is_ok(), "{name}");
    }
    let error = check_namespace("JSON").unwrap_err().to_string();
    assert_eq!(error, "Invalid provider namespace: JSON (it would hide what JavaScript has under this name)");
}

#[test]
fn two_providers_of_one_name_are_refused() {
    let twice = || Provider::new("tools", vec![]).unwrap();
    let error = Providers::new([twice(), twice()]).unwrap_err();
    assert_eq!(error.to_string(), "Duplicate provider namespace: tools");
}

#[test]
fn a_tool_is_found_by_its_own_safe_name_only() {
    let all = providers(vec![echo("get-it")]);
    assert_eq!(call(&all, "get_it", "1"), Ok("1".into()));
    for name in ["get-it", "constructor", "__proto__", "toString", "hasOwnProperty", ""] {
        assert_eq!(call(&all, name, "1"), Err(format!("internal_error: Unknown tool tools.{name}")));
    }
}

#[test]
fn an_input_is_checked_before_the_tool_runs() {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let tool = Tool::new("add-up", move |input, _| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { Ok(input) }
    });
    let schema = json!({
        "type": "object",
        "properties": {"x": {"type": "number"}, "y": {"type": ["number", "null"]}, "mode": {"enum": ["a", "b"]}},
        "required": ["x", "y"],
        "additionalProperties": false,
    });
    let all = providers(vec![tool.input(schema)]);
    assert_eq!(call(&all, "add_up", r#"{"x":1,"y":null}"#), Ok(r#"{"x":1,"y":null}"#.into()));
    for (input, want) in [
        (r#"{"x":"1","y":2}"#, "data/x must be number"),
        (r#"{"x":1}"#, "data must have required property 'y'"),
        (r#"{"x":1,"y":"2"}"#, "data/y must be"),
        (r#"{"x":1,"y":1,"z":1}"#, "data must not have additional properties ('z')"),
        (r#"{"x":1,"y":1,"mode":"c"}"#, "data/mode must be one of [\"a\",\"b\"]"),
        ("[]", "data must be object"),
        ("", "data must be object"),
    ] {
        let error = call(&all, "add_up", input).unwrap_err();
        assert!(error.starts_with("validation_error: Invalid input for tool add-up: "), "{error}");
        assert!(error.contains(want), "{input}: {error}");
    }
    assert_eq!(ran.load(Ordering::SeqCst), 1, "only for what was right");
}

#[test]
fn a_result_is_checked_after_the_tool_ran() {
    let all = providers(vec![
        echo("t")
            .output(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})),
    ]);
    assert_eq!(call(&all, "t", r#"{"n":1}"#), Ok(r#"{"n":1}"#.into()));
    let error = call(&all, "t", r#"{"n":1.5}"#).unwrap_err();
    assert_eq!(error, "validation_error: Invalid output for tool t: data/n must be integer");
}

#[test]
fn both_drafts_are_understood() {
    let seven =
        json!({"type": "array", "items": [{"type": "string"}, {"type": "number"}], "additionalItems": false});
    let twenty = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"s": {"type": "string"}},
        "type": "array", "prefixItems": [{"$ref": "#/$defs/s"}, {"type": "number"}], "items": false,
    });
    for schema in [seven, twenty] {
        let all = providers(vec![echo("t").input(schema.clone())]);
        assert!(call(&all, "t", r#"["a",1]"#).is_ok(), "{schema}");
        for bad in [r#"[1,"a"]"#, r#"["a",1,2]"#, "{}"] {
            assert!(call(&all, "t", bad).is_err(), "{schema} {bad}");
        }
    }
}

#[test]
fn a_schema_that_cannot_be_used_is_refused_when_the_provider_is_made() {
    for (schema, want) in [
        (json!("string"), "it is neither an object nor a boolean"),
        (json!({"type": "nonsense"}), ""),
        (json!({"$schema": "https://example.com/mine"}), "is none that is known"),
        (json!({"$schema": 7}), "its `$schema` is no string"),
        (json!({"$ref": "https://example.com/other.json"}), ""),
        (json!({"pattern": "("}), ""),
        (json!({"required": "x"}), ""),
    ] {
        let error = Provider::new("tools", vec![echo("my-tool").input(schema.clone())]).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("Unsupported input schema for tool my-tool: "), "{schema}: {error}");
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn formats_are_not_checked_and_a_hostile_pattern_cannot_hang() {
    let all = providers(vec![
        echo("f").input(json!({"type": "string", "format": "email"})),
        echo("p").input(json!({"type": "string", "pattern": "^(?=(a+)+$)(a|aa)+$"})),
    ]);
    assert!(call(&all, "f", "\"not an address\"").is_ok());
    let hostile = format!("\"{}!\"", "a".repeat(200));
    assert!(call(&all, "p", &hostile).is_err());
}

#[test]
fn failures_keep_what_they_say_and_nothing_more() {
    let all = providers(vec![
        Tool::new("message", |_, _| async { Err("no such file".into()) }),
        Tool::new("silent", |_, _| async { Err(ToolError::Silent) }),
        Tool::new("coded", |_, _| async { Err(ToolError::with_code(FailureCode::Timeout, "upstream")) }),
        Tool::new("io", |_, _| async { Err(std::io::Error::other("disk"))? }),
        Tool::new("panics", |_, _| async { panic!("secret") }),
        Tool::new("panics-early", |_, _| -> std::future::Ready<Result<Value, ToolError>> {
            panic!("secret")
        }),
    ]);
    for (tool, want) in [
        ("message", "tool_error: no such file"),
        ("silent", "tool_error: Tool silent failed"),
        ("coded", "timeout: upstream"),
        ("io", "tool_error: disk"),
        ("panics", "tool_error: Tool panics failed"),
        ("panics_early", "tool_error: Tool panics-early failed"),
    ] {
        assert_eq!(call(&all, tool, "1"), Err(want.into()));
    }
}

#[test]
fn results_are_json_and_neither_too_deep_nor_too_large() {
    let nested = |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let tools = vec![
        Tool::raw("broken", |_, _| async { Ok(Bytes::from_static(b"{NaN}")) }),
        Tool::raw("bytes", |_, _| async { Ok(Bytes::from_static(b"\"\xff\"")) }),
        Tool::new("deep", move |_, _| async move { Ok(nested(100_000)) }),
        Tool::raw("deep-text", |_, _| async { Ok([vec![b'['; 5_000], vec![b']'; 5_000]].concat().into()) }),
        Tool::new("large", |_, _| async { Ok(Value::from("x".repeat(2_000))) }),
        Tool::raw("surrogate", |_, _| async { Ok(Bytes::from_static(br#""\ud800""#)) }),
        Tool::raw("proto", |_, _| async { Ok(Bytes::from_static(br#"{"__proto__":{"a":1}}"#)) }),
    ];
    let limits = ProviderLimits { result_bytes_max: 1_000, result_depth_max: 1_000 };
    let limits_for_depth = ProviderLimits { result_bytes_max: 1 << 20, ..limits };
    let all =
        Providers::new([Provider::new("tools", tools.clone()).unwrap().within(limits_for_depth)]).unwrap();
    for (tool, want) in [
        ("broken", "serialization_error: Tool broken returned a non-serializable value"),
        ("bytes", "serialization_error: Tool bytes returned a non-serializable value"),
        (
            "deep",
            "serialization_error: Tool deep returned a value nested 100000 levels deep; the limit is 1000",
        ),
        (
            "deep_text",
            "serialization_error: Tool deep-text returned a value nested 5000 levels deep; the limit is 1000",
        ),
    ] {
        assert_eq!(call(&all, tool, "1"), Err(want.into()));
    }
    assert_eq!(call(&all, "surrogate", "1"), Ok(r#""\ufffd""#.into()));
    assert_eq!(call(&all, "proto", "1"), Ok(r#"{"__proto__":{"a":1}}"#.into()));
    let all = Providers::new([Provider::new("tools", tools).unwrap().within(limits)]).unwrap();
    let error = call(&all, "large", "1").unwrap_err();
    assert_eq!(error, "serialization_error: Tool large returned a value of 2002 bytes; the limit is 1000");
}

#[test]
fn an_input_too_deep_to_look_into_is_a_validation_error_and_text_passes() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let raw =
        Tool::raw("pass", |input, _| async { Ok(Bytes::from(input.unwrap().byte_count().to_string())) });
    let all = providers(vec![echo("look"), raw]);
    let error = call(&all, "look", &deep).unwrap_err();
    assert_eq!(
        error,
        "validation_error: Invalid input for tool look: data is nested 10000 levels deep; the limit is 120"
    );
    assert_eq!(call(&all, "pass", &deep), Ok("20000".into()));
}

#[test]
fn a_tool_knows_its_names_and_learns_that_it_was_given_up() {
    let seen: Arc<Mutex<Vec<ToolContext>>> = Arc::default();
    let keep = Arc::clone(&seen);
    let all = providers(vec![Tool::new("slow-one", move |input, context| {
        keep.lock().push(context);
        async move {
            if input == json!("hang") {
                std::future::pending::<()>().await;
            }
            Ok(input)
        }
    })]);
    call(&all, "slow_one", "1").unwrap();
    let time = VirtualTime::default();
    let request = ToolRequest {
        provider: "tools".into(),
        tool: "slow_one".into(),
        input: Some(Bytes::from_static(b"\"hang\"")),
        span: 0,
        depth: 0,
    };
    let mut hanging = all.call(request);
    time.run(std::future::poll_fn(|cx| {
        assert!(hanging.as_mut().poll(cx).is_pending());
        std::task::Poll::Ready(())
    }));
    assert!(!seen.lock()[1].signal.is_tripped());
    drop(hanging);
    let seen = seen.lock();
    assert!(seen[1].signal.is_tripped(), "given up");
    assert!(!seen[0].signal.is_tripped(), "ended by itself");
    let names = (&*seen[0].provider_name, &*seen[0].safe_tool_name, &*seen[0].original_tool_name);
    assert_eq!(names, ("tools", "slow_one", "slow-one"));
}

#[test]
fn calls_of_one_tool_take_turns() {
    let time = VirtualTime::default();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (count, peak, clock) = (Arc::clone(&now), Arc::clone(&most), time.clone());
    let tool = Tool::new("t", move |input, _| {
        let (count, peak, clock) = (Arc::clone(&count), Arc::clone(&peak), clock.clone());
        async move {
            peak.fetch_max(count.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            crate::Time::sleep(&clock, std::time::Duration::from_millis(5)).await;
            count.fetch_sub(1, Ordering::SeqCst);
            Ok(input)
        }
    });
    let all = providers(vec![tool.at_most(3)]);
    let request =
        |_| ToolRequest { provider: "tools".into(), tool: "t".into(), input: None, span: 0, depth: 0 };
    let mut given_up = all.call(request(0));
    let calls = futures_util::future::join_all((0..10).map(request).map(|it| all.call(it)));
    let ended = time.run(async {
        futures_util::future::poll_immediate(&mut given_up).await;
        drop(given_up);
        calls.await
    });
    assert!(ended.iter().all(Result::is_ok));
    assert_eq!(most.load(Ordering::SeqCst).min(3), 3);
    assert_eq!(crate::Time::now(&time).as_millis(), 20, "ten calls, three at a time");
}

#[test]
fn a_manifest_tells_names_types_and_descriptions_and_nothing_else() {
    let provider = Provider::new("tools", vec![echo("get-it").describe("Gets it.")]).unwrap();
    let manifest = provider.manifest();
    assert_eq!((&*manifest.name, manifest.tools.len()), ("tools", 1));
    let (key, tool) = &manifest.tools[0];
    assert_eq!((&**key, &*tool.safe_name, &*tool.original_name), ("get_it", "get_it", "get-it"));
    assert_eq!(tool.description.as_deref(), Some("Gets it."));
    assert!(manifest.types.starts_with("declare namespace tools {"));
    assert_eq!(&*provider.declared_as("declare const x: 1;").manifest().types, "declare const x: 1;");
}

proptest! {
    #[test]
    fn safe_names_are_identifiers_and_all_different(originals in proptest::collection::vec("\\PC{0,8}", 0..20)) {
        let names = safe_names(originals.iter().map(String::as_str));
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        prop_assert_eq!(distinct.len(), originals.len());
        for name in &names {
            prop_assert!(is_identifier(name), "{name}");
            prop_assert!(!reserved::WORDS.contains(&name.as_str()), "{name}");
        }
    }
}

#[test]
fn a_schema_that_is_compiled_late_and_cannot_be_lets_nothing_pass() {
    let tool = || Tool::new("t", |input, _| async move { Ok(input) }).input(json!({ "type": "nonsense" }));
    let late = Provider::compiled_late("tools", vec![tool()]).unwrap();
    let at_once = Provider::new("tools", vec![tool()]).unwrap_err();
    assert_eq!(late.compile().unwrap_err(), at_once);
    let refused = call(&Providers::new([late]).unwrap(), "t", "1").unwrap_err();
    let want = "validation_error: Invalid input for tool t: the schema cannot be used: ";
    assert!(refused.starts_with(want), "{refused}");
}
