//! How a run goes and ends.

use drydock_abi::llm::Message;
use drydock_agent::{Event, ForkChanges, Run, RunEnd, RunOptions, fork};
use drydock_contract::{AgentStatus, CallError, Denial, port::Agents as _};
use drydock_testkit::block_on;
use serde_json::json;

use crate::world::{World, answers, calls, done, end_of, options, run_id, said, says};
use drydock_agent::tools::ToolOutput;

#[test]
fn a_run_asks_calls_and_ends_with_what_the_model_says_at_last() {
    let world = World::saying_ok(&json!([calls(&[("search", json!({ "query": "x" }))]), said("found it")]));
    let driven = world.start(options());
    assert_eq!(end_of(&driven), "found it");
    assert_eq!(world.names(), "started turn calling result turn ended");
    assert_eq!((driven.head.status, driven.head.steps), (AgentStatus::Done, 2));
    assert_eq!(driven.head.result.as_deref(), Some("found it"));
    let asked = world.door.asked.lock().unwrap();
    assert_eq!(asked[0].system.as_deref(), Some("You are a clerk."));
    assert_eq!(asked[0].tools.len(), 15);
    assert!(
        matches!(&asked[1].messages[2], Message::Tool { content, is_error: false, .. } if content == "ok")
    );
    assert_eq!(*world.host.seen.lock().unwrap(), world.kept());
}

#[test]
fn done_ends_the_run_after_the_other_calls_of_its_turn() {
    let turn = calls(&[
        ("done", json!({ "result": "ready" })),
        ("vfs_write", json!({ "path": "a", "content": "b" })),
        ("done", json!({ "result": "a second word" })),
    ]);
    let world = World::saying_ok(&json!([turn]));
    assert_eq!(world.result(options()), "ready");
    assert_eq!(world.log().len(), 2, "the write was made, and `done` is no call at the gate");
}

#[test]
fn a_done_with_wrong_arguments_is_no_end() {
    let world = World::saying_ok(&json!([calls(&[("done", json!({ "answer": 1 }))]), said("then so")]));
    assert_eq!(world.result(options()), "then so");
    assert_eq!(world.names(), "started turn result(bad_arguments) turn ended");
}

#[test]
fn an_empty_turn_is_nudged_once_and_then_there_is_no_result() {
    let world = World::saying_ok(&json!([said(""), said(" \n")]));
    assert_eq!(world.result(options()), "(no result)");
    assert_eq!(world.names(), "started turn nudged turn ended");
    let world = World::saying_ok(&json!([said(""), said("here")]));
    assert_eq!(world.result(options()), "here");
}

#[test]
fn a_run_that_makes_the_same_call_for_ever_is_told_so_and_ends_by_name() {
    let turn = calls(&[("search", json!({ "query": "x" }))]);
    let world = World::saying_ok(&json!(vec![turn; 20]));
    let driven = world.start(options());
    assert_eq!(end_of(&driven), "failed: max_steps");
    assert!(matches!(&driven.stop, drydock_agent::Stop::Ended(RunEnd::Failed { message, .. })
        if message == "stopped: reached max_steps (12)"));
    assert_eq!(driven.head.reason.as_deref(), Some("max_steps"));
    let asked = world.door.asked.lock().unwrap();
    let told = |at: usize| serde_json::to_string(&asked[at].messages).unwrap();
    assert!(!told(2).contains("times in a row") && told(3).contains("the same calls 3 times in a row"));
    assert_eq!(asked.len(), 12);
}

#[test]
fn failures_of_the_model_end_a_run_by_name_and_it_can_be_resumed() {
    for (code, want) in [
        ("model_rate_limited", "model_failed"),
        ("timed_out", "model_failed"),
        ("connect_failed", "model_failed"),
        ("answer_cut_off", "model_failed"),
        ("bad_answer", "bad_answer"),
        ("answer_too_large", "answer_too_large"),
        ("too_many_tool_calls", "too_many_tool_calls"),
        ("unknown_model", "unknown_model"),
    ] {
        let error = json!({ "error": { "code": code, "message": "as ordered" } });
        let world = World::saying_ok(&json!([calls(&[("search", json!({ "query": "x" }))]), error]));
        assert_eq!(world.result(options()), format!("failed: {want}"));
        assert!(world.names().ends_with(&format!("ended({want})")));
    }
    let world = World::saying_ok(&json!([]));
    assert_eq!(world.result(options()), "failed: script_ended");
    let resumed = world.go_on(vec![Event::Resumed { at_ms: 9, options: None }]);
    assert_eq!(end_of(&resumed), "failed: script_ended", "and once more");
}

#[test]
fn a_refused_model_ends_the_run_by_the_code_of_the_refusal() {
    for (denial, want) in [
        (Denial::Revoked, "failed: revoked"),
        (Denial::Cancelled, "cancelled"),
        (Denial::RateLimited { calls_max: 1, window_s: 60 }, "failed: rate_limited"),
        (Denial::spent("calls"), "failed: budget_exceeded"),
        (Denial::spent("tokens"), "failed: budget_exceeded"),
    ] {
        let mut world = World::saying_ok(&json!([said("hi")]));
        world.door.instead_of_model = Box::new(move |_| Some(Err(CallError::Denied(denial.clone()))));
        assert_eq!(world.result(options()), want);
    }
}

#[test]
fn a_run_that_is_over_goes_on_with_what_somebody_says_and_more_steps() {
    let world = World::saying_ok(&json!([
        said("first"),
        calls(&[("search", json!({ "query": "x" }))]),
        said("second")
    ]));
    assert_eq!(world.result(options()), "first");
    let said = Event::Said { at_ms: 9, text: "and now?".into() };
    let driven = world.go_on(vec![Event::Resumed { at_ms: 9, options: None }, said]);
    assert_eq!(end_of(&driven), "second");
    assert!(world.last_told().contains("and now?"));
    // With no word more there is nothing to be done.
    let again = world.go_on(vec![Event::Resumed { at_ms: 9, options: None }]);
    assert_eq!((end_of(&again).as_str(), world.door.asked.lock().unwrap().len()), ("second", 3));
    // One that stopped at its bound goes on where it is another.
    let turns = vec![calls(&[("search", json!({ "query": "x" }))]), done("at last")];
    let world = World::saying_ok(&json!(turns));
    assert_eq!(world.result(RunOptions { max_steps: 1, ..options() }), "failed: max_steps");
    let more = Some(RunOptions { max_steps: 2, ..options() });
    assert_eq!(end_of(&world.go_on(vec![Event::Resumed { at_ms: 9, options: more }])), "at last");
}

#[test]
fn a_run_is_cancelled_between_steps_and_within_one_and_its_calls_are_dropped() {
    let turns = json!([calls(&[("shell", json!({ "pipeline": "sleep 99" }))]), said("never")]);
    let world = World::new(&turns, |_, _, _| crate::world::Does::Hangs);
    let hold = world.create();
    let tools: Vec<_> = drydock_agent::tools::CATALOGUE.iter().collect();
    let mut driver = world.driver(&*hold, &tools);
    let silent = drydock_testkit::FixedClock::default();
    driver.timer = &silent;
    let mut driving = Box::pin(driver.drive(Run::default(), world.head(), crate::world::started(options())));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(driving.as_mut().poll(&mut cx).is_pending());
    assert!(block_on(world.agents.cancel(&world.tenant, &run_id(), drydock_contract::Timestamp(0))).unwrap());
    let driven = block_on(driving).unwrap();
    assert_eq!((end_of(&driven).as_str(), driven.head.status), ("cancelled", AgentStatus::Cancelled));
    assert!(world.log().last().unwrap().starts_with("drop shell"), "{:?}", world.log());
    drop(hold);
    // What was in flight is asked about when somebody goes on with it.
    let resumed = world.go_on(vec![Event::Resumed { at_ms: 9, options: None }]);
    assert_eq!(end_of(&resumed), "paused");
}

#[test]
fn files_are_kept_after_each_turn_that_may_have_changed_some() {
    let turns = json!([
        calls(&[("vfs_write", json!({ "path": "a", "content": "b" })), ("vfs_read", json!({ "path": "a" }))]),
        calls(&[("vfs_read", json!({ "path": "a" }))]),
        calls(&[("shell", json!({ "pipeline": "ls" }))]),
        calls(&[("shell", json!({ "pipeline": "touch b" }))]),
        calls(&[("edit_file", json!({ "path": 1 }))]),
        said("ready"),
    ]);
    let world = World::new(&turns, |_, input, _| match input["pipeline"] == "ls" {
        true => {
            answers(ToolOutput { files_changed: Some(false), exit_code: Some(0), ..ToolOutput::text("a") })
        }
        false => says("ok"),
    });
    assert_eq!(world.result(options()), "ready");
    assert_eq!(*world.host.snapshots.lock().unwrap(), [1, 4]);
}

#[test]
fn a_fork_has_the_events_up_to_its_turn_and_nothing_that_people_allowed() {
    let read = |path: &str| calls(&[("vfs_read", json!({ "path": path }))]);
    let world = World::saying_ok(&json!([read("a"), read("b"), said("as it was")]));
    let review = RunOptions { review: vec!["vfs_read".into()], ..options() };
    assert_eq!(world.result(review), "paused");
    world.answer(drydock_contract::ReviewAnswer::Session);
    assert_eq!(end_of(&world.go_on(Vec::new())), "as it was");
    let events = world.kept();
    let changes = ForkChanges {
        options: Some(RunOptions { model: "other".into(), ..options() }),
        said: Some("try it in another way".into()),
        ..ForkChanges::default()
    };
    let forked = fork(&events, 1, changes, 77).unwrap();
    let names: Vec<_> = forked.iter().map(Event::name).collect();
    assert_eq!(names, ["started", "turn", "calling", "result", "said"]);
    let run = Run::of(&forked).unwrap();
    assert_eq!((run.steps(), run.options().model.as_str(), run.started_ms()), (1, "other", 77));
    assert_eq!(run.usage().input_tokens, 0);
    for step in 0..=3 {
        let run = Run::of(&fork(&events, step, ForkChanges::default(), 1).unwrap()).unwrap();
        assert_eq!((run.steps(), run.pending().len(), run.given().len()), (step, 0, 0));
        assert_eq!(run.options().review, ["vfs_read"], "it is asked about again");
    }
    let told = fork(&events, 4, ForkChanges::default(), 1).unwrap_err().to_string();
    assert_eq!(told, "the run has no turn 4: it has 3");
    let half = &events[..2];
    let told = fork(half, 1, ForkChanges::default(), 1).unwrap_err().to_string();
    assert_eq!(told, "turn 1 has calls without an answer: fork from turn 0 or an earlier one");
}
