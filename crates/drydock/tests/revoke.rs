//! `drydock revoke` and `unrevoke`, and what is kept for tenants, through the real binary.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::Shell;

fn told(shell: &Shell, asked: &[&[&str]]) -> String {
    let mut all = String::new();
    for args in asked {
        let said = shell.run(args);
        all.push_str(&format!(
            "$ drydock {}\n[{}] {}{}",
            args.join(" "),
            said.status,
            said.stdout,
            said.stderr
        ));
    }
    all
}

#[test]
fn a_principal_or_a_tenant_is_revoked_listed_and_let_ask_again() {
    let shell = Shell::new();
    let asked: &[&[&str]] = &[
        &["revoke", "--list"],
        &["unrevoke", "agent-7"],
        &["revoke", "agent-7"],
        &["revoke", "agent-7"],
        &["revoke", "../..", "--tenant", "acme/eu"],
        &["revoke", "--tenant", "acme/eu", "--json"],
        &["revoke", "--list"],
        &["revoke", "--list", "--tenant", "dev", "--json"],
        &["unrevoke", "agent-7", "--json"],
        &["unrevoke", "--tenant", "acme/eu"],
        &["revoke", "--list"],
    ];
    let text = told(&shell, asked);
    insta::with_settings!({filters => vec![(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "WHEN")]}, {
        insta::assert_snapshot!(text, @r#"
        $ drydock revoke --list
        [0] nothing is revoked
        $ drydock unrevoke agent-7
        [0] principal agent-7 of tenant dev was not revoked
        $ drydock revoke agent-7
        [0] revoked principal agent-7 of tenant dev; what runs now hears it within a second
        $ drydock revoke agent-7
        [0] principal agent-7 of tenant dev was revoked already
        $ drydock revoke ../.. --tenant acme/eu
        [0] revoked principal ../.. of tenant acme/eu; what runs now hears it within a second
        $ drydock revoke --tenant acme/eu --json
        [0] {"changed":true,"revoked":true,"tenant":"acme/eu"}
        $ drydock revoke --list
        [0] SINCE                        TENANT   WHAT       NAME
        WHEN  acme/eu  tenant
        WHEN  acme/eu  principal  ../..
        WHEN  dev      principal  agent-7
        $ drydock revoke --list --tenant dev --json
        [0] [{"at":"WHEN","principal":"agent-7","tenant":"dev"}]
        $ drydock unrevoke agent-7 --json
        [0] {"changed":true,"principal":"agent-7","revoked":false,"tenant":"dev"}
        $ drydock unrevoke --tenant acme/eu
        [0] tenant acme/eu may ask again; what was ended stays ended
        $ drydock revoke --list
        [0] SINCE                        TENANT   WHAT       NAME
        WHEN  acme/eu  principal  ../..
        "#);
    });
}

#[test]
fn whoever_is_revoked_writes_nothing_through_a_line_and_it_is_on_record() {
    let shell = Shell::new();
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("{}:/w:rw", folder.path().display());
    let line = ["sh", "--dir", &mount, "-c", "echo one > /w/f; for i in 1 2; do echo $i >> /w/f; done"];
    assert_eq!(shell.run(&line).status, 0);
    assert_eq!(fs::read_to_string(folder.path().join("f")).unwrap(), "one\n1\n2\n");
    fs::remove_file(folder.path().join("f")).unwrap();
    shell.run(&["revoke", "cli"]);
    let refused = shell.run(&line);
    assert_eq!(refused.status, 126);
    assert!(refused.stderr.contains("revoked: "), "{}", refused.stderr);
    assert!(!folder.path().join("f").exists());
    let told = shell.run(&["audit", "--denied"]).stdout;
    assert!(told.contains("line.run") && told.contains("revoked"), "{told}");
}

#[test]
fn a_home_whose_revocations_are_damaged_runs_nothing_and_says_what_to_do() {
    let shell = Shell::new();
    shell.run(&["run", "true"]);
    let file = shell.home().join("revocations.sqlite");
    assert!(!file.exists(), "a home where nothing is revoked has no such file");
    shell.run(&["revoke", "somebody"]);
    assert_eq!(shell.run(&["run", "true"]).status, 0);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let text = told(&shell, &[&["run", "true"], &["revoke", "other"], &["revoke", "--list", "--json"]]);
    insta::assert_snapshot!(text, @r#"
    $ drydock run true
    [125] drydock: error: the ledger `TMP/home/revocations.sqlite` is damaged; nobody can say what is revoked, so no session is opened. Put a backup in its place; or move it away, which takes every revocation back, and revoke again what must be
    $ drydock revoke other
    [1] drydock: ledger_damaged: the ledger `TMP/home/revocations.sqlite` is damaged; nobody can say what is revoked, so no session is opened. Put a backup in its place; or move it away, which takes every revocation back, and revoke again what must be
    $ drydock revoke --list --json
    [1] {"error":{"code":"ledger_damaged","message":"the ledger `TMP/home/revocations.sqlite` is damaged; nobody can say what is revoked, so no session is opened. Put a backup in its place; or move it away, which takes every revocation back, and revoke again what must be"}}
    "#);
    assert_eq!(fs::read(&file).unwrap().len(), whole.len() / 2, "nothing is written over it");
    fs::remove_file(&file).unwrap();
    assert_eq!(shell.run(&["run", "true"]).status, 0);
}

#[test]
fn a_home_of_the_layout_before_is_refused_by_name() {
    let shell = Shell::new();
    fs::create_dir(shell.home()).unwrap();
    fs::write(shell.home().join("registry.json"), "{}").unwrap();
    insta::assert_snapshot!(told(&shell, &[&["run", "true"], &["audit"]]), @r#"
    $ drydock run true
    [125] drydock: error: the data directory `TMP/home` has layout 1, and this drydock has layout 2; use the drydock that made it, or move it away, or choose another home with DRYDOCK_HOME
    $ drydock audit
    [1] drydock: error: the data directory `TMP/home` has layout 1, and this drydock has layout 2; use the drydock that made it, or move it away, or choose another home with DRYDOCK_HOME
    "#);
    assert_eq!(fs::read_dir(shell.home()).unwrap().count(), 1, "and left alone");
}

#[test]
fn the_audit_is_a_tenants_own_and_counts_what_was_refused_again_and_again() {
    let shell = Shell::new();
    let refused = "for n in 1 2 3 4 5 6 7 8; do nosuch; done; true";
    assert_eq!(shell.run(&["sh", "-c", refused]).status, 0);
    let rows = shell.run(&["audit", "--denied", "--json"]).stdout;
    let rows: Vec<serde_json::Value> = rows.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let times: u64 =
        rows.iter().filter(|it| it["subject"] == "nosuch").map(|it| it["count"].as_u64().unwrap()).sum();
    assert!(times == 8 && rows.len() < 8, "{rows:?}");
    assert!(rows.iter().all(|it| it["tenant"] == "dev"), "{rows:?}");
    assert!(shell.run(&["audit"]).stdout.contains(" times since 20"));
    assert_eq!(shell.run(&["audit", "--tenant", "../.."]).stdout, "no records\n");
}

#[test]
fn programs_and_extensions_of_whoever_is_revoked_say_so_and_end_as_refused() {
    let shell = Shell::new();
    let handler = shell.file("h.wat", "(module)");
    shell.run(&["revoke", "cli"]);
    let js = shell.run(&["js", "-e", "1 + 1"]);
    assert_eq!(js.status, 126, "{}", js.stderr);
    assert!(js.stderr.starts_with("drydock: revoked: ") && !js.stderr.contains("timeout"), "{}", js.stderr);
    let ext = shell.run(&["ext", "invoke", &handler]);
    assert_eq!(ext.status, 126, "{}{}", ext.stdout, ext.stderr);
}
