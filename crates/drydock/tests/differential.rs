//! Scripts under real bash with native tools and under `drydock sh` with ours: the same output, the
//! same status.
//!
//! The scripts are those of `crates/shell/tests/differential`, where the shell alone is compared;
//! `#sh-differs: reason` is for what differs only with the real commands. `DRYDOCK_SCRIPTS` names
//! another folder to take them from. They run twice: each in a fresh shell, by the binary, and each in a fork of a shell
//! that stays. Some run in a fork of a session by the binary, too.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use common::Shell;
use drydock_embed::{
    Dock, Setup, ShellSetup,
    contract::{Limits, Sink, Source, Streams},
    line_limits, ordinary_variables,
    shell::Mode,
};

/// As many as there are: none is lost unseen.
const CASES_MIN: usize = 1_135;

/// Of so many, one runs in a session of the binary: a checkpoint each is read and written.
const SAMPLED: usize = 16;

struct Case {
    name: String,
    script: String,
    stdin: String,
    differs: Differs,
}

/// Whether ours is meant to be as bash's is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Differs {
    No,
    /// In the shell alone, with fake commands: so it may be here.
    InShell,
    /// Here it must.
    Here,
}

fn cases() -> Vec<Case> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../shell/tests/differential");
    let folder = std::env::var("DRYDOCK_SCRIPTS").unwrap_or_else(|_| own.into());
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    let texts: Vec<String> = paths.iter().map(|it| fs::read_to_string(it).unwrap()).collect();
    let cases: Vec<Case> = texts.iter().flat_map(|text| text.split("=== ").skip(1)).map(case).collect();
    let others = std::env::var("DRYDOCK_SCRIPTS").is_ok();
    assert!(others || cases.len() >= CASES_MIN, "only {} cases", cases.len());
    cases
}

fn case(block: &str) -> Case {
    let (name, rest) = block.split_once('\n').unwrap();
    let mut case =
        Case { name: name.trim().into(), script: String::new(), stdin: String::new(), differs: Differs::No };
    for line in rest.split_inclusive('\n') {
        if let Some(text) = line.strip_prefix("#stdin: ") {
            case.stdin = text.trim_end_matches('\n').replace("\\n", "\n");
        } else if line.starts_with("#differs: ") {
            case.differs = Differs::InShell;
        } else if line.starts_with("#sh-differs: ") {
            case.differs = Differs::Here;
        } else if line.starts_with("#real: ") {
            // The shell's own comparison has no such command.
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

/// What bash makes of it.
fn by_bash(case: &Case) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut bash = Command::new("/bin/bash");
    bash.args(["-c", &case.script]).env_clear().current_dir(folder.path());
    bash.envs([("LC_ALL", "C.UTF-8"), ("HOME", "/home"), ("PATH", "/usr/bin:/bin")]);
    let (status, stdout, _) = fed(bash, &case.stdin);
    (status, stdout)
}

#[test]
fn bash_and_drydock_sh_agree() {
    let shell = Shell::sharing();
    agree(&cases(), |case| {
        let args = ["sh", "--posix-unknown", "--eval", "--env", "HOME=/home", "-c", &case.script];
        fed(shell.command(&args), &case.stdin)
    });
}

#[test]
fn bash_and_a_fork_of_a_kept_shell_agree() {
    let home = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let open = |saved| {
        let mut setup = Setup::profile("minimal");
        setup.limits = Some(Limits { memory_bytes_max: setup.profile.memory_bytes_max, ..line_limits() });
        setup.env = vec![("HOME".into(), "/home".into())];
        let mode = Mode { eval_allowed: true, ..Mode::default() };
        let shell = ShellSetup { mode, saved, ..ShellSetup::default() };
        for (name, value) in ordinary_variables(&shell.cwd) {
            if !setup.env.iter().any(|(given, _)| given == name) {
                setup.env.push((name.into(), value));
            }
        }
        dock.shell("me", setup, shell).unwrap()
    };
    let streams = |stdin: &str| Streams {
        stdin: Source::from(stdin.as_bytes().to_vec()),
        stdout: Sink::capture(),
        stderr: Sink::capture(),
        ..Streams::default()
    };
    let mut kept = open(None);
    runtime.block_on(kept.run_line(":", streams(""))).unwrap();
    let state = kept.state().expect("a kept shell writes itself out").to_vec();
    let text = |sink: Sink| String::from_utf8_lossy(&sink.into_captured()).into_owned();
    agree(&cases(), |case| {
        // `$SECONDS` counts from when the kept shell began, which is long ago by then.
        let saved = (!case.script.contains("SECONDS")).then(|| state.clone());
        let mut fork = open(saved);
        let (report, streams) = runtime.block_on(fork.run(&case.script, streams(&case.stdin))).unwrap();
        (report.status & 0xff, text(streams.stdout), text(streams.stderr))
    });
}

/// A session has no last text, so its EXIT trap waits for `exit`; and each of its lines is a process with a number of its
/// own and time of its own.
#[test]
fn bash_and_a_fork_of_a_session_agree() {
    let shell = Shell::sharing();
    let options = ["--posix-unknown", "--eval", "--env", "HOME=/home"];
    fn session<'a>(options: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        [&["sh"], options, more].concat()
    }
    let made = shell.run(&session(&options, &["--session", "base", "-c", ":"]));
    assert_eq!(made.status, 0, "{}", made.stderr);
    let stays = |it: &Case| !["EXIT", "SECONDS", "trap"].iter().any(|word| it.script.contains(word));
    let sample: Vec<Case> = cases().into_iter().filter(stays).step_by(SAMPLED).collect();
    assert!(sample.len() >= 60, "only {} cases", sample.len());
    let mut forks = 0;
    agree(&sample, |case| {
        forks += 1;
        // The data directory is shared with other tests, and with this one of an earlier time.
        let fork = format!("fork-{}-{forks}", std::process::id());
        let args = session(&options, &["--session", &fork, "--fork", "base", "-c", &case.script]);
        let said = fed(shell.command(&args), &case.stdin);
        let forgotten = shell.run(&["sh", "--session", &fork, "--forget"]);
        assert_eq!(forgotten.status, 0, "{}", forgotten.all());
        said
    });
}

/// Whether ours is what bash makes of every script.
fn agree(cases: &[Case], mut ours: impl FnMut(&Case) -> (i32, String, String)) {
    assert!(Path::new("/bin/bash").exists(), "this test compares with bash: install it");
    let mut wrong = Vec::new();
    for case in cases {
        let (status, stdout) = by_bash(case);
        let (our_status, our_stdout, stderr) = ours(case);
        let is_same = (our_status, &our_stdout) == (status, &stdout);
        if case.differs == Differs::Here && is_same {
            wrong.push(format!("{}: is said to differ and does not", case.name));
        }
        if case.differs == Differs::No && !is_same {
            wrong.push(format!(
                "--- {}\n{}bash {status}: {stdout:?}\nours {our_status}: {our_stdout:?}\n{stderr}",
                case.name, case.script
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
