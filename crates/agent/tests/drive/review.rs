//! People: asked, waited for without holding anything, heard, and never asked twice about the same thing.

use std::sync::Arc;

use drydock_agent::{
    Event, OnDenial, RunOptions, Stop,
    tools::{ToolDenial, ToolOutput},
};
use drydock_contract::{
    AgentHead, AgentId, AgentStatus, BoxFuture, Denial, ReviewAnswer, ReviewKind, Timestamp,
    port::{AgentRefusal, Agents as _, LedgerError, RunHold, Wanted},
};
use drydock_testkit::block_on;
use serde_json::{Value, json};

use crate::world::{Does, World, answers, calls, end_of, options, said, says};

fn shell(line: &str) -> (&'static str, Value) {
    ("shell", json!({ "pipeline": line }))
}

fn reviewed() -> RunOptions {
    RunOptions { review: vec!["shell".into()], ..options() }
}

fn deny(reason: &str) -> ReviewAnswer {
    ReviewAnswer::Deny { reason: reason.into() }
}

#[test]
fn a_call_that_wants_a_review_waits_for_it_and_nobody_holds_the_run_meanwhile() {
    let world = World::saying_ok(&json!([calls(&[shell("rm a")]), said("ready")]));
    let driven = world.start(reviewed());
    assert_eq!(driven.stop, Stop::Paused { until_ms: None });
    assert_eq!(driven.head.status, AgentStatus::Waiting);
    assert!(world.log().is_empty());
    assert_eq!(world.names(), "started turn asked");
    // Driven before anybody answered, it waits on.
    assert_eq!(end_of(&world.go_on(Vec::new())), "paused");
    let review = world.answer(ReviewAnswer::Once);
    assert_eq!((review.kind, review.call.as_deref()), (ReviewKind::Tool, Some("call_0_0")));
    let what =
        json!({ "tool": "shell", "arguments": { "pipeline": "rm a" }, "preview": { "command": "rm a" } });
    assert_eq!(review.what, what);
    assert_eq!(end_of(&world.go_on(Vec::new())), "ready");
    assert_eq!(world.names(), "started turn asked answered calling result turn ended");
    assert_eq!(world.log().len(), 2);
}

#[test]
fn a_call_that_is_too_long_to_be_shown_says_so_in_the_question() {
    let line = format!("#{}\necho EVIL\n#{}", "x".repeat(12_000), "x".repeat(12_000));
    let world = World::saying_ok(&json!([calls(&[shell(&line)]), said("ready")]));
    world.start(reviewed());
    let review = world.answer(ReviewAnswer::Once);
    assert!(!review.what.to_string().contains("EVIL"), "it is in the middle, which is cut");
    let not_shown = review.what["not_shown"].as_u64().unwrap();
    assert!(not_shown > 7_000, "{not_shown}");
    assert!(
        review.title.starts_with(&format!("{not_shown} BYTES OF IT ARE NOT SHOWN HERE")),
        "{}",
        review.title
    );
}

#[test]
fn a_question_of_a_run_that_was_cancelled_is_asked_again_and_answered_by_nobody() {
    let turns = json!([calls(&[shell("rm a")]), said("ready")]);
    let world = World::saying_ok(&turns);
    let driven = world.start(reviewed());
    let first = driven.run.pending().keys().next().unwrap().clone();
    let resumed = || {
        let ended = Event::Ended { at_ms: 1, end: drydock_agent::RunEnd::Cancelled, spent: None };
        vec![ended, Event::Resumed { at_ms: 1, options: None }]
    };
    assert!(block_on(world.agents.cancel(&world.tenant, &crate::world::run_id(), Timestamp(0))).unwrap());
    let again = world.go_on(resumed());
    assert_eq!(end_of(&again), "paused");
    assert_eq!(again.head.status, AgentStatus::Waiting);
    assert!(!again.run.pending().contains_key(&first));
    assert_eq!(world.names(), "started turn asked ended resumed asked");
    world.answer(ReviewAnswer::Once);
    assert_eq!(end_of(&world.go_on(Vec::new())), "ready");
}

#[test]
fn a_run_says_that_it_waits_once_its_question_can_be_read() {
    /// Looks into the queue whenever a head says that the run waits.
    struct Looking<'a>(&'a World, Box<dyn RunHold>, std::sync::Mutex<Vec<usize>>);
    impl RunHold for Looking<'_> {
        fn run(&self) -> &AgentId {
            self.1.run()
        }
        fn append<'a>(
            &'a self,
            at: u64,
            events: Vec<Vec<u8>>,
            head: AgentHead,
        ) -> BoxFuture<'a, Result<Result<(), AgentRefusal>, LedgerError>> {
            if head.status == AgentStatus::Waiting {
                let all = self.0.agents.reviews(&self.0.tenant, None, Wanted::Pending, 9, Timestamp(0));
                self.2.lock().unwrap().push(block_on(all).unwrap().len());
            }
            self.1.append(at, events, head)
        }
        fn sync(&self) -> BoxFuture<'_, Result<(), LedgerError>> {
            self.1.sync()
        }
        fn cancelled(&self) -> BoxFuture<'_, ()> {
            self.1.cancelled()
        }
    }
    let world = World::saying_ok(&json!([calls(&[shell("rm a")]), said("ready")]));
    let hold = Looking(&world, world.create(), Default::default());
    let run = drydock_agent::Run::default();
    let driven = world.drive_held(&hold, run, crate::world::started(reviewed())).unwrap();
    assert_eq!(driven.head.status, AgentStatus::Waiting);
    assert_eq!(*hold.2.lock().unwrap(), [1]);
}

#[test]
fn no_is_told_with_its_reason_and_nothing_is_called() {
    let world = World::saying_ok(&json!([calls(&[shell("rm a")]), said("pity")]));
    world.start(reviewed());
    world.answer(deny("not on a Friday"));
    assert_eq!(end_of(&world.go_on(Vec::new())), "pity");
    let told = world.last_told();
    assert!(told.contains("[not called: refused by a person: not on a Friday]"), "{told}");
    assert!(world.log().is_empty());
    assert!(world.names().contains("result(refused)"));
}

#[test]
fn an_answer_holds_for_one_call_for_some_or_for_the_rest_of_the_run() {
    for (answer, want) in
        [(ReviewAnswer::Once, 1), (ReviewAnswer::Limit { limit: 2 }, 2), (ReviewAnswer::Session, 4)]
    {
        let turns = json!([
            calls(&[shell("a"), shell("b")]),
            calls(&[shell("c"), ("vfs_read", json!({ "path": "x" }))]),
            calls(&[shell("d")]),
            said("ready")
        ]);
        let world = World::saying_ok(&turns);
        world.start(reviewed());
        world.answer(answer.clone());
        world.go_on(Vec::new());
        let shells = world.log().iter().filter(|it| it.starts_with("begin shell")).count();
        assert_eq!(shells, want, "{answer:?}");
    }
}

#[test]
fn what_nobody_answers_in_time_counts_as_refused_and_cannot_be_answered_later() {
    let world = World::saying_ok(&json!([calls(&[shell("rm a")]), said("pity")]));
    let driven = world.start(RunOptions { review_wait_ms: Some(5), ..reviewed() });
    let Stop::Paused { until_ms: Some(until) } = driven.stop else { panic!("{:?}", driven.stop) };
    let id = driven.run.pending().keys().next().unwrap().clone();
    let late = Timestamp(until * 1_000_000);
    let answer =
        || block_on(world.agents.answer(&world.tenant, &id, ReviewAnswer::Once, "ada", late)).unwrap();
    assert_eq!(answer().unwrap_err(), AgentRefusal::Expired);
    while drydock_contract::port::Clock::now(&world.clock) < late {}
    assert_eq!(end_of(&world.go_on(Vec::new())), "pity");
    assert!(world.last_told().contains("nobody answered in time"));
    assert!(world.names().contains("result(review_expired)") && world.log().is_empty());
    assert_eq!(answer().unwrap_err(), AgentRefusal::Expired);
}

#[test]
fn a_review_that_was_answered_twice_keeps_its_first_answer() {
    let world = World::saying_ok(&json!([calls(&[shell("rm a")]), said("pity")]));
    world.start(reviewed());
    let id = world.answer(deny("no")).id;
    let again = world.agents.answer(&world.tenant, &id, ReviewAnswer::Session, "eve", Timestamp(0));
    assert_eq!(block_on(again).unwrap().unwrap_err(), AgentRefusal::Answered);
    assert_eq!(end_of(&world.go_on(Vec::new())), "pity");
    assert!(world.log().is_empty());
}

fn not_granted() -> Denial {
    Denial::ToolNotGranted { tool: "agent.shell".into(), why: "", rules: Some(Arc::new([])) }
}

/// A shell that is granted once somebody gave something.
fn refusing(denial: Denial) -> impl Fn(&str, &Value, usize) -> Does + Send + Sync {
    let tries = std::sync::atomic::AtomicUsize::new(0);
    move |_, _, _| match tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        0 => Does::Denied(denial.clone()),
        _ => says("ok"),
    }
}

#[test]
fn a_refused_call_asks_for_the_smallest_grant_where_the_run_says_so() {
    let turns = json!([calls(&[shell("ls")]), said("ready")]);
    let world = World::new(&turns, refusing(not_granted()));
    assert_eq!(world.result(RunOptions { on_denial: OnDenial::Ask, ..options() }), "paused");
    assert_eq!(world.names(), "started turn calling asked");
    let review = world.answer(ReviewAnswer::Limit { limit: 3 });
    assert_eq!(review.grant, Some(json!({ "cap": "tool", "subjects": ["agent.shell"] })));
    assert_eq!(end_of(&world.go_on(Vec::new())), "ready");
    assert_eq!(world.names(), "started turn calling asked answered calling result turn ended");
    let given = world.host.given.lock().unwrap().clone();
    assert_eq!((given[0].uses, &given[0].grant), (Some(3), review.grant.as_ref().unwrap()));
    // Where it does not say so, the model is told and nobody is asked.
    let world = World::new(&turns, refusing(not_granted()));
    assert_eq!(world.result(options()), "ready");
    assert!(world.names().contains("result(tool_not_granted)"));
}

#[test]
fn a_grant_that_was_refused_is_not_asked_for_again() {
    let turns = json!([calls(&[shell("ls")]), calls(&[shell("ls")]), said("pity")]);
    let world = World::new(&turns, |_, _, _| Does::Denied(not_granted()));
    assert_eq!(world.result(RunOptions { on_denial: OnDenial::Ask, ..options() }), "paused");
    world.answer(deny("never"));
    assert_eq!(end_of(&world.go_on(Vec::new())), "pity");
    assert_eq!(world.names().matches("asked").count(), 1);
    assert!(world.host.given.lock().unwrap().is_empty());
}

#[test]
fn what_only_a_person_lifts_is_always_asked_about() {
    let grant = drydock_contract::GrantSpec::parse(br#"{"cap":"tool","subjects":["agent.shell"]}"#).unwrap();
    let denial = Denial::ReviewNeeded {
        cap: drydock_contract::Cap::Tool,
        subjects: Arc::<str>::from("agent.shell").into(),
        grant: Some(Arc::new(grant)),
    };
    let world = World::new(&json!([calls(&[shell("ls")]), said("ready")]), refusing(denial));
    assert_eq!(world.result(options()), "paused");
    world.answer(ReviewAnswer::Once);
    assert_eq!(end_of(&world.go_on(Vec::new())), "ready");
    assert_eq!(world.host.given.lock().unwrap().len(), 1);
}

#[test]
fn what_was_refused_to_something_a_tool_ran_is_asked_about_and_the_model_hears_of_it() {
    let grant = json!({ "cap": "net", "subjects": ["a.test:443"] });
    let told = grant.clone();
    let table = move |_: &str, _: &Value, before: usize| {
        let denial = ToolDenial {
            code: "host_not_granted".into(),
            why: "host `a.test:443` is not granted".into(),
            grant: Some(told.clone()),
        };
        let denials = if before == 0 { vec![denial.clone(), denial] } else { Vec::new() };
        answers(ToolOutput { exit_code: Some(6), denials, ..ToolOutput::text("curl: refused") })
    };
    let turns = json!([calls(&[shell("curl a.test")]), calls(&[shell("curl a.test")]), said("ready")]);
    let world = World::new(&turns, table);
    assert_eq!(world.result(RunOptions { on_denial: OnDenial::Ask, ..options() }), "paused");
    assert_eq!(world.names(), "started turn calling result asked", "the call is over and is not made again");
    let review = world.answer(ReviewAnswer::Session);
    assert_eq!(review.grant, Some(grant));
    // Who is asked sees what wanted it, though that is over.
    assert_eq!(review.what["tool"], "shell");
    assert_eq!(review.what["arguments"], json!({ "pipeline": "curl a.test" }));
    assert!(review.what["call"].as_str().unwrap().starts_with("over: "), "{}", review.what);
    assert!(review.title.ends_with("; wanted by `shell`: curl a.test"), "{}", review.title);
    assert_eq!(end_of(&world.go_on(Vec::new())), "ready");
    let asked = world.door.asked.lock().unwrap();
    let second = serde_json::to_string(&asked[1].messages).unwrap();
    let read = r"curl: refused\n[refused on the way: host `a.test:443` is not granted]\n[exit status 6]";
    assert!(second.contains(read), "once, and with its status: {second}");
    assert!(
        second.contains("[A person allowed it: host `a.test:443` is not granted. You may try again.]"),
        "{second}"
    );
}

#[test]
fn what_people_gave_is_given_again_when_a_run_is_gone_on_with() {
    let turns = json!([calls(&[shell("ls")]), { "error": { "code": "model_failed" } }]);
    let world = World::new(&turns, refusing(not_granted()));
    world.start(RunOptions { on_denial: OnDenial::Ask, ..options() });
    world.answer(ReviewAnswer::Session);
    assert_eq!(end_of(&world.go_on(Vec::new())), "failed: model_failed");
    let before = world.host.given.lock().unwrap().clone();
    world.go_on(vec![Event::Resumed { at_ms: 1, options: None }]);
    let after = world.host.given.lock().unwrap().clone();
    assert_eq!((before.len(), after.len()), (1, 2));
    assert_eq!(after[0], after[1], "under the same review: what was used of it counts");
}

#[test]
fn other_calls_of_a_turn_go_on_while_one_waits_for_a_person() {
    let review = RunOptions { review: vec!["fetch".into()], ..options() };
    let turn = calls(&[
        ("fetch", json!({ "url": "https://a.test/" })),
        ("search", json!({ "query": "x" })),
        shell("touch a"),
    ]);
    let world = World::saying_ok(&json!([turn, said("ready")]));
    assert_eq!(world.result(review), "paused");
    assert_eq!(world.names(), "started turn asked calling result");
    world.answer(ReviewAnswer::Once);
    assert_eq!(end_of(&world.go_on(Vec::new())), "ready");
    let begun: Vec<_> = world.log().into_iter().filter(|it| it.starts_with("begin")).collect();
    assert!(
        begun[0].contains("search") && begun[1].contains("fetch") && begun[2].contains("shell"),
        "{begun:?}"
    );
}

#[test]
fn where_nobody_can_be_asked_the_call_is_refused() {
    // A question about a run that its tenant does not keep any more.
    let world = World::saying_ok(&json!([calls(&[shell("ls")]), said("pity")]));
    let elsewhere = drydock_testkit::MemoryAgents::default();
    let hold = world.create();
    let tools: Vec<_> = drydock_agent::tools::CATALOGUE.iter().collect();
    let mut driver = world.driver(&*hold, &tools);
    driver.agents = &elsewhere;
    let run = drydock_agent::Run::default();
    let driven = block_on(driver.drive(run, world.head(), crate::world::started(reviewed()))).unwrap();
    assert_eq!(end_of(&driven), "pity");
    assert!(world.last_told().contains("nobody can be asked"));
    let all = world.agents.reviews(&world.tenant, None, Wanted::All, 9, Timestamp(0));
    assert!(block_on(all).unwrap().is_empty());
}
