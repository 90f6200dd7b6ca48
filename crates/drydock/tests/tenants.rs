//! `drydock tenants`: who keeps something in the data directory, whatever they are called and whatever is broken.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::Shell;
use serde_json::{Value, json};

/// Without what differs from run to run: sizes and moments.
fn steady(text: &str) -> String {
    let line = |line: &str| {
        let line = line.split("since ").next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_size =
            |at: usize| matches!(words.get(at + 1), Some(&("B" | "KiB" | "MiB"))) && words[at] != "0";
        let shown =
            |(at, word): (usize, &&str)| if is_size(at) { "N".to_owned() } else { (*word).to_owned() };
        words.iter().enumerate().map(shown).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn everybody_who_keeps_something_is_listed_with_it() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["tenants"]).stdout, "no tenant keeps anything here\n");
    assert_eq!(shell.run(&["tenants", "--json"]).stdout, "[]\n");
    shell.run(&["sh", "--workspace", "notes", "-c", "echo kept > a"]);
    shell.run(&["secret", "add", "KEY", "env:SHOP_KEY", "--tenant", "../Acme"]);
    shell.run(&["token", "add", "guest"]);
    shell.run(&["revoke", "--tenant", "gone"]);
    let said = shell.run(&["tenants"]);
    assert_eq!(said.status, 0, "{}", said.all());
    insta::assert_snapshot!(steady(&said.stdout), @r"
    TENANT COMMANDS EXTENSIONS WORKSPACES SECRETS GRANTS TOKENS AUDIT ON DISK REVOKED
    ../Acme 0 0 0 1 0 0 N B N KiB -
    dev 0 0 1 0 0 0 N B N KiB -
    gone 0 0 0 0 0 0 0 B 0 B
    guest 0 0 0 0 0 1 0 B 0 B -
    ");
    let told: Vec<Value> = serde_json::from_str(&shell.run(&["tenants", "--json"]).stdout).unwrap();
    let names: Vec<&str> = told.iter().map(|it| it["tenant"].as_str().unwrap()).collect();
    assert_eq!(names, ["../Acme", "dev", "gone", "guest"]);
    assert_eq!((&told[0]["secrets"], &told[0]["commands"]), (&json!(1), &json!(0)));
    assert_eq!(told[1]["workspaces"], 1);
    assert!(told[1]["bytes"].as_u64().unwrap() > told[1]["audit_bytes"].as_u64().unwrap());
    assert!(told[2]["revoked"].as_str().unwrap().ends_with('Z'));
    assert_eq!((&told[3]["tokens"], &told[3]["revoked"]), (&json!(1), &Value::Null));
}

#[test]
fn what_is_broken_is_one_tenants_and_a_folder_without_a_name_is_told() {
    let shell = Shell::new();
    for tenant in ["one", "two"] {
        shell.run(&["secret", "add", "KEY", "env:K", "--tenant", tenant]);
    }
    let tenants = shell.home().join("tenants");
    fs::write(tenants.join("one/registry.json"), "{").unwrap();
    fs::create_dir(tenants.join("_lost")).unwrap();
    let said = shell.run(&["tenants", "--json"]);
    let told: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&told[0]["commands"], &told[0]["secrets"]), (&Value::Null, &json!(1)), "{}", said.all());
    assert_eq!((&told[1]["commands"], &told[1]["secrets"]), (&json!(0), &json!(1)));
    assert!(said.stderr.contains("`_lost`"), "{}", said.stderr);
    assert!(shell.run(&["tenants"]).stdout.contains(" ? "));
}
