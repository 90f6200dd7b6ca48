//! `drydock lembeh run` as a person or a script uses it.
#![allow(clippy::unwrap_used)]

mod common;

use std::os::unix::fs::PermissionsExt as _;

use common::Shell;
use serde_json::Value;

fn guest(name: &str) -> String {
    format!("{}/../embed/tests/lembeh_guests/{name}.wasm", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_guest_is_run_under_a_policy_recorded_and_replayed() {
    let shell = Shell::sharing();
    let policy = shell.file("policy.json", r#"{"programs": {"tools/filter": "tr a-z A-Z"}}"#);
    let input = shell.file("input", "to be\nshouted\n");
    let transcript = shell.file("transcript.jsonl", "");
    let filter = guest("filter");
    let said = shell.run(&[
        "lembeh",
        "run",
        &filter,
        "--policy",
        &policy,
        "--stdin",
        &input,
        "--record",
        &transcript,
    ]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "TO BE\nSHOUTED\n"), "{}", said.stderr);
    assert_eq!(said.stderr, "filter: done\n");
    for schedule in [&[][..], &["--schedule", "byte"], &["--schedule", "random:3"]] {
        let replay = [&["lembeh", "run", &filter, "--replay", &transcript][..], schedule].concat();
        let again = shell.run(&replay);
        assert_eq!((again.status, again.stdout.as_str()), (0, "TO BE\nSHOUTED\n"), "{}", again.stderr);
    }
    let json = shell.run(&["lembeh", "run", &filter, "--replay", &transcript, "--json"]);
    let told: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&told["outcome"], &told["stdout"]), (&"exited".into(), &"TO BE\nSHOUTED\n".into()), "{told}");
    assert_eq!(told["divergence"], Value::Null);

    let mode = std::fs::metadata(&transcript).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it has the input, and was there with another mode");
    let text = std::fs::read_to_string(&transcript).unwrap();
    let other = shell.file("other.jsonl", text.replace("VE8gQkUKU0hPVVRFRAo=", "VE8gQkUhU0hPVVRFRAo="));
    let said = shell.run(&["lembeh", "run", &filter, "--replay", &other]);
    assert_eq!(said.status, 1, "{}", said.stderr);
    assert!(said.stderr.contains("t_specimen_"), "{}", said.stderr);
}

#[test]
fn files_are_seen_and_without_a_policy_nothing_else() {
    let shell = Shell::sharing();
    let folder = shell.path("seen").display().to_string();
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(shell.path("seen").join("a.txt"), "text\n").unwrap();
    let said = shell.run(&["lembeh", "run", &guest("view"), "--files", &folder]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "a.txt:\ntext\n"), "{}", said.stderr);
    let said = shell.run(&["lembeh", "run", &guest("filter")]);
    assert_eq!((said.status, said.stderr.as_str()), (0, "filter: t_cap_missing\n"));
}

#[test]
fn what_cannot_be_run_or_replayed_is_said_by_name() {
    let shell = Shell::sharing();
    let none = shell.file("none.wat", "(module (memory (export \"memory\") 1))");
    let looping = shell.file("loop.wat", "(module (memory (export \"memory\") 1) (func (export \"lembeh_handle\") (param i32 i32) unreachable))");
    let bad = shell.file("bad.json", r#"{"max_arg": 1}"#);
    let cut = shell.file("cut.jsonl", "{\"k\":\"read\"}\n");
    let view = guest("view");
    let mut all = String::new();
    for args in [
        &["lembeh", "run", &none][..],
        &["lembeh", "run", &looping],
        &["lembeh", "run", &view, "--policy", &bad],
        &["lembeh", "run", &view, "--replay", &cut],
        &["lembeh", "run", &view, "--schedule", "random"],
        &["lembeh", "run", &view, "--record", "a", "--replay", "b"],
    ] {
        let said = shell.run(args);
        all += &format!("{} {}\n", said.status, said.stderr.lines().next().unwrap_or_default());
    }
    insta::with_settings!({ filters => vec![(r"[0-9a-f]{64}", "SHA256"), (r"`/[^`]*/([^/`]+)`", "`$1`")] }, {
        insta::assert_snapshot!(all);
    });
}

#[test]
fn the_help_says_what_a_policy_is() {
    let said = Shell::sharing().run(&["lembeh", "run", "--help"]);
    assert_eq!(said.status, 0);
    insta::assert_snapshot!(said.stdout);
}
