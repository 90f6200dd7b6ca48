//! The calls of a turn: judged, ordered, bounded, and never a reason to fall over.

use drydock_agent::{CallOutcome, Event, Order, RunOptions, tools::ToolOutput};
use drydock_contract::{Denial, FailureCode, ToolFailure};
use serde_json::{Value, json};

use crate::world::{Does, World, answers, calls, end_of, options, said};

fn read(path: &str) -> (&'static str, Value) {
    ("vfs_read", json!({ "path": path }))
}

fn write(path: &str) -> (&'static str, Value) {
    ("vfs_write", json!({ "path": path, "content": "" }))
}

/// Short words of the log: `begin r:a`.
fn short(log: &[String]) -> Vec<String> {
    let word = |it: &String| {
        let mut parts = it.splitn(3, ' ');
        let (what, tool) = (parts.next().unwrap(), parts.next().unwrap());
        let input: Value = serde_json::from_str(parts.next().unwrap()).unwrap();
        let about = input["path"].as_str().or(input["task"].as_str()).unwrap_or_default().to_owned();
        format!("{what} {}:{about}", &tool[..1])
    };
    log.iter().map(word).collect()
}

/// Things take as many polls as their name says.
fn slow(_: &str, input: &Value, _: usize) -> Does {
    let name = input["path"].as_str().or(input["task"].as_str()).unwrap_or_default();
    Does::Says(Ok(ToolOutput::text(name).to_json().into()), name[1..].parse().unwrap_or(0))
}

#[test]
fn what_only_reads_goes_side_by_side_and_what_changes_something_waits_and_is_waited_for() {
    let turn = calls(&[
        read("a9"),
        read("b1"),
        write("c3"),
        read("d5"),
        ("agent", json!({ "task": "e2" })),
        write("f0"),
    ]);
    let world = World::new(&json!([turn, said("ready")]), slow);
    assert_eq!(world.result(options()), "ready");
    assert_eq!(
        short(&world.log()),
        [
            "begin v:a9",
            "begin v:b1",
            "end v:b1",
            "end v:a9",
            "begin v:c3",
            "end v:c3",
            "begin v:d5",
            "begin a:e2",
            "end a:e2",
            "end v:d5",
            "begin v:f0",
            "end v:f0",
        ]
    );
    // What the model reads stands in the order of the calls.
    let told = world.last_told();
    let places: Vec<_> = ["a9", "b1", "c3", "d5", "e2", "f0"]
        .map(|it| told.find(&format!(r#""content":"{it}""#)).unwrap())
        .to_vec();
    assert!(places.is_sorted(), "{told}");
}

#[test]
fn on_a_tape_calls_go_one_after_the_other() {
    let turn = calls(&[read("a3"), read("b1"), read("c2")]);
    let world = World { order: Order::OneByOne, ..World::new(&json!([turn, said("ready")]), slow) };
    assert_eq!(world.result(options()), "ready");
    let want = ["begin v:a3", "end v:a3", "begin v:b1", "end v:b1", "begin v:c2", "end v:c2"];
    assert_eq!(short(&world.log()), want);
}

#[test]
fn what_begins_together_is_announced_in_one_piece_and_each_answer_is_kept_as_it_comes() {
    let turn = calls(&[read("a4"), read("b1")]);
    let world = World::new(&json!([turn, said("ready")]), slow);
    world.start(options());
    let ids: Vec<_> = world
        .kept()
        .iter()
        .filter_map(|it| match it {
            Event::Calling { id, .. } => Some(format!("calling {id}")),
            Event::Result { id, .. } => Some(format!("result {id}")),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["calling call_0_0", "calling call_0_1", "result call_0_1", "result call_0_0"]);
}

#[test]
fn no_more_than_a_few_go_on_at_once_and_a_turn_has_a_bound() {
    let turn: Vec<_> = (0..40).map(|at| read(&format!("a{}", at % 3 + 1))).collect();
    let world = World::new(&json!([calls(&turn), said("ready")]), slow);
    assert_eq!(world.result(options()), "ready");
    let (mut now, mut most, mut sum) = (0, 0, 0);
    for line in world.log() {
        match line.starts_with("begin") {
            true => (now, sum) = (now + 1, sum + 1),
            false => now -= 1,
        }
        most = most.max(now);
    }
    assert_eq!((most, sum), (drydock_agent::CALLS_AT_ONCE_MAX, drydock_agent::TURN_CALLS_MAX));
    assert_eq!(world.names().matches("result(too_many_calls)").count(), 8);
}

#[test]
fn a_call_that_cannot_be_made_is_an_error_for_the_model_and_nothing_else() {
    let turn = json!({ "tool_calls": [
        { "name": "rm_rf", "arguments": {} },
        { "name": "shell", "malformed": "{\"pipeline\": \"ls" },
        { "name": "shell", "arguments": { "pipeline": 7 } },
        { "name": "shell", "arguments": { "pipeline": "ls", "sudo": true } },
        { "name": "git", "arguments": { "message": "m" } },
        { "name": "vfs_read", "arguments": { "path": "a" } },
    ]});
    let world = World::saying_ok(&json!([turn, said("ready")]));
    let tools = Some(vec!["shell".into(), "vfs_read".into()]);
    assert_eq!(world.result(RunOptions { tools, ..options() }), "ready");
    assert_eq!(world.log().len(), 2, "only the last one was made: {:?}", world.log());
    let told = world.last_told();
    for want in [
        "unknown tool: `rm_rf`",
        "the arguments are no JSON object",
        "invalid type: integer `7`, expected a string",
        "unknown field `sudo`",
        "the tool `git` is not offered in this run",
    ] {
        assert!(told.contains(want), "{want}: {told}");
    }
    assert_eq!(world.door.asked.lock().unwrap()[0].tools.len(), 3, "these, and `done`");
}

#[test]
fn an_exec_tool_without_its_grant_is_refused_at_the_gate() {
    let world = World::new(&json!([calls(&[("publish", json!({}))]), said("pity")]), |_, _, _| {
        Does::Denied(Denial::ToolNotGranted { tool: "agent.publish".into(), why: "", rules: None })
    });
    assert_eq!(world.result(options()), "pity");
    assert!(world.last_told().contains("refused: tool `agent.publish` is not granted"));
    assert!(world.names().contains("result(tool_not_granted)"));
}

#[test]
fn a_call_that_hangs_is_dropped_when_its_time_is_over_and_a_sub_agent_is_not() {
    let turn = calls(&[("shell", json!({ "pipeline": "sleep 999" }))]);
    let world = World::new(&json!([turn, said("on")]), |_, _, _| Does::Hangs);
    assert_eq!(world.result(options()), "on");
    assert!(world.log().last().unwrap().starts_with("drop shell"));
    assert!(world.last_told().contains("was ended after 150000 ms"));
    assert!(world.names().contains("result(timeout)"));
    let turn = calls(&[("agent", json!({ "task": "x" }))]);
    let slow = |_: &str, _: &Value, _: usize| Does::Says(Ok(ToolOutput::text("late").to_json().into()), 500);
    let world = World::new(&json!([turn, said("on")]), slow);
    assert_eq!(world.result(options()), "on");
    assert!(world.last_told().contains("late"));
}

#[test]
fn a_long_output_is_cut_and_kept_whole() {
    let long = format!("HEAD{}TAIL", "x".repeat(100_000));
    let whole = long.clone();
    let turn = calls(&[("shell", json!({ "pipeline": "cat big" }))]);
    let world = World::new(&json!([turn, said("ready")]), move |_, _, _| {
        answers(ToolOutput { exit_code: Some(3), ..ToolOutput::text(long.clone()) })
    });
    world.start(options());
    let path = "/workspace/.drydock/1-0.txt";
    assert_eq!(world.host.kept.lock().unwrap()[path], whole);
    let result = world.kept().into_iter().find_map(|it| match it {
        Event::Result { output, outcome, whole, .. } => Some((output, outcome, whole)),
        _ => None,
    });
    let (output, outcome, whole) = result.unwrap();
    assert!(output.len() <= 8_000 && output.starts_with("HEAD") && output.ends_with("TAIL"));
    assert!(output.contains(path) && whole.as_deref() == Some(path));
    assert_eq!(outcome, CallOutcome::Done { exit_code: Some(3) });
}

#[test]
fn a_tool_that_fails_or_answers_nonsense_is_an_error_for_the_model() {
    for (does, want) in [
        (Does::Says(Ok(b"[1,2".to_vec().into()), 0), "bad_answer"),
        (Does::Says(Ok(b"{\"text\":1}".to_vec().into()), 0), "bad_answer"),
        (Does::Says(Err(ToolFailure::new(FailureCode::ToolError, "no such file")), 0), "tool_error"),
        (Does::Denied(Denial::TooLarge { what: "request", bytes: 9, max: 1 }), "too_large"),
    ] {
        let does = std::sync::Mutex::new(Some(does));
        let world = World::new(&json!([calls(&[read("a")]), said("on")]), move |_, _, _| {
            does.lock().unwrap().take().unwrap()
        });
        assert_eq!(end_of(&world.start(options())), "on");
        assert!(world.names().contains(&format!("result({want})")), "{}", world.names());
    }
}
