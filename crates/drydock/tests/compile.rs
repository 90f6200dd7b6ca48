//! Compiling, as a person meets it: `warm`, the limits of a worker, what `doctor` says of it, manual pages.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Shell;
use drydock_testkit::guests;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn warm_compiles_once_and_tells_what_it_did() {
    let shell = Shell::new();
    let file = shell.file("seven.wat", guests::exit(7));
    assert_eq!(shell.run(&["commands", "add", "seven", &file]).status, 0);
    let rows = json(&shell.run(&["warm", "upper", "seven", "--json"]).stdout);
    let told: Vec<_> =
        rows.as_array().unwrap().iter().map(|it| (&it["name"], &it["ok"], &it["compiled"])).collect();
    let (yes, no) = (Value::from(true), Value::from(false));
    assert_eq!(told, [(&"upper".into(), &yes, &yes), (&"seven".into(), &yes, &no)], "added means compiled");
    let again = shell.run(&["warm", "upper", "seven"]);
    insta::with_settings!({filters => vec![(r"\d+\.\d s", "N s")]}, {
        insta::assert_snapshot!(again.all(), @r"
        [0]
        2 modules ready, 0 compiled now, in N s
        ---
        ");
    });
    insta::assert_snapshot!(shell.run(&["warm", "upper", "uper"]).all(), @r"
    [1]
    ---
    drydock: error: there is no command `uper`; `drydock commands list` lists them
    ");
    assert_eq!(shell.run(&["warm"]).status, 2);
    assert_eq!(shell.run(&["warm", "--all", "jq"]).status, 2);
}

#[test]
fn warm_all_leaves_nothing_to_compile() {
    let shell = Shell::sharing();
    let rows = json(&shell.run(&["warm", "--all", "--json"]).stdout);
    let rows = rows.as_array().unwrap();
    assert!(rows.iter().all(|it| it["ok"] == true), "{rows:?}");
    for module in ["js", "ts", "jq", "git"] {
        assert!(rows.iter().any(|it| it["name"] == module), "{module}: {rows:?}");
    }
    let again = json(&shell.run(&["warm", "--all", "--json"]).stdout);
    assert!(again.as_array().unwrap().iter().all(|it| it["compiled"] == false), "{again}");
}

#[test]
fn a_command_that_is_too_much_to_compile_is_refused_with_the_flag() {
    let shell = Shell::new();
    let file = shell.file("seven.wat", guests::exit(7));
    // Large: a worker that is done before anybody looks at the clock was not too slow.
    let large = shell.file("large.wat", guests::large(500));
    for (flag, value) in [("--compile-timeout", "1ms"), ("--compile-memory", "1MiB")] {
        let said = shell.run(&["commands", "add", "seven", &large, flag, value]);
        assert_eq!(said.status, 1, "{}", said.stderr);
        assert!(
            said.stderr.starts_with("drydock: bad_module") && said.stderr.contains(flag),
            "{}",
            said.stderr
        );
    }
    assert_eq!(shell.run(&["run", "seven"]).status, 127, "what was refused is not there");
    assert_eq!(shell.run(&["commands", "add", "seven", &file]).status, 0);
    assert_eq!(shell.run(&["run", "seven"]).status, 7);
}

#[test]
fn doctor_tells_what_confines_the_worker() {
    let told = json(&Shell::sharing().run(&["doctor", "--json"]).stdout);
    let compiler = &told["compiler"]["value"];
    assert!(compiler["seccomp"].is_boolean() && compiler["landlock"].is_boolean(), "{told}");
    if compiler["seccomp"] == true {
        assert_eq!(compiler["open"], Value::Array(Vec::new()));
    }
}

#[test]
fn manual_pages_are_written_for_every_subcommand_that_is_shown() {
    let shell = Shell::new();
    let out = shell.path("man");
    let said = shell.run(&["man", "--out", out.to_str().unwrap()]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    for page in ["drydock.1", "drydock-run.1", "drydock-sh.1", "drydock-warm.1"] {
        assert!(std::fs::read_to_string(out.join(page)).unwrap().contains(".TH drydock"), "{page}");
    }
    assert!(!out.join("drydock-compile-worker.1").exists(), "what is hidden has no page");
}
