//! Scripts under real bash with native tools and under `drydock sh` with ours: the same output, the
//! same status.
//!
//! The scripts are those of `crates/commands/tests/differential`, where the shell alone is compared;
//! `#sh-differs: reason` is for what differs only with the real commands. `DRYDOCK_SCRIPTS` names
//! another folder to take them from.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use common::Shell;

struct Case {
    name: String,
    script: String,
    stdin: String,
    differs: bool,
}

fn cases() -> Vec<Case> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../commands/tests/differential");
    let folder = std::env::var("DRYDOCK_SCRIPTS").unwrap_or_else(|_| own.into());
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    let texts: Vec<String> = paths.iter().map(|it| fs::read_to_string(it).unwrap()).collect();
    texts.iter().flat_map(|text| text.split("=== ").skip(1)).map(case).collect()
}

fn case(block: &str) -> Case {
    let (name, rest) = block.split_once('\n').unwrap();
    let mut case =
        Case { name: name.trim().into(), script: String::new(), stdin: String::new(), differs: false };
    for line in rest.split_inclusive('\n') {
        if let Some(text) = line.strip_prefix("#stdin: ") {
            case.stdin = text.trim_end_matches('\n').replace("\\n", "\n");
        } else if line.starts_with("#differs: ") || line.starts_with("#sh-differs: ") {
            case.differs = true;
        } else {
            case.script.push_str(line);
        }
    }
    case
}

fn fed(mut command: Command, stdin: &str) -> (i32, String, String) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code().unwrap_or(-1), text(&stdout), text(&stderr))
}

#[test]
fn bash_and_drydock_sh_agree() {
    assert!(Path::new("/bin/bash").exists(), "this test compares with bash: install it");
    let shell = Shell::sharing();
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let folder = tempfile::tempdir().unwrap();
        let mut bash = Command::new("/bin/bash");
        bash.args(["-c", &case.script]).env_clear().current_dir(folder.path());
        bash.envs([("LC_ALL", "C.UTF-8"), ("HOME", "/home"), ("PATH", "/usr/bin:/bin")]);
        let args = ["sh", "--posix-unknown", "--eval", "--env", "HOME=/home", "-c", &case.script];
        let (status, stdout, _) = fed(bash, &case.stdin);
        let (our_status, our_stdout, stderr) = fed(shell.command(&args), &case.stdin);
        if !case.differs && (our_status, &our_stdout) != (status, &stdout) {
            wrong.push(format!(
                "--- {}\n{}bash {status}: {stdout:?}\nours {our_status}: {our_stdout:?}\n{stderr}",
                case.name, case.script
            ));
        }
    }
    println!("{} cases, {} wrong", cases.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(std::env::var("DRYDOCK_SCRIPTS").is_ok() || cases.len() >= 300, "only {} cases", cases.len());
}
