//! What people are asked on the way of a run of an agent, and what their answers do.
#![allow(clippy::unwrap_used)]

mod agent_room;

use agent_room::{Yard, answer, calls, names, options, read, results, says, session, shell, waiting, yard};
use drydock_embed::{
    agent::{AgentChanges, AgentPowers, AgentSpec, DockAgents, Driven, Event, OnDenial, RunEnd, RunOptions},
    contract::{AgentId, AgentStatus, GrantSpec, ReviewAnswer, ReviewKind, ReviewState, port::Wanted},
};
use serde_json::json;

fn done(result: &str) -> Driven {
    Driven::Ended(RunEnd::Done { result: result.into() })
}

fn grants(all: &[&str]) -> Option<Vec<GrantSpec>> {
    Some(all.iter().map(|it| GrantSpec::parse(it.as_bytes()).unwrap()).collect())
}

/// A run that asks about these, driven until it does.
async fn asks(yard: &Yard, options: RunOptions, powers: AgentPowers) -> (DockAgents, AgentId) {
    let agents = yard.agents();
    let spec = session("m");
    let powers = AgentPowers { files: spec.powers.files.clone(), ..powers };
    let mut run = agents.open(AgentSpec { options, powers, ..spec }).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), Driven::Waiting);
    (agents, run.id().clone())
}

fn reviewing(tools: &[&str]) -> RunOptions {
    RunOptions { review: tools.iter().map(|it| (*it).to_owned()).collect(), ..options("m") }
}

#[tokio::test]
async fn a_run_that_waits_is_held_by_nobody_survives_a_restart_and_goes_on_with_the_answer() {
    let yard = yard();
    let write = calls(&[("vfs_write", json!({ "path": "plan.txt", "content": "new\n" }))]);
    yard.says("m", &[shell("echo old > plan.txt"), write, says("end")]);
    let (_, id) = asks(&yard, reviewing(&["vfs_write"]), AgentPowers::default()).await;
    let again = yard.restarted();
    let agents = again.agents();
    let review = waiting(&agents, &id).await;
    assert_eq!((review.kind, &review.what["tool"]), (ReviewKind::Tool, &json!("vfs_write")));
    let diff = review.what["preview"]["diff"].as_str().unwrap();
    assert!(diff.contains("-old\n+new\n"), "{diff}");
    assert_eq!(agents.show(&id).await.unwrap().status, AgentStatus::Waiting);
    let answered = agents.answer(&review.id, ReviewAnswer::Once, "ada").await.unwrap();
    assert!(matches!(answered.state, ReviewState::Answered { by, .. } if by == "ada"));
    let twice = agents.answer(&review.id, ReviewAnswer::Session, "eve").await.err().unwrap();
    assert_eq!(twice.code(), "review_answered");
    let mut run = agents.resume(&id, &AgentChanges::default()).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    assert_eq!(read(&**run.files(), "workspace/plan.txt").unwrap(), "new\n");
    assert!(!names(&agents.events(&id, 0).await.unwrap()).contains(&"resumed"), "it was not over");
}

#[tokio::test]
async fn a_refusal_is_told_to_the_model_with_its_reason_and_nothing_is_done() {
    let yard = yard();
    yard.says("m", &[shell("echo gone > f"), says("end")]);
    let (agents, id) = asks(&yard, reviewing(&["*"]), AgentPowers::default()).await;
    answer(&agents, &id, ReviewAnswer::Deny { reason: "ask me tomorrow".into() }).await;
    let mut run = agents.resume(&id, &AgentChanges::default()).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let told = results(&agents.events(&id, 0).await.unwrap());
    assert!(told[0].1.contains("ask me tomorrow"), "{told:?}");
    assert!(read(&**run.files(), "workspace/f").is_err());
}

#[tokio::test]
async fn an_answer_for_the_session_is_the_last_one_and_one_for_a_number_of_calls_is_not() {
    for (given, asked) in
        [(ReviewAnswer::Session, 1), (ReviewAnswer::Limit { limit: 2 }, 2), (ReviewAnswer::Once, 3)]
    {
        let yard = yard();
        yard.says("m", &[shell("echo 1"), shell("echo 2"), shell("echo 3"), says("end")]);
        let (agents, id) = asks(&yard, reviewing(&["shell"]), AgentPowers::default()).await;
        let mut count = 0;
        loop {
            count += 1;
            answer(&agents, &id, given.clone()).await;
            let mut run = agents.resume(&id, &AgentChanges::default()).await.unwrap();
            if run.drive().await.unwrap() != Driven::Waiting {
                break;
            }
        }
        assert_eq!(count, asked, "{given:?}");
    }
}

#[tokio::test]
async fn a_denial_becomes_a_request_for_the_smallest_grant_and_its_uses_survive_a_restart() {
    let yard = yard();
    let line = |text: &str| shell(&format!("echo {text} | tr a b"));
    yard.says("m", &[line("a1"), line("a2"), line("a3"), line("a4"), says("end")]);
    let options = RunOptions { on_denial: OnDenial::Ask, ..options("m") };
    let powers =
        AgentPowers { grants: grants(&[r#"{"cap":"exec","subjects":["echo"]}"#]), ..AgentPowers::default() };
    let (agents, id) = asks(&yard, options, powers).await;
    let review = waiting(&agents, &id).await;
    assert_eq!(review.kind, ReviewKind::Grant);
    assert_eq!(review.grant, Some(json!({ "cap": "exec", "subjects": ["tr"] })));
    agents.answer(&review.id, ReviewAnswer::Limit { limit: 2 }, "ada").await.unwrap();
    // Interrupted and gone on with in other processes, the grant has no more uses than two.
    let again = yard.restarted();
    let agents = again.agents();
    let mut run = agents.resume(&id, &AgentChanges::default()).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), Driven::Waiting, "it is used up");
    drop(run);
    let allowed = |events: &[Event]| results(events).iter().filter(|it| it.1.starts_with('b')).count();
    assert_eq!(
        allowed(&agents.events(&id, 0).await.unwrap()),
        2,
        "{:?}",
        results(&agents.events(&id, 0).await.unwrap())
    );
    answer(&agents, &id, ReviewAnswer::Session).await;
    let mut run = agents.resume(&id, &AgentChanges::default()).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
}

#[tokio::test]
async fn a_grant_that_wants_a_person_asks_about_each_call_that_only_it_admits() {
    let yard = yard();
    yard.says("m", &[shell("echo a | tr a b"), says("end")]);
    let wants =
        [r#"{"cap":"exec","subjects":["echo"]}"#, r#"{"cap":"exec","subjects":["tr"],"review":true}"#];
    let powers = AgentPowers { grants: grants(&wants), ..AgentPowers::default() };
    let (agents, id) = asks(&yard, options("m"), powers).await;
    let review = waiting(&agents, &id).await;
    assert_eq!((review.kind, &review.grant.unwrap()["subjects"]), (ReviewKind::Grant, &json!(["tr"])));
}

#[tokio::test]
async fn what_nobody_answers_in_its_time_counts_as_refused() {
    let yard = yard();
    yard.says("m", &[shell("echo late > f"), says("end")]);
    let options = RunOptions { review_wait_ms: Some(200), ..reviewing(&["shell"]) };
    let agents = yard.agents();
    let mut run = agents.open(AgentSpec { options, ..session("m") }).await.unwrap();
    assert_eq!(run.drive_through().await.unwrap(), RunEnd::Done { result: "end".into() });
    let all = agents.reviews(Some(run.id()), Wanted::All, 9).await.unwrap();
    assert_eq!(all[0].state, ReviewState::Expired);
    let late = agents.answer(&all[0].id, ReviewAnswer::Session, "ada").await.err().unwrap();
    assert_eq!(late.code(), "review_expired");
    let told = results(&agents.events(run.id(), 0).await.unwrap());
    assert!(told[0].1.contains("nobody answered in time"), "{told:?}");
    assert!(read(&**run.files(), "workspace/f").is_err());
}

#[tokio::test]
async fn a_run_that_goes_on_by_itself_hears_of_an_answer_and_a_server_takes_up_what_waits() {
    let yard = yard();
    yard.says("m", &[shell("echo 1"), shell("echo 2"), says("end")]);
    let agents = yard.agents();
    let spec = AgentSpec { options: reviewing(&["shell"]), ..session("m") };
    let id = agents.start(agents.open(spec).await.unwrap());
    for _ in 0..2 {
        while agents.reviews(Some(&id), Wanted::Pending, 1).await.unwrap().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        answer(&agents, &id, ReviewAnswer::Once).await;
    }
    while !agents.show(&id).await.unwrap().status.is_over() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(agents.show(&id).await.unwrap().status, AgentStatus::Done);
    let (_, waits) = asks(&yard, reviewing(&["shell"]), AgentPowers::default()).await;
    let again = yard.restarted();
    let server = again.agents();
    assert_eq!(server.take_up().await.unwrap(), 1);
    answer(&server, &waits, ReviewAnswer::Session).await;
    while !server.show(&waits).await.unwrap().status.is_over() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_is_put_into_a_runs_queue_is_taken_out_once_and_keeps_no_run_waiting() {
    let yard = yard();
    yard.says("m", &[says("end")]);
    let agents = yard.agents();
    let run = agents.open(session("m")).await.unwrap();
    let id = run.id().clone();
    agents.put_review(&id, "look at this", json!({ "path": "a" })).await.unwrap();
    agents.put_review(&id, "and at this", json!({})).await.unwrap();
    let again = yard.restarted();
    let taken = again.agents().take_review(&id, "ada").await.unwrap().unwrap();
    assert_eq!((taken.title.as_str(), &taken.what["path"]), ("look at this", &json!("a")));
    assert_eq!(agents.take_review(&id, "ada").await.unwrap().unwrap().title, "and at this");
    assert!(agents.take_review(&id, "ada").await.unwrap().is_none());
}
