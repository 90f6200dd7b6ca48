//! The operations that every front end offers, by their names.
#![allow(clippy::unwrap_used)]

use std::{sync::Arc, time::Duration};

use drydock_embed::{
    Base, Dock, Sandbox, SandboxSetup, Setup, ShellSetup, Watch,
    contract::{Limits, Meter, Switch},
    line_limits,
    store::{MemoryFiles, Mounts, Overlay},
};
use serde_json::{Value, json};

struct Place {
    _home: tempfile::TempDir,
    dock: Arc<Dock>,
}

fn place() -> Place {
    let home = tempfile::tempdir().unwrap();
    let dock = Arc::new(Dock::open(home.path()).unwrap());
    Place { _home: home, dock }
}

fn memory() -> MemoryFiles {
    MemoryFiles::with(Arc::new(Meter::new(64 << 20)))
}

/// A sandbox over a directory `/src` with one file, copy-on-write.
fn sandbox(place: &Place, change: impl FnOnce(&mut SandboxSetup)) -> Sandbox {
    let before = memory();
    before.write("a.txt", b"one\ntwo\n").unwrap();
    let before: Arc<dyn drydock_embed::contract::port::Files> = Arc::new(before);
    let now = Overlay::new(Arc::clone(&before), Arc::new(memory()));
    let mut mounts = Mounts::over(Arc::new(memory()));
    mounts.mount("src", Arc::new(now.clone())).unwrap();
    let mut setup = Setup::profile("minimal");
    setup.limits = Some(Limits { memory_bytes_max: setup.profile.memory_bytes_max, ..line_limits() });
    setup.files = Some(Arc::new(mounts));
    let mut wanted = SandboxSetup {
        principal: "agent".into(),
        setup,
        shell: ShellSetup { cwd: "/src".into(), roots: vec!["/src".into()], ..ShellSetup::default() },
        bases: vec![Base { place: "src".into(), now, before, mounted: None }],
        program: Limits::default(),
        allow_commit: false,
    };
    change(&mut wanted);
    Sandbox::open(Arc::clone(&place.dock), wanted).unwrap()
}

async fn ask(sandbox: &Sandbox, name: &str, input: Value) -> Value {
    match sandbox.call(name, input, &Watch::default()).await {
        Ok(value) => value,
        Err(error) => json!({ "code": error.code, "message": error.message }),
    }
}

#[tokio::test]
async fn lines_commands_and_files_share_one_tree() {
    let place = place();
    let sandbox = sandbox(&place, |_| {});
    let done =
        ask(&sandbox, "sh", json!({ "script": "tr a-z A-Z < a.txt; cat > b.txt", "stdin": "three\n" })).await;
    assert_eq!((&done["status"], &done["stdout"]), (&json!(0), &json!("ONE\nTWO\n")));
    let done = ask(&sandbox, "run", json!({ "name": "cat", "args": ["/src/b.txt"] })).await;
    assert_eq!(done["stdout"], "three\n");
    assert_eq!(ask(&sandbox, "read_file", json!({ "path": "b.txt" })).await["text"], "three\n");
    let listed = ask(&sandbox, "list_files", json!({})).await;
    let names: Vec<&str> =
        listed["entries"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["a.txt", "b.txt"]);
    let found = ask(&sandbox, "search", json!({ "pattern": "tw.", "path": "/src" })).await;
    assert_eq!(found["matches"], json!([{ "path": "/src/a.txt", "line": 2, "text": "two" }]));
    let part =
        ask(&sandbox, "read_file", json!({ "path": "/src/a.txt", "start_line": 2, "line_count": 1 })).await;
    assert_eq!(part["text"], "two\n");
}

#[tokio::test]
async fn a_change_is_shown_and_a_commit_is_refused_unless_it_was_allowed() {
    let place = place();
    let sandbox = sandbox(&place, |_| {});
    let edited =
        ask(&sandbox, "edit_file", json!({ "path": "a.txt", "old_text": "two", "new_text": "2" })).await;
    assert_eq!(edited["replaced"], 1);
    let diff = ask(&sandbox, "diff", json!({})).await;
    assert_eq!(diff["changes"], json!([{ "path": "/src/a.txt", "kind": "modified", "size": 6 }]));
    let text = diff["diff"].as_str().unwrap();
    assert!(text.contains("--- a/src/a.txt\n+++ b/src/a.txt\n") && text.contains("-two\n+2\n"), "{text}");
    assert!(!sandbox.operations().any(|it| it.name == "commit"));
    assert_eq!(ask(&sandbox, "commit", json!({})).await["code"], "tool_not_granted");
}

#[tokio::test]
async fn paths_that_leave_and_inputs_that_are_wrong_are_refused() {
    let place = place();
    let sandbox = sandbox(&place, |_| {});
    for path in ["../x", "/src/../etc/passwd", "a/../../b"] {
        for name in ["read_file", "list_files"] {
            assert_eq!(
                ask(&sandbox, name, json!({ "path": path })).await["code"],
                "bad_path",
                "{name} {path}"
            );
        }
        let write = json!({ "path": path, "text": "x" });
        assert_eq!(ask(&sandbox, "write_file", write).await["code"], "bad_path");
    }
    for (name, input) in [
        ("sh", json!({})),
        ("sh", json!({ "script": "true", "extra": 1 })),
        ("run", json!({ "name": 1 })),
        ("write_file", json!({ "path": "x" })),
        ("edit_file", json!({ "path": "a.txt", "old_text": "", "new_text": "x" })),
        ("search", json!({ "pattern": "(" })),
    ] {
        assert_eq!(ask(&sandbox, name, input.clone()).await["code"], "bad_input", "{name} {input}");
    }
    assert_eq!(ask(&sandbox, "read_file", json!({ "path": "nope" })).await["code"], "not_found");
    assert_eq!(ask(&sandbox, "reboot", json!({})).await["code"], "unknown_operation");
}

#[tokio::test]
async fn a_binary_file_is_an_answer_and_not_an_error() {
    let place = place();
    let sandbox = sandbox(&place, |_| {});
    let written = ask(&sandbox, "write_file", json!({ "path": "new/dir/x.bin", "base64": "/wD+" })).await;
    assert_eq!((&written["bytes"], &written["created"]), (&json!(3), &json!(true)));
    let read = ask(&sandbox, "read_file", json!({ "path": "new/dir/x.bin" })).await;
    assert_eq!((&read["base64"], read.get("text")), (&json!("/wD+"), None));
    let done = ask(&sandbox, "sh", json!({ "script": "cat new/dir/x.bin" })).await;
    assert_eq!(done["stdout_base64"], "/wD+");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_edits_at_once_one_is_told_and_nothing_is_lost() {
    let place = place();
    let sandbox = Arc::new(sandbox(&place, |_| {}));
    let edit = |new: &'static str| {
        let sandbox = Arc::clone(&sandbox);
        tokio::spawn(async move {
            ask(&sandbox, "edit_file", json!({ "path": "a.txt", "old_text": "one", "new_text": new })).await
        })
    };
    let answers = [edit("first"), edit("second")];
    let mut told = Vec::new();
    for answer in answers {
        told.push(answer.await.unwrap());
    }
    assert_eq!(told.iter().filter(|it| it["replaced"] == 1).count(), 1, "{told:?}");
    assert_eq!(told.iter().filter(|it| it["code"] == "no_match").count(), 1, "{told:?}");
    let read = ask(&sandbox, "read_file", json!({ "path": "a.txt" })).await;
    assert!(read["text"].as_str().unwrap().ends_with("\ntwo\n"));
    // Whoever names what they read is told, too, instead of overwriting it.
    let stale = "0".repeat(64);
    let write = json!({ "path": "a.txt", "text": "mine", "if_sha256": stale });
    assert_eq!(ask(&sandbox, "write_file", write).await["code"], "conflict");
    let write = json!({ "path": "a.txt", "text": "mine", "if_sha256": read["sha256"] });
    assert_eq!(ask(&sandbox, "write_file", write).await["bytes"], 4);
}

#[tokio::test]
async fn a_call_can_have_less_time_and_can_be_cancelled() {
    let place = place();
    let sandbox = sandbox(&place, |_| {});
    let late = ask(&sandbox, "sh", json!({ "script": "sleep 100", "timeout_ms": 50 })).await;
    assert_eq!((&late["status"], &late["limit"]), (&json!(124), &json!("timed_out")));
    for (name, input) in
        [("sh", json!({ "script": "sleep 100" })), ("run", json!({ "name": "sleep", "args": ["100"] }))]
    {
        let cancel = Arc::new(Switch::default());
        let watch = Watch { cancel: Arc::clone(&cancel), output: None };
        let trip = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            cancel.trip();
        };
        let (done, ()) = tokio::join!(sandbox.call(name, input, &watch), trip);
        assert_eq!(done.unwrap_err().code, "cancelled", "{name}");
    }
}

#[tokio::test]
async fn what_is_not_granted_is_refused_by_the_gate() {
    let place = place();
    let sandbox = sandbox(&place, |it| it.setup.allow = Some(vec!["cat".parse().unwrap()]));
    assert_eq!(ask(&sandbox, "run", json!({ "name": "wc" })).await["code"], "command_not_granted");
    assert_eq!(ask(&sandbox, "sh", json!({ "script": "wc" })).await["status"], 126);
    // Searching is the sandbox's own power, whatever commands the agent may run.
    assert_eq!(ask(&sandbox, "search", json!({ "pattern": "two" })).await["matches"][0]["line"], 2);
    place.dock.revoke("agent").unwrap();
    assert_eq!(ask(&sandbox, "read_file", json!({ "path": "a.txt" })).await["code"], "revoked");
}

#[tokio::test]
async fn a_program_uses_the_same_commands_and_files() {
    let place = place();
    let sandbox = sandbox(&place, |_| {});
    let code = "console.log('hi'); (await commands.wc({args: ['-l', 'a.txt']})).stdout.trim() + args.n";
    let done = ask(&sandbox, "js", json!({ "code": code, "args": { "n": 1 } })).await;
    assert_eq!(
        (&done["ok"], &done["result"], &done["logs"]),
        (&json!(true), &json!("2 a.txt1"), &json!(["hi"]))
    );
    let failed = ask(&sandbox, "js", json!({ "code": "throw new Error('no')" })).await;
    assert_eq!((&failed["ok"], &failed["error"]["code"]), (&json!(false), &json!("runtime_error")));
}

#[tokio::test]
async fn every_operation_has_schemas_and_words_for_a_model() {
    let place = place();
    let sandbox = sandbox(&place, |it| it.allow_commit = true);
    let names: Vec<&str> = sandbox.operations().map(|it| it.name).collect();
    let all = "sh run js py read_file write_file edit_file list_files search diff commit";
    assert_eq!(names.join(" "), all);
    for it in sandbox.operations() {
        assert!(it.description.len() > 30, "{}", it.name);
        assert_eq!(it.input_schema()["type"], "object", "{}", it.name);
        assert_eq!(it.output_schema()["type"], "object", "{}", it.name);
    }
    let prompt = sandbox.prompt();
    assert!(
        prompt.contains("start at /src") && prompt.contains(" jq ") && prompt.contains("`commit` writes"),
        "{prompt}"
    );
}

#[tokio::test]
async fn what_is_written_is_as_old_as_the_sandboxs_own_clock_says() {
    use drydock_embed::contract::{GuestTime, Timestamp};
    let place = place();
    let start = GuestTime::Fixed(Timestamp(1_000_000_000_000_000_000));
    let sandbox = sandbox(&place, |it| it.setup.time = start);
    ask(&sandbox, "write_file", json!({ "path": "new.txt", "text": "x" })).await;
    let done = ask(&sandbox, "sh", json!({ "script": "stat -c %y new.txt" })).await;
    assert!(done["stdout"].as_str().unwrap().starts_with("2001-09-09"), "{done}");
}
