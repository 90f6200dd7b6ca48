//! `drydock run` as its users meet it.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::{Read as _, Write as _},
    process::Command,
    time::{Duration, Instant},
};

use common::Shell;
use drydock_testkit::guests;

#[test]
fn the_newcomers_command_works() {
    let shell = Shell::new();
    let said = shell.pipe(&["run", "jq", "-r", ".name"], b"{\"name\":\"ada\"}");
    assert_eq!((said.status, said.stdout.as_str(), said.stderr.as_str()), (0, "ada\n", ""));
}

#[test]
fn everything_after_the_name_goes_to_the_command_untouched() {
    let shell = Shell::new();
    let nasty =
        ["--json", "--", "-x", "--help", "", "a b", "; rm -rf /", "$(id)", "*", "'\"", "new\nline", "-n"];
    let mut args = vec!["run", "--timeout", "20s", "printf", "[%s]"];
    args.extend(nasty);
    let want: String = nasty.iter().map(|it| format!("[{it}]")).collect();
    assert_eq!(shell.run(&args).stdout, want);
    assert_eq!(shell.run(&["run", "--", "echo", "--", "x"]).stdout, "-- x\n");
}

#[test]
fn exit_statuses_tell_how_it_ended() {
    let shell = Shell::new();
    shell.add("spin", &guests::infinite_loop());
    shell.add("bomb", &guests::memory_bomb());
    shell.add("crash", &guests::unreachable());
    shell.add("flood", &guests::output_flood(2));
    shell.add("deep", &guests::recursion());
    shell.add("drain", &guests::drain_stdin());
    shell.add("forty-two", &guests::exit(42));
    shell.add("wide", &guests::exit(256));
    let cases: &[(&[&str], i32)] = &[
        (&["run", "true"], 0),
        (&["run", "false"], 1),
        (&["run", "grep", "x"], 1),
        (&["run", "forty-two"], 42),
        (&["run", "wide"], 1),
        (&["run", "--timeout", "60ms", "--fuel", "999999999999", "spin"], 124),
        (&["run", "--timeout", "60ms", "sleep", "600"], 124),
        (&["run", "--fuel", "5000000", "spin"], 125),
        (&["run", "bomb"], 125),
        (&["run", "crash"], 125),
        (&["run", "deep"], 139),
        (&["run", "--output-max", "4KiB", "yes"], 125),
        (&["run", "--profile", "compute", "upper"], 126),
        (&["run", "--profile", "no-such", "upper"], 126),
        (&["run", "--allow", "jq,grep", "upper"], 126),
        (&["run", "no-such"], 127),
        (&["run", "/bin/sh"], 127),
    ];
    let mut all = String::new();
    for (args, want) in cases {
        let said = shell.run(args);
        assert_eq!(said.status, *want, "{args:?} {}", said.stderr);
        all.push_str(&format!("$ drydock {}\n{}", args.join(" "), said.stderr));
    }
    insta::assert_snapshot!(all);
    let said = shell.pipe(&["run", "--input-max", "1KiB", "drain"], &[7; 2000]);
    assert_eq!((said.status, said.stderr.contains("input_limit")), (125, true), "{}", said.stderr);
    let said = shell.run(&["run", "--profile", "compute", "--allow", "upper", "upper"]);
    assert_eq!(said.status, 0, "naming a command grants it: {}", said.stderr);
}

#[test]
fn output_past_the_cap_is_cut_and_said_so() {
    let shell = Shell::new();
    let said = shell.run(&["run", "yes"]);
    assert_eq!((said.status, said.stdout.len()), (125, 8 << 20));
    assert_eq!(said.stderr, "drydock: yes: output_limit: cut off after 8.0 MiB; --output-max allows more\n");
}

#[test]
fn a_record_of_the_run_is_one_json_object() {
    let shell = Shell::new();
    let record = |args: &[&str], stdin: &[u8]| -> (i32, serde_json::Value) {
        let said = shell.pipe(args, stdin);
        (said.status, serde_json::from_str(&said.stdout).unwrap())
    };
    let (status, it) = record(&["run", "--json", "upper"], b"hi");
    assert_eq!((status, &it["outcome"], &it["code"]), (0, &"exited".into(), &0.into()));
    assert_eq!((&it["stdout"], &it["stderr"]), (&"HI".into(), &"".into()));
    assert!(it["fuel"].as_u64().unwrap() > 0 && it["memory_bytes"].as_u64().unwrap() > 0);
    assert!(it["duration_us"].is_u64() && it.get("stdout_b64").is_none());

    let (_, it) = record(&["run", "--json", "cat"], b"\xff\x00");
    assert_eq!((&it["stdout_b64"], it.get("stdout")), (&"/wA=".into(), None));

    let (status, it) = record(&["run", "--json", "--fuel", "1000", "jq", "."], b"{}");
    assert_eq!((status, &it["outcome"], it.get("code")), (125, &"out_of_fuel".into(), None));

    let (status, it) = record(&["run", "--json", "--allow", "jq", "upper"], b"");
    assert_eq!((status, &it["error"]["code"]), (126, &"command_not_granted".into()));
    let (status, it) = record(&["run", "--json", "nope"], b"");
    assert_eq!((status, &it["error"]["code"]), (127, &"unknown_command".into()));
}

#[test]
fn a_seed_and_a_moment_make_a_run_repeatable() {
    let shell = Shell::new();
    let shuffle = |seed: &str| shell.run(&["run", "--seed", seed, "shuf", "-i", "1-50"]).stdout;
    assert_eq!(shuffle("1"), shuffle("1"));
    assert_ne!(shuffle("1"), shuffle("2"));
    let said = shell.run(&["run", "--now", "2026-01-31T12:00:00Z", "date", "-u", "+%F %T"]);
    assert_eq!(said.stdout, "2026-01-31 12:00:00\n");
}

#[test]
fn the_environment_is_what_was_given_and_nothing_else() {
    let shell = Shell::new();
    let said = shell.run(&["run", "--env", "A=1", "--env", "B=x=y", "jq", "-nc", "env"]);
    assert_eq!(said.stdout, "{\"A\":\"1\",\"B\":\"x=y\"}\n");
}

#[test]
fn streams_flow_while_the_command_runs() {
    let shell = Shell::new();
    shell.run(&["run", "upper"]);
    let mut child = shell.command(&["run", "upper"]).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for word in ["first", "second"] {
        stdin.write_all(word.as_bytes()).unwrap();
        let mut buffer = vec![0; word.len()];
        stdout.read_exact(&mut buffer).unwrap();
        assert_eq!(buffer, word.to_uppercase().into_bytes(), "before stdin is closed");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_goes_away_ends_the_writer_quietly() {
    let shell = Shell::new();
    let mut child = shell.command(&["run", "yes"]).spawn().unwrap();
    let mut buffer = [0; 2];
    child.stdout.take().unwrap().read_exact(&mut buffer).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_ne!(output.status.code(), Some(125), "it did not run on to its limit");
}

#[test]
fn ctrl_c_ends_the_run_with_130() {
    let shell = Shell::new();
    shell.run(&["run", "true"]);
    for command in [&["run", "sleep", "600"][..], &["run", "cat"]] {
        let mut child = shell.command(command).spawn().unwrap();
        let _stdin = child.stdin.take();
        let started = Instant::now();
        std::thread::sleep(Duration::from_millis(400));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{command:?}");
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn argv_of_300_kib_is_a_clear_error() {
    let shell = Shell::new();
    // The kernel takes at most 128 KiB for one argument, so there are three.
    let part = "x".repeat(100 << 10);
    let said = shell.run(&["run", "echo", &part, &part, &part]);
    assert_eq!(said.status, 125);
    assert_eq!(said.stderr, "drydock: too_large: argv of 307203 bytes exceeds the limit of 262144\n");
}

#[test]
fn nothing_is_shown_of_compiling_in_a_pipe() {
    let shell = Shell::new();
    let said = shell.pipe(&["run", "sort"], b"b\na\n");
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("a\nb\n", ""));
}

#[test]
fn two_at_once_with_a_cold_cache_both_work() {
    let shell = Shell::new();
    let children: Vec<_> = (0..4).map(|_| shell.command(&["run", "seq", "3"]).spawn().unwrap()).collect();
    for child in children {
        assert_eq!(shell.said(child.wait_with_output().unwrap()).stdout, "1\n2\n3\n");
    }
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["run", "true"]).status, 0);
    // No file may grow: every write to one fails, as on a full disk.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
    let full = |args: &[&str]| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_drydock")]).args(args);
        command.env_clear().env("DRYDOCK_HOME", shell.home()).current_dir(shell.path("."));
        shell.said(command.output().unwrap())
    };
    let said = full(&["run", "true"]);
    assert_eq!(said.status, 125, "what cannot be recorded is not done");
    assert!(said.stderr.contains("audit_unavailable"), "{}", said.stderr);
    let file = shell.file("x.wat", guests::exit(0));
    let said = full(&["commands", "add", "x", &file]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("write_failed"), "{}", said.stderr);
    assert_eq!(shell.run(&["run", "x"]).status, 127, "nothing half-registered");
    assert_eq!(shell.run(&["run", "true"]).status, 0, "and the next run is fine");
    assert_eq!(shell.run(&["commands", "verify"]).status, 0);
}

/// Runs the binary under `sh -c`, as `"$0" "$@"`.
fn under_sh(shell: &Shell, script: &str, args: &[&str]) -> common::Said {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_drydock")]).args(args);
    command.env_clear().env("DRYDOCK_HOME", shell.home()).env("PATH", "/usr/bin:/bin");
    shell.said(command.current_dir(shell.path(".")).output().unwrap())
}

#[test]
fn output_that_cannot_be_written_is_not_a_success() {
    let shell = Shell::new();
    shell.run(&["run", "true"]);
    let said = under_sh(&shell, "echo hi | \"$0\" \"$@\" >/dev/full", &["run", "upper"]);
    assert_ne!(said.status, 0, "{}", said.stderr);
}

#[test]
fn a_slow_reader_gets_every_byte() {
    let shell = Shell::new();
    shell.run(&["run", "seq", "1"]);
    let said = under_sh(&shell, "\"$0\" \"$@\" | (sleep 2; wc -l)", &["run", "seq", "200000"]);
    assert_eq!(said.stdout.trim(), "200000", "{}", said.stderr);
}

#[test]
fn a_stderr_that_nobody_hears_is_no_reason_to_panic() {
    let shell = Shell::new();
    let said = under_sh(&shell, "\"$0\" \"$@\" 2>/dev/full", &["run", "nope"]);
    assert_eq!(said.status, 127);
    let said = under_sh(&shell, "\"$0\" \"$@\" 2>&-", &["run", "nope"]);
    assert_eq!(said.status, 127);
}

#[test]
fn a_small_address_space_still_runs_commands() {
    let shell = Shell::new();
    let script = "ulimit -v 3000000; echo hi | \"$0\" \"$@\"";
    let said = under_sh(&shell, script, &["run", "upper"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "HI\n"), "{}", said.stderr);
}

#[test]
fn a_home_that_cannot_be_used_is_125_and_says_so() {
    let shell = Shell::new();
    let file = shell.file("home", "not a directory");
    let said = shell.run(&["run", "true"]);
    assert_eq!(said.status, 125, "{file} {}", said.stderr);
    assert!(said.stderr.contains("TMP/home"), "{}", said.stderr);
}

#[test]
fn ctrl_c_is_heard_while_the_host_works_for_the_guest() {
    let shell = Shell::new();
    shell.add("work", &guests::host_work());
    let child = shell.command(&["run", "--timeout", "60s", "work"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    let started = Instant::now();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_command_of_ones_own_has_the_memory_of_its_profile_and_a_flag_raises_it() {
    let shell = Shell::new();
    // Asks for 100 MiB, and tells by its status whether it got them.
    let grows = r#"(module
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start")
          (call $exit (i32.eq (memory.grow (i32.const 1600)) (i32.const -1)))))"#;
    shell.add("grows", grows);
    let cases: [(&[&str], i32); 3] = [
        (&["run", "grows"], 125),
        (&["run", "--memory", "128MiB", "grows"], 0),
        (&["run", "--profile", "posix", "grows"], 0),
    ];
    for (words, want) in cases {
        let said = shell.run(words);
        assert_eq!(said.status, want, "{words:?}: {}", said.stderr);
    }
    // What is built in has 256 MiB under the same profile.
    let said =
        shell.run(&["run", "awk", "BEGIN { s = \"x\"; for (i = 0; i < 26; i++) s = s s; print length(s) }"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "67108864\n"), "{}", said.stderr);
}
