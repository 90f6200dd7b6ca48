//! What a person reads when asking for help, or asking wrongly.
#![allow(clippy::unwrap_used)]

mod common;

use common::Shell;

#[test]
fn help_pages_read_well() {
    let shell = Shell::new();
    for page in [
        &["help"][..],
        &["help", "run"],
        &["help", "mcp"],
        &["help", "agent"],
        &["help", "agent", "run"],
        &["help", "review"],
        &["help", "commands"],
        &["help", "commands", "add"],
        &["help", "audit"],
        &["help", "kv"],
        &["help", "queue"],
        &["help", "secret"],
        &["help", "serve-guest"],
        &["help", "ext", "install"],
        &["help", "ext", "dev"],
        &["help", "revoke"],
        &["help", "tenants"],
        &["help", "profiles"],
        &["help", "doctor"],
        &["help", "completions"],
    ] {
        let said = shell.run(page);
        assert_eq!(said.status, 0);
        insta::assert_snapshot!(page.join("-"), said.stdout);
    }
    assert!(!shell.home().exists(), "help makes no directory");
}

#[test]
fn wrong_words_are_answered_with_what_to_do() {
    let shell = Shell::new();
    let asked: &[&[&str]] = &[
        &[],
        &["rnu"],
        &["run"],
        &["run", "--tiemout", "3", "jq"],
        &["run", "--timeout", "soon", "jq"],
        &["run", "--memory", "lots", "jq"],
        &["run", "--memory", "5GiB", "jq"],
        &["run", "--env", "NOVALUE", "jq"],
        &["run", "--now", "yesterday", "jq"],
        &["run", "--fuel", "-1", "jq"],
        &["run", "--allow", "a/b", "jq"],
        &["run", "--env", "=x", "jq"],
        &["rnu", "jq"],
        &["sh", "--evla", "-c", "x"],
        &["commands"],
        &["commands", "add", "x"],
        &["commands", "add", "x", "y.wasm", "--sha256", "abc"],
        &["commands", "add", "x", "y.wasm", "--mode", "shell"],
        &["completions", "csh"],
        &["revoke"],
        &["revoke", "a b"],
        &["revoke", "--tenant", ""],
        &["unrevoke"],
        &["audit", "--tenant", "a b"],
    ];
    let mut all = String::new();
    for args in asked {
        let said = shell.run(args);
        assert_ne!(said.status, 0, "{args:?}");
        all.push_str(&format!("$ drydock {}\n[{}] {}\n", args.join(" "), said.status, said.stderr));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn completions_are_scripts_for_each_shell_that_ask_for_the_names_there_are() {
    let shell = Shell::new();
    for name in ["bash", "zsh", "fish"] {
        let said = shell.run(&["completions", name]);
        assert_eq!(said.status, 0);
        assert!(said.stdout.contains("DRYDOCK_COMPLETE"), "{name}: {}", said.stdout);
    }
    assert_eq!(shell.run(&["sh", "--workspace", "notes", "-c", "echo x > a"]).status, 0);
    let cases: [(&[&str], &str); 6] = [
        (&["run", "sha256"], "sha256sum"),
        (&["ws", "diff", "no"], "notes"),
        (&["sh", "--workspace", "n"], "notes"),
        (&["warm", "j"], "jq"),
        (&["catalog", "add", "esb"], "esbuild"),
        (&["prof"], "profiles"),
    ];
    for (words, want) in cases {
        let said = completed(&shell, words);
        assert!(said.lines().any(|it| it == want), "{words:?}: {said}");
    }
}

/// What bash's script is answered at the end of these words.
fn completed(shell: &Shell, words: &[&str]) -> String {
    let mut command = shell.command(&["--", "drydock"]);
    command.args(words).env("DRYDOCK_COMPLETE", "bash");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    shell.said(command.output().unwrap()).stdout
}

#[test]
fn profiles_are_the_seeds_table() {
    let shell = Shell::new();
    insta::assert_snapshot!(shell.run(&["profiles"]).stdout);
    let rows: serde_json::Value = serde_json::from_str(&shell.run(&["profiles", "--json"]).stdout).unwrap();
    assert_eq!(rows[0]["name"], "compute");
    assert_eq!(rows[3]["memory_bytes_max"], 256 << 20);
}

#[test]
fn doctor_tells_the_boundary_and_runs_a_trial() {
    let shell = Shell::new();
    let said = shell.run(&["doctor"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    for word in ["machine", "memory", "pagemap", "limits", "boundary", "cache", "trial", "TMP/home"] {
        assert!(said.stdout.contains(word), "{word}: {}", said.stdout);
    }
    let facts: serde_json::Value = serde_json::from_str(&shell.run(&["doctor", "--json"]).stdout).unwrap();
    assert_eq!(facts["trial"]["good"], true);
}
