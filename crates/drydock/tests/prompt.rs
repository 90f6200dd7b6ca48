//! `drydock` at a terminal: a real one, opened for the test. The shell's prompt, and how far an installation is.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use common::{Shell, agent::Agents};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Nothing here takes a minute unless it hangs.
const HANG: Duration = Duration::from_secs(60);

struct Terminal {
    keys: File,
    seen: Arc<Mutex<String>>,
    child: Child,
}

impl Terminal {
    fn open(shell: &Shell) -> Self {
        Self::running(shell, &["sh"])
    }

    fn running(shell: &Shell, args: &[&str]) -> Self {
        Self::running_with(shell, args, &[])
    }

    fn running_with(shell: &Shell, args: &[&str], variables: &[(&str, &Path)]) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs = OpenOptions::new().read(true).write(true).open(name).unwrap();
        // A terminal of its own, so that a typed Ctrl-C becomes a signal.
        let child = Command::new("setsid")
            .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_drydock")])
            .args(args)
            .env_clear()
            .envs([("TERM", "xterm"), ("PATH", "/usr/bin:/bin")])
            .env("DRYDOCK_HOME", shell.home())
            .envs(variables.iter().copied())
            .current_dir(shell.path("."))
            .stdin(Stdio::from(theirs.try_clone().unwrap()))
            .stdout(Stdio::from(theirs.try_clone().unwrap()))
            .stderr(Stdio::from(theirs))
            .spawn()
            .unwrap();
        let keys = File::from(ours);
        let seen = Arc::new(Mutex::new(String::new()));
        let (mut screen, all) = (keys.try_clone().unwrap(), Arc::clone(&seen));
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(got) = screen.read(&mut piece) {
                all.lock().unwrap().push_str(&String::from_utf8_lossy(&piece[..got]));
            }
        });
        Self { keys, seen, child }
    }

    fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen shows `text`, and forgets everything up to there.
    fn expect(&self, text: &str) {
        let started = Instant::now();
        loop {
            let mut seen = self.seen.lock().unwrap();
            if let Some(at) = seen.find(text) {
                seen.drain(..at + text.len());
                return;
            }
            assert!(started.elapsed() < HANG, "`{text}` never came; the screen shows:\n{seen}");
            drop(seen);
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn lines_that_arrive_together_all_run() {
    let shell = Shell::new();
    let mut terminal = Terminal::open(&shell);
    terminal.expect("$ ");
    terminal.type_in("echo o''ne\recho t''wo\recho th''ree\r");
    for said in ["\none\r", "\ntwo\r", "\nthree\r"] {
        terminal.expect(said);
    }
    terminal.type_in("exit\r");
    terminal.child.wait().unwrap();
}

#[test]
fn a_prompt_runs_lines_completes_names_and_survives_ctrl_c() {
    let shell = Shell::new();
    let mut terminal = Terminal::open(&shell);
    terminal.expect("$ ");
    terminal.type_in("x=4; echo four=$((x))\r");
    terminal.expect("four=4\r\n");
    // One shell: the variable is still there, and Ctrl-C ends the line alone.
    terminal.type_in("echo begun; sleep 60; echo never\r");
    terminal.expect("begun\r\n");
    terminal.type_in("\x03");
    terminal.expect("$ ");
    terminal.type_in("echo status=$? still=$x\r");
    terminal.expect("status=130 still=4\r\n");
    // A name and a path are completed.
    terminal.type_in("echo some > letters; echo written\r");
    terminal.expect("written\r\n");
    terminal.type_in("upp\t < let\t\r");
    terminal.expect("SOME\r\n");
    // A line that is not over asks for more.
    terminal.type_in("for i in 1 2; do\r");
    terminal.expect("> ");
    terminal.type_in("echo round-$i; done\r");
    terminal.expect("round-1\r\n");
    terminal.expect("round-2\r\n");
    // Ctrl-C at the prompt drops what was typed.
    terminal.type_in("echo dropped");
    terminal.expect("dropped");
    terminal.type_in("\x03");
    terminal.expect("$ ");
    terminal.type_in("echo kept\r");
    terminal.expect("kept\r\n");
    terminal.type_in("exit 7\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(7));
    let history = std::fs::read_to_string(shell.home().join("history")).unwrap();
    assert!(history.contains("still=$x") && !history.contains("dropped"), "{history}");
}

#[test]
fn ctrl_d_is_exit_and_a_terminal_has_columns() {
    let shell = Shell::new();
    let mut terminal = Terminal::open(&shell);
    terminal.expect("$ ");
    terminal.type_in("touch one two three; ls; echo listed\r");
    // Its own line for each would be no columns; a pipe is no terminal.
    terminal.expect("one  three  two\r\n");
    terminal.expect("listed\r\n");
    terminal.type_in("ls | cat; [ -t 1 ] && echo terminal\r");
    terminal.expect("one\r\nthree\r\ntwo\r\n");
    terminal.expect("terminal\r\n");
    // What was typed over several lines is one text of the history.
    terminal.type_in("echo 'first\r");
    terminal.expect("> ");
    terminal.type_in("second'\r");
    terminal.expect("first\r\nsecond\r\n");
    terminal.type_in("\x1b[A");
    terminal.expect("second");
    terminal.type_in("\x03");
    terminal.expect("$ ");
    // A new line within the text, without running it.
    terminal.type_in("echo up\x1b\recho down\r");
    terminal.expect("up\r\ndown\r\n");
    terminal.type_in("trap 'echo bye' EXIT; echo armed; (exit 9)\r");
    terminal.expect("armed\r\n");
    terminal.expect("$ ");
    terminal.type_in("\x04");
    terminal.expect("exit\r\nbye\r\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(9));
}

#[test]
fn every_line_of_an_unfinished_text_can_be_changed_until_it_runs() {
    let shell = Shell::new();
    let mut terminal = Terminal::open(&shell);
    terminal.expect("$ ");
    terminal.type_in("for i in 1 2; do\r");
    // Two columns: the cursor stands behind the `> ` and not on it.
    terminal.expect("> \r\x1b[2C");
    terminal.type_in("echo wrong-$i\r");
    terminal.expect("> \r\x1b[2C");
    // Up into the line before, to its beginning, and the word in it is another.
    terminal.type_in("\x1b[A\x01\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x0bright-$i");
    terminal.expect("right-$i");
    terminal.type_in("\x1b[Bdone\r");
    terminal.expect("right-1\r\n");
    terminal.expect("right-2\r\n");
    // A line is joined with the one before by one backspace.
    terminal.type_in("echo 'one\r");
    terminal.expect("> \r\x1b[2C");
    terminal.type_in("\x7f-two'\r");
    terminal.expect("one-two\r\n");
    // A name is completed on a further line too.
    terminal.type_in("if true; then\r");
    terminal.expect("> \r\x1b[2C");
    terminal.type_in("echo low | upp\t; fi\r");
    terminal.expect("LOW\r\n");
    // Ctrl-C drops all of its lines; Ctrl-D on an empty one says that there are no more.
    terminal.type_in("echo 'dropped\r");
    terminal.expect("> \r\x1b[2C");
    terminal.type_in("\x03");
    terminal.expect("$ ");
    terminal.type_in("if true\r");
    terminal.expect("> \r\x1b[2C");
    terminal.type_in("\x04");
    terminal.expect("drydock: ");
    terminal.expect("$ ");
    terminal.type_in("exit 5\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(5));
    let history = std::fs::read_to_string(shell.home().join("history")).unwrap();
    assert!(history.contains("right-$i") && !history.contains("dropped"), "{history}");
    assert!(!history.contains('\u{3fffd}'), "{history}");
}

#[test]
fn warm_shows_on_a_terminal_what_it_is_at() {
    let shell = Shell::new();
    let mut terminal = Terminal::running(&shell, &["warm", "upper", "seq"]);
    terminal.expect("\r\x1b[2K1 of 2: upper");
    terminal.expect("\r\x1b[2K2 of 2: seq");
    terminal.expect("2 modules ready");
    assert!(terminal.child.wait().unwrap().success());
}

#[test]
fn changes_that_end_with_the_process_are_told_on_a_terminal() {
    let shell = Shell::sharing();
    let dir = shell.path("project");
    std::fs::create_dir(&dir).unwrap();
    let dir = dir.to_str().unwrap();
    let mut terminal = Terminal::running(&shell, &["sh", "--dir", dir, "-c", "echo a > new; echo b > other"]);
    terminal.expect("2 changes in /project were dropped; `--workspace NAME` keeps them");
    assert!(terminal.child.wait().unwrap().success());
    // Whatever made them.
    let write = "await files.write({path: 'from-js', content: 'x'})";
    for args in [&["run", "--dir", dir, "touch", "new"][..], &["js", "--dir", dir, "-e", write]] {
        let mut terminal = Terminal::running(&shell, args);
        terminal.expect("1 change in /project was dropped; `--workspace NAME` keeps them");
        assert!(terminal.child.wait().unwrap().success());
    }
    // Nothing is said of a directory in which nothing changed, nor into a pipe.
    let mut terminal = Terminal::running(&shell, &["sh", "--dir", dir, "-c", "ls; echo end"]);
    terminal.expect("end");
    assert!(terminal.child.wait().unwrap().success());
    assert!(!terminal.seen.lock().unwrap().contains("dropped"));
    let said = shell.run(&["run", "--dir", dir, "touch", "new"]);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
}

/// A module that takes the compiler some seconds: many functions of many additions each.
fn long_to_compile() -> Vec<u8> {
    let body =
        "(local.set 0 (i32.add (i32.mul (local.get 0) (i32.const 7)) (i32.load (local.get 0))))".repeat(400);
    let function = format!("(func (param i32) (result i32) {body} (local.get 0))");
    let text = format!(
        r#"(module
            (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
            (memory (export "memory") 1)
            (data (i32.const 0) "\10\00\00\00\05\00\00\00") (data (i32.const 16) "seen\n")
            (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
            {})"#,
        function.repeat(400)
    );
    wat::parse_str(text).unwrap()
}

#[test]
fn a_terminal_sees_what_an_installation_hashes_unpacks_compiles_and_checks() {
    let shell = Shell::new();
    std::fs::create_dir(shell.path("rows")).unwrap();
    let module = long_to_compile();
    let archive = common::room::tar(&[common::room::Member("x.wasm", b'0', &module)]);
    let hash = |bytes: &[u8]| drydock_embed::contract::Digest::of(bytes).to_string();
    let row = format!(
        "name = \"row-seen\"\nversion = \"1\"\nsummary = \"a test\"\nlicence = \"MIT\"\nlane = \"prebuilt\"\nsha256 = \"{}\"\n\
         [[commands]]\nname = \"row-seen\"\n[[sources]]\nfrom = \"file:{}#x.wasm\"\nsha256 = \"{}\"\n\
         [[checks]]\nargv = [\"row-seen\"]\nstdout = \"seen\\n\"\n",
        hash(&module),
        shell.file("x.tgz", &archive),
        hash(&archive)
    );
    shell.file("rows/row-seen.toml", row);
    let rows = shell.path("rows").display().to_string();
    let mut terminal = Terminal::running(&shell, &["catalog", "--rows", &rows, "add", "row-seen"]);
    terminal.expect("row-seen: hashing ");
    terminal.expect("row-seen: unpacking ");
    terminal.expect("drydock: compiling ");
    terminal.expect(" for this machine, once");
    terminal.expect("row-seen 1: row-seen from file:");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let mut terminal =
        Terminal::running(&shell, &["catalog", "--rows", &rows, "verify", "--run", "row-seen"]);
    terminal.expect("row-seen: checking");
    terminal.expect("proven");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_prompt_asks_by_read_knows_aliases_and_remembers_its_lines() {
    let shell = Shell::new();
    let mut terminal = Terminal::running(&shell, &["sh", "--eval"]);
    terminal.expect("$ ");
    // What is typed is shown too, so nothing that is waited for stands in a line as it is.
    terminal.type_in("p=who; read -p \"$p> \" n; echo got-$n\r");
    terminal.expect("who> ");
    terminal.type_in("bob\r");
    terminal.expect("got-bob\r\n");
    terminal.type_in("history\r");
    terminal.expect("    1  p=who; read");
    terminal.expect("    2  history\r\n");
    terminal.type_in("alias hi='echo ali''ased'\r");
    terminal.expect("$ ");
    terminal.type_in("hi\r");
    terminal.expect("aliased\r\n");
    terminal.type_in("history\r");
    terminal.expect("    4  hi\r\n");
    terminal.type_in("exit\r");
    terminal.child.wait().unwrap();
}

#[test]
fn a_secret_is_typed_unseen_and_ctrl_c_keeps_none() {
    let shell = Shell::new();
    let mut terminal = Terminal::running(&shell, &["secret", "keep", "TYPED"]);
    terminal.expect("value of `TYPED` (it is not shown; Enter ends it): ");
    terminal.type_in("nobody-sees-this\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let seen = terminal.seen.lock().unwrap().clone();
    assert!(!seen.contains("nobody"), "{seen}");
    let mut terminal = Terminal::running(&shell, &["secret", "keep", "DROPPED"]);
    terminal.expect("Enter ends it): ");
    terminal.type_in("half-of-it\x03");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130));
    let listed = shell.run(&["secret", "list"]).stdout;
    assert!(listed.contains("TYPED") && !listed.contains("DROPPED"), "{listed}");
}

#[test]
fn what_reads_a_terminal_says_so() {
    let shell = Shell::new();
    for args in [&["kv", "put", "key"][..], &["queue", "publish", "topic"]] {
        let mut terminal = Terminal::running(&shell, args);
        terminal.expect("reading stdin; Ctrl-D ends it");
        terminal.type_in("text\r\x04");
        assert_eq!(terminal.child.wait().unwrap().code(), Some(0), "{args:?}");
    }
    assert_eq!(shell.run(&["kv", "get", "key"]).stdout, "text\n");
}

#[test]
fn what_a_run_of_an_agent_asks_is_answered_in_place() {
    let agents = Agents::demo();
    let args = [
        "agent",
        "run",
        "examples/agent/bookkeeper.md",
        "--task",
        "t",
        "--dir",
        "examples/agent/shop",
        "--review",
        "edit_file",
    ];
    let config = agents.config();
    let mut terminal = Terminal::running_with(&agents.shell, &args, &[("XDG_CONFIG_HOME", &config)]);
    terminal.expect("total += $2 * $3");
    terminal.expect("approve?");
    terminal.type_in("maybe\r");
    terminal.expect("that is none of them");
    terminal.expect("approve?");
    terminal.type_in("o\r");
    terminal.expect("The orders come to 52.20.");
    assert!(terminal.child.wait().unwrap().success());
}

#[test]
fn what_was_typed_before_a_question_answers_none() {
    let agents = Agents::demo();
    let args = [
        "agent",
        "run",
        "examples/agent/bookkeeper.md",
        "--task",
        "t",
        "--dir",
        "examples/agent/shop",
        "--review",
        "*",
    ];
    let config = agents.config();
    let mut terminal = Terminal::running_with(&agents.shell, &args, &[("XDG_CONFIG_HOME", &config)]);
    terminal.type_in("o\ro\ro");
    terminal.expect("what was typed before this question is no answer to it");
    terminal.expect("approve?");
    // A second question comes by itself, and the rest of what was typed at the first is none to it.
    terminal.type_in("o\ro\ro\r");
    terminal.expect("what was typed before this question is no answer to it");
    terminal.expect("approve?");
    terminal.type_in("q\r");
    terminal.expect("drydock agent resume");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(126));
    assert_eq!(agents.waiting().len(), 1);
}

#[test]
fn ctrl_c_at_a_question_leaves_the_run_to_be_resumed() {
    let agents = Agents::demo();
    let args = [
        "agent",
        "run",
        "examples/agent/bookkeeper.md",
        "--task",
        "t",
        "--dir",
        "examples/agent/shop",
        "--review",
        "edit_file",
    ];
    let config = agents.config();
    let mut terminal = Terminal::running_with(&agents.shell, &args, &[("XDG_CONFIG_HOME", &config)]);
    terminal.expect("approve?");
    terminal.type_in("\x03");
    terminal.expect("drydock agent resume");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(126));
    assert_eq!(agents.waiting().len(), 1);
}
