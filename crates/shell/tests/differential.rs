//! Scripts under real bash and under the shell: the same output, the same status.
//!
//! `differential/*.txt` hold the scripts. `=== name` starts one; `#stdin: text` gives it input
//! (`\n` for newlines); `#differs: reason` says that ours is meant to differ, and then it must; `#real: name` is one that
//! needs a command which has no fake, and is for `drydock`'s own comparison alone.
//! `DRYDOCK_SCRIPTS` names another folder to take them from, `DRYDOCK_SCRIPTS_PATH` bash's PATH.

// The other half of the comparison is a native program in a real directory.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, clippy::unwrap_used)]

mod shell_room;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use shell_room::room;

/// As many as there are, without those that are real: none is lost unseen.
const CASES_MIN: usize = 1_107;

struct Case {
    name: String,
    script: String,
    stdin: String,
    differs: Option<String>,
    /// It needs commands that have no fake.
    is_real: bool,
}

fn cases() -> Vec<Case> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential");
    let folder = std::env::var("DRYDOCK_SCRIPTS").unwrap_or_else(|_| own.into());
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let text = fs::read_to_string(path).unwrap();
        for block in text.split("=== ").skip(1) {
            let (name, rest) = block.split_once('\n').unwrap();
            let mut case = Case {
                name: name.trim().into(),
                script: String::new(),
                stdin: String::new(),
                differs: None,
                is_real: false,
            };
            for line in rest.split_inclusive('\n') {
                if let Some(text) = line.strip_prefix("#stdin: ") {
                    case.stdin = text.trim_end_matches('\n').replace("\\n", "\n");
                } else if let Some(text) = line.strip_prefix("#differs: ") {
                    case.differs = Some(text.trim().into());
                } else if line.starts_with("#real: ") {
                    case.is_real = true;
                } else {
                    case.script.push_str(line);
                }
            }
            if !case.is_real {
                cases.push(case);
            }
        }
    }
    cases
}

fn bash(case: &Case) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var("DRYDOCK_SCRIPTS_PATH").unwrap_or_else(|_| "/usr/bin:/bin".into());
    let mut child = Command::new("/bin/bash")
        .args(["-c", &case.script])
        .env_clear()
        .envs([("LC_ALL", "C.UTF-8"), ("HOME", "/home"), ("PATH", &path)])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(case.stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn bash_and_the_shell_agree() {
    assert!(Path::new("/bin/bash").exists(), "this test compares with bash: install it");
    let cases = cases();
    let mut wrong = Vec::new();
    let mut intended = 0;
    for case in &cases {
        let (status, stdout) = bash(case);
        let mut room = room();
        let ran = room.run_on(&case.script, &case.stdin);
        let same = ran.status == status && ran.stdout == stdout;
        match (&case.differs, same) {
            (Some(_), false) => intended += 1,
            (None, true) => {}
            (Some(reason), true) => {
                wrong.push(format!("{}: is said to differ ({reason}) and does not", case.name))
            }
            (None, false) => wrong.push(format!(
                "--- {}\n{}bash {status}: {stdout:?}\nours {}: {:?}\n{}",
                case.name, case.script, ran.status, ran.stdout, ran.stderr
            )),
        }
    }
    println!("{} cases, {intended} intended differences, {} wrong", cases.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let others = std::env::var("DRYDOCK_SCRIPTS").is_ok();
    assert!(others || cases.len() >= CASES_MIN, "only {} cases", cases.len());
}
