//! Runs of agents by way of the library: opened, driven, interrupted, resumed, cancelled, forked, recorded and replayed.
#![allow(clippy::unwrap_used)]

mod agent_room;

use std::{sync::Arc, time::Duration};

use agent_room::{answer, calls, names, options, read, results, says, session, shell, waiting, yard};
use drydock_embed::{
    agent::{
        AgentChanges, AgentFiles, AgentPowers, AgentSpec, AtLimit, Driven, Event, RunEnd, RunOptions,
        SnapshotQuota,
    },
    contract::{AgentStatus, ReviewAnswer, ReviewKind, Tenant, port::Wanted},
};
use serde_json::json;

fn done(result: &str) -> Driven {
    Driven::Ended(RunEnd::Done { result: result.into() })
}

#[tokio::test]
async fn a_run_answers_its_result_its_steps_its_events_its_log_and_what_it_cost() {
    let yard = yard();
    yard.says("m", &[shell("echo 4 > four; cat four"), calls(&[("done", json!({ "result": "it is 4" }))])]);
    let record = yard.agents().run(AgentSpec::run("Be short.", "2+2?", options("m"))).await.unwrap();
    assert_eq!(
        (record.status, record.result.as_deref(), record.steps),
        (AgentStatus::Done, Some("it is 4"), 2)
    );
    assert_eq!((record.usage.turns, record.usage.input_tokens, record.usage.output_tokens), (2, 200, 20));
    assert_eq!(results(&record.events)[0], ("shell".to_owned(), "4\n".to_owned()));
    assert_eq!(names(&record.events).first(), Some(&"started"));
    assert_eq!(names(&record.events).last(), Some(&"ended"));
    assert_eq!(record.log.len(), record.events.len());
    assert!(record.log.iter().any(|it| it.contains("shell done in")), "{:#?}", record.log);
}

#[tokio::test]
async fn each_step_is_told_and_written_into_the_workspace_with_a_log_of_events() {
    let yard = yard();
    yard.says("m", &[shell("echo one"), shell("exit 3"), says("done")]);
    let agents = yard.agents();
    let mut run = agents.open(session("m")).await.unwrap();
    let steps = Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = Arc::clone(&steps);
    run.on_step(move |step, _| told.lock().unwrap().push(step));
    assert_eq!(run.drive().await.unwrap(), done("done"));
    assert_eq!(*steps.lock().unwrap(), [1, 2, 3]);
    let lines = read(&**run.files(), "workspace/_steps.jsonl").unwrap();
    let lines: Vec<serde_json::Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_eq!(
        (&lines[0]["tool"], &lines[0]["arguments"]["pipeline"]),
        (&json!("shell"), &json!("echo one"))
    );
    assert_eq!((&lines[1]["step"], &lines[1]["code"]), (&json!(2), &json!(3)));
    let org = read(&**run.files(), "workspace/_events.org").unwrap();
    assert_eq!(org.lines().count(), agents.events(run.id(), 0).await.unwrap().len());
    assert!(org.lines().all(|it| it.starts_with("* 20")), "{org}");
    let head = agents.show(run.id()).await.unwrap();
    assert_eq!(head.workspace, Some(format!("agent-{}", run.id())));
}

#[tokio::test]
async fn a_run_whose_driver_is_gone_reads_failed_and_goes_on_where_it_was() {
    let yard = yard();
    yard.says("m", &[shell("echo one >> log"), shell("sleep 600; echo two >> log"), says("end")]);
    let agents = yard.agents();
    let mut run = agents.open(session("m")).await.unwrap();
    let id = run.id().clone();
    // Dropped once the second line is on its way.
    let (told, heard) = tokio::sync::oneshot::channel();
    let told = std::sync::Mutex::new(Some(told));
    run.listen(Arc::new(move |_, event| {
        if matches!(event, Event::Calling { step: 2, .. })
            && let Some(told) = told.lock().unwrap().take()
        {
            told.send(()).unwrap();
        }
    }));
    tokio::select! {
        driven = run.drive() => panic!("{driven:?}"),
        _ = heard => {}
    }
    drop(run);
    let head = agents.show(&id).await.unwrap();
    assert_eq!((head.status, head.reason.as_deref()), (AgentStatus::Failed, Some("interrupted")));
    // Another process, which asks what became of the line that was in flight.
    let (yard, held) = (yard.restarted(), yard);
    yard.says("m", &[shell(""), shell(""), says("end")]);
    let agents = yard.agents();
    let mut run = agents.resume(&id, &AgentChanges::default()).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), Driven::Waiting);
    assert_eq!(agents.show(&id).await.unwrap().status, AgentStatus::Waiting);
    let review = waiting(&agents, &id).await;
    assert_eq!((review.kind, review.call.is_some()), (ReviewKind::InFlight, true));
    let reason = "it slept; I wrote the line myself".to_owned();
    answer(&agents, &id, ReviewAnswer::Deny { reason }).await;
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let events = agents.events(&id, 0).await.unwrap();
    assert!(results(&events)[1].1.contains("I wrote the line myself"), "{:?}", results(&events));
    assert_eq!(read(&**run.files(), "workspace/log").unwrap(), "one\n", "the first line was run once");
    let lines = read(&**run.files(), "workspace/_steps.jsonl").unwrap();
    assert_eq!(lines.lines().count(), 2, "made anew, and nothing twice: {lines}");
    drop(held);
}

#[tokio::test]
async fn two_never_drive_one_run_and_what_is_over_is_resumed_with_more_turns() {
    let yard = yard();
    yard.says("m", &[shell("echo 1"), shell("echo 2"), shell("echo 3"), says("end")]);
    let agents = yard.agents();
    let spec = AgentSpec { options: RunOptions { max_steps: 2, ..options("m") }, ..session("m") };
    let mut run = agents.open(spec).await.unwrap();
    let id = run.id().clone();
    assert_eq!(agents.resume(&id, &AgentChanges::default()).await.err().unwrap().code(), "run_held");
    let Driven::Ended(RunEnd::Failed { code, .. }) = run.drive().await.unwrap() else { panic!() };
    assert_eq!(code, "max_steps");
    drop(run);
    let more = AgentChanges { more_steps: Some(9), ..AgentChanges::default() };
    let mut run = agents.resume(&id, &more).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    assert_eq!(agents.show(&id).await.unwrap().steps, 4);
    drop(run);
    let change = AgentChanges { system: Some("other".into()), ..AgentChanges::default() };
    assert_eq!(agents.resume(&id, &change).await.err().unwrap().code(), "bad_change");
    let memory = agents.run(AgentSpec::run("", "x", options("m"))).await.unwrap();
    let refused = agents.resume(&memory.id, &AgentChanges::default()).await.err().unwrap();
    assert!(refused.to_string().contains("in memory and are gone"), "{refused}");
}

#[tokio::test]
async fn a_cancelled_run_ends_and_so_does_what_it_runs() {
    let yard = yard();
    yard.says("m", &[shell("sleep 600"), says("end")]);
    let agents = yard.agents();
    let run = agents.open(session("m")).await.unwrap();
    let id = agents.start(run);
    while !names(&agents.events(&id, 0).await.unwrap()).contains(&"calling") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(agents.cancel(&id).await.unwrap());
    let mut tries = 0;
    while agents.show(&id).await.unwrap().status != AgentStatus::Cancelled {
        tries += 1;
        assert!(tries < 6000, "it goes on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!agents.cancel(&id).await.unwrap(), "it was over");
}

#[tokio::test]
async fn a_fork_from_a_step_has_its_files_and_its_turns_and_another_model() {
    let yard = yard();
    yard.says("m", &[shell("echo 1 >> f"), shell("echo 2 >> f"), shell("echo 3 >> f"), says("end")]);
    yard.says("other", &[says(""), says(""), shell("echo fork >> f; cat f"), says("forked")]);
    let agents = yard.agents();
    let mut run = agents.open(session("m")).await.unwrap();
    run.drive().await.unwrap();
    let id = run.id().clone();
    let changes = AgentChanges { model: Some("other".into()), ..AgentChanges::default() };
    let mut fork = agents.fork(&id, 2, &changes).await.unwrap();
    assert_eq!(fork.drive().await.unwrap(), done("forked"));
    assert_eq!(read(&**fork.files(), "workspace/f").unwrap(), "1\n2\nfork\n");
    assert_eq!(read(&**run.files(), "workspace/f").unwrap(), "1\n2\n3\n");
    let head = agents.show(fork.id()).await.unwrap();
    assert_eq!((head.parent.as_ref(), head.model.as_str(), head.steps), (Some(&id), "other", 4));
    for step in [9, 10_000] {
        assert_eq!(agents.fork(&id, step, &changes).await.err().unwrap().code(), "no_such_step");
    }
    let mut from_start = agents.fork(&id, 0, &AgentChanges::default()).await.unwrap();
    from_start.drive().await.unwrap();
    assert_eq!(
        read(&**from_start.files(), "workspace/f").unwrap(),
        "1\n2\n3\n",
        "and no line of the other run"
    );
}

#[tokio::test]
async fn snapshots_are_kept_within_their_quota_and_a_step_without_one_cannot_be_forked() {
    let yard = yard();
    let turns: Vec<_> = (1..=4).map(|it| shell(&format!("echo {it} >> f"))).chain([says("end")]).collect();
    yard.says("m", &turns);
    let snapshots = SnapshotQuota { count_max: 2, ..SnapshotQuota::default() };
    let settings = drydock_embed::agent::AgentSettings { snapshots, ..Default::default() };
    let agents = yard.dock.agents_with(settings);
    let mut run = agents.open(session("m")).await.unwrap();
    run.drive().await.unwrap();
    let id = run.id().clone();
    let error = agents.fork(&id, 2, &AgentChanges::default()).await.err().unwrap();
    assert!(error.to_string().contains("no snapshot"), "{error}");
    let fork = agents.fork(&id, 3, &AgentChanges::default()).await.unwrap();
    assert_eq!(read(&**fork.files(), "workspace/f").unwrap(), "1\n2\n3\n");
    drop((run, fork));
    assert!(agents.remove(&id).await.unwrap() && !agents.remove(&id).await.unwrap());
    assert_eq!(agents.show(&id).await.err().unwrap().code(), "not_found");
}

#[tokio::test]
async fn a_recorded_run_replays_with_its_model_and_its_answers_from_the_tape() {
    let yard = yard();
    yard.says("m", &[shell("date; head -c 8 /dev/urandom | od; echo x > f"), shell("cat f"), says("end")]);
    let agents = yard.agents();
    let spec =
        AgentSpec { options: RunOptions { review: vec!["shell".into()], ..options("m") }, ..session("m") };
    let mut run = agents.open_recorded(spec, 8 << 20).await.unwrap();
    let id = run.id().clone();
    assert_eq!(run.drive().await.unwrap(), Driven::Waiting);
    answer(&agents, &id, ReviewAnswer::Session).await;
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let facts = run.keep_tape().await.unwrap().unwrap();
    drop(run);
    // Nobody of that model is there any more.
    yard.scripts.lock().unwrap().clear();
    let replayed = agents.replay(&id).await.unwrap();
    assert_eq!((replayed.tape, replayed.events > 5), (Some(facts.id.to_string()), true));
    assert!(replayed.frames.unwrap() > 3);
}

#[tokio::test]
async fn a_run_without_a_tape_replays_by_its_events() {
    let yard = yard();
    yard.says("m", &[shell("echo 1"), json!({}), shell("echo 2"), says("end")]);
    let agents = yard.agents();
    let record = agents.run(AgentSpec::run("", "x", options("m"))).await.unwrap();
    assert!(names(&record.events).contains(&"nudged"));
    let replayed = agents.replay(&record.id).await.unwrap();
    assert_eq!((replayed.events, replayed.tape), (record.events.len() as u64, None));
}

#[tokio::test]
async fn money_and_tokens_end_a_run_or_a_person_gives_more() {
    let yard = yard();
    yard.says("m", &[shell("echo 1"), shell("echo 2"), shell("echo 3"), says("end")]);
    let agents = yard.agents();
    let few = RunOptions { tokens_max: Some(150), ..options("m") };
    let record = agents.run(AgentSpec::run("", "x", few.clone())).await.unwrap();
    assert_eq!((record.status, record.reason.as_deref()), (AgentStatus::Failed, Some("budget_exceeded")));
    let asks = RunOptions { at_limit: AtLimit::Ask, ..few };
    let spec = AgentSpec { options: asks, ..session("m") };
    let mut run = agents.open(spec).await.unwrap();
    let id = run.id().clone();
    assert_eq!(run.drive().await.unwrap(), Driven::Waiting);
    drop(run);
    let review = answer(&agents, &id, ReviewAnswer::Limit { limit: 1_000_000 }).await;
    assert_eq!(review.kind, ReviewKind::Budget);
    let mut run = agents.resume(&id, &AgentChanges::default()).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
}

#[tokio::test]
async fn another_tenant_sees_neither_runs_nor_reviews_and_can_change_none() {
    let yard = yard();
    yard.says("m", &[shell("echo 1"), says("end")]);
    let agents = yard.agents();
    let asks = RunOptions { review: vec!["*".into()], ..options("m") };
    let mut run = agents.open(AgentSpec { options: asks, ..session("m") }).await.unwrap();
    run.drive().await.unwrap();
    let (id, review) = (run.id().clone(), waiting(&agents, run.id()).await.id);
    let other = yard.dock.for_tenant("other".parse::<Tenant>().unwrap()).agents();
    let code = |error: drydock_embed::agent::AgentError| error.code();
    assert_eq!(other.show(&id).await.map_err(code), Err("not_found"));
    assert_eq!(other.events(&id, 0).await.map_err(code).err(), Some("not_found"));
    assert_eq!(other.cancel(&id).await.map_err(code), Err("not_found"));
    assert_eq!(
        other.answer(&review, ReviewAnswer::Session, "eve").await.map_err(code).err(),
        Some("not_found")
    );
    assert_eq!(other.resume(&id, &AgentChanges::default()).await.map_err(code).err(), Some("not_found"));
    assert!(other.list(None, 10).await.unwrap().is_empty());
    assert!(other.reviews(None, Wanted::All, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_cannot_be_opened_leaves_no_run_behind() {
    let yard = yard();
    yard.says("m", &[says("end")]);
    let agents = yard.agents();
    let with = |powers| AgentSpec { powers, ..session("m") };
    for (powers, want) in [
        (AgentPowers { principal: "no body".into(), ..AgentPowers::default() }, "bad_setup"),
        (AgentPowers { dirs: vec!["/no/such/place".into()], ..AgentPowers::default() }, "bad_mount"),
        (
            AgentPowers { files: AgentFiles::Workspace("../x".into()), ..AgentPowers::default() },
            "bad_workspace",
        ),
    ] {
        assert_eq!(agents.open(with(powers)).await.err().unwrap().code(), want);
    }
    assert!(agents.list(None, 10).await.unwrap().is_empty());
}
