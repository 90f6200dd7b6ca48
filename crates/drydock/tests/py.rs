//! `drydock py` with the real binary, without CPython: what it says where there is none, and what it does with an
//! interpreter that is a few lines of WebAssembly. CPython itself is tried by `cargo xtask catalog`.
#![allow(clippy::unwrap_used)]

mod common;

use common::Shell;
use serde_json::Value;

/// An interpreter that writes `stdout`, answers `answer` to its host if that is not empty, and exits with `status`.
fn interpreter(stdout: &str, answer: &str, status: u8) -> String {
    let request = match answer {
        "" => String::new(),
        answer => format!(r#"{{"provider":"","tool":"answer","input":{answer}}}"#),
    };
    let mut frame = Vec::new();
    if !request.is_empty() {
        frame.extend((request.len() as u32).to_le_bytes());
        frame.extend(7_u32.to_le_bytes());
        frame.extend(request.as_bytes());
    }
    let quoted = |bytes: &[u8]| bytes.iter().map(|it| format!("\\{it:02x}")).collect::<String>();
    format!(
        r#"(module
          (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
          (memory (export "memory") 2)
          (data (i32.const 100) "dev/drydock") (data (i32.const 200) "{}") (data (i32.const 4000) "{}")
          (func (export "_start")
            (if (call $open (i32.const 3) (i32.const 0) (i32.const 100) (i32.const 11) (i32.const 0)
                  (i64.const 0x42) (i64.const 0) (i32.const 0) (i32.const 0)) (then (call $exit (i32.const 99))))
            (i32.store (i32.const 16) (i32.const 200)) (i32.store (i32.const 20) (i32.const {}))
            (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 24)))
            (i32.store (i32.const 16) (i32.const 4000)) (i32.store (i32.const 20) (i32.const {}))
            (drop (call $write (i32.load (i32.const 0)) (i32.const 16) (i32.const 1) (i32.const 24)))
            (i32.store (i32.const 16) (i32.const 65536)) (i32.store (i32.const 20) (i32.const 1000))
            (drop (call $read (i32.load (i32.const 0)) (i32.const 16) (i32.const 1) (i32.const 24)))
            (call $exit (i32.const {status}))))"#,
        quoted(stdout.as_bytes()),
        quoted(&frame),
        stdout.len(),
        frame.len(),
    )
}

fn with(stdout: &str, answer: &str, status: u8) -> Shell {
    let shell = Shell::new();
    shell.add("python", &interpreter(stdout, answer, status));
    shell
}

#[test]
fn where_python_is_not_installed_it_is_said_with_what_to_do() {
    let shell = Shell::new();
    for args in [&["py", "-c", "1"][..], &["py", "--types"], &["py", "runner"]] {
        let said = shell.run(args);
        assert_eq!(said.status, 127, "{args:?}");
        assert_eq!(said.stderr, "drydock: python: not installed; drydock catalog add python\n");
    }
}

#[test]
fn the_value_is_printed_where_the_program_printed_nothing() {
    let silent = with("", r#"{"ok":true,"exit":0,"result":{"a":[1]}}"#, 0);
    let said = silent.run(&["py", "-c", "x"]);
    assert_eq!((said.status, said.stdout.as_str(), said.stderr.as_str()), (0, "{\"a\":[1]}\n", ""));
    let loud = with("hello\n", r#"{"ok":true,"exit":0,"result":5}"#, 0);
    assert_eq!(loud.run(&["py", "-c", "x"]).stdout, "hello\n");
    let said = loud.run(&["py", "--json", "-c", "x"]);
    let whole: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        (&whole["result"], &whole["stdout"], &whole["status"]),
        (&5.into(), &"hello\n".into(), &0.into())
    );
}

#[test]
fn a_program_exits_with_its_own_status_and_forges_no_code() {
    let left = with("", "", 3).run(&["py", "-c", "x"]);
    assert_eq!((left.status, left.stderr.as_str()), (3, ""));
    let exits = with("", r#"{"ok":true,"exit":4}"#, 4).run(&["py", "-c", "x"]);
    assert_eq!((exits.status, exits.stdout.as_str()), (4, ""));
    let answer = r#"{"ok":false,"exit":1,"error":{"code":"timeout","message":"mine","traceback":"t"}}"#;
    let said = with("", answer, 1).run(&["py", "--json", "-c", "x"]);
    let whole: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.status, &whole["error"]["code"]), (1, &"runtime_error".into()));
}

#[test]
fn what_a_program_is_read_from_is_a_file_a_word_or_stdin() {
    let shell = with("", r#"{"ok":true,"exit":0,"result":1}"#, 0);
    let file = shell.file("p.py", "x");
    assert_eq!(shell.run(&["py", &file]).stdout, "1\n");
    assert_eq!(shell.pipe(&["py", "-"], b"x").stdout, "1\n");
    assert_eq!(shell.run(&["py"]).status, 125);
    assert_eq!(shell.run(&["py", "absent.py"]).status, 125);
    assert_ne!(shell.run(&["py", "--args", "{", "-c", "1"]).status, 0);
}

#[test]
fn what_follows_the_program_is_the_programs_own_flags_too() {
    let shell = with("", r#"{"ok":true,"exit":0,"result":1}"#, 0);
    let file = shell.file("p.py", "x");
    for args in [&["py", &file, "-x", "--json", "--", "-1"][..], &["py", "-c", "x", "a", "--types"]] {
        let said = shell.run(args);
        assert_eq!((said.status, said.stdout.as_str()), (0, "1\n"), "{args:?}: {}", said.stderr);
    }
    let said = shell.run(&["py", "--jsn", &file]);
    assert!(said.status == 2 && said.stderr.contains("did you mean `--json`?"), "{}", said.stderr);
    let said = shell.run(&["py", "list", "--workspace", "notes", "--json"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "[]\n"), "{}", said.stderr);
    let said = shell.run(&["py", "--workspace", "notes", "list", "--nonsense"]);
    assert!(said.status == 2 && said.stderr.contains("--nonsense"), "{}", said.stderr);
}

#[test]
fn a_device_that_was_not_granted_is_not_there() {
    let shell = with("", r#"{"ok":true}"#, 0);
    let said = shell.run(&["run", "python"]);
    assert_eq!(said.status, 99, "a plain command has no tools: {}", said.stderr);
}
