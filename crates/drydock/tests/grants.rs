//! Grants as people and scripts meet them: a file, what a denial prints, what is wrong with a file.
#![allow(clippy::unwrap_used)]

mod common;

use common::Shell;
use serde_json::Value;

fn grants(list: &str) -> String {
    format!("{{\"grants\":[{list}]}}")
}

/// The grants that a command printed, as a file holds them.
fn proposed(stderr: &str) -> Vec<&str> {
    stderr.lines().filter_map(|it| it.strip_prefix("drydock: grant: ")).collect()
}

#[test]
fn a_refused_command_prints_the_grant_that_a_file_would_hold() {
    let shell = Shell::sharing();
    let said = shell.run(&["run", "--allow", "jq", "upper"]);
    assert_eq!((said.status, proposed(&said.stderr)), (126, vec![r#"{"cap":"exec","subjects":["upper"]}"#]));
    let none = shell.run(&["run", "--profile", "compute", "upper"]);
    assert_eq!(proposed(&none.stderr), [r#"{"cap":"exec","subjects":["upper"]}"#]);
    let file = shell.file("approved.json", grants(proposed(&said.stderr)[0]));
    let said = shell.pipe(&["run", "--grants", &file, "upper"], b"it works");
    assert_eq!((said.status, said.stdout.as_str()), (0, "IT WORKS"));
    let said = shell.run(&["run", "--json", "--allow", "jq", "upper"]);
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(told["error"]["grant"].to_string(), r#"{"cap":"exec","subjects":["upper"]}"#);
    assert_eq!((&told["error"]["power"], &told["error"]["subject"]), (&"exec".into(), &"upper".into()));
    let unknown = shell.run(&["run", "no-such-command"]);
    assert_eq!(proposed(&unknown.stderr), [""; 0], "no grant makes a command");
}

#[test]
fn a_grant_that_wants_a_review_prints_the_grant_for_that_one_call_and_a_plain_one_beside_it_admits() {
    let shell = Shell::sharing();
    let asks = r#"{"cap":"exec","subjects":["up*"],"review":true}"#;
    let file = shell.file("asks.json", grants(asks));
    let said = shell.pipe(&["run", "--grants", &file, "upper"], b"it works");
    assert_eq!((said.status, proposed(&said.stderr).len()), (126, 1), "{}", said.stderr);
    let smallest = proposed(&said.stderr)[0].to_owned();
    assert!(
        smallest.starts_with(r#"{"cap":"exec","subjects":["upper"]"#) && !smallest.contains("review"),
        "{smallest}"
    );
    let told: Value =
        serde_json::from_str(&shell.run(&["run", "--json", "--grants", &file, "upper"]).stdout).unwrap();
    assert_eq!(told["error"]["code"], "review_needed");
    // In a line it is not a command that nobody knows.
    let line = shell.run(&["sh", "--grants", &file, "-c", "echo x | upper"]);
    assert_eq!((line.status, proposed(&line.stderr)), (126, vec![&*smallest]), "{}", line.stderr);
    let both = shell.file("both.json", grants(&format!("{asks},{smallest}")));
    let said = shell.pipe(&["run", "--grants", &both, "upper"], b"it works");
    assert_eq!((said.status, said.stdout.as_str()), (0, "IT WORKS"), "{}", said.stderr);
    // In a home of its own: what is kept there is kept for whoever comes later.
    let shell = Shell::new();
    let kept =
        shell.file("kept.json", grants(r#"{"id":"asks","cap":"exec","subjects":["up*"],"review":true}"#));
    let added = shell.run(&["grants", "add", &kept]);
    assert_eq!(added.status, 0, "{}", added.stderr);
    let shown = shell.run(&["grants", "show", "asks"]).stdout;
    assert_eq!(shown.trim(), r#"{"id":"asks","cap":"exec","subjects":["up*"],"review":true}"#);
}

#[test]
fn a_line_prints_each_grant_it_lacked_once_and_its_record_has_them() {
    let shell = Shell::sharing();
    let line = "upper </dev/null; upper </dev/null; nope </dev/null; true";
    let said = shell.run(&["sh", "--allow", "jq", "-c", line]);
    assert_eq!(said.status, 0);
    let want = [r#"{"cap":"exec","subjects":["upper"]}"#, r#"{"cap":"exec","subjects":["nope"]}"#];
    assert_eq!(proposed(&said.stderr), want, "{}", said.stderr);
    let said = shell.run(&["sh", "--json", "--allow", "jq", "-c", line]);
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    let listed: Vec<String> =
        told["denials"].as_array().unwrap().iter().map(|it| it["grant"].to_string()).collect();
    assert_eq!(listed, want);
}

#[test]
fn a_program_prints_the_grant_of_the_tool_it_lacked() {
    let shell = Shell::sharing();
    let code = "await files.write({path: 'a', content: 'x'})";
    let said = shell.run(&["js", "--allow-tool", "files.read", "-e", code]);
    assert_eq!(proposed(&said.stderr), [r#"{"cap":"tool","subjects":["files.write"]}"#], "{}", said.stderr);
    let said = shell.run(&["js", "--json", "--allow-tool", "files.read", "-e", code]);
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(told["denials"][0]["grant"].to_string(), r#"{"cap":"tool","subjects":["files.write"]}"#);
    let rule = r#"{"cap":"tool","subjects":["files.*"],"rules":[{"argument":"/path","starts_with":"b"}]}"#;
    let said = shell.run(&["js", "--grants", &shell.file("rule.json", grants(rule)), "-e", code]);
    let exact = concat!(
        r#"{"cap":"tool","subjects":["files.write"],"rules":[{"argument":"","length_at_most":2},"#,
        r#"{"argument":"/content","equal":"x"},{"argument":"/path","equal":"a"}]}"#
    );
    assert_eq!(proposed(&said.stderr), [exact], "{}", said.stderr);
    let both = shell.file("both.json", grants(&format!("{rule},{exact}")));
    assert_eq!(shell.run(&["js", "--grants", &both, "-e", code]).status, 0);
}

#[test]
fn a_session_holds_exactly_what_the_file_of_grants_says() {
    let shell = Shell::sharing();
    let file = shell.file(
        "g.json",
        grants(r#"{"cap":"exec","subjects":["se*"],"rules":[{"argument":"/1","one_of":["1","2"]}]}"#),
    );
    assert_eq!(shell.run(&["run", "--grants", &file, "seq", "1"]).stdout, "1\n");
    let other = shell.run(&["run", "--grants", &file, "seq", "3"]);
    assert_eq!(other.status, 126);
    assert!(
        other
            .stderr
            .contains("command_not_granted: command `seq` is not in the granted list with these arguments"),
        "{}",
        other.stderr
    );
    assert_eq!(shell.run(&["run", "--grants", &file, "upper"]).status, 126);
    assert_eq!(shell.run(&["sh", "--grants", &file, "-c", "seq 2; upper"]).stdout, "1\n2\n");
    let js = shell.run(&["js", "--grants", &file, "-e", "(await commands.seq({args: ['1']})).stdout"]);
    assert!(
        js.stderr.contains("capability `tool` is not granted"),
        "no tool is granted by the way: {}",
        js.stderr
    );
    let tools = shell.file(
        "t.json",
        grants(r#"{"cap":"exec","subjects":["seq"]},{"cap":"tool","subjects":["commands.seq"]}"#),
    );
    let js = shell.run(&["js", "--grants", &tools, "-e", "(await commands.seq({args: ['1']})).stdout"]);
    assert_eq!(js.stdout, "\"1\\n\"\n", "{}", js.stderr);
    let old = shell.file("old.json", grants(r#"{"cap":"exec","until":"2000-01-01T00:00:00Z"}"#));
    let said = shell.run(&["run", "--grants", &old, "upper"]);
    assert!(
        said.stderr.contains("denied: capability `exec` is not granted: the grant has expired"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_grant_of_a_file_is_used_up_with_everything_that_hangs_from_it() {
    let shell = Shell::sharing();
    let file = shell.file(
        "g.json",
        grants(
            r#"{"cap":"exec","subjects":["seq"],"parent":"once"},{"id":"once","cap":"exec","subjects":["se*"],"uses":1}"#,
        ),
    );
    let said = shell.run(&["sh", "--grants", &file, "-c", "seq 1; seq 1; echo $?"]);
    assert_eq!(said.stdout, "1\n126\n", "{}", said.stderr);
    let said = shell.run(&["run", "--grants", &file, "seq", "1"]);
    assert_eq!(said.stdout, "1\n", "each session of a file begins anew: {}", said.stderr);
}

#[test]
fn a_bad_file_of_grants_is_refused_by_name() {
    let shell = Shell::sharing();
    let cases = [
        ("unknown.json", grants(r#"{"cap":"exec","subject":["jq"]}"#)),
        ("cap.json", grants(r#"{"cap":"root"}"#)),
        ("parent.json", grants(r#"{"cap":"exec","parent":"gone"}"#)),
        (
            "cycle.json",
            grants(r#"{"id":"a","cap":"exec","parent":"b"},{"id":"b","cap":"exec","parent":"a"}"#),
        ),
        ("twice.json", grants(r#"{"id":"a","cap":"exec"},{"id":"a","cap":"kv"}"#)),
        ("pattern.json", grants(r#"{"cap":"tool","subjects":["files"]}"#)),
        ("words.json", grants(r#"{"cap":"exec","subjects":["jq -r"]}"#)),
        ("nan.json", grants(r#"{"cap":"exec","uses":NaN}"#)),
        ("deep.json", "[".repeat(5000)),
        ("large.json", " ".repeat((1 << 20) + 1)),
        ("empty.json", String::new()),
    ];
    let mut all = String::new();
    for (name, text) in cases {
        shell.file(name, text);
        let said = shell.run(&["run", "--grants", name, "true"]);
        assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{name}: {}", said.stderr);
        all.push_str(said.stderr.lines().next().unwrap());
        all.push('\n');
    }
    let missing = shell.run(&["sh", "--grants", "gone.json", "-c", "true"]);
    all.push_str(missing.stderr.lines().next().unwrap());
    insta::assert_snapshot!(all, @r#"
    error: invalid value 'unknown.json' for '--grants <FILE>': grant 1: unknown field `subject`, expected one of `id`, `cap`, `subjects`, `rules`, `until`, `uses`, `parent`, `review` at line 1 column 34
    error: invalid value 'cap.json' for '--grants <FILE>': grant 1: field `cap`: `root` is not a capability at line 1 column 25
    error: invalid value 'parent.json' for '--grants <FILE>': grant 1: field `parent`: there is no grant `gone` here; add it, or take the field away
    error: invalid value 'cycle.json' for '--grants <FILE>': grant 1 (`a`): field `parent`: it hangs from itself by way of its parents; one of them must have none
    error: invalid value 'twice.json' for '--grants <FILE>': grant 2 (`a`): another grant has that id; give each its own
    error: invalid value 'pattern.json' for '--grants <FILE>': grant 1: field `subjects`: `files` names no tools: write `provider.tool`, `provider.*` or `*`
    error: invalid value 'words.json' for '--grants <FILE>': grant 1: field `subjects`: `jq -r` names no command: write a name, a path, or a pattern such as `git-*`; what is said of arguments goes into `rules`
    error: invalid value 'nan.json' for '--grants <FILE>': grant 1: field `uses`: expected value at line 1 column 33
    error: invalid value 'deep.json' for '--grants <FILE>': invalid type: sequence, expected an object {"grants": [...]} at line 1 column 0
    error: invalid value 'large.json' for '--grants <FILE>': 1048577 bytes of grants are more than the 1048576 that are read: split the file
    error: invalid value 'empty.json' for '--grants <FILE>': EOF while parsing a value at line 1 column 0
    error: invalid value 'gone.json' for '--grants <FILE>': could not read grants from `gone.json`: No such file or directory (os error 2)
    "#);
    for command in ["sh", "js", "py", "mcp"] {
        let said = shell.run(&[command, "--grants", "cap.json"]);
        assert_eq!(said.status, 2, "{command}: {}", said.stderr);
        assert!(said.stderr.contains("`root` is not a capability"), "{command}: {}", said.stderr);
    }
    let both = shell.run(&["run", "--grants", &shell.file("ok.json", grants("")), "--allow", "jq", "jq"]);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}

#[test]
fn kept_grants_are_held_by_later_sessions_until_they_are_revoked() {
    let shell = Shell::new();
    let file = shell.file("g.json", grants(r#"{"id":"up","cap":"exec","subjects":["upper"],"uses":2}"#));
    assert_eq!(
        shell.run(&["grants", "list"]).stdout,
        "no grants are kept; `drydock grants add FILE` keeps some\n"
    );
    let added = shell.run(&["grants", "add", &file]);
    assert_eq!((added.status, added.stdout.as_str()), (0, "added up for cli\n"), "{}", added.stderr);
    let upper = |profile: &str| shell.pipe(&["run", "--profile", profile, "upper"], b"x");
    assert_eq!(upper("compute").stdout, "X", "besides what the profile grants");
    assert_eq!(shell.run(&["sh", "--profile", "compute", "-c", "echo y | upper"]).stdout, "Y\n");
    let spent = upper("compute");
    assert_eq!(spent.status, 126, "both uses were taken, by two processes");
    assert!(spent.stderr.contains("the grant is used up"), "{}", spent.stderr);
    insta::assert_snapshot!(shell.run(&["grants", "list"]).stdout, @r#"
    ID  PRINCIPAL  STATE        GRANT
    up  cli        2 of 2 uses  {"id":"up","cap":"exec","subjects":["upper"],"uses":2}
    "#);
    assert_eq!(upper("minimal").stdout, "X", "a grant that lapsed takes nothing away");
    let file = shell.file("h.json", grants(r#"{"id":"more","cap":"exec","subjects":["upper"]}"#));
    shell.run(&["grants", "add", &file]);
    assert_eq!(upper("compute").stdout, "X");
    assert_eq!(shell.run(&["grants", "revoke", "more"]).stdout, "more revoked\n");
    assert_eq!(upper("compute").status, 126);
    assert_eq!(shell.run(&["grants", "revoke", "more"]).stdout, "more was revoked already\n");
    let shown = shell.run(&["grants", "show", "more", "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["revoked"], &shown["principal"]), (&true.into(), &"cli".into()));
    let again = shell.run(&["grants", "add", &file]);
    assert_eq!(again.status, 1);
    assert!(again.stderr.contains("duplicate_grant: grants of"), "{}", again.stderr);
    let unknown = shell.run(&["grants", "revoke", "none", "--json"]);
    let unknown: Value = serde_json::from_str(&unknown.stdout).unwrap();
    assert_eq!((&unknown["newly"], &unknown["kept"]), (&true.into(), &false.into()));
    let unknown = shell.run(&["grants", "show", "missing", "--json"]);
    let unknown: Value = serde_json::from_str(&unknown.stdout).unwrap();
    assert_eq!(unknown["error"]["code"], "unknown_grant");
    let only = shell.file("only.json", grants(r#"{"cap":"exec","subjects":["jq"]}"#));
    assert_eq!(
        shell.pipe(&["run", "--grants", &only, "upper"], b"x").status,
        126,
        "a file says what is held"
    );
}

#[test]
fn grants_of_another_principal_or_tenant_are_not_held_here() {
    let shell = Shell::new();
    let file = shell.file("g.json", grants(r#"{"cap":"exec","subjects":["upper"]}"#));
    shell.run(&["grants", "add", &file, "--principal", "cli/x"]);
    shell.run(&["grants", "add", &file, "--tenant", "acme"]);
    assert_eq!(shell.pipe(&["run", "--profile", "compute", "upper"], b"x").status, 126);
    let listed = shell.run(&["grants", "list", "--json"]).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["principal"]), (1, &"cli/x".into()));
    assert!(listed[0]["grant"]["id"].as_str().is_some_and(|it| it.starts_with('g')), "it was given an id");
}
