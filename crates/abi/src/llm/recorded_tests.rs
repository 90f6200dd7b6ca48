//! Proofs for recorded models.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::llm::{Complete, Tool};

/// A run of three turns, the first with two calls that ended the other way round.
fn events() -> Vec<Value> {
    let usage = json!({ "input_tokens": 9, "output_tokens": 2, "attempts": 1, "cost_micros": 5 });
    let call = |id: &str| json!({ "id": id, "name": "shell", "arguments": { "line": id } });
    vec![
        json!({ "event": "started", "at_ms": 1, "system": "s", "task": "t", "options": {}, "new_member": [] }),
        json!({ "event": "turn", "at_ms": 2, "step": 1, "content": "look", "tool_calls": [call("a"), call("b")],
                "stop_reason": "tool_calls", "usage": usage, "ms": 1 }),
        json!({ "event": "calling", "at_ms": 3, "step": 1, "id": "a", "tool": "shell" }),
        json!({ "event": "result", "at_ms": 3, "step": 1, "id": "b", "tool": "shell", "output": "of b",
                "outcome": { "outcome": "done" }, "ms": 1 }),
        json!({ "event": "result", "at_ms": 3, "step": 1, "id": "a", "tool": "shell", "output": "of a",
                "outcome": { "outcome": "failed", "code": "timeout" }, "ms": 1 }),
        json!({ "event": "turn", "at_ms": 4, "step": 2, "content": "", "tool_calls": [], "stop_reason": "end_turn",
                "usage": usage, "ms": 1 }),
        json!({ "event": "nudged", "at_ms": 5 }),
        json!({ "event": "turn", "at_ms": 6, "step": 3, "content": "done", "stop_reason": "end_turn", "usage": usage, "ms": 1 }),
        json!({ "event": "a_later_one", "at_ms": 7 }),
    ]
}

fn run(events: &[Value]) -> Recorded {
    Recorded::parse(&serde_json::to_string(events).unwrap()).unwrap()
}

fn user(content: &str) -> Message {
    Message::User { content: content.into() }
}

fn result(id: &str, content: &str) -> Message {
    Message::Tool { tool_call_id: id.into(), content: content.into(), is_error: false }
}

fn ask(run: &Recorded, messages: &[Message]) -> Answer<Completion> {
    let tools =
        vec![Tool { name: "shell".into(), description: String::new(), parameters: Default::default() }];
    let request = Complete { model: "m".into(), messages: messages.to_vec(), tools, ..Complete::default() };
    run.answer(&Asked::of(request).unwrap())
}

#[test]
fn a_model_says_again_what_it_said_to_the_same_transcript() {
    let run = run(&events());
    let mut messages = vec![user("in other words")];
    let first = ask(&run, &messages).unwrap();
    assert_eq!((first.model.as_str(), first.content.as_str(), first.tool_calls.len()), ("m", "look", 2));
    assert_eq!((first.usage.input_tokens, first.usage.cost_micros), (9, Some(5)));
    messages.extend([first.into_message(), result("a", "of a"), result("b", "of b")]);
    let second = ask(&run, &messages).unwrap();
    assert_eq!((second.content.as_str(), second.stop_reason), ("", StopReason::EndTurn));
    messages.extend([second.into_message(), user("go on")]);
    let third = ask(&run, &messages).unwrap();
    assert_eq!(third.content, "done");
    messages.extend([third.into_message(), user("and then?")]);
    let over = ask(&run, &messages).unwrap_err();
    assert_eq!(
        (&*over.code, over.message.as_str()),
        ("replay_diverged", "the recorded run has no further turn after 3")
    );
}

#[test]
fn what_was_not_heard_then_is_a_replay_that_diverged_and_says_where() {
    let run = run(&events());
    let first = ask(&run, &[user("t")]).unwrap();
    let other = Message::Assistant { content: "look".into(), tool_calls: Vec::new() };
    let cases = [
        (vec![user("t"), other, user("x")], "turn 1 is another"),
        (
            vec![user("t"), first.clone().into_message(), result("a", "of a"), result("b", "else")],
            "the result of call `b` of turn 1 is another",
        ),
        (vec![user("t"); 1].into_iter().chain((0..9).map(|_| assistant())).collect(), "it has fewer turns"),
    ];
    for (messages, want) in cases {
        let told = ask(&run, &messages).unwrap_err();
        assert!(told.code == "replay_diverged" && told.message.ends_with(want), "{want}: {told:?}");
    }
}

fn assistant() -> Message {
    Message::Assistant { content: String::new(), tool_calls: Vec::new() }
}

#[test]
fn a_run_that_was_compacted_is_followed_behind_its_summaries() {
    let mut all = events();
    let usage = json!({ "input_tokens": 50, "output_tokens": 5 });
    // The first turn, its results, the second turn and the nudge are left out.
    all.insert(7, json!({ "event": "compacted", "at_ms": 6, "messages": 5, "summary": "[Summary] it looked", "usage": usage }));
    let run = run(&all);
    let request =
        Complete { model: "m".into(), messages: vec![user("sum up: look, of a")], ..Complete::default() };
    let summary = run.answer(&Asked::of(request).unwrap()).unwrap();
    assert_eq!((summary.content.as_str(), summary.usage.input_tokens), ("[Summary] it looked", 50));
    let told = user("[Summary of 5] [Summary] it looked");
    let third = ask(&run, &[user("t"), told.clone()]).unwrap();
    assert_eq!(third.content, "done");
    let kept = [user("t"), told.clone(), assistant(), user("go on")];
    assert_eq!(ask(&run, &kept).unwrap().content, "done", "some turns stay beside a summary");
    let other = Message::Assistant { content: "x".into(), tool_calls: Vec::new() };
    assert_eq!(ask(&run, &[user("t"), told, other, user("y")]).unwrap_err().code, "replay_diverged");
}

#[test]
fn a_run_is_an_object_a_list_or_lines_and_what_is_none_is_named() {
    let (list, all) = (serde_json::to_string(&events()).unwrap(), events());
    let lines: Vec<String> = all.iter().map(Value::to_string).collect();
    for text in [list, lines.join("\n\n"), json!({ "id": 1, "events": all }).to_string()] {
        assert_eq!(Recorded::parse(&text).unwrap().turns.len(), 3, "{text}");
    }
    for (text, want) in [
        ("", "its model said nothing"),
        ("{\"event\":\"nudged\"}\n{", "event 2"),
        (r#"[{"step":1}]"#, "event 1: missing field `event`"),
        (r#"[{"event":"turn","content":1,"stop_reason":"end_turn"}]"#, "event 1: invalid type"),
        (r#"[{"event":"turn","content":"","stop_reason":"tired"}]"#, "unknown variant `tired`"),
        (r#"[{"event":"result","id":"a\n","output":""}]"#, "event 1: no turn made the call `a\\n`"),
        ("[1", "EOF"),
    ] {
        let told = Recorded::parse(text).unwrap_err().to_string();
        assert!(told.contains(want), "{want}: {told}");
    }
}

proptest! {
    #[test]
    fn whatever_a_run_was_its_own_transcript_leads_through_it(
        turns in prop::collection::vec(("[a-c]{0,2}", prop::collection::vec("[x-z]{0,3}", 0..3)), 1..6),
        cut in 0_usize..400,
    ) {
        let mut all = Vec::new();
        for (at, (content, outputs)) in turns.iter().enumerate() {
            let calls: Vec<Value> = (0..outputs.len())
                .map(|call| json!({ "id": format!("c{at}_{call}"), "name": "shell", "arguments": {} }))
                .collect();
            all.push(json!({ "event": "turn", "content": content, "tool_calls": calls, "stop_reason": "other" }));
            for (call, output) in outputs.iter().enumerate().rev() {
                all.push(json!({ "event": "result", "id": format!("c{at}_{call}"), "output": output }));
            }
        }
        let run = run(&all);
        let mut messages = vec![user("t")];
        for (at, (content, outputs)) in turns.iter().enumerate() {
            let turn = ask(&run, &messages).unwrap();
            prop_assert_eq!(&turn.content, content);
            messages.push(turn.into_message());
            let results = outputs.iter().enumerate();
            messages.extend(results.map(|(call, output)| result(&format!("c{at}_{call}"), output)));
            messages.push(user("on"));
        }
        prop_assert_eq!(ask(&run, &messages).unwrap_err().code, "replay_diverged");
        // And no beginning of its text breaks the reader.
        let text = serde_json::to_string(&all).unwrap();
        let _ = Recorded::parse(&text.chars().take(cut).collect::<String>());
    }
}
