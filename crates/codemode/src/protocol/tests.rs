//! Proofs for messages and lines: guards, junk, presence, splits and joins at every byte.

use proptest::prelude::*;

use super::*;

const TRANSCRIPT: &str = concat!(
    r#"{"type":"execute","id":"exec-1","code":"await tools.echo({\"ok\":true})","options":{"timeoutMs":1000,"memoryLimitBytes":67108864,"maxLogLines":100,"maxLogChars":64000},"providers":[{"name":"tools","tools":{"echo":{"safeName":"echo","originalName":"echo","description":"Echo input"}},"types":"declare namespace tools { ... }"}]}"#,
    "\n",
    r#"{"type":"started","id":"exec-1"}"#,
    "\n",
    r#"{"type":"tool_call","callId":"call-1","providerName":"tools","safeToolName":"echo","input":{"ok":true}}"#,
    "\n",
    r#"{"type":"tool_result","callId":"call-1","ok":true,"result":{"ok":true}}"#,
    "\n",
    r#"{"type":"done","id":"exec-1","ok":true,"durationMs":3,"logs":[],"result":{"ok":true}}"#,
    "\n",
);

fn runner(text: &str) -> Option<RunnerMessage> {
    runner_message(text.as_bytes())
}

fn host(text: &str) -> Option<HostMessage> {
    host_message(text.as_bytes())
}

/// Every line as either side reads and writes it again.
fn read_lines(chunks: &[&[u8]], lines: &mut Lines) -> Vec<String> {
    let mut seen = Vec::new();
    let mut take = |line: Line| {
        seen.push(match line {
            Line::TooLong(head) => format!("{head:?}"),
            Line::Whole(line) => {
                let again = host_message(&line).map(|it| host_line(&it));
                let again = again.or_else(|| runner_message(&line).map(|it| runner_line(&it)));
                again.map_or("junk".into(), |bytes| String::from_utf8(bytes).unwrap())
            }
        });
    };
    for chunk in chunks {
        lines.push(chunk);
        while let Some(line) = lines.next_line() {
            take(line);
        }
    }
    if let Some(line) = lines.finish() {
        take(line);
    }
    seen
}

#[test]
fn the_seeds_transcript_reads_and_writes_as_it_stands() {
    assert_eq!(read_lines(&[TRANSCRIPT.as_bytes()], &mut Lines::default()).concat(), TRANSCRIPT);
}

#[test]
fn lines_survive_every_split_and_every_join() {
    let whole = read_lines(&[TRANSCRIPT.as_bytes()], &mut Lines::default());
    let bytes = TRANSCRIPT.as_bytes();
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(read_lines(&[head, tail], &mut Lines::default()), whole, "split at {at}");
    }
    let singles: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read_lines(&singles, &mut Lines::default()), whole);
    let unended = &bytes[..bytes.len() - 1];
    assert_eq!(read_lines(&[unended], &mut Lines::default()), whole, "a last line needs no end");
}

#[test]
fn junk_and_unknown_types_are_nothing() {
    for line in [
        "",
        "x",
        "null",
        "[]",
        "7",
        r#""execute""#,
        "{}",
        r#"{"type":7}"#,
        r#"{"type":"exec"}"#,
        r#"{"type":"started"}"#,
        r#"{"type":"started","id":7}"#,
        r#"{"type":"started","id":null}"#,
        r#"{"type":"cancel"}"#,
        r#"{"type":"started","id":"a""#,
        r#"{"type":"started","id":"a"}}"#,
        r#"{"type":"tool_call","callId":"c","providerName":"p","input":1}"#,
        r#"{"type":"tool_call","callId":1,"providerName":"p","safeToolName":"t","input":1}"#,
        r#"{"type":"tool_result","callId":"c","ok":true}"#,
        r#"{"type":"tool_result","callId":"c","ok":false}"#,
        r#"{"type":"tool_result","callId":"c","ok":false,"error":{"code":1,"message":""}}"#,
        r#"{"type":"tool_result","callId":"c","ok":1,"result":1}"#,
        r#"{"type":"done","id":"a","ok":true,"durationMs":1}"#,
        r#"{"type":"done","id":"a","ok":true,"durationMs":"1","logs":[]}"#,
        r#"{"type":"done","id":"a","ok":true,"durationMs":1e999,"logs":[]}"#,
        r#"{"type":"done","id":"a","ok":true,"durationMs":1,"logs":[1]}"#,
        r#"{"type":"done","id":"a","ok":false,"durationMs":1,"logs":[]}"#,
        r#"{"type":"done","id":"a","ok":false,"durationMs":1,"logs":[],"error":"no"}"#,
        r#"{"type":"execute","id":"a","code":"","options":{},"providers":[]}"#,
    ] {
        assert_eq!((host(line), runner(line)), (None, None), "{line}");
    }
    assert_eq!(host_message(b"{\"type\":\"cancel\",\"id\":\"\xff\"}"), None, "not UTF-8");
    assert_eq!(runner(r#"{"type":"cancel","id":"a"}"#), None, "the wrong way");
    assert_eq!(host(r#"{"type":"started","id":"a"}"#), None, "the wrong way");
}

#[test]
fn every_option_and_every_name_of_a_manifest_is_needed() {
    let good = TRANSCRIPT.lines().next().unwrap();
    assert!(host(good).is_some());
    for (part, bad) in [
        (r#""timeoutMs":1000,"#, ""),
        (r#""timeoutMs":1000"#, r#""timeoutMs":"1000""#),
        (r#""timeoutMs":1000"#, r#""timeoutMs":null"#),
        (r#","maxLogChars":64000"#, ""),
        (r#""id":"exec-1","#, ""),
        (r#""safeName":"echo","#, ""),
        (r#""originalName":"echo""#, r#""originalName":null"#),
        (r#""description":"Echo input""#, r#""description":5"#),
        (r#""name":"tools","#, ""),
        (r#","types":"declare namespace tools { ... }""#, ""),
        (r#""tools":{"echo""#, r#""tools":[],"x":{"echo""#),
    ] {
        assert!(good.contains(part), "{part}");
        assert_eq!(host(&good.replacen(part, bad, 1)), None, "{part} {bad}");
    }
    for (part, fine) in [
        (r#","description":"Echo input""#, ""),
        (r#""timeoutMs":1000"#, r#""timeoutMs":-1.5e3"#),
        (r#""type":"execute","#, r#""more":[{}],"type":"execute","#),
        (r#""safeName":"echo""#, r#""x":1,"safeName":"echo""#),
    ] {
        assert!(host(&good.replacen(part, fine, 1)).is_some(), "{part} {fine}");
    }
}

#[test]
fn members_may_come_in_any_order_and_the_last_of_a_name_counts() {
    let swapped = r#" { "id" : "a" , "extra":[1,{"type":"done"}], "type" : "started" } "#;
    assert_eq!(runner(swapped), Some(RunnerMessage::Started { id: "a".into() }));
    let twice = r#"{"type":"done","id":"b","type":"started","id":"a"}"#;
    assert_eq!(runner(twice), Some(RunnerMessage::Started { id: "a".into() }));
    assert_eq!(
        runner(r#"{"\u0074ype":"started","id":"a"}"#),
        Some(RunnerMessage::Started { id: "a".into() })
    );
}

#[test]
fn presence_tells_undefined_from_null() {
    let call = |text: &str| match runner(text) {
        Some(RunnerMessage::ToolCall(call)) => call.input,
        other => panic!("{other:?}"),
    };
    let head = r#"{"type":"tool_call","callId":"c","providerName":"p","safeToolName":"t""#;
    assert_eq!(call(&format!("{head}}}")), None, "a missing input is undefined");
    assert_eq!(call(&format!(r#"{head},"input":null}}"#)), Some(Json::null()));
    let done = |text: &str| match runner(text) {
        Some(RunnerMessage::Done(done)) => done.outcome,
        other => panic!("{other:?}"),
    };
    let head = r#"{"type":"done","id":"a","ok":true,"durationMs":1,"logs":[]"#;
    assert_eq!(done(&format!("{head}}}")), Ok(None));
    assert_eq!(done(&format!(r#"{head},"result":null}}"#)), Ok(Some(Json::null())));
    let undefined = Done { id: "a".into(), outcome: Ok(None), duration_ms: 1.0, logs: vec![] };
    let line = String::from_utf8(runner_line(&RunnerMessage::Done(undefined))).unwrap();
    assert!(!line.contains("result"), "{line}");
    let null = r#"{"type":"tool_result","callId":"c","ok":true,"result":null}"#;
    assert!(host(null).is_some(), "null is a result");
}

#[test]
fn an_unknown_code_is_a_runtime_error() {
    let text = r#"{"type":"done","id":"a","ok":false,"durationMs":1,"logs":[],"error":{"code":"root","message":"m"}}"#;
    let Some(RunnerMessage::Done(done)) = runner(text) else { panic!() };
    let failure = done.outcome.unwrap_err();
    assert_eq!((failure.code.as_str(), &*failure.message), ("runtime_error", "m"));
}

#[test]
fn lone_surrogates_become_replacement_characters() {
    let text = r#"{"type":"done","id":"a","ok":true,"durationMs":1,"logs":["\ud83d","\ud83d\ude00"],"result":"a\udc00b"}"#;
    let Some(RunnerMessage::Done(done)) = runner(text) else { panic!() };
    assert_eq!(done.logs, ["\u{fffd}", "😀"]);
    assert_eq!(done.outcome.unwrap().unwrap().to_value().unwrap(), "a\u{fffd}b");
    let id = r#"{"type":"started","id":"\ud800"}"#;
    assert_eq!(runner(id), Some(RunnerMessage::Started { id: "\u{fffd}".into() }));
}

#[test]
fn depth_is_no_obstacle_for_a_message() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(r#"{{"type":"done","id":"a","ok":true,"durationMs":1,"logs":[],"result":{deep}}}"#);
    let Some(RunnerMessage::Done(done)) = runner(&text) else { panic!() };
    let result = done.outcome.unwrap().unwrap();
    assert_eq!((result.as_str(), result.depth()), (&*deep, 100_000));
    assert!(matches!(result.to_value(), Err(JsonError::TooDeep { .. })));
}

#[test]
fn a_proto_member_is_a_member_like_any_other() {
    let text = r#"{"type":"tool_result","callId":"c","ok":true,"result":{"__proto__":{"admin":true}}}"#;
    let Some(HostMessage::ToolResult(result)) = host(text) else { panic!() };
    assert_eq!(result.answer.unwrap().as_str(), r#"{"__proto__":{"admin":true}}"#);
}

#[test]
fn a_line_that_is_too_long_is_told_once_and_the_next_one_is_read() {
    let long =
        format!(r#"{{"type":"tool_result", "ok":true,"callId":"c\u002d1","result":"{}"}}"#, "x".repeat(500));
    let text = format!("{long}\n{{\"type\":\"cancel\",\"id\":\"a\"}}\n");
    let head = Head { kind: Some("tool_result".into()), id: None, call_id: Some("c-1".into()) };
    let want = [format!("{head:?}"), "{\"type\":\"cancel\",\"id\":\"a\"}\n".to_owned()];
    for at in 0..=text.len() {
        let (first, second) = text.as_bytes().split_at(at);
        let seen = read_lines(&[first, second], &mut Lines::at_most(300));
        assert_eq!(seen[1..], want[1..], "split at {at}");
        assert!(seen[0].contains("TooLong") || seen[0].starts_with("Head"), "{}", seen[0]);
    }
    assert_eq!(read_lines(&[text.as_bytes()], &mut Lines::at_most(300)), want);
    let exact = "x".repeat(300);
    assert_eq!(read_lines(&[exact.as_bytes()], &mut Lines::at_most(300)), ["junk"], "just fits");
}

#[test]
fn the_head_of_a_message_is_read_as_far_as_it_is_plain() {
    let head = |text: &str| {
        let Head { kind, id, call_id } = Head::of(text.as_bytes());
        [kind, id, call_id].map(Option::unwrap_or_default).join(",")
    };
    for (text, want) in [
        (r#"{"type":"done","id":"a","ok":true,"durationMs":1,"logs":["#, "done,a,"),
        (r#"{"type":"done","logs":[],"id":"a""#, "done,,"),
        (r#"{"type":"tool_call","callId":"c"#, "tool_call,,"),
        (r#"{"a":{"type":"done"},"type":"x"}"#, ",,"),
        (r#"{"n":null,"type":"done","#, "done,,"),
        ("", ",,"),
        ("[", ",,"),
        ("{\"type\":\"\\", ",,"),
        ("{\"type\":\"\u{e9}\\ud800\",", ",,"),
    ] {
        assert_eq!(head(text), want, "{text}");
    }
}

#[test]
fn a_payload_with_newlines_stays_on_its_line() {
    let result = Json::parse("{\n\t\"a\": \"x\\ny\"\r\n}").unwrap();
    let message = HostMessage::ToolResult(ToolResult { call_id: "c".into(), answer: Ok(result) });
    let line = host_line(&message);
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    let Some(HostMessage::ToolResult(again)) = host_message(&line) else { panic!() };
    assert_eq!(again.answer.unwrap().to_value().unwrap(), serde_json::json!({"a": "x\ny"}));
}

#[test]
fn odd_numbers_are_made_sense_of() {
    let with = |timeout_ms| RuntimeOptions { timeout_ms, max_log_lines: -1.0, ..RuntimeOptions::default() };
    assert_eq!(with(-5.0).timeout().as_millis(), 0);
    assert_eq!(with(1.5).timeout().as_micros(), 1500);
    assert_eq!(with(f64::MAX).timeout().as_secs(), 86_400);
    assert_eq!(with(1.0).log_lines_max(), 0);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,5}", "\\PC{0,8}", Just("\u{0}\n\"\\\u{2028}😀".to_owned())]
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        (-1e300..1e300).prop_map(serde_json::Value::from),
        text().prop_map(serde_json::Value::from),
    ];
    let tree = leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            proptest::collection::btree_map(text(), inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    });
    tree.prop_map(|value| Json::of(&value))
}

fn failure() -> impl Strategy<Value = Failure> {
    let codes = proptest::sample::select(drydock_contract::FailureCode::ALL);
    (codes, text()).prop_map(|(code, message)| Failure::new(code, message))
}

fn runner_messages() -> impl Strategy<Value = RunnerMessage> {
    let shared = || text().prop_map(std::sync::Arc::<str>::from);
    prop_oneof![
        shared().prop_map(|id| RunnerMessage::Started { id }),
        (shared(), shared(), shared(), proptest::option::of(json())).prop_map(
            |(call_id, provider_name, safe_tool_name, input)| RunnerMessage::ToolCall(ToolCall {
                call_id,
                provider_name,
                safe_tool_name,
                input
            })
        ),
        (
            shared(),
            prop_oneof![proptest::option::of(json()).prop_map(Ok), failure().prop_map(Err)],
            -1e12..1e12,
            proptest::collection::vec(text(), 0..3)
        )
            .prop_map(|(id, outcome, duration_ms, logs)| RunnerMessage::Done(Done {
                id,
                outcome,
                duration_ms,
                logs
            })),
    ]
}

fn host_messages() -> impl Strategy<Value = HostMessage> {
    let shared = || text().prop_map(std::sync::Arc::<str>::from);
    let tool = (shared(), shared(), proptest::option::of(shared())).prop_map(
        |(safe_name, original_name, description)| {
            (std::sync::Arc::clone(&safe_name), ManifestTool { safe_name, original_name, description })
        },
    );
    let tools = proptest::collection::vec(tool, 0..3).prop_map(|mut tools| {
        tools.sort_by(|a, b| a.0.cmp(&b.0));
        tools.dedup_by(|a, b| a.0 == b.0);
        tools
    });
    let manifest =
        (shared(), shared(), tools).prop_map(|(name, types, tools)| Manifest { name, types, tools });
    let options = (-1e9..1e9, 0.0..1e12).prop_map(|(timeout_ms, memory_limit_bytes)| RuntimeOptions {
        timeout_ms,
        memory_limit_bytes,
        ..RuntimeOptions::default()
    });
    prop_oneof![
        shared().prop_map(|id| HostMessage::Cancel { id }),
        (shared(), prop_oneof![json().prop_map(Ok), failure().prop_map(Err)])
            .prop_map(|(call_id, answer)| HostMessage::ToolResult(ToolResult { call_id, answer })),
        (
            shared(),
            shared(),
            options,
            proptest::collection::vec(manifest, 0..3),
            proptest::option::of(json())
        )
            .prop_map(|(id, code, options, providers, args)| HostMessage::Execute(Execute {
                id,
                code,
                options,
                providers: providers.into(),
                args
            })),
    ]
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(to_host in runner_messages(), to_runner in host_messages()) {
        let line = runner_line(&to_host);
        prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        prop_assert_eq!(runner_message(&line), Some(to_host));
        let line = host_line(&to_runner);
        prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        prop_assert_eq!(host_message(&line), Some(to_runner));
    }

    #[test]
    fn no_bytes_upset_the_reader(bytes: Vec<u8>, cut: usize) {
        let cut = cut % (bytes.len() + 1);
        read_lines(&[&bytes[..cut], &bytes[cut..]], &mut Lines::at_most(16));
        let _ = Head::of(&bytes);
    }

    #[test]
    fn splits_never_matter(messages in proptest::collection::vec(runner_messages(), 0..4), cuts: Vec<u16>) {
        let bytes: Vec<u8> = messages.iter().flat_map(runner_line).collect();
        let mut rest = &bytes[..];
        let mut chunks = Vec::new();
        for cut in cuts {
            let (chunk, tail) = rest.split_at(usize::from(cut) % (rest.len() + 1));
            chunks.push(chunk);
            rest = tail;
        }
        chunks.push(rest);
        let seen = read_lines(&chunks, &mut Lines::default());
        prop_assert_eq!(seen.concat().into_bytes(), bytes);
    }
}
