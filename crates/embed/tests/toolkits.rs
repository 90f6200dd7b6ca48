//! Toolkits of the host for sessions: files that nobody can write, scripts that run in the sandbox under grants that a person
//! gave, and what is wrong with a folder told by name.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use drydock_embed::{
    Dock, DockSettings, Setup, WorkerProgram,
    agent::{
        ToolkitPlaces, read_definition, read_folder,
        toolkit::{Origin, ToolkitSet, Trust, grants_file},
    },
    contract::GrantFile,
    empty_tree,
    gate::Grant,
};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent/tests/data")
}

fn dock(home: &Path) -> Dock {
    let worker = Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]));
    Dock::open_with(home, DockSettings { worker, ..DockSettings::default() }).unwrap()
}

fn places(root: PathBuf) -> ToolkitPlaces {
    let trust = Trust { origin: Origin::Own, authors: None };
    ToolkitPlaces { roots: vec![root], folders: Vec::new(), trust }
}

fn load(dock: &Dock, root: &Path, wanted: &[&str]) -> Result<ToolkitSet, &'static str> {
    let wanted: Vec<String> = wanted.iter().map(|it| (*it).to_owned()).collect();
    dock.load_toolkits(&wanted, &places(root.to_owned())).map_err(|it| it.code(|cause| cause.code()))
}

/// The grants of a file, as a person gave them.
fn given(file: &str) -> Setup {
    let file = GrantFile::parse(file.as_bytes()).unwrap();
    let grants = Grant::all_of(&file, |it| it);
    Setup { only_grants: true, grants, ..Setup::profile("minimal") }
}

#[tokio::test]
async fn an_agents_toolkits_are_files_nobody_can_write_and_scripts_that_run_under_grants() {
    let home = tempfile::tempdir().unwrap();
    let dock = dock(home.path());
    let agent = read_definition(&data().join("librarian.org")).unwrap();
    assert_eq!(agent, read_definition(&data().join("librarian.md")).unwrap());
    let set = dock.load_toolkits(&agent.toolkits, &places(data().join("toolkits"))).unwrap();
    let files = dock.enable_toolkits(&set).await.unwrap();
    let tree = files.beside(empty_tree(1 << 20)).unwrap();

    let asked = grants_file(set.asks()).to_string();
    let run = async |line: &str, setup: Setup| {
        dock.exec(line).with("agent", setup).tree(tree.clone()).await.unwrap()
    };
    let line = "sh /toolkits/count-words/scripts/count.sh /toolkits/count-words/references/words.md";
    let granted = run(line, given(&asked)).await;
    assert_eq!(
        (granted.status, granted.text().trim()),
        (0, "14"),
        "{}",
        String::from_utf8_lossy(&granted.stderr)
    );
    let command = run("paper-title", given(&asked)).await;
    assert_eq!(command.text(), "On Computable Numbers\n");
    let refused = run(line, given(r#"{"grants":[{"cap":"exec","subjects":["jq"]}]}"#)).await;
    assert_ne!(refused.text().trim(), "14", "what it asks for it has only from a person");
    let written = run("echo x > /toolkits/papers/manifest.org || echo refused", given(&asked)).await;
    assert_eq!(written.text().trim(), "refused");
    // What was judged is what is seen, whatever becomes of the folder.
    let seen = run("cat /toolkits/papers/skills/index.org", given(r#"{"grants":[{"cap":"exec"}]}"#)).await;
    assert_eq!(seen.text(), fs::read_to_string(data().join("toolkits/papers/skills/index.org")).unwrap());
}

#[test]
fn the_module_of_the_example_is_its_text_assembled() {
    let dir = data().join("toolkits/papers");
    let text = wat::parse_file(dir.join("paper-title.wat")).unwrap();
    assert_eq!(text, fs::read(dir.join("paper-title.wasm")).unwrap());
}

#[test]
fn what_is_wrong_with_a_folder_is_told_by_name() {
    let (home, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dock = dock(home.path());
    let put = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("a/manifest.org", "#+REQUIRES: b\n");
    put("b/manifest.org", "#+REQUIRES: a\n");
    put("host/manifest.org", "#+CLI_BIN: x\n#+BUILD_SRC: wasm:x.wasm\n#+CAPS: net:not/a/host\n");
    put("host/x.wasm", "");
    put("builtin/manifest.org", "#+CLI_BIN: awk\n#+BUILD_SRC: wasm:none\n");
    put("hidden/manifest.org", "#+TAGLINE: x\n");
    put("hidden/.git/config", "secret");
    std::os::unix::fs::symlink("/etc", root.path().join("etc")).unwrap();
    let code = |id: &str| load(&dock, root.path(), &[id]).map(|_| "fine");
    assert_eq!(code("a"), Err("toolkit_cycle"));
    assert_eq!(code("host"), Err("bad_capability"));
    assert_eq!(code("builtin"), Err("reserved_name"), "the registry knows more names than the list");
    assert_eq!(code("etc"), Err("link_in_folder"));
    let out = load(&dock, &root.path().join("a"), &["../b"]).unwrap();
    assert_eq!(out.missing(), ["../b"], "an id is a name, and leads nowhere");
    assert!(!read_folder(&root.path().join("hidden")).unwrap().has(".git/config"));
    assert_eq!(read_definition(&root.path().join("none.org")).unwrap_err().code(), "unreadable");
    std::os::unix::fs::symlink("/etc/passwd", root.path().join("out.org")).unwrap();
    assert!(read_definition(&root.path().join("out.org")).is_err(), "a definition is no link that leads out");
}
