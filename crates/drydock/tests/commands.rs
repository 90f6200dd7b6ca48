//! `drydock commands` and `drydock audit`, and a registry under attack.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Shell, tree};
use drydock_testkit::guests;

#[test]
fn a_command_is_added_shown_run_and_removed() {
    let shell = Shell::new();
    let file = shell.file("seven.wat", guests::exit(7));
    let sha = "85b10c2b0bcd1b5bb0c56f4a5ba9e28ee6d8f2b1c5f4a66a1b7fbc9b24a3a5f0";
    let mut all = String::new();
    for args in [
        &["commands", "add", "seven", &file, "--sha256", sha][..],
        &["commands", "show", "seven"],
        &["commands", "add", "seven", &file],
        &["run", "seven"],
        &["commands", "show", "seven"],
        &["commands", "add", "seven", &file, "--mode", "stdin1"],
        &["commands", "rm", "seven"],
        &["commands", "rm", "seven"],
        &["run", "seven"],
        &["commands", "rm", "jq"],
        &["commands", "show", "no-such"],
    ] {
        all.push_str(&format!(
            "$ drydock {}\n{}\n",
            args.join(" ").replace(&file, "seven.wat"),
            shell.run(args).all()
        ));
    }
    insta::with_settings!({filters => vec![(r"[0-9a-f]{64}", "SHA")]}, { insta::assert_snapshot!(all) });
}

#[test]
fn what_cannot_be_a_command_is_refused_with_its_code() {
    let shell = Shell::new();
    let good = shell.file("good.wat", guests::exit(0));
    let text = shell.file("script.wasm", "#!/bin/sh\necho hi\n");
    let library = shell.file("library.wat", guests::no_start());
    let foreign = shell.file("foreign.wat", guests::importing("env", "system", "(param i32)"));
    let broken = shell.file("broken.wat", "(module (func");
    let component = shell.file("component.wasm", b"\0asm\x0d\0\x01\0");
    let folder = shell.path("folder");
    fs::create_dir(&folder).unwrap();
    let cases: &[&[&str]] = &[
        &["jq", &good],
        &["upper", &good],
        &["grep", &good],
        &["wbox", &good],
        &["", &good],
        &["a/b", &good],
        &["../x", &good],
        &["a b", &good],
        &[".hidden", &good],
        &["x", &text],
        &["x", &library],
        &["x", &foreign],
        &["x", &broken],
        &["x", &component],
        &["x", "missing.wasm"],
        &["x", folder.to_str().unwrap()],
        &["x", "/dev/null"],
    ];
    let mut all = String::new();
    for case in cases {
        let said = shell.run(&[&["commands", "add"], *case].concat());
        assert_eq!(said.status, 1, "{case:?}");
        let shown = case.join(" ").replace(shell.path("").to_str().unwrap(), "");
        all.push_str(&format!("$ drydock commands add {shown}\n{}{}", said.stdout, said.stderr));
    }
    insta::with_settings!({filters => vec![(r"[0-9a-f]{64}", "SHA")]}, { insta::assert_snapshot!(all) });
    let listed: serde_json::Value =
        serde_json::from_str(&shell.run(&["commands", "list", "--json"]).stdout).unwrap();
    assert!(
        listed.as_array().unwrap().iter().all(|it| it["origin"] != "registered"),
        "nothing was registered"
    );
}

#[test]
fn a_module_of_200_mb_is_refused_before_it_is_read_whole() {
    let shell = Shell::new();
    let path = shell.path("huge.wasm");
    let file = fs::File::create(&path).unwrap();
    file.set_len(200 << 20).unwrap();
    let said = shell.run(&["commands", "add", "huge", path.to_str().unwrap()]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.starts_with("drydock: artifact_too_large: "), "{}", said.stderr);
    assert!(said.stderr.contains("134217728"), "the limit is named: {}", said.stderr);
    let said = shell.run(&["commands", "add", "huge", path.to_str().unwrap(), "--json"]);
    let record: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(record["error"]["code"], "artifact_too_large");
    let stored: u64 = tree(&shell.home().join("commands")).iter().map(|it| it.1).sum();
    assert_eq!(stored, 0);
}

#[test]
fn the_list_shows_commands_and_applets() {
    let shell = Shell::new();
    shell.add("mine", &guests::exit(0));
    let text = shell.run(&["commands", "list"]).stdout;
    for word in ["NAME", "mine", "registered", "jq", "grep", "upper", "wbox", "builtin", "Applets", " sort"] {
        assert!(text.contains(word), "{word}\n{text}");
    }
    let rows: serde_json::Value =
        serde_json::from_str(&shell.run(&["commands", "list", "--json"]).stdout).unwrap();
    let rows = rows.as_array().unwrap();
    assert!(rows.len() > 64, "{}", rows.len());
    assert!(rows.iter().all(|it| it["sha256"].as_str().unwrap().len() == 64));
}

#[test]
fn verify_finds_swapped_and_missing_artifacts() {
    let shell = Shell::new();
    shell.add("mine", &guests::exit(0));
    shell.add("gone", &guests::exit(1));
    assert_eq!(shell.run(&["commands", "verify"]).status, 0);
    for (path, _) in tree(&shell.home().join("commands")) {
        let bytes = fs::read(&path).unwrap();
        if bytes == wat_of(&guests::exit(0)) {
            fs::write(&path, wat_of(&guests::exit(66))).unwrap();
        } else if bytes == wat_of(&guests::exit(1)) {
            fs::remove_file(&path).unwrap();
        }
    }
    let said = shell.run(&["commands", "verify"]);
    assert_eq!(said.status, 1);
    assert!(said.stdout.contains("mine: artifact_integrity"), "{}", said.stdout);
    assert!(said.stdout.contains("gone: artifact_read"), "{}", said.stdout);
    let said = shell.run(&["run", "mine"]);
    assert_eq!(said.status, 125);
    assert!(said.stderr.starts_with("drydock: artifact_integrity: "), "{}", said.stderr);
    assert_eq!(shell.run(&["run", "true"]).status, 0);
}

#[test]
fn a_registry_cut_in_half_is_said_kept_and_repaired() {
    let shell = Shell::new();
    shell.add("one", &guests::exit(1));
    shell.add("two", &guests::exit(2));
    let path = shell.home().join("tenants/dev/registry.json");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(shell.run(&["run", "true"]).status, 0, "built-ins still run");
    let said = shell.run(&["commands", "verify"]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("registry_corrupt"), "{}", said.stderr);
    let file = shell.file("three.wat", guests::exit(3));
    assert!(shell.run(&["commands", "add", "three", &file]).stderr.contains("registry_corrupt"));
    assert_eq!(fs::read(&path).unwrap(), &whole[..whole.len() / 2], "nothing is written over it");
    let said = shell.run(&["commands", "verify", "--repair"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(shell.run(&["run", "one"]).status, 1);
    assert_eq!(shell.run(&["run", "two"]).status, 2, "nothing that was acknowledged is lost");
    shell.add("three", &guests::exit(3));
    assert_eq!(shell.run(&["run", "three"]).status, 3);
}

#[test]
fn two_processes_adding_at_once_lose_nothing() {
    let shell = Shell::new();
    shell.run(&["run", "true"]);
    let file = shell.file("x.wat", guests::exit(0));
    for round in 0..3 {
        let names: Vec<String> = (0..6).map(|it| format!("r{round}-{it}")).collect();
        let children: Vec<_> = names
            .iter()
            .map(|name| shell.command(&["commands", "add", name, &file]).spawn().unwrap())
            .collect();
        for child in children {
            let said = shell.said(child.wait_with_output().unwrap());
            assert_eq!(said.status, 0, "{}", said.stderr);
        }
    }
    let listed = shell.run(&["commands", "list", "--json"]).stdout;
    assert_eq!(listed.matches("\"registered\"").count(), 18);
}

#[test]
fn the_audit_shows_who_was_let_through_and_who_was_not() {
    let shell = Shell::new();
    shell.run(&["run", "true"]);
    shell.run(&["run", "--allow", "jq", "upper"]);
    shell.run(&["run", "no-such", "secret"]);
    let text = shell.run(&["audit"]).stdout;
    insta::with_settings!({filters => vec![(r"\d{4}-\d\d-\d\dT\S+", "WHEN")]}, { insta::assert_snapshot!(text) });
    let rows = shell.run(&["audit", "--denied", "--json"]).stdout;
    let rows: Vec<serde_json::Value> = rows.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[1]["subject"], &rows[1]["reason"]), (&"no-such".into(), &"unknown_command".into()));
    assert!(!text.contains("secret"));
    let counts: serde_json::Value =
        serde_json::from_str(&shell.run(&["audit", "--counts", "--json"]).stdout).unwrap();
    assert_eq!(counts.as_array().unwrap().len(), 4);
}

#[test]
fn a_guest_cannot_draw_on_the_operators_screen() {
    let shell = Shell::new();
    let name = "\x1b[2K\rcli allowed\nforged";
    let said = shell.run(&["run", name]);
    assert_eq!(said.status, 127);
    let shown = shell.run(&["audit"]).stdout;
    for text in [&said.stderr, &shown] {
        assert!(!text.contains('\x1b') && !text.contains('\r'), "{text:?}");
    }
    assert_eq!(shown.lines().count(), 2, "a heading and one row: {shown}");
}

#[test]
fn a_pipe_or_a_folder_is_not_opened_as_a_module() {
    let shell = Shell::new();
    let fifo = shell.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let said = shell.run(&["commands", "add", "x", fifo.to_str().unwrap()]);
    assert_eq!((said.status, said.stderr.contains("not a regular file")), (1, true), "{}", said.stderr);
}

fn wat_of(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}
