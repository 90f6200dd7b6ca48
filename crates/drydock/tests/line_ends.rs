//! What a line has of the world around it, and how it ends there: named pipes, the places that every system has, scripts on
//! stdin, Ctrl-C, and what is told of lines that never began.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::Read as _,
    process::{Child, Output},
    time::{Duration, Instant},
};

use common::Shell;

/// Nobody waits that long for what was ended.
const HANG: Duration = Duration::from_secs(30);

fn wait_for(child: &mut Child, text: &str) {
    let mut seen = vec![0; text.len() + 1];
    child.stdout.as_mut().unwrap().read_exact(&mut seen).unwrap();
    assert_eq!(String::from_utf8_lossy(&seen).trim_end(), text);
}

/// Starts a line, presses Ctrl-C when it has said that it has begun, and answers what came of it, and the rest of what it said.
fn interrupted(line: &str) -> (Option<i32>, String) {
    let shell = Shell::sharing();
    let mut command = shell.command(&["sh", "-c", line]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    // Held open, so that whoever reads it waits.
    let stdin = child.stdin.take();
    wait_for(&mut child, "started");
    let started = Instant::now();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    assert!(started.elapsed() < HANG, "{line}");
    drop(stdin);
    (status.code(), String::from_utf8_lossy(&stdout).into_owned())
}

#[test]
fn ctrl_c_ends_a_line_wherever_it_is() {
    let lines = [
        "echo started; while :; do :; done; echo never",
        "echo started; for ((;;)); do true; done | cat; echo never",
        "echo started; read x; echo never",
        "echo started; cat | tr a b; echo never",
        "echo started; yes > /dev/null; echo never",
        "echo started; x=$(sleep 60); echo never",
        "echo started; sleep 60 & wait; echo never",
        "mkfifo p; echo started; cat p; echo never",
        "mkfifo p; echo started; : > p; echo never",
        "trap '' INT; echo started; sleep 60; echo never",
    ];
    for line in lines {
        assert_eq!(interrupted(line), (Some(130), String::new()), "{line}");
    }
}

#[test]
fn ctrl_c_runs_a_trap_and_the_line_goes_on() {
    let cases = [
        ("trap 'echo caught' INT; echo started; sleep 60; echo \"after $?\"", 0, "caught\nafter 130\n"),
        ("trap 'echo caught; exit 3' INT; echo started; while :; do :; done", 3, "caught\n"),
        ("trap 'echo caught; exit 4' INT; echo started; yes > /dev/null | cat; echo never", 4, "caught\n"),
        ("trap 'x=1' INT; echo started; until [ \"$x\" ]; do sleep 60; done; echo out", 0, "out\n"),
        ("trap 'echo caught; exit 6' INT; echo started; read x; echo never", 6, "caught\n"),
        ("f() { trap 'echo bye' EXIT; trap 'exit 5' INT; }; f; echo started; sleep 60", 5, "bye\n"),
    ];
    for (line, status, said) in cases {
        assert_eq!(interrupted(line), (Some(status), said.to_owned()), "{line}");
    }
}

#[test]
fn a_named_pipe_that_nobody_opens_ends_with_the_line() {
    let shell = Shell::sharing();
    for line in
        ["mkfifo p; cat p", "mkfifo p; echo x > p", "mkfifo p; read x < p", "mkfifo p; exec 3<p; echo never"]
    {
        let started = Instant::now();
        let said = shell.run(&["sh", "--timeout", "500ms", "-c", line]);
        assert_eq!((said.status, said.stdout.as_str()), (124, ""), "{line}: {}", said.stderr);
        assert!(started.elapsed() < HANG, "{line}");
    }
}

/// Each pipe is on the line's bill, and there are as many as there may be.
#[test]
fn named_pipes_without_end_are_stopped() {
    let shell = Shell::sharing();
    let line = "for i in {1..1100}; do mkfifo p; exec {n}<>p || break; rm p; done 2> /dev/null; echo over";
    let said = shell.run(&["sh", "--timeout", "20s", "--line-memory", "96MiB", "-c", line]);
    assert!(said.status == 0 || said.status == 125, "{}: {}", said.status, said.all());
    let next = shell.run(&["sh", "-c", "mkfifo p; cat p & echo fine > p; wait"]);
    assert_eq!((next.status, next.stdout.as_str()), (0, "fine\n"), "{}", next.stderr);
}

#[test]
fn outside_of_a_line_a_named_pipe_connects_nobody() {
    let shell = Shell::sharing();
    let made = shell.run(&["run", "mkfifo", "p"]);
    assert_eq!(made.status, 0, "{}", made.all());
    let said =
        shell.run(&["sh", "-c", "mkfifo p; ls -l p | cut -c1; readlink p; echo $?; chmod 600 p; echo $?"]);
    assert_eq!(said.stdout, "p\n1\n1\n", "{}", said.stderr);
}

#[test]
fn commands_see_the_places_every_system_has() {
    let shell = Shell::sharing();
    let cases = [
        ("ls /dev", "fd\nnull\nrandom\nstderr\nstdin\nstdout\nurandom\nzero\n"),
        ("ls -d /bin /usr/bin /proc /proc/self", "/bin\n/proc\n/proc/self\n/usr/bin\n"),
        ("ls /bin | grep -x -e jq -e sh -e no-such", "jq\nsh\n"),
        ("find /bin -name 'tr*' -type f | sort", "/bin/tr\n/bin/tree\n/bin/true\n/bin/truncate\n"),
        ("cd /dev && pwd && ls fd", "/dev\n0\n1\n2\n"),
        ("ls -l /bin/jq | cut -c1-10", "---x--x--x\n"),
        ("cat /bin/jq 2> /dev/null; echo $?; echo x 2> /dev/null > /bin/x; echo $?", "1\n1\n"),
        ("ls / | grep -c -x -e bin -e dev -e proc", "0\n"),
        ("[ -f /dev/null ]; echo $?; [ -c /dev/null ]; echo $?; [ -d /dev ]; echo $?", "1\n0\n0\n"),
        ("/bin/echo runs; /usr/bin/env echo too", "runs\ntoo\n"),
    ];
    for (line, expected) in cases {
        let said = shell.run(&["sh", "-c", line]);
        assert_eq!(said.stdout, expected, "{line}: {}", said.stderr);
    }
    // Nobody is told of a command that they may not run.
    let said = shell.run(&["sh", "--allow", "ls,cat", "-c", "ls /bin"]);
    assert!(said.stdout.contains("cat\n") && !said.stdout.contains("jq\n"), "{}", said.all());
}

#[test]
fn a_directory_of_the_tree_hides_a_stub() {
    let shell = Shell::sharing();
    let folder = shell.path("hides");
    std::fs::create_dir(&folder).unwrap();
    let line =
        "mkdir /bin && echo mine > /bin/own && ls /bin && cat /bin/own; rm -r /bin; ls /bin | grep -x jq
        rm -rf /dev/null /dev 2> /dev/null; ls /dev | head -2";
    let said = shell.run(&["sh", "--dir", &folder.display().to_string(), "-c", line]);
    assert_eq!(said.stdout, "own\nmine\njq\nfd\nnull\n", "{}", said.stderr);
}

#[test]
fn a_script_on_stdin_reads_what_follows_it() {
    let shell = Shell::sharing();
    let script = "read x\nhello there\necho \"got $x\"\nwhile read -r y; do\n  [ \"$y\" = . ] && break\n  echo \"<$y>\"\ndone\na(\nb\n.\nsort\nz\nq\n";
    let said = shell.pipe(&["sh"], script.as_bytes());
    assert_eq!(
        (said.status, said.stdout.as_str()),
        (0, "got hello there\n<a(>\n<b>\nq\nz\n"),
        "{}",
        said.stderr
    );
}

#[test]
fn what_never_began_is_told_as_json_too() {
    let shell = Shell::sharing();
    let said = shell.run(&["sh", "--json", "/no/such/script"]);
    let told: serde_json::Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    assert_eq!((said.status, told["error"]["code"].as_str()), (125, Some("not_begun")), "{}", said.all());
    let plain = shell.run(&["sh", "/no/such/script"]);
    assert!(plain.status == 125 && plain.stdout.is_empty(), "{}", plain.all());
}

#[test]
fn a_limit_of_the_shell_has_a_code_and_names_what_raises_it() {
    let shell = Shell::sharing();
    let line = "echo $(seq 300000) | wc -w";
    let said = shell.run(&["sh", "--json", "-c", line]);
    let told: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((told["status"].as_i64(), told["limit"].as_str()), (Some(125), Some("shell_limit")), "{told}");
    assert!(told["limit_message"].as_str().unwrap().ends_with("--line-memory allows more"), "{told}");
    let said = shell.run(&["sh", "--line-memory", "768MiB", "-c", line]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "300000\n"), "{}", said.stderr);
}

#[test]
fn watch_ends_with_the_status_of_what_may_not_be_run() {
    let shell = Shell::sharing();
    let said = shell.run(&["sh", "-c", "watch -n 1 'echo x; echo y'"]);
    assert_eq!(said.status, 126, "{}", said.all());
}
