//! What bounds a run whatever its model does: time that ends what was begun, outputs that are cut and kept, files that are
//! full, trust that nobody gave, and a budget that its sub-agents spend too.
#![allow(clippy::unwrap_used)]

mod agent_room;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use agent_room::{calls, options, read, results, says, session, shell, yard};
use drydock_embed::{
    Dock, DockSettings, ModelSettings,
    agent::{
        AgentChanges, AgentFiles, AgentPowers, AgentRun, AgentSettings, AgentSpec, CallOutcome, Driven,
        Event, RunEnd, RunOptions, ToolkitPlaces,
        toolkit::{Origin, Trust},
    },
    contract::GrantSpec,
    gate::Class,
};
use serde_json::{Value, json};

fn done(result: &str) -> Driven {
    Driven::Ended(RunEnd::Done { result: result.into() })
}

/// The codes of the calls that failed, in order.
fn failures(events: &[Event]) -> Vec<String> {
    let code = |it: &Event| match it {
        Event::Result { outcome: CallOutcome::Failed { code }, .. } => Some(code.clone()),
        _ => None,
    };
    events.iter().filter_map(code).collect()
}

async fn until_nothing_goes_on(run: &AgentRun) {
    let until = Instant::now() + Duration::from_secs(60);
    let session = run.session().inner();
    while session.in_flight() > 0 || session.own_in_flight(Class::Tool) > 0 {
        assert!(Instant::now() < until, "something goes on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_call_that_loops_for_ever_is_ended_by_its_time_and_nothing_of_it_goes_on() {
    let yard = yard();
    yard.dock.warm_js().await.unwrap();
    let program = json!({ "language": "javascript", "code": "while (true) {}" });
    yard.says(
        "m",
        &[
            shell("awk 'BEGIN { while (1) ; }'"),
            shell("while true; do echo beat >> /workspace/beats; done"),
            calls(&[("run_code", program)]),
            says("end"),
        ],
    );
    let agents = yard.agents();
    let few = RunOptions { tool_wall_ms: 400, ..options("m") };
    let mut run = agents.open(AgentSpec { options: few, ..session("m") }).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let events = agents.events(run.id(), 0).await.unwrap();
    assert_eq!(failures(&events), ["timeout"; 3]);
    assert!(results(&events)[0].1.contains("was ended after 400 ms"), "{:?}", results(&events));
    until_nothing_goes_on(&run).await;
    let beats = || read(&**run.files(), "workspace/beats").unwrap_or_default().len();
    let before = beats();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(beats(), before, "the loop is over");
}

#[tokio::test]
async fn a_long_output_is_cut_for_the_model_and_lies_whole_in_the_workspace() {
    let yard = yard();
    yard.says("m", &[shell("seq 1 5000"), shell("wc -l < /workspace/.drydock/1-0.txt"), says("end")]);
    let agents = yard.agents();
    let mut run = agents.open(session("m")).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let events = agents.events(run.id(), 0).await.unwrap();
    let first = events.iter().find_map(|it| match it {
        Event::Result { output, whole, .. } => Some((output.clone(), whole.clone())),
        _ => None,
    });
    let (output, whole) = first.unwrap();
    assert!(
        output.len() <= 8_000 && output.starts_with("1\n2\n") && output.ends_with("\n5000\n"),
        "{output}"
    );
    assert!(output.contains("the whole is in /workspace/.drydock/1-0.txt"), "{output}");
    assert_eq!(whole.as_deref(), Some("/workspace/.drydock/1-0.txt"));
    let kept = read(&**run.files(), "workspace/.drydock/1-0.txt").unwrap();
    assert_eq!(kept.lines().count(), 5000);
    assert_eq!(results(&events)[1].1, "5000\n", "and the run can read it there");
}

#[tokio::test]
async fn where_its_files_are_full_a_run_is_told_and_goes_on() {
    let yard = yard();
    let lines = r#"x=$(seq 1 300 | tr '\n' x); while echo "$x" >> rest; do :; done"#;
    yard.says(
        "m",
        &[
            // All but a mebibyte of what files in memory may take, and then the rest of it, to less than a line.
            shell(&format!("truncate -s 255M big; yes > rest; {lines}; echo ended")),
            // What is left is less than the piece that `yes` writes at once, and these are more.
            shell("seq 1 100000"),
            calls(&[("vfs_write", json!({ "path": "more", "content": "x".repeat(100_000) }))]),
            shell("rm big rest; echo room > f; cat f"),
            says("end"),
        ],
    );
    let agents = yard.agents();
    let mut run = agents.open(AgentSpec::run("", "x", options("m"))).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let events = agents.events(run.id(), 0).await.unwrap();
    let told = results(&events);
    assert!(told[0].1.contains("ended\n") && told[0].1.contains("pace"), "{}", told[0].1);
    assert!(told[1].1.contains(" bytes truncated]...") && !told[1].1.contains("the whole is in"), "{told:?}");
    assert_eq!(failures(&events).len(), 1, "{told:?}");
    assert_eq!(told[3].1, "room\n");
}

fn git(dir: &Path, args: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=me", "-c", "user.email=me@localhost", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

#[tokio::test]
async fn with_exec_a_run_works_in_its_working_directory_and_without_it_it_has_no_such_tool() {
    let yard = yard();
    let work = tempfile::tempdir().unwrap();
    git(work.path(), &["init", "--quiet"]);
    fs::write(work.path().join("a.txt"), "one\n").unwrap();
    let image = || calls(&[("image", json!({ "prompt": "a boat", "path": "boat.png" }))]);
    let turns = [
        calls(&[("vfs_write", json!({ "path": "b.txt", "content": "two\n" }))]),
        shell("pwd; cat a.txt b.txt"),
        calls(&[("git", json!({ "message": "by an agent" }))]),
        image(),
        image(),
        says("half"),
        image(),
        says("end"),
    ];
    yard.says("m", &turns);
    let agents = yard.agents();
    let powers = AgentPowers {
        exec: true,
        workdir: Some(work.path().to_owned()),
        files: AgentFiles::Own,
        ..AgentPowers::default()
    };
    let mut run = agents.open(AgentSpec { powers: powers.clone(), ..session("m") }).await.unwrap();
    let id = run.id().clone();
    assert_eq!(run.drive().await.unwrap(), done("half"));
    let told = results(&agents.events(&id, 0).await.unwrap());
    assert_eq!(told[1].1, "/workdir\none\ntwo\n", "{told:?}");
    assert_eq!(git(work.path(), &["log", "--format=%s"]), "by an agent");
    assert_eq!(git(work.path(), &["show", "--name-only", "--format=", "HEAD"]), "a.txt\nb.txt");
    // Two attempts, before the run was gone on with, are two attempts.
    drop(run);
    let on = AgentChanges { say: Some("one more".into()), ..AgentChanges::default() };
    let mut run = agents.resume(&id, &on).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let told = results(&agents.events(&id, 0).await.unwrap());
    assert!(told[3].1.contains("not_configured") && told[5].1.contains("too_many_images"), "{told:?}");
    drop(run);
    // Trusted code starts what lies on this machine, so nothing else of it is written by such a run.
    let beside = tempfile::tempdir().unwrap();
    for (mode, is_refused) in [("rw", true), ("cow", false), ("ro", false)] {
        let dirs = vec![format!("{}:/beside:{mode}", beside.path().display())];
        let opened =
            agents.open(AgentSpec { powers: AgentPowers { dirs, ..powers.clone() }, ..session("m") }).await;
        assert_eq!(opened.is_err(), is_refused, "{mode}");
    }
    // The directory without the grant is none, and neither tools nor files lead there.
    let powers = AgentPowers { exec: false, ..powers };
    yard.says("m", &[shell("cat /workdir/a.txt"), turns[2].clone(), says("end")]);
    let mut run = agents.open(AgentSpec { powers, ..session("m") }).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let events = agents.events(run.id(), 0).await.unwrap();
    assert_eq!(failures(&events), ["tool_not_granted"], "{:?}", results(&events));
    assert!(!results(&events)[0].1.contains("one"), "{:?}", results(&events));
    assert_eq!(git(work.path(), &["rev-list", "--count", "HEAD"]), "1");
}

/// A turn that took so many tokens.
fn taking(mut turn: Value, tokens: u64) -> Value {
    turn["usage"] = json!({ "input_tokens": tokens, "output_tokens": 0 });
    turn
}

fn when(text: &str, mut turn: Value) -> Value {
    turn["when"] = json!(text);
    turn
}

#[tokio::test]
async fn what_a_sub_agent_spends_its_parent_has_spent_and_its_share_is_a_bound_of_its_own() {
    let yard = yard();
    let sub = |arguments: Value| taking(calls(&[("agent", arguments)]), 5_000);
    yard.says(
        "m",
        &[
            sub(json!({ "task": "spend it" })),
            says("it goes on"),
            when("spend it", taking(shell("echo spent"), 25_000)),
            when("spent\n", taking(says("child's end"), 40_000)),
        ],
    );
    let agents = yard.agents();
    let purse = RunOptions { tokens_max: Some(60_000), ..options("m") };
    let mut run = agents.open(AgentSpec { options: purse.clone(), ..session("m") }).await.unwrap();
    let id = run.id().clone();
    let Driven::Ended(RunEnd::Failed { code, .. }) = run.drive().await.unwrap() else { panic!() };
    assert_eq!(code, "budget_exceeded", "its own turns took 5,000 of 60,000");
    assert_eq!(agents.show(&id).await.unwrap().usage.input_tokens, 5_000);
    assert_eq!(results(&agents.events(&id, 0).await.unwrap())[0].1, "child's end");
    // And they are spent for whoever goes on with it.
    drop(run);
    let again = yard.restarted();
    let mut run = again.agents().resume(&id, &AgentChanges::default()).await.unwrap();
    let Driven::Ended(RunEnd::Failed { code, .. }) = run.drive().await.unwrap() else { panic!() };
    assert_eq!(code, "budget_exceeded");
    drop(run);
    // A share that holds no turn: the sub-agent ends by that, and its parent goes on.
    yard.says("m", &[sub(json!({ "task": "t", "tokens_max": 10 })), says("end")]);
    let mut run = agents.open(AgentSpec { options: purse, ..session("m") }).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let told = results(&agents.events(run.id(), 0).await.unwrap());
    assert!(told[0].1.contains("budget_exceeded") && told[0].1.contains("sub-agent"), "{told:?}");
}

/// A grant of these commands, and of nothing else.
fn only(commands: &[&str]) -> Option<Vec<GrantSpec>> {
    let text = json!({ "cap": "exec", "subjects": commands }).to_string();
    Some(vec![GrantSpec::parse(text.as_bytes()).unwrap()])
}

#[tokio::test]
async fn a_fork_and_a_sub_agent_have_another_prompt_with_the_same_toolkits_and_a_fork_other_grants() {
    let yard = yard();
    yard.says(
        "m",
        &[
            calls(&[("agent", json!({ "task": "look", "system": "You are a child." }))]),
            shell("echo a | tr a b"),
            says("end"),
            when("look", says("I saw it")),
        ],
    );
    let roots = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent/tests/data/toolkits")];
    let trust = Trust { origin: Origin::Own, authors: None };
    let toolkits = ToolkitPlaces { roots, folders: Vec::new(), trust };
    let agents = yard.dock.agents_with(AgentSettings { toolkits, ..AgentSettings::default() });
    let spec = session("m");
    let powers = AgentPowers {
        toolkits: vec!["count-words".into()],
        grants: only(&["echo", "tr"]),
        ..spec.powers.clone()
    };
    let mut run = agents.open(AgentSpec { powers, ..spec }).await.unwrap();
    assert_eq!(run.drive().await.unwrap(), done("end"));
    let events = agents.events(run.id(), 0).await.unwrap();
    assert_eq!(results(&events)[1].1, "b\n");
    let system_of = |events: &[Event]| match &events[0] {
        Event::Started { system, .. } => system.clone(),
        other => panic!("{other:?}"),
    };
    let index = system_of(&events).strip_prefix("You are a clerk.").unwrap().to_owned();
    assert!(index.contains("count-words"), "{index}");
    let heads = agents.list(None, 9).await.unwrap();
    let child = heads.iter().find(|it| it.parent.as_ref() == Some(run.id())).unwrap();
    let told = system_of(&agents.events(&child.id, 0).await.unwrap());
    assert_eq!(told, format!("You are a child.{index}"));
    let changes = AgentChanges {
        system: Some("You are another.".into()),
        task: Some("Do it in another way.".into()),
        grants: only(&["echo"]),
        ..AgentChanges::default()
    };
    let mut fork = agents.fork(run.id(), 1, &changes).await.unwrap();
    assert_eq!(fork.drive().await.unwrap(), done("end"));
    let events = agents.events(fork.id(), 0).await.unwrap();
    assert_eq!(system_of(&events), format!("You are another.{index}"));
    assert!(matches!(&events[0], Event::Started { task, .. } if task == "Do it in another way."));
    let told = &results(&events)[1].1;
    assert!(!told.starts_with('b'), "what the first run was granted is not the fork's: {told}");
}

#[tokio::test]
async fn options_that_name_a_tool_that_is_none_open_no_run_and_resume_none() {
    let yard = yard();
    yard.says("m", &[says("end")]);
    let agents = yard.agents();
    let mistyped = RunOptions { review: vec!["edit-file".into()], ..options("m") };
    let refused = agents.open(AgentSpec { options: mistyped.clone(), ..session("m") }).await.err().unwrap();
    assert_eq!(refused.code(), "unknown_tool");
    assert!(refused.to_string().contains("`edit-file`"), "{refused}");
    assert!(agents.list(None, 9).await.unwrap().is_empty());
    let mut run = agents.open(session("m")).await.unwrap();
    let id = run.id().clone();
    run.drive().await.unwrap();
    drop(run);
    let changes = AgentChanges { options: Some(mistyped), ..AgentChanges::default() };
    assert_eq!(agents.resume(&id, &changes).await.err().unwrap().code(), "unknown_tool");
    assert_eq!(agents.fork(&id, 0, &changes).await.err().unwrap().code(), "unknown_tool");
}

#[tokio::test]
async fn a_run_in_memory_is_forked_where_it_had_changed_no_file_and_nowhere_else() {
    let yard = yard();
    yard.says("m", &[shell("cat f"), shell("echo 1 > f"), says("end")]);
    let agents = yard.agents();
    let record = agents.run(AgentSpec::run("", "x", options("m"))).await.unwrap();
    let fork = async |step: u64| agents.fork(&record.id, step, &AgentChanges::default()).await;
    let refused = fork(2).await.err().unwrap();
    assert_eq!(
        (refused.code(), refused.to_string().contains("in memory")),
        ("no_such_step", true),
        "{refused}"
    );
    assert_eq!(fork(1).await.unwrap().drive().await.unwrap(), done("end"));
}

/// A server of a model that calls the shell in each turn, and counts nothing.
fn uncounting() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (turn, stream) in listener.incoming().enumerate() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut bytes = 0;
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                match line.trim().to_ascii_lowercase().split_once(": ") {
                    Some(("content-length", all)) => bytes = all.parse().unwrap(),
                    None if line.trim().is_empty() => break,
                    _ => {}
                }
            }
            stream.read_exact(&mut vec![0; bytes]).unwrap();
            let line = json!({ "pipeline": format!("echo {turn}") }).to_string();
            let call =
                json!({ "id": "c", "type": "function", "function": { "name": "shell", "arguments": line } });
            let message = json!({ "role": "assistant", "content": "", "tool_calls": [call] });
            let body =
                json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] }).to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    format!("http://{address}/v1")
}

#[tokio::test]
async fn a_run_whose_model_is_not_counted_has_no_more_to_spend_after_it_is_resumed() {
    let base_url = uncounting();
    let source = move |name: &str| {
        let settings = ModelSettings { base_url: Some(base_url.clone()), ..ModelSettings::default() };
        let opened = settings.open(name, None, |_| Ok(String::new()));
        opened.map(|it| Some(Arc::new(it))).map_err(|error| error.to_string())
    };
    let home = tempfile::tempdir().unwrap();
    let settings = DockSettings { models: Some(Arc::new(source)), ..DockSettings::default() };
    let agents = Dock::open_with(home.path(), settings).unwrap().agents();
    let purse = RunOptions { tokens_max: Some(8_000), ..options("m") };
    let mut run = agents.open(AgentSpec { options: purse, ..session("m") }).await.unwrap();
    let id = run.id().clone();
    let mut steps = Vec::new();
    for _ in 0..3 {
        let Driven::Ended(RunEnd::Failed { code, .. }) = run.drive().await.unwrap() else { panic!() };
        assert_eq!(code, "budget_exceeded");
        drop(run);
        let head = agents.show(&id).await.unwrap();
        assert!(head.usage.input_tokens > 0 && head.usage.output_tokens > 0, "{:?}", head.usage);
        steps.push(head.usage.turns);
        run = agents.resume(&id, &AgentChanges::default()).await.unwrap();
    }
    assert!(steps[0] > 0 && steps.iter().all(|it| *it == steps[0]), "{steps:?}");
}

#[tokio::test]
async fn what_programs_of_a_run_ask_models_the_run_has_spent_also_after_it_is_resumed() {
    let yard = yard();
    yard.dock.warm_js().await.unwrap();
    let code = "const t = await llm.complete({model:'aside',messages:[{role:'user',content:'?'}]}); return t.content";
    let program = || calls(&[("run_code", json!({ "language": "javascript", "code": code }))]);
    yard.says("m", &[program(), says("end"), program(), says("end")]);
    yard.says("aside", &[taking(says("aside"), 5_000)]);
    let agents = yard.agents();
    let granted = [r#"{"cap":"llm","subjects":["m","aside"]}"#, r#"{"cap":"exec"}"#];
    let grants = Some(granted.iter().map(|it| GrantSpec::parse(it.as_bytes()).unwrap()).collect());
    let spec = session("m");
    let powers = AgentPowers { grants, ..spec.powers };
    let purse = RunOptions { tokens_max: Some(10_000), ..options("m") };
    let mut run = agents.open(AgentSpec { options: purse, powers, ..spec }).await.unwrap();
    let id = run.id().clone();
    assert_eq!(run.drive().await.unwrap(), done("end"), "{:?}", agents.events(&id, 0).await.unwrap());
    assert_eq!(agents.show(&id).await.unwrap().usage.input_tokens, 5_100, "its own turns, and the program's");
    let say = AgentChanges { say: Some("again".into()), ..AgentChanges::default() };
    for turns in [3, 3] {
        drop(run);
        run = agents.resume(&id, &say).await.unwrap();
        let Driven::Ended(RunEnd::Failed { code, .. }) = run.drive().await.unwrap() else { panic!() };
        let usage = agents.show(&id).await.unwrap().usage;
        assert_eq!((&*code, usage.turns), ("budget_exceeded", turns));
        assert_eq!(usage.input_tokens + usage.output_tokens, 10_000, "all of it is spent: {usage:?}");
    }
}
