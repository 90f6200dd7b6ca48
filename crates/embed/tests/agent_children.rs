//! Sub-agents: a run inside a call of another one, with a part of what that has.
#![allow(clippy::unwrap_used)]

mod agent_room;

use std::time::Duration;

use agent_room::{calls, names, options, read, results, says, session, shell, yard};
use drydock_embed::{
    agent::{AgentChanges, AgentSpec, Driven, Event, RunEnd, RunOptions},
    contract::{AgentHead, AgentStatus, ReviewAnswer, ReviewKind, port::Wanted},
};
use serde_json::{Value, json};

fn sub(arguments: Value) -> Value {
    calls(&[("agent", arguments)])
}

fn done(result: &str) -> Driven {
    Driven::Ended(RunEnd::Done { result: result.into() })
}

#[tokio::test]
async fn a_sub_agent_is_a_run_of_its_own_that_works_in_its_parents_files() {
    let yard = yard();
    // What the model says follows from the transcript, whose last message is the task at first.
    let mut child = shell("cat f; echo child >> f");
    child["when"] = json!("add a line");
    let mut told = says("I did it");
    told["when"] = json!("parent\n");
    let begin = shell("echo parent > f");
    yard.says("m", &[begin, sub(json!({ "task": "add a line" })), says("end"), child, told]);
    let agents = yard.agents();
    let mut run = agents.open(session("m")).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let events = agents.events(run.id(), 0).await.unwrap();
    assert_eq!(results(&events)[1], ("agent".to_owned(), "I did it".to_owned()));
    assert_eq!(read(&**run.files(), "workspace/f").unwrap(), "parent\nchild\n");
    let child = child_of(&agents.list(None, 10).await.unwrap(), run.head());
    assert_eq!((child.status, child.task.as_str()), (AgentStatus::Done, "add a line"));
    assert_ne!(child.id, *run.id());
}

fn child_of(all: &[AgentHead], parent: &AgentHead) -> AgentHead {
    all.iter().find(|it| it.parent.as_ref() == Some(&parent.id)).unwrap().clone()
}

#[tokio::test]
async fn a_sub_agent_has_no_tool_that_its_parent_lacks_and_its_turns_are_its_parents_tokens() {
    let yard = yard();
    yard.says(
        "m",
        &[
            sub(json!({ "task": "x", "model": "c", "tools": ["vfs_read", "shell"], "max_steps": 3 })),
            says("end"),
        ],
    );
    yard.says("c", &[shell("echo no"), calls(&[("vfs_read", json!({ "path": "f" }))]), says("child's end")]);
    let agents = yard.agents();
    let only = RunOptions {
        tools: Some(vec!["agent".into(), "vfs_read".into()]),
        tokens_max: Some(10_000),
        ..options("m")
    };
    // Its model is another one than the parent's, which nobody granted.
    let mut run = agents.open(AgentSpec { options: only, ..session("m") }).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let told = results(&agents.events(run.id(), 0).await.unwrap());
    assert!(told[0].1.contains("not come to a result"), "{told:?}");
    // The same with the same model.
    yard.says(
        "m2",
        &[sub(json!({ "task": "x", "tools": ["vfs_read", "shell"], "max_steps": 3 })), says("end")],
    );
    let mut turn = shell("echo no");
    turn["when"] = json!("x");
    let mut end = says("child's end");
    end["when"] = json!("not offered");
    let parents: Vec<Value> = serde_json::from_str(&yard.scripts.lock().unwrap()["m2"].clone()).unwrap();
    yard.says("m2", &parents.into_iter().chain([turn, end]).collect::<Vec<_>>());
    let only = RunOptions {
        tools: Some(vec!["agent".into(), "vfs_read".into()]),
        tokens_max: Some(10_000),
        ..options("m2")
    };
    let mut run = agents.open(AgentSpec { task: "go".into(), options: only, ..session("m2") }).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let child = child_of(&agents.list(None, 10).await.unwrap(), run.head());
    let told = results(&agents.events(&child.id, 0).await.unwrap());
    assert_eq!((told.len(), told[0].0.as_str()), (1, "shell"), "{told:?}");
    assert!(told[0].1.contains("not offered"), "its parent has none: {told:?}");
}

#[tokio::test]
async fn sub_agents_of_sub_agents_end_at_a_depth() {
    let yard = yard();
    let mut deeper = sub(json!({ "task": "go deeper" }));
    deeper["when"] = json!("go deeper");
    let mut end = says("bottom");
    end["when"] = json!("too deep");
    let mut up = says("up");
    up["when"] = json!("bottom");
    yard.says("m", &[sub(json!({ "task": "go deeper" })), says("end"), deeper, end, up]);
    let agents = yard.agents();
    let mut run = agents.open(session("m")).await.unwrap();
    run.drive().await.unwrap();
    assert_eq!(agents.list(None, 10).await.unwrap().len(), 4, "three below the first");
}

#[tokio::test]
async fn a_sub_agent_is_cancelled_with_its_parent() {
    let yard = yard();
    let mut child = shell("sleep 600");
    child["when"] = json!("wait");
    yard.says("m", &[sub(json!({ "task": "wait" })), says("end"), child]);
    let agents = yard.agents();
    let id = agents.start(agents.open(session("m")).await.unwrap());
    let child = loop {
        let all = agents.list(None, 10).await.unwrap();
        if let Some(child) = all.iter().find(|it| it.parent.as_ref() == Some(&id))
            && names(&agents.events(&child.id, 0).await.unwrap()).contains(&"calling")
        {
            break child.id.clone();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert!(agents.cancel(&id).await.unwrap());
    for run in [&id, &child] {
        while agents.show(run).await.unwrap().status != AgentStatus::Cancelled {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let refused = agents.resume(&child, &AgentChanges::default()).await.err().unwrap();
    assert!(refused.to_string().contains("resume its parent"), "{refused}");
}

#[tokio::test]
async fn an_interrupted_parent_finds_the_sub_agent_that_it_had_begun_and_does_nothing_twice() {
    let yard = yard();
    let mut one = shell("echo once >> f; echo done-once");
    one["when"] = json!("do it once");
    let mut two = shell("sleep 600");
    two["when"] = json!("done-once\n");
    yard.says("m", &[sub(json!({ "task": "do it once" })), says("end"), says("bottom"), one, two]);
    let agents = yard.agents();
    let mut run = agents.open(session("m")).await.unwrap();
    let id = run.id().clone();
    // It is stopped in the second call of the child, which would go on for long.
    let begun = async {
        loop {
            let all = agents.list(None, 10).await.unwrap();
            if let Some(child) = all.iter().find(|it| it.parent.as_ref() == Some(&id))
                && callings(&agents.events(&child.id, 0).await.unwrap()) == 2
            {
                return child.id.clone();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let child = tokio::select! {
        child = begun => Some(child),
        _ = run.drive() => None,
    };
    assert!(child.is_some(), "it was interrupted while its sub-agent was at work");
    drop(run);
    let mut run = agents.resume(&id, &AgentChanges::default()).await.unwrap();
    // The call of a sub-agent is made again by itself; somebody is asked about what that had in flight.
    let answers = async {
        loop {
            let asked = agents.reviews(child.as_ref(), Wanted::Pending, 10).await.unwrap();
            if let Some(review) = asked.first() {
                assert_eq!(review.kind, ReviewKind::InFlight);
                let no = ReviewAnswer::Deny { reason: "no".into() };
                agents.answer(&review.id, no, "ada").await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let driven = tokio::select! {
        driven = run.drive() => driven.unwrap(),
        () = answers => Driven::Waiting,
    };
    assert_eq!(driven, done("end"));
    assert_eq!(read(&**run.files(), "workspace/f").unwrap(), "once\n");
    let again = child_of(&agents.list(None, 10).await.unwrap(), run.head());
    assert_eq!(Some(&again.id), child.as_ref());
    assert_eq!(callings(&agents.events(&again.id, 0).await.unwrap()), 2);
}

fn callings(events: &[Event]) -> usize {
    events.iter().filter(|it| matches!(it, Event::Calling { .. })).count()
}

#[tokio::test]
async fn a_run_has_sixty_four_sub_agents_at_most_with_theirs_however_often_it_is_gone_on_with() {
    let yard = yard();
    let turn = |from: usize| {
        let task = |at: usize| ("agent", json!({ "task": format!("leaf {at}"), "model": "c" }));
        calls(&(from..from + 22).map(task).collect::<Vec<_>>())
    };
    yard.says("m", &[turn(0), turn(22), turn(44), says("end"), turn(66), says("end")]);
    yard.says("c", &[says("done")]);
    let agents = yard.agents();
    let mut run = agents.open(session("m")).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let refused = |events: &[Event]| {
        let told = results(events);
        told.iter().filter(|it| it.1.contains("64 sub-agents at most")).count()
    };
    let id = run.id().clone();
    assert_eq!(refused(&agents.events(&id, 0).await.unwrap()), 2);
    drop(run);
    let say = AgentChanges { say: Some("again".into()), ..AgentChanges::default() };
    let mut run = agents.resume(&id, &say).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    assert_eq!(refused(&agents.events(&id, 0).await.unwrap()), 24, "and none begins afterwards");
}
