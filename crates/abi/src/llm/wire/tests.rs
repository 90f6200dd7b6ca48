//! Proofs for both formats: what is sent, what is read, and that it makes no difference where the bytes were cut.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::llm::{Asked, Completion, StopReason, TOOL_CALLS_MAX, Tool, ToolChoice};

const EVENTS: Option<&str> = Some("text/event-stream; charset=utf-8");
const JSON: Option<&str> = Some("application/json");

fn read(
    dialect: Dialect,
    kind: Option<&str>,
    bytes: &[u8],
    piece: usize,
) -> (Result<Completion, BadAnswer>, String) {
    let (mut reader, mut said) = (AnswerReader::new(dialect, kind), String::new());
    for piece in bytes.chunks(piece.max(1)) {
        if let Err(error) = reader.push(piece, |words| said.push_str(words)) {
            return (Err(error), said);
        }
    }
    (reader.finish(), said)
}

fn events(all: &[Value]) -> String {
    all.iter().map(|it| format!("data: {it}\n\n")).collect()
}

/// A turn with text and two calls at once, as OpenAI sends it.
fn openai_stream() -> String {
    let delta =
        |delta: Value| json!({"model":"gpt-x","choices":[{"index":0,"delta":delta,"finish_reason":null}]});
    let call = |index: u8, more: Value| {
        let mut call = json!({"index":index});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        delta(json!({"tool_calls":[call]}))
    };
    events(&[
        delta(json!({"role":"assistant","content":""})),
        delta(json!({"content":"I look \u{e9}"})),
        delta(json!({"content":" twice."})),
        call(0, json!({"id":"a1","type":"function","function":{"name":"search","arguments":""}})),
        call(1, json!({"id":"a2","type":"function","function":{"name":"fetch","arguments":"{\"u"}})),
        call(0, json!({"function":{"arguments":"{\"query\":"}})),
        call(1, json!({"function":{"arguments":"rl\":\"x\"}"}})),
        call(0, json!({"function":{"arguments":"\"cats\"}"}})),
        json!({"model":"gpt-x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}),
        json!({"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":16}}}),
    ]) + "data: [DONE]\n\n"
}

/// The same turn, as Anthropic sends it.
fn anthropic_stream() -> String {
    let all = [
        json!({"type":"message_start","message":{"model":"gpt-x","content":[],"usage":{"input_tokens":4,"cache_read_input_tokens":16,"output_tokens":1}}}),
        json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}),
        json!({"type":"ping"}),
        json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look \u{e9}"}}),
        json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" twice."}}),
        json!({"type":"content_block_stop","index":0}),
        json!({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a1","name":"search","input":{}}}),
        json!({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\":"}}),
        json!({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"cats\"}"}}),
        json!({"type":"content_block_stop","index":1}),
        json!({"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a2","name":"fetch","input":{}}}),
        json!({"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"url\":\"x\"}"}}),
        json!({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}),
        json!({"type":"message_stop"}),
    ];
    all.iter().map(|it| format!("event: {}\r\ndata: {it}\r\n\r\n", it["type"].as_str().unwrap())).collect()
}

fn the_turn(completion: &Completion) {
    assert_eq!((completion.model.as_str(), completion.content.as_str()), ("gpt-x", "I look \u{e9} twice."));
    let calls: Vec<_> = completion
        .tool_calls
        .iter()
        .map(|it| (it.id.as_str(), it.name.as_str(), it.arguments.clone()))
        .collect();
    let arguments = |value: Value| value.as_object().unwrap().clone();
    assert_eq!(
        calls,
        [
            ("a1", "search", arguments(json!({"query":"cats"}))),
            ("a2", "fetch", arguments(json!({"url":"x"})))
        ]
    );
    assert_eq!(completion.stop_reason, StopReason::ToolCalls);
    let usage = completion.usage;
    assert_eq!((usage.input_tokens, usage.cached_input_tokens, usage.output_tokens), (20, 16, 7));
}

#[test]
fn a_stream_is_the_same_turn_wherever_it_is_cut() {
    for (dialect, stream) in [(Dialect::OpenAi, openai_stream()), (Dialect::Anthropic, anthropic_stream())] {
        for piece in [1, 2, 3, 7, 64, 1 << 20] {
            let (turn, said) = read(dialect, EVENTS, stream.as_bytes(), piece);
            the_turn(&turn.unwrap());
            assert_eq!(said, "I look \u{e9} twice.", "{dialect:?} in pieces of {piece}");
        }
    }
}

#[test]
fn an_answer_that_comes_whole_is_the_same_turn() {
    let openai = json!({"model":"gpt-x","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"I look \u{e9} twice.",
        "tool_calls":[{"id":"a1","type":"function","function":{"name":"search","arguments":"{\"query\":\"cats\"}"}},
                      {"id":"a2","type":"function","function":{"name":"fetch","arguments":{"url":"x"}}}]}}],
        "usage":{"prompt_tokens":20,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":16}}});
    let anthropic = json!({"type":"message","model":"gpt-x","stop_reason":"tool_use","usage":{"input_tokens":4,"cache_read_input_tokens":16,"output_tokens":7},
        "content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look \u{e9} twice."},
                   {"type":"tool_use","id":"a1","name":"search","input":{"query":"cats"}},{"type":"tool_use","id":"a2","name":"fetch","input":{"url":"x"}}]});
    for (dialect, whole) in [(Dialect::OpenAi, openai), (Dialect::Anthropic, anthropic)] {
        let (turn, said) = read(dialect, JSON, whole.to_string().as_bytes(), 5);
        the_turn(&turn.unwrap());
        assert_eq!(said, "", "nothing is told ahead of an answer that comes whole");
    }
}

#[test]
fn servers_that_copy_the_format_loosely_are_understood() {
    let turn = |all: &[Value]| {
        let (turn, _) = read(Dialect::OpenAi, EVENTS, events(all).as_bytes(), 9);
        turn.map(|it| {
            (it.tool_calls.iter().map(|it| (it.id.clone(), it.name.clone())).collect::<Vec<_>>(), it)
        })
    };
    let delta = |delta: Value| json!({"choices":[{"delta":delta}]});
    let call = |it: Value| delta(json!({"tool_calls":[it]}));
    let end = json!({"choices":[{"delta":{},"finish_reason":"stop"}]});
    let name = |id: &str, name: &str| (id.to_owned(), name.to_owned());

    let zero = |id: &str| call(json!({"index":0,"id":id,"function":{"name":"f","arguments":"{}"}}));
    let (calls, all) = turn(&[zero("a"), zero("b"), end.clone()]).unwrap();
    assert_eq!(calls, [name("a", "f"), name("b", "f")], "all numbered with zero");
    assert_eq!(all.stop_reason, StopReason::ToolCalls, "though the server says that it is over");

    let bare = call(json!({"function":{"name":"f","arguments":""}}));
    let more = call(json!({"function":{"arguments":"{\"x\":1}"}}));
    let (calls, all) = turn(&[bare.clone(), more, bare, end.clone()]).unwrap();
    assert_eq!(calls, [name("call_0_", "f"), name("call_1_", "f")], "without numbers and ids");
    assert_eq!(all.tool_calls[0].arguments.get("x"), Some(&json!(1)));

    let (_, all) =
        turn(&[call(json!({"id":"a","function":{"name":"f","arguments":"{\"x\":"}})), end.clone()]).unwrap();
    assert_eq!(all.tool_calls[0].malformed.as_deref(), Some("{\"x\":"), "what is no JSON is kept as it is");
    let (_, all) =
        turn(&[call(json!({"id":"a","function":{"name":"f","arguments":"[1]"}})), end.clone()]).unwrap();
    assert_eq!(all.tool_calls[0].malformed.as_deref(), Some("[1]"));

    let (_, all) = turn(&[delta(json!({"refusal":"I will not."})), end]).unwrap();
    assert_eq!((all.content.as_str(), all.stop_reason), ("I will not.", StopReason::Refusal));
}

#[test]
fn what_is_no_answer_is_an_error_by_its_code() {
    let long = events(&[json!({"choices":[{"delta":{"content":"x".repeat(5 << 20)}}]})]);
    let many: Vec<Value> = (0..=TOOL_CALLS_MAX)
        .map(|at| json!({"choices":[{"delta":{"tool_calls":[{"index":at,"id":at.to_string(),"function":{"name":"f"}}]}}]}))
        .collect();
    let nameless = events(&[
        json!({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a"}]},"finish_reason":"stop"}]}),
    ]);
    let half = openai_stream();
    let half = &half[..half.find("finish_reason\":\"tool").unwrap() - 60];
    for (dialect, kind, bytes, want) in [
        (Dialect::OpenAi, EVENTS, String::new(), "answer_cut_off"),
        (Dialect::OpenAi, EVENTS, half.to_owned(), "answer_cut_off"),
        (Dialect::OpenAi, EVENTS, "data: {\"choices\":\n\n".into(), "bad_answer"),
        (Dialect::OpenAi, EVENTS, long, "answer_too_large"),
        (Dialect::OpenAi, EVENTS, "x".repeat(10 << 20), "answer_too_large"),
        (Dialect::OpenAi, EVENTS, events(&many), "too_many_tool_calls"),
        (Dialect::OpenAi, EVENTS, nameless, "bad_answer"),
        (Dialect::OpenAi, EVENTS, "<html>\n\n".into(), "answer_cut_off"),
        (Dialect::OpenAi, EVENTS, events(&[json!({"error":{"message":"busy","code":529}})]), "model_failed"),
        (Dialect::OpenAi, JSON, "{}".into(), "bad_answer"),
        (Dialect::OpenAi, JSON, String::new(), "bad_answer"),
        (Dialect::OpenAi, JSON, "[".repeat(1 << 20), "bad_answer"),
        (Dialect::Anthropic, EVENTS, String::new(), "answer_cut_off"),
        (
            Dialect::Anthropic,
            EVENTS,
            events(&[json!({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})]),
            "model_failed",
        ),
        (
            Dialect::Anthropic,
            JSON,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#.into(),
            "model_failed",
        ),
        (Dialect::Anthropic, JSON, "{}".into(), "bad_answer"),
    ] {
        let (turn, _) = read(dialect, kind, bytes.as_bytes(), 1 << 16);
        let shown: String = bytes.chars().take(60).collect();
        assert_eq!(turn.map_err(|it| it.code()), Err(want), "{dialect:?} {shown}");
    }
    let gives_up = |kind: &str| {
        let error = events(&[json!({"type":"error","error":{"type":kind,"message":"m"}})]);
        read(Dialect::Anthropic, EVENTS, error.as_bytes(), 9).0.unwrap_err().is_transient()
    };
    assert!(gives_up("overloaded_error") && !gives_up("invalid_request_error"));
}

#[test]
fn a_transcript_is_sent_as_each_format_wants_it() {
    let call = |id: &str| json!({"id":id,"name":"look","arguments":{"x":1}});
    let transcript = json!({"model":"m","system":"be kind","max_tokens":9,"temperature":1.5,"stop":["."],"tool_choice":"required",
        "tools":[{"name":"look","description":"d","parameters":{"type":"object"}}],
        "messages":[{"role":"user","content":"go"},{"role":"assistant","content":"well","tool_calls":[call("1"), call("2")]},
            {"role":"tool","tool_call_id":"1","content":"one"},{"role":"tool","tool_call_id":"2","content":"two","is_error":true},
            {"role":"user","content":"on"},{"role":"assistant","content":""}]});
    let asked = Asked::parse(transcript.to_string().as_bytes()).unwrap();
    let body = |dialect: Dialect, extra: &Value| -> Value {
        serde_json::from_slice(&dialect.body(asked.request(), "up/stream", extra.as_object().unwrap()))
            .unwrap()
    };
    let function =
        |id: &str| json!({"id":id,"type":"function","function":{"name":"look","arguments":"{\"x\":1}"}});
    assert_eq!(
        body(Dialect::OpenAi, &json!({"max_tokens":null,"max_completion_tokens":9})),
        json!({"model":"up/stream","stream":true,"stream_options":{"include_usage":true},"temperature":1.5,"stop":["."],"tool_choice":"required",
            "max_completion_tokens":9,
            "tools":[{"type":"function","function":{"name":"look","description":"d","parameters":{"type":"object"}}}],
            "messages":[{"role":"system","content":"be kind"},{"role":"user","content":"go"},
                {"role":"assistant","content":"well","tool_calls":[function("1"), function("2")]},
                {"role":"tool","tool_call_id":"1","content":"one"},{"role":"tool","tool_call_id":"2","content":"two"},
                {"role":"user","content":"on"},{"role":"assistant","content":""}]})
    );
    let used = |id: &str| json!({"type":"tool_use","id":id,"name":"look","input":{"x":1}});
    assert_eq!(
        body(Dialect::Anthropic, &json!({})),
        json!({"model":"up/stream","stream":true,"max_tokens":9,"system":"be kind","temperature":1.0,"stop_sequences":["."],"tool_choice":{"type":"any"},
            "tools":[{"name":"look","description":"d","input_schema":{"type":"object"}}],
            "messages":[{"role":"user","content":[{"type":"text","text":"go"}]},
                {"role":"assistant","content":[{"type":"text","text":"well"}, used("1"), used("2")]},
                {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"one"},
                    {"type":"tool_result","tool_use_id":"2","content":"two","is_error":true},{"type":"text","text":"on"}]}]})
    );
}

#[test]
fn arguments_that_were_malformed_are_sent_back_as_they_were_said() {
    let transcript = json!({"model":"m","messages":[{"role":"user","content":"go"},
        {"role":"assistant","tool_calls":[{"id":"1","name":"look","malformed":"{\"x\":"}]},{"role":"tool","tool_call_id":"1","content":"what?"}]});
    let asked = Asked::parse(transcript.to_string().as_bytes()).unwrap();
    let body = |dialect: Dialect| String::from_utf8(dialect.body(asked.request(), "m", &Map::new())).unwrap();
    assert!(body(Dialect::OpenAi).contains(r#""arguments":"{\"x\":""#));
    assert!(body(Dialect::Anthropic).contains(r#""input":{}"#), "the format has no place for it");
}

#[test]
fn the_sentence_of_an_error_is_found_and_shortened() {
    for (body, want) in [
        (r#"{"error":{"message":"no such model","type":"x"}}"#, "no such model"),
        (r#"{"type":"error","error":{"type":"x","message":"too long"}}"#, "too long"),
        (r#"{"error":"plain"}"#, "plain"),
        (r#"{"message":"bare"}"#, "bare"),
        ("Bad\nGateway", "Bad Gateway"),
        ("", ""),
    ] {
        assert_eq!(error_text(body.as_bytes()), want);
    }
    assert_eq!(error_text(&[b'x'; 999]).len(), 200);
    assert_eq!(ToolChoice::default(), ToolChoice::Auto);
    let _: Tool = serde_json::from_str(r#"{"name":"bare"}"#).unwrap();
}

proptest! {
    #[test]
    fn whatever_a_server_sends_is_a_turn_or_an_error_the_same_in_any_pieces(
        start in 0_usize..3000, length in 0_usize..3000, junk in proptest::collection::vec(any::<u8>(), 0..40), piece in 1_usize..50,
    ) {
        for (dialect, stream) in [(Dialect::OpenAi, openai_stream()), (Dialect::Anthropic, anthropic_stream())] {
            let mut bytes = stream.into_bytes();
            let start = start.min(bytes.len());
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, junk.clone());
            for kind in [EVENTS, JSON, None] {
                prop_assert_eq!(read(dialect, kind, &bytes, piece), read(dialect, kind, &bytes, bytes.len()));
            }
        }
    }
}
