//! `drydock.toml`: defaults of flags, and what a project may not say.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, path::Path, process::Command};

use common::Shell;

/// Runs in `folder` with a configuration directory of its own.
fn run(shell: &Shell, folder: &Path, args: &[&str]) -> (i32, String, String) {
    let config = shell.path("config");
    let mut command: Command = shell.command(args);
    let output = command.current_dir(folder).env("XDG_CONFIG_HOME", config).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn room() -> (Shell, std::path::PathBuf) {
    let shell = Shell::sharing();
    let project = shell.path("project");
    fs::create_dir_all(project.join("deep")).unwrap();
    fs::create_dir_all(shell.path("config/drydock")).unwrap();
    (shell, project)
}

#[test]
fn a_project_narrows_and_a_flag_replaces_it() {
    let (shell, project) = room();
    fs::write(project.join("drydock.toml"), "allow = [\"jq\"]\ndir = [\".\"]\n").unwrap();
    fs::write(project.join("a.json"), "{\"n\":1}").unwrap();
    let deep = project.join("deep");
    let (status, stdout, stderr) = run(&shell, &deep, &["run", "jq", ".n", "/project/a.json"]);
    assert_eq!((status, stdout.as_str()), (0, "1\n"), "{stderr}");
    let (status, ..) = run(&shell, &deep, &["run", "cat", "/project/a.json"]);
    assert_eq!(status, 126);
    let (status, stdout, stderr) = run(&shell, &deep, &["run", "--allow", "cat", "cat", "/project/a.json"]);
    assert_eq!((status, stdout.as_str()), (0, "{\"n\":1}"), "{stderr}");
}

#[test]
fn what_a_project_may_not_say_is_ignored_and_marked() {
    let (shell, project) = room();
    let text = "timeout = \"1h\"\ndir = [\"/etc\", \".\"]\nworkspace = \"notes\"\n[sh]\neval = true\nfuel = 1000000000\n";
    fs::write(project.join("drydock.toml"), text).unwrap();
    let (status, _, stderr) = run(&shell, &project, &["sh", "-c", "eval 'echo hi'"]);
    assert_ne!(status, 0, "{stderr}");
    let (status, stdout, _) = run(&shell, &project, &["run", "ls", "/"]);
    assert!(status == 0 && !stdout.contains("etc"), "{stdout}");
    let (_, stdout, _) = run(&shell, &project, &["config", "show"]);
    let of_sh: Vec<&str> = stdout.lines().filter(|it| it.starts_with("sh ")).collect();
    let ignored = |flag: &str| of_sh.iter().any(|it| it.contains(flag) && it.contains("IGNORED"));
    assert!(
        ignored("--timeout") && ignored("--dir") && ignored("--workspace") && ignored("--eval"),
        "{stdout}"
    );
    assert!(!ignored("--fuel") && stdout.contains("drydock.toml"), "{stdout}");
}

#[test]
fn the_users_own_file_may_say_what_a_flag_may() {
    let (shell, project) = room();
    fs::write(shell.path("config/drydock/drydock.toml"), "[sh]\neval = true\n").unwrap();
    fs::write(project.join("drydock.toml"), "[sh]\ntimeout = \"3s\"\n").unwrap();
    let (status, stdout, stderr) = run(&shell, &project, &["sh", "-c", "eval 'echo hi'"]);
    assert_eq!((status, stdout.as_str()), (0, "hi\n"), "{stderr}");
    let (_, stdout, _) = run(&shell, &project, &["config", "show", "--json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&stdout).unwrap();
    let origins: Vec<&str> = rows.iter().map(|it| it["origin"].as_str().unwrap()).collect();
    assert_eq!(origins, ["project", "user"], "{stdout}");
}

#[test]
fn a_damaged_file_is_named_with_the_place_and_nothing_runs() {
    let (shell, project) = room();
    for (text, want) in [
        ("timeout = \n", "line 1"),
        ("timout = \"3s\"\n", "did you mean `timeout`?"),
        ("timeout = \"soon\"\n", "`timeout` in"),
        ("\u{0}", "drydock.toml"),
    ] {
        fs::write(project.join("drydock.toml"), text).unwrap();
        let (status, stdout, stderr) = run(&shell, &project, &["run", "echo", "hi"]);
        assert_eq!((status, stdout.as_str()), (2, ""), "{stderr}");
        assert!(stderr.contains(want) && stderr.contains("drydock.toml"), "{stderr}");
        assert!(stderr.contains("correct or remove it"), "{stderr}");
    }
    fs::write(project.join("drydock.toml"), [0xff, 0xfe]).unwrap();
    assert_eq!(run(&shell, &project, &["run", "echo", "hi"]).0, 2);
    fs::remove_file(project.join("drydock.toml")).unwrap();
    assert_eq!(run(&shell, &project, &["run", "echo", "hi"]).1, "hi\n");
}

#[test]
fn a_table_of_searches_is_no_flag_and_one_of_a_project_stops_nothing() {
    let (shell, project) = room();
    let search = "[search]\nprovider = \"searxng\"\nbase-url = \"http://127.0.0.1:8080\"\n";
    for place in [project.join("drydock.toml"), shell.path("config/drydock/drydock.toml")] {
        fs::write(&place, search).unwrap();
        let (status, stdout, stderr) = run(&shell, &project, &["run", "echo", "hi"]);
        assert_eq!((status, stdout.as_str()), (0, "hi\n"), "{stderr}");
        fs::remove_file(place).unwrap();
    }
}

#[test]
fn models_of_a_project_are_named_as_ignored_with_the_place_of_the_users_own() {
    let (shell, project) = room();
    let models = "[models.small]\nbase-url = \"https://models.example.com/v1\"\n";
    fs::write(project.join("drydock.toml"), models).unwrap();
    let (status, stdout, stderr) = run(&shell, &project, &["models"]);
    assert_eq!((status, stdout.contains("no model is configured")), (0, true), "{stderr}");
    assert!(stderr.contains("project/drydock.toml` is ignored"), "{stderr}");
    assert!(stderr.contains("config/drydock/drydock.toml"), "{stderr}");
    fs::rename(project.join("drydock.toml"), shell.path("config/drydock/drydock.toml")).unwrap();
    let (_, stdout, stderr) = run(&shell, &project, &["models"]);
    assert!(stdout.contains("small") && stderr.is_empty(), "{stdout}{stderr}");
}
