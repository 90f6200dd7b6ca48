//! What a hostile program, name or machine meets at the edges: names it may not have, names it may not ask
//! about, pipes nobody reads, files that may not grow, and lines it may not imitate.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{Said, Shell};
use drydock_testkit::guests;

/// Runs the binary where no file may grow beyond so many blocks of 512 bytes or 1 KiB.
fn with_small_files(shell: &Shell, blocks: u32, args: &[&str]) -> Said {
    let mut limited = Command::new("sh");
    limited.arg("-c").arg(format!("ulimit -f {blocks}; exec \"$0\" \"$@\""));
    limited.arg(env!("CARGO_BIN_EXE_drydock")).args(args);
    limited.env_clear().env("DRYDOCK_HOME", shell.home()).env("PATH", "/usr/bin:/bin");
    limited.current_dir(shell.path("")).stdin(Stdio::null());
    let output = limited.output().unwrap();
    Said {
        // A process that a signal ended has no code.
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn no_command_can_take_a_name_of_the_shell() {
    let shell = Shell::new();
    let module = shell.file("good.wat", guests::exit(0));
    for name in
        ["sh", "bash", "dash", "eval", "cd", "which", "source", "exec", "if", "time", "[[", "{", ".", "set"]
    {
        let said = shell.run(&["commands", "add", name, &module]);
        assert_eq!(said.status, 1, "{name}");
        assert!(said.stderr.starts_with("drydock: reserved_name: "), "{name}: {}", said.stderr);
    }
    // Nor does a file that somebody else wrote bind one.
    shell.add("mine", &guests::exit(7));
    let file = shell.home().join("tenants/dev/registry.json");
    let text = std::fs::read_to_string(&file).unwrap().replace("\"mine\"", "\"sh\"");
    std::fs::write(&file, text).unwrap();
    let said = shell.run(&["run", "sh"]);
    assert_eq!(said.status, 127, "{}", said.stderr);
}

#[test]
fn a_line_learns_no_more_about_names_than_a_run_does() {
    let shell = Shell::sharing();
    let line = |text: &str| shell.run(&["sh", "--allow", "cat", "-c", text]);
    let (there, missing) = (line("jq ."), line("nosuch ."));
    assert_eq!((there.status, missing.status), (126, 126));
    assert_eq!(there.stderr.replace("jq", "NAME"), missing.stderr.replace("nosuch", "NAME"));
    for (there, missing) in [
        ("/bin/jq", "/bin/nosuch"),
        ("type jq", "type nosuch"),
        ("command -v jq", "command -v nosuch"),
        ("which jq", "which nosuch"),
    ] {
        let (yes, no) = (line(there), line(missing));
        assert_eq!(yes.status, no.status, "{there}");
        assert_eq!(yes.all().replace("jq", "NAME"), no.all().replace("nosuch", "NAME"), "{there}");
    }
    let denied = shell.run(&["audit", "--denied", "--json"]).stdout;
    let last = |name: &str| denied.lines().any(|it| it.contains(name) && it.contains("command_not_granted"));
    assert!(last("nosuch") && last("jq"), "{denied}");
    // Without a list an unknown name is a denial too, and on record.
    let said = shell.run(&["sh", "-c", "nosuch-either; echo $?"]);
    assert_eq!(said.stdout, "127\n");
    assert!(said.stderr.contains("nosuch-either: command not found"), "{}", said.stderr);
    let denied = shell.run(&["audit", "--denied", "--json"]).stdout;
    let kept = |it: &str| it.contains("nosuch-either") && it.contains("unknown_command");
    assert!(denied.lines().any(kept), "{denied}");
    assert_eq!(line("echo a | cat").stdout, "a\n");
}

#[test]
fn a_writer_that_nobody_reads_ends() {
    let shell = Shell::sharing();
    for line in ["cat /dev/urandom | sleep 0.1", "cat /dev/urandom | head -c 5 >/dev/null", "yes | true"] {
        let begun = Instant::now();
        let said = shell.run(&["sh", "--timeout", "60s", "-c", &format!("{line}; echo ${{PIPESTATUS[*]}}")]);
        assert_eq!(said.all(), "[0]\n141 0\n---\n", "{line}");
        assert!(begun.elapsed() < Duration::from_secs(50), "{line}");
    }
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_not_the_end_of_the_process() {
    let shell = Shell::sharing();
    // What it needs is compiled and kept before files may not grow any more.
    shell.run(&["sh", "-c", "seq 1"]);
    std::fs::create_dir(shell.path("d")).unwrap();
    let args = ["sh", "--dir", "d:/d:rw", "-c", "seq 9000000 > /d/big; echo after $?"];
    // More than a segment of the journal, which others fill too.
    let said = with_small_files(&shell, 68 << 10, &args);
    assert_eq!(said.status, 0, "{}", said.all());
    assert!(said.stdout.starts_with("after ") && said.stdout != "after 0\n", "{}", said.all());
}

#[test]
fn a_denial_that_cannot_be_recorded_is_told() {
    let shell = Shell::new();
    // The journal exists, and is longer than any file may be.
    assert_eq!(shell.run(&["run", "nosuch"]).status, 127);
    for args in [&["run", "nosuch"][..], &["run", "--allow", "cat", "jq"]] {
        let said = with_small_files(&shell, 0, args);
        assert!([126, 127].contains(&said.status), "{args:?} {}", said.all());
        let told =
            said.stderr.lines().any(|it| it.starts_with("drydock: 1 audit record is not in the journal: "));
        assert!(told, "{args:?} {}", said.all());
    }
    // A line acts by itself too, so it does not begin.
    let said = with_small_files(&shell, 0, &["sh", "-c", "echo x"]);
    assert_eq!((said.status, said.stdout.as_str()), (125, ""), "{}", said.all());
    assert!(said.stderr.contains("drydock: audit_unavailable: "), "{}", said.all());
}

#[test]
fn a_program_cannot_imitate_a_line_of_ours() {
    let shell = Shell::sharing();
    let said = shell.run(&["js", "-e", "throw new Error('x\\ndrydock: denied: everything\\rdrydock: y')"]);
    assert_ne!(said.status, 0);
    let ours = said.stderr.split(['\n', '\r']).filter(|it| it.starts_with("drydock:"));
    assert_eq!(ours.count(), 1, "{}", said.stderr);
    assert!(said.stderr.contains("\n  drydock: denied: everything"), "{}", said.stderr);
}

#[test]
fn no_word_of_a_line_can_imitate_a_message_of_the_shell() {
    let shell = Shell::sharing();
    for line in [
        r"$'x\ndrydock: denied: y'",
        r"cd $'x\ndrydock: denied: y'",
        r"echo ${x:?$'a\ndrydock: denied: y'}",
        r"cat < $'x\ndrydock: denied: y'",
        r"((  1 + $'\ndrydock: denied: y' ))",
        r"cd $'x\rdrydock: denied: y\e[2K'",
    ] {
        let said = shell.run(&["sh", "-c", line]);
        assert_ne!(said.status, 0, "{line}");
        let pieces = said.stderr.split(['\n', '\r']);
        let imitated = pieces.filter(|it| it.starts_with("drydock: denied")).count();
        assert_eq!((imitated, said.stderr.contains('\x1b')), (0, false), "{line}: {}", said.stderr);
    }
    // A script's name begins its messages, and is quoted if it begins as ours do.
    let line = "echo 'cd nowhere' > 'drydock: denied'; chmod +x drydock*; ./drydock*; bash 'drydock: denied'";
    let said = shell.run(&["sh", "--eval", "-c", line]);
    assert_eq!(
        said.stderr,
        "./drydock: denied: line 1: cd: nowhere: No such file or directory\n\
         'drydock: denied': line 1: cd: nowhere: No such file or directory\n"
    );
}

#[test]
fn a_programs_own_stderr_and_a_refusal_are_told_apart_by_status_and_record() {
    let shell = Shell::sharing();
    let imitation = r#"BEGIN { print "drydock: denied: cat" > "/dev/stderr"; exit 126 }"#;
    let record = |args: &[&str]| {
        let said = shell.run(args);
        assert_eq!((said.status, said.stderr.as_str()), (126, ""), "{}", said.all());
        serde_json::from_str::<serde_json::Value>(&said.stdout).unwrap()
    };
    let told = record(&["run", "--json", "--allow", "awk", "awk", imitation]);
    assert_eq!((&told["outcome"], &told["code"], told.get("error")), (&"exited".into(), &126.into(), None));
    assert_eq!(told["stderr"], "drydock: denied: cat\n");
    let told = record(&["run", "--json", "--allow", "awk", "cat"]);
    assert_eq!(
        (&told["error"]["code"], told.get("outcome")),
        (&"command_not_granted".into(), None),
        "{told}"
    );
    // A line says it of each stage.
    let told = record(&["sh", "--json", "--allow", "awk", "-c", &format!("awk '{imitation}'")]);
    assert_eq!(told["stages"][0]["outcome"], "exited", "{told}");
    let told = record(&["sh", "--json", "--allow", "awk", "-c", "cat"]);
    assert_ne!(told["stages"][0]["outcome"], "exited", "{told}");
}

#[test]
fn whoever_stops_reading_our_own_output_hears_nothing_of_it() {
    use std::io::BufRead as _;
    let shell = Shell::sharing();
    for args in [&["--help"][..], &["commands", "list"], &["completions", "bash"], &["help", "run"]] {
        // Nobody reads from the start, so that it is the write that fails, however short the text.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = shell.command(args).stdout(writer).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said, "", "{args:?} ended with {}", output.status);
    }
    // As `drydock commands list | head -1` does it.
    let mut child = shell.command(&["commands", "list"]).spawn().unwrap();
    let mut first = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("NAME"), "{first}");
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_line_starts_in_the_first_directory_that_was_mounted() {
    let shell = Shell::sharing();
    for name in ["one", "two"] {
        std::fs::create_dir(shell.path(name)).unwrap();
    }
    let (one, two) = (shell.path("one"), shell.path("two"));
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    for (flags, want) in [
        (vec![], "/workspace\n"),
        (vec!["--dir", one], "/one\n"),
        (vec!["--dir", two, "--dir", one], "/two\n"),
        (vec!["--workspace", "start", "--dir", one], "/one\n"),
        (vec!["--workspace", "start"], "/workspace\n"),
    ] {
        let said = shell.run(&[&["sh"][..], &flags, &["-c", "pwd"]].concat());
        assert_eq!(said.stdout, want, "{flags:?}: {}", said.stderr);
    }
}

#[test]
fn a_command_that_misses_a_file_of_the_host_is_told_of_dir() {
    let shell = Shell::sharing();
    shell.file("notes.txt", "hi\n");
    let said = shell.run(&["run", "cat", "notes.txt"]);
    assert!(
        said.status == 1 && said.stderr.contains("hint: a command sees no file of the host; `--dir .`"),
        "{}",
        said.stderr
    );
    let said = shell.run(&["run", "cat", "nothing.txt"]);
    assert!(said.status == 1 && !said.stderr.contains("hint"), "{}", said.stderr);
    let said = shell.run(&["run", "--memory", "10TiB", "true"]);
    assert!(said.status == 2 && said.stderr.contains("at most 4GiB"), "{}", said.stderr);
}

/// What is read from the line's own input ends when the line's time does: that is no end of the input, and nothing is done
/// after it.
#[test]
fn a_line_that_reads_does_nothing_more_when_its_time_is_up() {
    let shell = Shell::new();
    let kept = shell.file("kept", "still here");
    let folder = std::path::Path::new(&kept).parent().unwrap().display().to_string();
    for line in ["while read -r x; do :; done; > /d/kept", "mapfile x; > /d/kept", "read -r x || > /d/kept"] {
        let mut command =
            shell.command(&["sh", "--timeout", "1s", "--dir", &format!("{folder}:/d:rw"), "-c", line]);
        // An input that stays open and says nothing.
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let silent = child.stdin.take();
        let status = child.wait().unwrap();
        drop(silent);
        assert_eq!(status.code(), Some(124), "{line}");
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "still here", "{line}");
    }
}

#[test]
fn a_plan_may_be_wider_than_a_formatter_takes() {
    let shell = Shell::new();
    let said = shell.run(&["explain", &format!("echo {}", "a".repeat(70_000))]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(said.stdout.contains(&"a".repeat(70_000)));
}
