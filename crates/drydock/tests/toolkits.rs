//! Toolkits as people meet them: shown with what they ask for, verified, signed, added, and refused.
#![allow(clippy::panic, clippy::expect_used, reason = "helpers of a test may panic")]
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, path::Path};

use common::{
    Said, Shell,
    agent::{Agents, says, shell_turn, turn},
};
use serde_json::{Value, json};

/// A copy of an example toolkit beside the home.
fn example(shell: &Shell, id: &str) -> String {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent/tests/data/toolkits").join(id);
    copy(&from, &shell.path(id));
    shell.path(id).to_str().unwrap().to_owned()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

fn code(said: &Said) -> String {
    let rest = said.stderr.strip_prefix("drydock: ").unwrap_or(&said.stderr);
    rest.split(':').next().unwrap_or_default().to_owned()
}

#[test]
fn a_toolkit_is_shown_with_what_it_asks_for() {
    let shell = Shell::new();
    let papers = example(&shell, "papers");
    let said = shell.run(&["toolkit", "show", &papers]);
    let digest = said.stdout.lines().find_map(|it| it.strip_prefix("digest   ")).unwrap().to_owned();
    insta::assert_snapshot!(said.all().replace(&digest, "DIGEST"), @r#"
    [0]
    papers: Titles of papers, and an index of them
    title    Papers
    version  1.0
    status   example
    signed   by nobody
    digest   DIGEST
    requires count-words
    command  paper-title (argv)
    skill    index: How INDEX.md is made from titles. Read it before you change INDEX.md.
    asks     paper-title wants {"cap":"exec","subjects":["paper-title"]}
    asks     paper-title wants {"cap":"kv","subjects":["papers/*"]}
    ---
    "#);
    let skill = example(&shell, "count-words");
    let said = shell.run(&["toolkit", "show", &skill, "--grants"]);
    let file = shell.file("grants.json", &said.stdout);
    assert_eq!(shell.pipe(&["sh", "--grants", &file, "-c", "wc -w"], b"a b c").stdout.trim(), "3");
    let json: Value =
        serde_json::from_str(&shell.run(&["toolkit", "show", &skill, "--json"]).stdout).unwrap();
    assert_eq!((&json["id"], &json["signed_by"]), (&"count-words".into(), &Value::Null));
}

#[test]
fn a_toolkit_is_signed_verified_and_no_longer_valid_when_a_file_changes() {
    let shell = Shell::new();
    for id in ["papers", "count-words"] {
        let dir = example(&shell, id);
        let unsigned = shell.run(&["toolkit", "verify", &dir]);
        assert_eq!((unsigned.status, code(&unsigned).as_str()), (1, "no_author_did"), "{}", unsigned.stderr);
        assert_eq!(shell.run(&["secret", "generate", "AUTHOR", "--replace"]).status, 0);
        let signed = shell.run(&["toolkit", "sign", &dir, "--key", "AUTHOR", "--json"]);
        let signed: Value = serde_json::from_str(&signed.stdout).unwrap();
        let author = signed["signed_by"].as_str().unwrap().to_owned();
        assert_eq!(shell.run(&["toolkit", "verify", &dir, "--author", &author]).status, 0);
        let other = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
        assert_eq!(code(&shell.run(&["toolkit", "verify", &dir, "--author", other])), "unknown_author");
        fs::write(Path::new(&dir).join("more.txt"), "more").unwrap();
        let changed = shell.run(&["toolkit", "verify", &dir]);
        assert_eq!((changed.status, code(&changed).as_str()), (1, "bad_signature"));
        assert_eq!(code(&shell.run(&["toolkit", "show", &dir])), "bad_signature", "whoever brings it");
    }
    assert_ne!(shell.run(&["toolkit", "sign", &example(&shell, "papers"), "--key", "NONE"]).status, 0);
}

#[test]
fn a_third_party_without_valid_provenance_is_not_built() {
    let shell = Shell::new();
    let papers = example(&shell, "papers");
    let said = shell.run(&["toolkit", "add", &papers, "--third-party"]);
    assert_eq!((said.status, code(&said).as_str()), (1, "no_author_did"), "{}", said.stderr);
    let manifest = Path::new(&papers).join("manifest.org");
    let text = fs::read_to_string(&manifest).unwrap().replace("first-party", "third-party");
    fs::write(&manifest, text).unwrap();
    assert_eq!(code(&shell.run(&["toolkit", "add", &papers])), "no_author_did", "it says so of itself");
    assert_ne!(shell.run(&["commands", "show", "paper-title"]).status, 0, "nothing of it was registered");
}

#[test]
fn a_toolkit_that_claims_a_reserved_name_is_refused_before_anything_is_compiled() {
    let shell = Shell::new();
    let papers = example(&shell, "papers");
    let manifest = Path::new(&papers).join("manifest.org");
    let text = fs::read_to_string(&manifest).unwrap();
    // No module at all: whoever compiled it would say so.
    fs::write(Path::new(&papers).join("paper-title.wasm"), "no module").unwrap();
    for name in ["jq", "cd", "drydock", "toolkit", "awk"] {
        fs::write(&manifest, text.replace("CLI_BIN: paper-title", &format!("CLI_BIN: {name}"))).unwrap();
        let said = shell.run(&["toolkit", "add", &papers]);
        assert_eq!((said.status, code(&said).as_str()), (1, "reserved_name"), "{name}: {}", said.stderr);
    }
    fs::write(&manifest, text).unwrap();
    assert_eq!(code(&shell.run(&["toolkit", "add", &papers])), "bad_module");
}

#[test]
fn a_link_and_a_path_out_of_its_folder_are_refused() {
    let shell = Shell::new();
    let papers = example(&shell, "papers");
    let manifest = Path::new(&papers).join("manifest.org");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("wasm:paper-title", "wasm:../paper-title")).unwrap();
    assert_eq!(code(&shell.run(&["toolkit", "show", &papers])), "path_outside");
    fs::write(&manifest, text).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", Path::new(&papers).join("skills/passwd.org")).unwrap();
    assert_eq!(code(&shell.run(&["toolkit", "show", &papers])), "link_in_folder");
}

#[test]
fn a_toolkit_is_added_its_command_runs_under_a_grant_and_takes_nobodys_name() {
    let shell = Shell::sharing();
    let papers = example(&shell, "papers");
    let said = shell.run(&["toolkit", "add", &papers]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(
        said.stdout.starts_with("added paper-title (argv)\nasks     paper-title wants "),
        "{}",
        said.stdout
    );
    assert_eq!(shell.run(&["toolkit", "add", &papers]).status, 0, "again is the same");
    let said = shell.run(&["run", "--allow", "paper-title", "paper-title"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "On Computable Numbers\n"), "{}", said.stderr);
    assert_eq!(
        shell.run(&["run", "--allow", "jq", "paper-title"]).status,
        126,
        "it holds no grant by itself"
    );
    // Another module under the name that is registered now.
    let module = Path::new(&papers).join("paper-title.wasm");
    let mut bytes = fs::read(&module).unwrap();
    let at = bytes.len() - 2;
    bytes[at] = b'S';
    fs::write(&module, bytes).unwrap();
    assert_eq!(code(&shell.run(&["toolkit", "add", &papers])), "name_taken");
    assert_eq!(shell.run(&["commands", "rm", "paper-title"]).status, 0);
}

#[test]
fn an_agents_toolkits_are_read_on_demand_and_their_commands_run_where_a_person_granted_them() {
    let script =
        "sh /toolkits/count-words/scripts/count.sh /toolkits/count-words/references/words.md; paper-title";
    let turns =
        vec![turn("wb", json!({ "args": "show count-words/count-words" })), shell_turn(script), says("end")];
    let agents = Agents::new(&[("small", turns)]);
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent/tests/data");
    let definition = data.join("librarian.org").to_str().unwrap().to_owned();
    let (papers, count) = (example(&agents.shell, "papers"), example(&agents.shell, "count-words"));
    let run = |more: &[&str]| {
        let with = ["--task", "t", "--toolkit", &papers, "--toolkit", &count];
        agents.run(&[&["agent", "run", &definition][..], &with, more].concat())
    };
    let told = || -> Vec<String> {
        let record = agents.json(&["agent", "show", &agents.last(), "--json"]);
        let results = record["events"].as_array().unwrap().iter().filter(|it| it["event"] == "result");
        results.map(|it| it["output"].as_str().unwrap().to_owned()).collect()
    };
    // By itself a run has the commands that there are, and none that a toolkit brings.
    let said = run(&[]);
    assert_eq!(said.status, 0, "{}", said.all());
    assert!(said.stderr.contains(r#"{"cap":"exec","subjects":["paper-title"]}"#), "{}", said.stderr);
    assert!(!said.stderr.contains(r#"["wc"]"#), "what it holds is not asked for: {}", said.stderr);
    let read = told();
    assert!(read[0].contains("# Counting words"), "the skill is read on demand: {}", read[0]);
    assert!(read[1].starts_with("14\n") && !read[1].contains("Computable"), "{}", read[1]);
    assert!(read[1].contains("paper-title"), "the refusal names it: {}", read[1]);
    let said = run(&["--on-denial", "ask"]);
    assert_eq!(said.status, 126, "{}", said.all());
    assert_eq!(agents.waiting()[0]["grant"], json!({ "cap": "exec", "subjects": ["paper-title"] }));
    // A person's grants are what it has, and nothing else.
    let grants = |text: &str| agents.shell.file("grants.json", text);
    let all = grants(r#"{"grants":[{"cap":"exec","subjects":["sh","wc","paper-title"]},{"cap":"kv"}]}"#);
    let said = run(&["--grants", &all]);
    assert!(said.stderr.contains("ask for nothing that the run does not hold"), "{}", said.all());
    assert_eq!(told()[1], "14\nOn Computable Numbers\n");
    let said = run(&["--grants", &grants(r#"{"grants":[{"cap":"exec","subjects":["jq"]}]}"#)]);
    assert_eq!(said.status, 0, "{}", said.all());
    assert!(!told()[1].contains("14") && told()[1].contains("wc"), "the script is refused: {}", told()[1]);
    let more = grants(r#"{"grants":[{"cap":"exec","subjects":["paper-title"]}]}"#);
    assert_eq!(agents.run(&["grants", "add", &more, "--principal", "agent"]).status, 0);
    let said = run(&[]);
    assert!(said.stderr.contains("ask for nothing that the run does not hold"), "{}", said.all());
    assert_eq!(told()[1], "14\nOn Computable Numbers\n");
    // Whoever is not trusted must have signed.
    let before = agents.last();
    let said = run(&["--third-party"]);
    assert!(said.status != 0 && said.stderr.contains("third party"), "{}", said.all());
    assert_eq!(agents.last(), before, "no run was opened");
}

#[test]
fn a_toolkit_that_was_added_is_found_by_the_agents_that_name_it() {
    let script = "sh /toolkits/count-words/scripts/count.sh /toolkits/count-words/references/words.md";
    let agents = Agents::new(&[("small", vec![shell_turn(script), says("end")])]);
    let definition = "../agent/tests/data/librarian.org";
    let definition = Path::new(env!("CARGO_MANIFEST_DIR")).join(definition).to_str().unwrap().to_owned();
    let run = || agents.run(&["agent", "run", &definition, "--task", "t", "--json"]);
    assert!(run().stderr.contains("names the toolkit `count-words`"), "nobody added it");
    let (papers, count) = (example(&agents.shell, "papers"), example(&agents.shell, "count-words"));
    for dir in [&papers, &count] {
        let said = agents.run(&["toolkit", "add", dir]);
        assert_eq!(said.status, 0, "{}", said.all());
        // What was judged is what is kept, whatever becomes of the folder.
        fs::remove_dir_all(dir).unwrap();
    }
    assert_eq!(agents.json(&["toolkit", "list", "--json"]), json!(["count-words", "papers"]));
    let said = run();
    let record: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(said.status, 0, "{}", said.all());
    assert!(!said.stderr.contains("names the toolkit"), "{}", said.stderr);
    assert!(record["events"].to_string().contains("\"output\":\"14\\n\""), "{}", said.all());
    for id in ["..", "", "../toolkits", "none"] {
        assert_eq!(agents.run(&["toolkit", "remove", id]).status, 1, "{id}");
    }
    assert_eq!(agents.run(&["toolkit", "remove", "count-words"]).stdout, "removed count-words\n");
    // Another one requires it.
    let said = run();
    assert!(said.status != 0 && said.stderr.contains("count-words"), "{}", said.all());
}
