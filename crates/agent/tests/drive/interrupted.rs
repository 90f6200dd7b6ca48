//! Ended at every place where a run can be ended, and gone on with: the same result, and nothing done twice.

use std::sync::atomic::AtomicU64;

use drydock_agent::{Event, OnDenial, Run, RunOptions, tools};
use drydock_contract::{
    ReviewAnswer, ReviewKind,
    port::{Agents as _, Clock as _, Wanted},
};
use drydock_testkit::block_on;
use serde_json::{Value, json};

use crate::world::{Does, Failing, World, calls, done, end_of, options, run_id, said, says, started};
use drydock_agent::tools::ToolOutput;

/// Reads side by side, changes, a review, a nudge, a sub-agent beside a read, a call that is none, a summary.
fn turns() -> Value {
    json!([
        calls(&[
            ("vfs_read", json!({ "path": "a" })),
            ("search", json!({ "query": "b" })),
            ("shell", json!({ "pipeline": "append c" })),
        ]),
        calls(&[("edit_file", json!({ "path": "d", "old": "x", "new": "y" })), ("shell", json!({}))]),
        said(""),
        calls(&[("agent", json!({ "task": "e" })), ("fetch", json!({ "url": "https://f.test/" }))]),
        calls(&[("publish", json!({})), ("git", json!({ "message": "g" }))]),
        calls(&[("file_issue", json!({ "title": "h" })), ("done", json!({ "result": "all of it" }))]),
    ])
}

fn world() -> World {
    World::new(&turns(), |tool, _, _| match tool {
        "vfs_read" => Does::Says(Ok(ToolOutput::text("read").to_json().into()), 3),
        "agent" => Does::Says(Ok(ToolOutput::text("sub").to_json().into()), 2),
        _ => says("ok"),
    })
}

fn all_options() -> RunOptions {
    RunOptions { review: vec!["edit_file".into(), "git".into()], on_denial: OnDenial::Ask, ..options() }
}

/// What a person does who looks: a call that was in flight is made again if it did nothing.
fn answer_all(world: &World) {
    let now = world.clock.now();
    let pending = block_on(world.agents.reviews(&world.tenant, None, Wanted::Pending, 9, now)).unwrap();
    for review in pending {
        let name = format!(
            "{} {}",
            review.what["tool"].as_str().unwrap(),
            serde_json::to_string(&review.what["arguments"]).unwrap()
        );
        let was_done = world.door.done.lock().unwrap().get(&name).is_some_and(|it| *it > 0);
        let answer = match review.kind == ReviewKind::InFlight && was_done {
            true => ReviewAnswer::Deny { reason: "it was done".into() },
            false => ReviewAnswer::Once,
        };
        block_on(world.agents.answer(&world.tenant, &review.id, answer, "ada", now)).unwrap().unwrap();
    }
}

/// Drives until the end; whatever waits for a person is answered.
fn finish(world: &World) -> String {
    for _ in 0..20 {
        let driven = world.go_on(vec![Event::Resumed { at_ms: 1, options: None }]);
        match end_of(&driven).as_str() {
            "paused" => answer_all(world),
            end => return end.to_owned(),
        }
    }
    panic!("it does not end: {}", world.names());
}

/// What was carried out, without what may be repeated.
fn not_repeatable(world: &World) -> Vec<(String, usize)> {
    let done = world.door.done.lock().unwrap();
    let is_once = |name: &str| {
        let tool = tools::tool(name.split(' ').next().unwrap()).unwrap();
        !tool.may_repeat()
    };
    done.iter().filter(|it| is_once(it.0)).map(|(name, count)| (name.clone(), *count)).collect()
}

/// Drives a new run, and ends it at append number `at`. Whether it came so far.
fn interrupt(world: &World, at: u64, writes: bool) -> bool {
    let (mut left, mut events) = (at, Vec::new());
    let mut hold = world.create();
    loop {
        let run = Run::of(&events).unwrap();
        let first = if events.is_empty() { started(all_options()) } else { Vec::new() };
        let failing = Failing { inner: &*hold, left: AtomicU64::new(left), writes };
        let driven = world.drive_held(&failing, run, first);
        let used = left.wrapping_sub(failing.left.into_inner());
        match driven {
            Err(_) => return true,
            Ok(driven) if end_of(&driven) == "paused" => answer_all(world),
            Ok(_) => return false,
        }
        left -= used;
        drop(hold);
        hold = block_on(world.agents.hold(&world.tenant, &run_id())).unwrap().unwrap();
        events = world.kept();
    }
}

#[test]
fn a_run_that_is_ended_anywhere_comes_to_the_same_result_and_does_nothing_twice() {
    let whole = world();
    assert!(!interrupt(&whole, u64::MAX / 2, true));
    let (want, result) = (not_repeatable(&whole), whole.kept());
    assert!(matches!(result.last(), Some(Event::Ended { .. })), "{}", whole.names());
    assert_eq!(want.len(), 3, "{want:?}");
    assert!(want.iter().all(|it| it.1 == 1));
    let mut ended = 0;
    for writes in [false, true] {
        for at in 0.. {
            let world = world();
            if !interrupt(&world, at, writes) {
                break;
            }
            ended += 1;
            if world.kept().is_empty() {
                continue;
            }
            assert_eq!(finish(&world), "all of it", "append {at}, written: {writes}: {}", world.names());
            assert_eq!(not_repeatable(&world), want, "append {at}, written: {writes}: {}", world.names());
            Run::of(&world.kept()).unwrap();
        }
    }
    assert!(ended > 40, "{ended} places");
}

#[test]
fn what_only_reads_is_called_again_and_a_person_is_asked_about_the_rest() {
    for (tool, arguments, want) in [
        ("vfs_read", json!({ "path": "a" }), "ready"),
        ("vfs_write", json!({ "path": "a", "content": "b" }), "ready"),
        ("shell", json!({ "pipeline": "rm a" }), "paused"),
        // The run that it began is found again.
        ("agent", json!({ "task": "t" }), "ready"),
    ] {
        let world = World::saying_ok(&json!([calls(&[(tool, arguments)]), said("ready")]));
        let hold = world.create();
        let failing = Failing { inner: &*hold, left: AtomicU64::new(3), writes: false };
        world.drive_held(&failing, Run::default(), started(options())).unwrap_err();
        drop(hold);
        assert_eq!(end_of(&world.go_on(Vec::new())), want, "{tool}");
        if want == "paused" {
            let review = world.answer(ReviewAnswer::Deny { reason: "look first".into() });
            assert_eq!(review.kind, ReviewKind::InFlight);
            assert_eq!(end_of(&world.go_on(Vec::new())), "ready");
            assert!(world.last_told().contains("look first"));
            assert_eq!(world.log().iter().filter(|it| it.starts_with("begin")).count(), 1);
        }
    }
}

#[test]
fn a_damaged_list_of_events_is_named_with_its_place() {
    let world = World::saying_ok(&json!([done("x")]));
    world.start(options());
    let mut events: Vec<Vec<u8>> = world.kept().iter().map(Event::to_json).collect();
    assert!(Run::read(&events).is_ok());
    events[2] = b"{\"event\":\"resul".to_vec();
    let told = Run::read(&events).unwrap_err().to_string();
    assert!(told.starts_with("event 2 of the run is damaged: no event of a run: EOF"), "{told}");
    events.swap(0, 1);
    assert!(Run::read(&events).unwrap_err().to_string().contains("event 0 of the run is damaged: `turn`"));
}
