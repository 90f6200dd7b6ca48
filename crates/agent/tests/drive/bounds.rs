//! What no model, tool or disk can bring about.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use drydock_abi::llm::{Asked, Completion, Message, StopReason, ToolCall, Usage};
use drydock_agent::{DriveError, Event, Purse, Run, RunOptions, tools::ToolOutput};
use drydock_contract::{CallError, Denial, ReviewAnswer, port::AgentRefusal};
use serde_json::{Map, Value, json};

use crate::world::{Failing, World, answers, calls, done, end_of, options, said, started};

fn turn(content: String, tool_calls: Vec<ToolCall>) -> Completion {
    let stop_reason = if tool_calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolCalls };
    Completion { model: "m".into(), content, tool_calls, stop_reason, usage: Usage::default() }
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: Map::new(), malformed: None }
}

#[test]
fn a_turn_that_is_none_ends_the_run_by_name() {
    for (answer, want) in [
        (turn("x".repeat(10 << 20), Vec::new()), "failed: answer_too_large"),
        (turn("\u{1}".repeat(1 << 20), Vec::new()), "failed: answer_too_large"),
        (
            turn(String::new(), (0..1000).map(|at| call(&at.to_string(), "search")).collect()),
            "failed: too_many_tool_calls",
        ),
        (turn(String::new(), vec![call("1", "a"), call("1", "b")]), "failed: bad_answer"),
        (turn(String::new(), vec![call("", "a")]), "failed: bad_answer"),
        (turn(String::new(), vec![call("1", &"a".repeat(129))]), "failed: bad_answer"),
    ] {
        let mut world = World::saying_ok(&json!([]));
        world.door.instead_of_model = Box::new(move |_| Some(Ok(Ok(answer.clone()))));
        assert_eq!(world.result(options()), want);
        assert!(world.names().starts_with("started ended("), "{}", world.names());
    }
}

#[test]
fn whatever_a_tool_answers_the_next_request_can_be_asked() {
    let turns: Vec<Value> = (0..5).map(|_| calls(&[("shell", json!({ "pipeline": "yes" }))])).collect();
    let turns: Vec<Value> = turns.into_iter().chain([done("ready")]).collect();
    for (tool_output_bytes, compact_bytes) in
        [(usize::MAX, usize::MAX), (0, 0), (usize::MAX, 0), (8_000, 20_000)]
    {
        let mut world = World::new(&json!([]), |_, _, _| answers(ToolOutput::text("\u{1}€".repeat(1 << 18))));
        let step = AtomicUsize::new(0);
        let turns = turns.clone();
        // By the number of the request: what the model has said is shortened.
        world.door.instead_of_model = Box::new(move |request| {
            Asked::of(request.clone()).unwrap();
            if request.tools.is_empty() {
                return Some(Ok(Ok(turn("so far so good".into(), Vec::new()))));
            }
            let turn = &turns[step.fetch_add(1, Ordering::SeqCst)];
            let one = drydock_abi::llm::Script::parse(&json!([turn]).to_string()).unwrap();
            let first = drydock_abi::llm::Complete {
                model: "m".into(),
                messages: vec![Message::User { content: "x".into() }],
                ..Default::default()
            };
            Some(Ok(one.answer(&Asked::of(first).unwrap())))
        });
        let options = RunOptions { tool_output_bytes, compact_bytes, ..options() };
        assert_eq!(world.result(options), "ready", "{tool_output_bytes} {compact_bytes}");
        assert_eq!(Run::of(&world.kept()).unwrap().steps(), 6);
    }
}

#[test]
fn a_transcript_that_grows_too_long_is_summarised_by_the_model_or_by_hand() {
    let search = |at: usize| calls(&[("search", json!({ "query": format!("number {at}") }))]);
    for (summary, want) in [
        (
            json!({ "when": "Summary of", "content": "unused" }),
            "you called search: {\\\"query\\\":\\\"number 0\\\"}",
        ),
        (json!({ "when": "The messages:", "content": "we looked for numbers" }), "we looked for numbers"),
        (json!({ "when": "The messages:", "error": { "code": "model_failed" } }), "answer: hit hit hit"),
        (
            json!({ "when": "The messages:", "content": "", "tool_calls": [{ "name": "shell" }] }),
            "answer: hit hit hit",
        ),
    ] {
        let mut turns: Vec<Value> = (0..6).map(search).collect();
        turns.push(done("ready"));
        turns.push(summary);
        let mut world = World::new(&json!(turns), |_, _, _| answers(ToolOutput::text("hit ".repeat(300))));
        // The script counts what the model has said; a summary takes some of that away.
        let script = drydock_abi::llm::Script::parse(&json!(turns).to_string()).unwrap();
        let count = AtomicUsize::new(0);
        world.door.instead_of_model = Box::new(move |request| {
            if request.tools.is_empty() {
                return None;
            }
            let at = count.fetch_add(1, Ordering::SeqCst);
            let spoken = Message::Assistant { content: "x".into(), tool_calls: Vec::new() };
            let mut messages = vec![Message::User { content: "x".into() }];
            messages.extend(std::iter::repeat_n(spoken, at));
            let request = drydock_abi::llm::Complete { model: "m".into(), messages, ..Default::default() };
            Some(Ok(script.answer(&Asked::of(request).unwrap())))
        });
        assert_eq!(world.result(RunOptions { compact_bytes: 5_000, ..options() }), "ready");
        assert!(world.names().contains("compacted"), "{}", world.names());
        let all = serde_json::to_string(&world.kept()).unwrap();
        assert!(all.contains("[Summary of "), "{all}");
        let told = world.last_told();
        assert!(told.contains("do it") && told.contains("[Summary of "), "{told}");
        assert!(all.contains(want) || want.contains("number 0"), "{want}: {all}");
        for request in world.door.asked.lock().unwrap().iter() {
            Asked::of(request.clone()).unwrap();
        }
    }
}

#[test]
fn a_budget_ends_the_run_by_name_or_a_person_fills_it() {
    let usage = json!({ "input_tokens": 60, "output_tokens": 10, "cost_micros": 5 });
    let mut turn = calls(&[("search", json!({ "query": "x" }))]);
    turn["usage"] = usage;
    let turns = json!([turn, turn, said("ready")]);
    let world = World::saying_ok(&turns);
    let driven = world.start(RunOptions { tokens_max: Some(100), ..options() });
    assert_eq!(end_of(&driven), "failed: budget_exceeded");
    // The second turn took more than there was left: it is counted, and nothing of it is lost.
    assert_eq!((driven.head.steps, driven.head.usage.output_tokens), (2, 20));
    assert_eq!(driven.run.left(Purse::Tokens), Some(0));
    assert!(world.names().ends_with("turn calling result ended(budget_exceeded)"));

    let ask = RunOptions { cost_micros_max: Some(5), at_limit: drydock_agent::AtLimit::Ask, ..options() };
    let world = World::saying_ok(&turns);
    assert_eq!(world.result(ask.clone()), "paused");
    let review = world.answer(ReviewAnswer::Limit { limit: 100 });
    assert_eq!(review.what["unit"], "cost_micros");
    assert_eq!(end_of(&world.go_on(Vec::new())), "ready");
    assert_eq!(*world.host.more.lock().unwrap(), [(Purse::CostMicros, 100)]);

    let world = World::saying_ok(&turns);
    assert_eq!(world.result(ask), "paused");
    world.answer(ReviewAnswer::Deny { reason: "enough".into() });
    assert_eq!(end_of(&world.go_on(Vec::new())), "failed: budget_exceeded");
}

#[test]
fn a_budget_that_the_gate_finds_empty_is_asked_about_like_one_that_events_know() {
    let mut world = World::saying_ok(&json!([said("ready")]));
    let left = AtomicU64::new(1);
    world.door.instead_of_model = Box::new(move |_| {
        let is_first = left.swap(0, Ordering::SeqCst) == 1;
        is_first.then(|| Err(CallError::Denied(Denial::spent("tokens"))))
    });
    let ask = RunOptions { tokens_max: Some(100), at_limit: drydock_agent::AtLimit::Ask, ..options() };
    assert_eq!(world.result(ask), "paused");
    world.answer(ReviewAnswer::Once);
    assert_eq!(end_of(&world.go_on(Vec::new())), "ready");
    assert_eq!(*world.host.more.lock().unwrap(), [(Purse::Tokens, 100)], "as much as it had at first");
}

#[test]
fn where_nothing_can_be_kept_nothing_is_done() {
    let turns = json!([calls(&[("shell", json!({ "pipeline": "rm a" }))]), said("ready")]);
    let world = World::saying_ok(&turns);
    let hold = world.create();
    // The appends: the start, the turn, the announcement.
    let failing = Failing { inner: &*hold, left: AtomicU64::new(2), writes: false };
    let failed = world.drive_held(&failing, Run::default(), started(options())).unwrap_err();
    assert_eq!(failed.code(), "ledger_no_space");
    assert!(world.log().is_empty(), "it was not announced, and not made");
    drop(hold);
    assert_eq!(end_of(&world.go_on(vec![Event::Resumed { at_ms: 1, options: None }])), "ready");
}

#[test]
fn a_run_that_somebody_else_drove_on_is_left_alone() {
    let world = World::saying_ok(&json!([said("ready")]));
    let hold = world.create();
    world.drive_held(&*hold, Run::default(), started(options())).unwrap();
    let again = world.drive_held(&*hold, Run::default(), started(options()));
    assert!(matches!(again, Err(DriveError::Refused(AgentRefusal::Diverged))));
    assert_eq!(world.names(), "started turn ended");
}
