//! Shells that stay, through the real binary: `drydock sh --session`.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, process::Stdio};

use common::Shell;

fn told(shell: &Shell, asked: &[&[&str]]) -> String {
    let mut all = String::new();
    for args in asked {
        let said = shell.run(args);
        let line = format!("$ drydock {}\n[{}] {}{}", args.join(" "), said.status, said.stdout, said.stderr);
        all.push_str(&line);
        if !all.ends_with('\n') {
            all.push('\n');
        }
    }
    all
}

#[test]
fn a_session_of_a_shell_goes_on_in_another_process() {
    let shell = Shell::new();
    let folder = shell.path("d");
    fs::create_dir(&folder).unwrap();
    let mount = format!("{}:rw", folder.display());
    let line = |text: &str| shell.run(&["sh", "--dir", &mount, "--session", "s", "-c", text]);
    let said = line(
        "x=5; declare -A m=([k]=v); f() { echo \"f $x ${m[k]}\"; }; mkdir -p sub; cd sub; set -u; alias a=b; exec 3> log; echo one >&3",
    );
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    let said = line("f; pwd; echo $-; alias; echo two >&3; cat log; false");
    assert_eq!(said.status, 1, "{}", said.stderr);
    assert!(said.stdout.starts_with("f 5 v\n"), "{}", said.stdout);
    assert!(said.stdout.contains("sub\n") && said.stdout.contains('u'), "{}", said.stdout);
    assert!(said.stdout.ends_with("alias a='b'\none\ntwo\n"), "{}", said.stdout);
    assert_eq!(line("echo $?").stdout, "1\n");
}

#[test]
fn sessions_are_listed_forked_and_forgotten_by_name() {
    let shell = Shell::new();
    let asked: &[&[&str]] = &[
        &["sh", "--sessions"],
        &["sh", "--session", "a", "-c", "x=1"],
        &["sh", "--session", "b", "--fork", "a"],
        &["sh", "--session", "b", "-c", "echo $x; x=2"],
        &["sh", "--session", "a", "-c", "echo $x"],
        &["sh", "--session", "b", "--fork", "a"],
        &["sh", "--session", "c", "--fork", "nobody"],
        &["sh", "--session", "a", "--forget"],
        &["sh", "--session", "a", "--forget"],
        &["sh", "--session", "a", "-c", "echo ${x-gone}"],
        &["sh", "--session", "../a", "-c", ":"],
    ];
    let told = told(&shell, asked);
    insta::assert_snapshot!(told);
}

/// What a shell says of a line that took it along.
const GOES_ON_FROM_BEFORE: &str = "the line did not end by itself: the shell goes on from before it";

/// Arithmetic that doubles looks at nothing while it computes: the instance is dropped, and what it changed with it.
#[test]
fn a_line_that_does_not_end_leaves_the_session_as_it_was() {
    let line = r#"x=2; x0=1; for i in {1..60}; do declare x$i="x$((i-1))+x$((i-1))"; done; echo $((x60))"#;
    let shell = Shell::new();
    let run = |text: &str| shell.run(&["sh", "--timeout", "1s", "--session", "s", "-c", text]);
    assert_eq!(run("x=1").status, 0);
    let said = run(line);
    assert_eq!(said.status, 124, "{}", said.stderr);
    assert!(said.stderr.contains(GOES_ON_FROM_BEFORE), "{}", said.stderr);
    assert_eq!(run("echo $x").stdout, "1\n");
    let told = shell.run(&["sh", "--json", "--timeout", "1s", "--session", "s", "-c", line]);
    let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((&told["was_reset"], &told["limit"]), (&true.into(), &"timed_out".into()), "{told}");
    assert_eq!(run("echo $x").stdout, "1\n");
}

#[test]
fn a_line_that_ends_when_it_is_told_to_keeps_what_it_did() {
    let shell = Shell::new();
    let run = |text: &str| shell.run(&["sh", "--timeout", "1s", "--session", "s", "-c", text]);
    assert_eq!(run("x=1").status, 0);
    let said = run("x=2; while :; do :; done");
    assert_eq!(said.status, 124, "{}", said.stderr);
    assert!(!said.stderr.contains(GOES_ON_FROM_BEFORE), "{}", said.stderr);
    assert_eq!(run("echo $x").stdout, "2\n");
}

#[test]
fn two_processes_do_not_share_a_session() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["sh", "--session", "s", "-c", "x=1"]).status, 0);
    let mut first = shell.command(&["sh", "--session", "s", "-c", "echo ready; read line; x=2"]);
    let mut first = first.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    std::io::Read::read_exact(first.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let said = shell.run(&["sh", "--session", "s", "-c", "echo hi"]);
    assert_eq!((said.status, said.stdout.as_str()), (125, ""), "{}", said.stderr);
    assert!(said.stderr.contains("session s is in use by another process"), "{}", said.stderr);
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    assert_eq!(shell.run(&["sh", "--session", "s", "-c", "echo $x"]).stdout, "2\n");
}

#[test]
fn a_checkpoint_that_was_cut_or_changed_is_refused_and_can_be_forgotten() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["sh", "--session", "s", "-c", "x=1"]).status, 0);
    let find = || {
        let mut folders = vec![shell.home().join("tenants")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else if entry.file_name() == "s.checkpoint" {
                    return entry.path();
                }
            }
        }
        panic!("there is no checkpoint");
    };
    let whole = fs::read(find()).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for bytes in [&whole[..whole.len() / 2], &flipped] {
        fs::write(find(), bytes).unwrap();
        let said = shell.run(&["sh", "--session", "s", "-c", "echo $x"]);
        assert_eq!((said.status, said.stdout.as_str()), (125, ""), "{}", said.stderr);
        assert!(said.stderr.contains("session s"), "{}", said.stderr);
    }
    assert_eq!(shell.run(&["sh", "--session", "s", "--forget", "-c", "echo ${x-anew}"]).stdout, "anew\n");
}
