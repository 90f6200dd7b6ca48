//! Toolkits as people meet them: shown with what they ask for, verified, signed, added, and refused.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, path::Path};

use common::{Said, Shell};
use serde_json::Value;

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
