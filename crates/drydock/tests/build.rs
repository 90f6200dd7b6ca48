//! `drydock build` and `gcc` with a stand-in for the compiler: what is around it is ours to prove here, and what it
//! makes of real programs is proven by `cargo xtask catalog`.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Said, Shell};
use drydock_testkit::guests;

/// A linker that writes this module to `out.wasm` in the directory it is started in, whatever it is given.
fn linking(wat: &str) -> String {
    let module = wat::parse_str(wat).unwrap();
    let data: String = module.iter().map(|byte| format!("\\{byte:02x}")).collect();
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 4)
  (data (i32.const 1024) "out.wasm")
  (data (i32.const 4096) "{data}")
  (func (export "_start")
    (if (call $path_open (i32.const 4) (i32.const 0) (i32.const 1024) (i32.const 8) (i32.const 9)
          (i64.const 64) (i64.const 0) (i32.const 0) (i32.const 512))
      (then (call $proc_exit (i32.const 9))))
    (i32.store (i32.const 0) (i32.const 4096))
    (i32.store (i32.const 4) (i32.const {}))
    (drop (call $fd_write (i32.load (i32.const 512)) (i32.const 0) (i32.const 1) (i32.const 8)))))"#,
        module.len(),
    )
}

/// A compiler that says this on stderr and fails.
fn complaining(text: &str) -> String {
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "{text}")
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const {}))
    (drop (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))
    (call $proc_exit (i32.const 1))))"#,
        text.len(),
    )
}

/// A home with a compiler that always succeeds and a linker that makes this module.
fn with_compiler(result: &str) -> Shell {
    let shell = Shell::new();
    shell.add("clang-22", &guests::exit(0));
    shell.add("wasm-ld", &linking(result));
    shell.file("prog.c", "int main(void) { return 7; }");
    shell
}

fn code(said: &Said) -> &str {
    said.stderr
        .lines()
        .last()
        .and_then(|it| it.strip_prefix("drydock: ")?.split(':').next())
        .unwrap_or_default()
}

#[test]
fn a_source_becomes_a_command_and_a_second_build_is_a_lookup() {
    let shell = with_compiler(&guests::exit(7));
    let first = shell.run(&["build", "c", "-O2", "prog.c", "-o", "seven"]);
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert!(
        first.stdout.starts_with("built seven (") && !first.stdout.contains("as before"),
        "{}",
        first.stdout
    );
    assert_eq!(shell.run(&["run", "seven"]).status, 7);
    let started = |shell: &Shell| shell.run(&["audit", "--json"]).stdout.matches("clang-22").count();
    let before = started(&shell);
    assert!(before > 0);
    let again = shell.run(&["build", "c", "-O2", "prog.c", "-o", "eight"]);
    assert!(again.stdout.contains("as before"), "{}", again.stdout);
    assert_eq!(started(&shell), before, "no compiler was started for it");
    let other = shell.run(&["build", "c", "-O1", "prog.c", "-o", "nine"]);
    assert!(!other.stdout.contains("as before") && started(&shell) > before, "other flags are another build");
}

#[test]
fn a_source_on_stdin_becomes_a_command_by_one_call() {
    let shell = with_compiler(&guests::exit(7));
    let said = shell.pipe(&["build-inline", "answer", "c"], b"int main(void) { return 7; }");
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(shell.run(&["run", "answer"]).status, 7);
}

#[test]
fn a_reserved_name_is_refused_before_anything_is_compiled() {
    let shell = with_compiler(&guests::exit(7));
    for name in ["jq", "gcc", "g++", "cd"] {
        let said = shell.run(&["build", "c", "prog.c", "-o", name]);
        assert_eq!((said.status, code(&said)), (1, "reserved_name"), "{name}: {}", said.stderr);
        let said = shell.pipe(&["build-inline", name, "c"], b"int main;");
        assert_eq!((said.status, code(&said)), (1, "reserved_name"), "{name}: {}", said.stderr);
    }
    let bad = shell.run(&["build", "c", "prog.c", "-o", "a b"]);
    assert_eq!(code(&bad), "invalid_name");
    assert!(!shell.run(&["audit", "--json"]).stdout.contains("clang-22"));
}

#[test]
fn a_compilers_own_words_are_shown_and_nothing_is_registered() {
    let shell = with_compiler(&guests::exit(7));
    shell.add("clang-22", &complaining("prog.c:1:5: error: no \\1b[2J such\\0a"));
    let said = shell.run(&["build", "c", "prog.c"]);
    assert_eq!((said.status, code(&said)), (1, "build_failed"), "{}", said.stderr);
    assert!(said.stderr.contains("prog.c:1:5: error: no "), "{}", said.stderr);
    assert!(!said.stderr.contains('\u{1b}'), "a terminal obeys nothing of it: {:?}", said.stderr);
    assert_eq!(shell.run(&["run", "prog"]).status, 127);
}

#[test]
fn native_lanes_answer_lane_unavailable_and_the_rest_says_what_is_wrong() {
    let shell = Shell::new();
    shell.file("prog.c", "int main(void) { return 7; }");
    let cases: &[(&[&str], &[u8], &str)] = &[
        (&["build", "rust", "x.rs"], b"", "lane_unavailable"),
        (&["build", "go", "x.go"], b"", "lane_unavailable"),
        (&["build", "zig", "x.zig"], b"", "lane_unavailable"),
        (&["build-inline", "x", "rust"], b"fn main() {}", "lane_unavailable"),
        (&["build", "cobol", "x"], b"", "unsupported_lang"),
        (&["build-inline", "x", "cobol"], b"x", "unsupported_lang"),
        (&["build-inline", "x", "c"], b" \n", "empty_source"),
        (&["build-inline", "x", "c", "--dep", "ssl"], b"int main;", "invalid_deps"),
        (&["build-inline", "x", "c", "--dep", "-lm"], b"int main;", "invalid_deps"),
        (&["build", "c", "no-such.c"], b"", "unreadable"),
        (&["build", "c", "prog.c"], b"", "lane_unavailable"),
        (&["build", "js", "prog.c"], b"", "lane_unavailable"),
    ];
    for (args, stdin, want) in cases {
        let said = shell.pipe(args, stdin);
        assert_eq!((said.status, code(&said)), (1, *want), "{args:?}: {}", said.stderr);
    }
    let said = shell.run(&["build", "c", "prog.c"]);
    assert!(said.stderr.contains("drydock catalog add clang"), "{}", said.stderr);
}

#[test]
fn a_built_command_holds_no_capability_its_author_lacks() {
    let reaching = guests::importing("env", "host_exec", "(param i32 i32 i32 i32) (result i32)");
    let shell = with_compiler(&reaching);
    let said = shell.run(&["build", "c", "prog.c"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let said = shell.run(&["run", "--profile", "compute", "--allow", "prog", "prog"]);
    assert_eq!(said.status, 0, "with the power to run commands it may be linked: {}", said.stderr);
    let said = shell.run(&["run", "--profile", "compute", "prog"]);
    assert_eq!(said.status, 126, "{}", said.stderr);
}

#[test]
fn gcc_in_a_line_says_what_brings_the_compiler() {
    let shell = Shell::sharing();
    let said = shell.run(&["sh", "-c", "echo 'int main;' > x.c; gcc x.c; echo $?"]);
    assert_eq!(said.stdout, "127\n", "{}", said.stderr);
    assert!(said.stderr.contains("drydock catalog add clang"), "{}", said.stderr);
}

#[test]
fn gcc_in_a_line_compiles_links_and_leaves_a_program_that_may_be_run() {
    let shell = Shell::new();
    shell.add("clang-22", &guests::exit(0));
    shell.add("wasm-ld", &linking(&guests::exit(7)));
    let said = shell.run(&["sh", "-c", "echo 'int main;' > x.c; gcc x.c -o out.wasm && ls -l out.wasm | cut -c1-10; ls /tmp; ./out.wasm; echo $?"]);
    assert_eq!(said.stdout, "-rwxr-xr-x\n7\n", "{}", said.stderr);
    let said = shell.run(&["sh", "-c", "echo 'int main;' > x.c; g++ -shared x.c; gcc; gcc -c x.o"]);
    assert!(said.stderr.contains("g++: error: '-shared' is not available here"), "{}", said.stderr);
    assert!(said.stderr.contains("gcc: error: no input files\n"), "{}", said.stderr);
}
