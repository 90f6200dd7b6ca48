//! Programs of the session by their path, and commands that say how they are started, with the real binary.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, os::unix::fs::PermissionsExt as _};

use common::{Said, Shell};

/// Writes its own name and the text of `x.txt`, found as a program of libc finds it, and exits with its arguments' count.
const SHOWS: &str = r#"(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 900) "x.txt")
  (func $show (param $at i32) (param $len i32)
    (i32.store (i32.const 800) (local.get $at)) (i32.store (i32.const 804) (local.get $len))
    (drop (call $write (i32.const 1) (i32.const 800) (i32.const 1) (i32.const 808))))
  (func (export "_start") (local $len i32)
    (drop (call $sizes (i32.const 0) (i32.const 4)))
    (drop (call $args (i32.const 16) (i32.const 2000)))
    (loop $next (if (i32.load8_u (i32.add (i32.const 2000) (local.get $len)))
      (then (local.set $len (i32.add (local.get $len) (i32.const 1))) (br $next))))
    (call $show (i32.const 2000) (local.get $len))
    (if (call $open (i32.const 4) (i32.const 1) (i32.const 900) (i32.const 5) (i32.const 0) (i64.const 2) (i64.const 2)
          (i32.const 0) (i32.const 816))
      (then (call $exit (i32.const 99))))
    (i32.store (i32.const 800) (i32.const 3000)) (i32.store (i32.const 804) (i32.const 100))
    (drop (call $read (i32.load (i32.const 816)) (i32.const 800) (i32.const 1) (i32.const 808)))
    (call $show (i32.const 3000) (i32.load (i32.const 808)))
    (call $exit (i32.sub (i32.load (i32.const 0)) (i32.const 1)))))"#;

const THROWS: &str = r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1) (tag $t (param i32))
  (func (export "_start")
    (call $exit (block $caught (result i32) (try_table (catch $t $caught) (throw $t (i32.const 7))) (i32.const 1)))))"#;

fn program(shell: &Shell, name: &str, wat: &str, mode: u32) {
    let path = shell.file(&format!("in/{name}"), wat::parse_str(wat).unwrap());
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn room() -> Shell {
    let shell = Shell::sharing();
    fs::create_dir(shell.path("in")).unwrap();
    shell.file("in/x.txt", " says x\n");
    program(&shell, "prog", SHOWS, 0o755);
    program(&shell, "throws", THROWS, 0o755);
    program(&shell, "plain", SHOWS, 0o644);
    shell
}

fn sh(shell: &Shell, more: &[&str], line: &str) -> Said {
    let mut args = vec!["sh", "--dir", "in"];
    args.extend(more);
    args.extend(["-c", line]);
    shell.run(&args)
}

#[test]
fn a_program_runs_by_its_path_and_finds_files_beside_it() {
    let shell = room();
    let said = sh(
        &shell,
        &[],
        "./prog a b; echo $?; /in/prog; echo $?; mkdir d; cd d; ../prog; echo $?; ./prog; echo $?",
    );
    // In another directory there is no x.txt.
    assert_eq!(said.stdout, "./prog says x\n2\n/in/prog says x\n0\n../prog99\n127\n", "{}", said.stderr);
    let run = shell.run(&["run", "--dir", "in", "./prog", "one"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, "./prog says x\n"), "{}", run.stderr);
}

#[test]
fn a_program_that_the_line_made_runs_without_eval_and_one_that_throws_too() {
    let shell = room();
    let said =
        sh(&shell, &[], "cp prog made; ./made; echo $?; chmod -x made; ./made; echo $?; ./throws; echo $?");
    assert_eq!(said.stdout, "./made says x\n0\n126\n7\n", "{}", said.stderr);
    assert!(said.stderr.contains("./made: Permission denied"), "{}", said.stderr);
    let script = sh(&shell, &[], "echo 'echo no' > s; chmod +x s; ./s; echo $?");
    assert_eq!(script.stdout, "126\n", "a script of the line's own making is text: {}", script.stderr);
}

#[test]
fn other_commands_start_programs_by_their_path() {
    let shell = room();
    let line = "timeout 60 ./prog; echo $?; echo a b | xargs ./prog; env ./throws; echo $?; timeout 60 ./none; echo $?
        timeout 60 ./plain; echo $?; find . -name x.txt -exec ./prog {} +";
    let said = sh(&shell, &[], line);
    let want = "./prog says x\n0\n./prog says x\n7\n127\n126\n./prog says x\n";
    assert_eq!(said.stdout, want, "{}", said.stderr);
}

#[test]
fn what_is_no_program_is_126_and_says_why() {
    let shell = room();
    let end = "(module (memory (export \"memory\") 1))";
    program(&shell, "library", end, 0o755);
    program(&shell, "asks", r#"(module (import "host" "call" (func)) (func (export "_start")))"#, 0o755);
    let said = sh(
        &shell,
        &[],
        "./library; echo $?; ./asks; echo $?; printf '\\0asm' > cut; chmod +x cut; ./cut; echo $?",
    );
    assert_eq!(said.stdout, "126\n126\n126\n", "{}", said.stderr);
    for why in ["./library: module", "no `_start`", "host.call", "not a WebAssembly module"] {
        assert!(said.stderr.contains(why), "{why}: {}", said.stderr);
    }
    let plain = shell.run(&["run", "--dir", "in", "./plain"]);
    assert_eq!(plain.status, 126);
    assert!(plain.stderr.contains("not_executable") && plain.stderr.contains("chmod +x"), "{}", plain.stderr);
}

#[test]
fn under_a_list_of_commands_nothing_runs_by_path_and_limits_hold() {
    let shell = room();
    let said = sh(&shell, &["--allow", "echo"], "./prog; echo $?");
    assert_eq!(said.stdout, "126\n", "{}", said.stderr);
    let bomb = "(module (memory (export \"memory\") 1) (func (export \"_start\") (loop $l (drop (memory.grow (i32.const 16))) (br $l))))";
    program(&shell, "bomb", bomb, 0o755);
    let loops = "(module (memory (export \"memory\") 1) (func (export \"_start\") (loop $l (br $l))))";
    program(&shell, "loops", loops, 0o755);
    let said = sh(&shell, &[], "./bomb; echo $?; timeout 0.2 ./loops; echo $?");
    assert_eq!(said.stdout, "125\n124\n", "{}", said.stderr);
    let said = sh(&shell, &["--fuel", "1000000"], "./loops");
    assert!(said.status == 125 && said.stderr.contains("out_of_fuel"), "{}", said.stderr);
}

#[test]
fn a_command_is_registered_with_what_it_needs_and_says_so() {
    let shell = Shell::new();
    let file = shell.file("t.wat", THROWS);
    let refused = shell.run(&["commands", "add", "t", &file]);
    assert_eq!(refused.status, 1);
    assert!(
        refused.stderr.contains("bad_module") && refused.stderr.contains("--feature exceptions"),
        "{}",
        refused.stderr
    );
    let flags =
        ["--feature", "exceptions", "--lane", "tick", "--argv0", "tt", "--arg", "-x", "--memory", "1GiB"];
    let added = shell.run(&[&["commands", "add", "t", &file][..], &flags].concat());
    assert_eq!(added.status, 0, "{}", added.stderr);
    assert_eq!(shell.run(&["run", "t"]).status, 7);
    let shown: serde_json::Value =
        serde_json::from_str(&shell.run(&["commands", "show", "t", "--json"]).stdout).unwrap();
    let want = serde_json::json!({ "argv0": "tt", "argv": ["-x"], "lane": "tick", "features": ["exceptions"],
                                   "limits": { "memory_bytes_max": 1 << 30 } });
    assert_eq!(shown["options"], want);
    let tree = format!("{}:/usr", "0".repeat(64));
    let unknown = shell.run(&["commands", "add", "u", &file, "--feature", "exceptions", "--tree", &tree]);
    assert!(unknown.stderr.contains("unknown_tree"), "{}", unknown.stderr);
    let feature = shell.run(&["commands", "add", "u", &file, "--feature", "threads"]);
    assert!(feature.stderr.contains("there is exceptions"), "{}", feature.stderr);
}
