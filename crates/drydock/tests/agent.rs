//! `drydock agent` and `drydock review` as a person and a script see them, with models that are files of turns.
#![allow(clippy::panic, clippy::expect_used, reason = "helpers of a test may panic")]
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use common::{
    Said,
    agent::{Agents, says, settled, shell_turn, turn},
};
use serde_json::{Value, json};

/// The README's commands of the demonstration: what holds for all of them, and the run.
fn readme() -> (String, String) {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let part = text.split("**An agent.**").nth(1).unwrap();
    for words in ["`drydock review approve ID --once`", "`drydock agent resume RUN`"] {
        assert!(part.contains(words), "the README says how a pipe goes on: {words}");
    }
    let block = part.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let (first, rest) = block.split_once('\n').unwrap();
    let run = rest.split("\ndrydock agent sessions").next().unwrap();
    assert!(first.starts_with("export ") && run.starts_with("drydock agent run"), "{block}");
    (first.to_owned(), run.to_owned())
}

/// Types a command of the demonstration in a pipe.
fn typed(agents: &Agents, command: &str) -> Said {
    let tools = Path::new(env!("CARGO_BIN_EXE_drydock")).parent().unwrap();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{}\n{command}", readme().0)).current_dir(agents.shell.path("")).env_clear();
    shell.env("DRYDOCK_HOME", agents.shell.home()).env("PATH", format!("{}:/usr/bin:/bin", tools.display()));
    agents.shell.said(shell.stdin(Stdio::null()).output().unwrap())
}

fn demo(agents: &Agents) -> Said {
    typed(agents, &readme().1)
}

#[test]
fn the_demo_of_the_readme_solves_its_task_with_a_review_in_the_middle() {
    let agents = Agents::demo();
    let said = demo(&agents);
    assert_eq!(said.status, 126, "it waits for a person: {}", said.all());
    assert!(said.stdout.is_empty(), "{}", said.stdout);
    insta::assert_snapshot!("demo_until_the_review", settled(&said.stderr));
    let waiting = agents.waiting();
    let (review, run) = (waiting[0]["id"].as_str().unwrap(), waiting[0]["run"].as_str().unwrap());
    let shown = agents.run(&["review", "show", review]);
    assert!(
        shown.stdout.contains("diff:\n") && shown.stdout.contains("\n  +"),
        "it shows the change as lines: {}",
        shown.stdout
    );
    assert!(shown.stdout.contains("total += $2 * $3"), "it shows the change: {}", shown.stdout);
    let listed = agents.run(&["review", "list"]).stdout;
    assert!(listed.contains("to call `edit_file`: /shop/total.awk"), "{listed}");
    let approved = typed(&agents, &format!("drydock review approve {review} --once"));
    assert_eq!(approved.status, 0, "{}", approved.all());
    let done = typed(&agents, &format!("drydock agent resume {run}"));
    assert_eq!(done.status, 0, "{}", done.all());
    assert_eq!(
        done.stdout,
        "The orders come to 52.20. total.awk forgot the pieces; it is repaired, and total.txt has the figure.\n"
    );
    let ours = fs::read_to_string(agents.shell.path("examples/agent/shop/total.awk")).unwrap();
    assert!(ours.contains("total += $3"), "the directory stays as it was before a commit");
    let head = agents.json(&["agent", "show", run, "--json"]);
    assert_eq!((&head["status"], &head["steps"]), (&json!("done"), &json!(5)));
    let changes = typed(&agents, &format!("RUN={run}; drydock ws diff agent-$RUN"));
    assert!(changes.stdout.contains("total.txt"), "{}", changes.all());
}

#[test]
fn a_denied_review_reaches_the_model_and_nothing_is_changed() {
    let agents = Agents::demo();
    assert_eq!(demo(&agents).status, 126);
    let waiting = agents.waiting();
    let (review, run) = (waiting[0]["id"].as_str().unwrap(), waiting[0]["run"].as_str().unwrap());
    assert_eq!(agents.run(&["review", "deny", review]).status, 0);
    let again = agents.run(&["review", "approve", review, "--once", "--json"]);
    let code: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((again.status, &code["error"]["code"]), (1, &json!("review_answered")), "{}", again.all());
    let done = agents.run(&["agent", "resume", run]);
    assert_eq!(done.status, 0, "{}", done.all());
    assert!(done.stdout.contains("it stays wrong"), "{}", done.stdout);
    assert_eq!(demo(&agents).status, 126);
    let (run, review) = (agents.last(), agents.waiting()[0]["id"].as_str().unwrap().to_owned());
    assert_eq!(agents.run(&["review", "deny", &review, "--reason", "not on a Friday"]).status, 0);
    let done = agents.run(&["agent", "resume", &run]);
    assert!(done.status == 0 && done.stdout.contains("it stays wrong"), "{}", done.all());
    let events = agents.json(&["agent", "show", &run, "--json"])["events"].to_string();
    assert!(events.contains("refused by a person: not on a Friday"), "the reason is the model's to read");
}

#[test]
fn a_run_tells_lines_on_stderr_and_its_result_on_stdout() {
    let agents = Agents::new(&[("m", vec![shell_turn("echo hi; false"), says("all\nof it")])]);
    let said = agents.run(&["agent", "run", "--system", "s", "--task", "t", "--model", "m"]);
    assert_eq!(said.status, 0, "{}", said.all());
    insta::assert_snapshot!("a_run_in_a_pipe", settled(&said.all()));
    let run = agents.last();
    let shown = agents.run(&["agent", "show", &run]);
    let told: Vec<&str> =
        shown.stdout.lines().filter(|it| !it.starts_with("started") && !it.starts_with("updated")).collect();
    insta::assert_snapshot!("a_run_shown", settled(&told.join("\n")));
    let record = agents.json(&["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--json"]);
    assert_eq!(
        (&record["status"], &record["result"], &record["steps"]),
        (&json!("done"), &json!("all\nof it"), &json!(2))
    );
    assert_eq!(record["usage"]["input_tokens"], 20);
    assert_eq!(record["reviews"], json!([]));
}

#[test]
fn a_runs_end_is_its_exit_status() {
    let loops = vec![shell_turn("true"); 20];
    let agents =
        Agents::new(&[("loops", loops), ("breaks", vec![json!({ "error": { "code": "model_failed" } })])]);
    let run = |more: &[&str]| {
        let args = [&["agent", "run", "--system", "s", "--task", "t"], more].concat();
        agents.run(&args)
    };
    let steps = run(&["--model", "loops", "--max-steps", "2"]);
    assert_eq!(steps.status, 125, "{}", steps.all());
    assert!(
        steps.stderr.contains("max_steps") && steps.stderr.contains("drydock agent resume"),
        "{}",
        steps.stderr
    );
    let money = run(&["--model", "loops", "--budget", "tokens=30"]);
    assert_eq!(money.status, 125, "{}", money.all());
    let broken = run(&["--model", "breaks"]);
    assert_eq!(broken.status, 1, "{}", broken.all());
    let asks = run(&["--model", "loops", "--review", "shell"]);
    assert_eq!(asks.status, 126, "{}", asks.all());
}

#[test]
fn what_cannot_be_run_is_told_before_anything_is_opened() {
    let agents = Agents::new(&[("m", vec![says("x")])]);
    let empty = agents.shell.file("empty.md", "---\nid: x\n---\n");
    let text = agents.shell.file("notes.txt", "x");
    let asked: &[&[&str]] = &[
        &["agent", "run", "--task", "t"],
        &["agent", "run", "--system", "s"],
        &["agent", "run", "--system", "s", "--task", "t"],
        &["agent", "run", "--system", "s", "--task", " ", "--model", "m"],
        &["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--review", "edit_fil"],
        &["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--tools", "shel"],
        &["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--budget", "lots"],
        &["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--max-steps", "0"],
        &["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--workdir", "/tmp"],
        &["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--dir", "nowhere"],
        &["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--toolkit", "nowhere"],
        &["agent", "run", &empty, "--task", "t", "--model", "m"],
        &["agent", "run", &text, "--task", "t", "--model", "m"],
        &["agent", "run", "nowhere.md", "--task", "t", "--model", "m"],
        &["agent", "show", "x"],
        &["agent", "show", "00000000000000000000000000000000"],
        &["agent", "cancel", "00000000000000000000000000000000", "--json"],
        &["agent", "remove", "00000000000000000000000000000000"],
        &["review", "approve", "00000000000000000000000000000000"],
        &["review", "approve", "00000000000000000000000000000000", "--once"],
        &["review", "approve", "00000000000000000000000000000000", "--limit", "0"],
    ];
    let mut all = String::new();
    for args in asked {
        let said = agents.run(args);
        assert_ne!(said.status, 0, "{args:?}");
        let words: Vec<String> = args.iter().map(|it| it.rsplit('/').next().unwrap().to_owned()).collect();
        all.push_str(&format!(
            "$ drydock {}\n[{}] {}{}\n",
            words.join(" "),
            said.status,
            said.stdout,
            said.stderr
        ));
    }
    insta::assert_snapshot!("what_cannot_be_run", all);
    assert_eq!(agents.json(&["agent", "sessions", "--json"]), json!([]));
}

#[test]
fn a_model_that_is_not_configured_is_named_with_the_file_and_opens_no_run() {
    let agents = Agents::new(&[("m", vec![says("x")])]);
    let args = ["agent", "run", "--system", "s", "--task", "t", "--model", "nope"];
    let said = agents.run(&args);
    assert_eq!(said.status, 1, "{}", said.all());
    let file = "TMP/config/drydock/drydock.toml";
    let want = format!("unknown_model: no model `nope` is configured: `{file}` has no [models.nope]");
    assert!(said.stderr.contains(&want) && said.stderr.lines().count() == 1, "{}", said.stderr);
    let code = agents.json(&[&args[..], &["--json"]].concat());
    assert_eq!(code["error"]["code"], "unknown_model");
    assert_eq!(agents.json(&["agent", "sessions", "--json"]), json!([]));
    let told = agents.command(&args).env("XDG_CONFIG_HOME", "config").output().unwrap();
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("XDG_CONFIG_HOME is ignored, since `config` is not absolute"), "{told}");
    assert!(told.contains("unknown_model: no model `nope`"), "{told}");
}

#[test]
fn a_budget_of_money_is_told_as_money_and_as_no_bound_where_nothing_has_a_price() {
    let agents = Agents::new(&[("m", vec![shell_turn("true"), says("x")])]);
    let args = ["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--budget", "cost=0.0001"];
    let said = agents.run(&args);
    assert!(said.status == 0 && said.stderr.contains("has no `price`"), "{}", said.all());
    let file = agents.config().join("drydock/drydock.toml");
    let priced = fs::read_to_string(&file).unwrap() + "price = { input = 1000.0, output = 1000.0 }\n";
    fs::write(&file, priced).unwrap();
    let said = agents.run(&args);
    assert_eq!(said.status, 125, "{}", said.all());
    assert!(!said.stderr.contains("micros") && said.stderr.contains("0.0001"), "{}", said.stderr);
    assert!(said.stderr.contains("--budget tokens=N,cost=AMOUNT` goes on"), "{}", said.stderr);
}

/// A run that goes on by itself: a child, and the id that it tells.
fn going_on(agents: &Agents, more: &[&str]) -> (Child, String) {
    let args = [&["agent", "run", "--system", "s", "--task", "t", "--model", "m"], more].concat();
    let mut child = agents.command(&args).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let id = line.split(' ').nth(1).unwrap_or_else(|| panic!("{line:?}")).to_owned();
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    (child, id)
}

/// Waits until the run is in the call of its second turn.
fn until_calling(agents: &Agents, run: &str) {
    let is_it = |it: &Value| it["event"] == "calling" && it["step"] == 2;
    for _ in 0..600 {
        let shown = agents.json(&["agent", "show", run, "--json"]);
        if shown["events"].as_array().is_some_and(|all| all.iter().any(is_it)) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("run {run} calls nothing");
}

#[test]
fn ctrl_c_and_cancel_end_a_run_that_can_be_resumed_and_forked_and_removed() {
    let agents = Agents::new(&[
        ("m", vec![shell_turn("echo one > f"), shell_turn("while true; do :; done"), says("done")]),
        ("other", vec![says("first"), shell_turn("cat f"), says("another end")]),
    ]);
    let (mut child, run) = going_on(&agents, &[]);
    until_calling(&agents, &run);
    let busy = agents.run(&["agent", "remove", &run]);
    assert_eq!((busy.status, busy.stderr.contains("run_held")), (1, true), "{}", busy.all());
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(agents.json(&["agent", "show", &run, "--json"])["status"], "cancelled");
    let (mut child, other) = going_on(&agents, &[]);
    until_calling(&agents, &other);
    let cancelled = agents.json(&["agent", "cancel", &other, "--json"]);
    assert_eq!(cancelled["cancelled"], true);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let followed = agents.run(&["agent", "follow", &other]);
    assert!(followed.stdout.ends_with("cancelled\n"), "{}", followed.all());
    let forked = agents.json(&["agent", "fork", &other, "--step", "1", "--model", "other", "--json"]);
    assert_eq!((&forked["status"], &forked["result"]), (&json!("done"), &json!("another end")), "{forked}");
    assert!(forked["events"].to_string().contains("one"), "the fork has the files of that turn");
    assert_eq!(agents.json(&["agent", "remove", &other, "--json"])["removed"], other);
    assert_eq!(agents.run(&["agent", "show", &other]).status, 1);
    let left = agents.json(&["agent", "sessions", "--json"]);
    assert_eq!(left.as_array().unwrap().len(), 2);
    let first = left[0]["id"].as_str().unwrap();
    let next = agents.json(&["agent", "sessions", "--after", first, "--json"]);
    assert_eq!(next.as_array().unwrap().len(), 1);
}

#[test]
fn a_recorded_run_is_gone_through_again() {
    let agents =
        Agents::new(&[("m", vec![shell_turn("date > d; cat d"), turn("done", json!({ "result": "r" }))])]);
    let args = ["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--record"];
    let said = agents.run(&args);
    assert_eq!((said.status, said.stdout.as_str()), (0, "r\n"), "{}", said.all());
    assert!(said.stderr.contains("recorded as tape"), "{}", said.stderr);
    let same = agents.json(&["agent", "replay", &agents.last(), "--json"]);
    assert!(same["frames"].as_u64().is_some_and(|it| it > 0), "{same}");
    // Whoever asks for the tape by itself is told who goes through it.
    let refused = agents.run(&["tape", "replay", same["tape"].as_str().unwrap()]);
    let want = format!("`drydock agent replay {}`", agents.last());
    assert!(refused.status != 0 && refused.stderr.contains(&want), "{}", refused.all());
}

#[test]
fn a_run_whose_model_is_gone_makes_no_call_before_it_is_refused() {
    let agents = Agents::new(&[("m", vec![shell_turn("echo hi"), says("end")])]);
    let args = ["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--review", "shell"];
    assert_eq!(agents.run(&args).status, 126);
    let (run, review) = (agents.last(), agents.waiting()[0]["id"].as_str().unwrap().to_owned());
    assert_eq!(agents.run(&["review", "approve", &review, "--once"]).status, 0);
    let file = agents.config().join("drydock/drydock.toml");
    let models = fs::read_to_string(&file).unwrap();
    fs::write(&file, "").unwrap();
    for act in [&["agent", "resume", &run][..], &["agent", "fork", &run, "--step", "1"]] {
        let refused = agents.run(act);
        assert!(refused.status == 1 && refused.stderr.contains("unknown_model"), "{}", refused.all());
    }
    assert!(!agents.json(&["agent", "show", &run, "--json"])["events"].to_string().contains("calling"));
    fs::write(&file, models).unwrap();
    assert_eq!(agents.run(&["agent", "resume", &run]).stdout, "end\n");
}

/// A run whose sub-agent calls a shell.
fn with_a_sub_agent() -> Agents {
    let when = |text: &str, mut turn: Value| {
        turn["when"] = json!(text);
        turn
    };
    let turns = vec![
        turn("agent", json!({ "task": "look" })),
        says("end"),
        when("look", shell_turn("echo hi")),
        when("hi\n", says("I saw it")),
    ];
    Agents::new(&[("m", turns)])
}

#[test]
fn a_question_of_a_sub_agent_ends_a_run_in_a_pipe_as_its_own_does() {
    let agents = with_a_sub_agent();
    let args =
        ["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--review", "shell", "--json"];
    let paused = agents.run(&args);
    assert_eq!(paused.status, 126, "{}", paused.all());
    let record: Value = serde_json::from_str(&paused.stdout).unwrap();
    assert_eq!(record["status"], "waiting", "{}", paused.all());
    let (run, review) = (record["id"].as_str().unwrap(), &record["reviews"][0]);
    assert_eq!(review["what"]["arguments"]["pipeline"], "echo hi", "{}", paused.all());
    assert_ne!(review["run"], run);
    assert_eq!(agents.run(&["review", "approve", review["id"].as_str().unwrap(), "--once"]).status, 0);
    let done = agents.run(&["agent", "resume", run]);
    assert_eq!((done.status, done.stdout.as_str()), (0, "end\n"), "{}", done.all());
    assert!(done.stderr.contains("I saw it"), "{}", done.all());
    assert_eq!(agents.waiting(), Vec::<Value>::new());
}

#[test]
fn a_question_of_a_sub_agent_is_told_and_its_parent_goes_on_with_the_answer() {
    let agents = with_a_sub_agent();
    let args =
        ["agent", "run", "--system", "s", "--task", "t", "--model", "m", "--review", "shell", "--wait"];
    let mut child = agents.command(&args).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let asks = lines.find(|it| it.contains("sub-agent ") && it.contains("review ")).unwrap();
    let review = asks.split("review ").nth(1).unwrap().split(':').next().unwrap();
    let shown = agents.run(&["review", "show", review]);
    assert!(shown.stdout.contains("echo hi"), "{}", shown.all());
    assert_eq!(agents.run(&["review", "approve", review, "--once"]).status, 0);
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest:?}");
    assert!(rest.iter().any(|it| it.contains("I saw it")), "{rest:?}");
}

#[test]
fn a_run_that_waits_in_a_pipe_goes_on_when_somebody_answers_elsewhere() {
    let agents = Agents::new(&[("m", vec![shell_turn("echo hi"), says("end")])]);
    let (mut child, run) = going_on(&agents, &["--review", "shell", "--wait"]);
    let review = (0..600).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        agents.waiting().first().map(|it| it["id"].as_str().unwrap().to_owned())
    });
    let review = review.unwrap();
    assert_eq!(agents.run(&["review", "approve", &review, "--session"]).status, 0);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(agents.json(&["agent", "show", &run, "--json"])["result"], "end");
}

#[test]
fn a_run_that_waits_in_a_pipe_is_ended_from_elsewhere() {
    let agents = Agents::new(&[("m", vec![shell_turn("echo hi"), says("end")])]);
    let (mut child, run) = going_on(&agents, &["--review", "shell", "--wait"]);
    let waits = |_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        !agents.waiting().is_empty()
    };
    assert!((0..600).any(waits));
    assert_eq!(agents.run(&["agent", "cancel", &run]).status, 0);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(agents.json(&["agent", "show", &run, "--json"])["status"], "cancelled");
    assert_eq!(agents.waiting(), Vec::<Value>::new());
}

#[test]
fn what_agents_filed_is_listed_shown_and_forgotten() {
    let file = json!({ "title": "No \u{1b}[2Jprinter", "need": "a way to print", "tried": "lpr" });
    let agents = Agents::new(&[("m", vec![turn("file_issue", file), says("end")])]);
    assert!(agents.run(&["agent", "issues"]).stdout.starts_with("no issues"));
    for _ in 0..2 {
        let said = agents.run(&["agent", "run", "--system", "s", "--task", "t", "--model", "m"]);
        assert_eq!(said.status, 0, "{}", said.all());
    }
    let all = agents.json(&["agent", "issues", "--json"]);
    let id = all[0]["id"].as_str().unwrap();
    assert_eq!((all.as_array().unwrap().len(), &all[0]["seen"]), (1, &json!(2)), "{all}");
    let listed = agents.run(&["agent", "issues"]).stdout;
    assert!(listed.contains(id) && listed.contains("printer") && !listed.contains('\u{1b}'), "{listed}");
    let shown = agents.run(&["agent", "issues", id]).stdout;
    assert!(shown.contains("2 times by now") && shown.contains("  a way to print"), "{shown}");
    assert_eq!(agents.run(&["agent", "issues", "--remove", id]).stdout, format!("removed issue {id}\n"));
    let again = agents.run(&["agent", "issues", "--remove", id]);
    assert!(again.status == 1 && again.stderr.contains("there is no issue"), "{}", again.all());
}
