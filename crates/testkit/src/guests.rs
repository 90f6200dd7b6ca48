//! Hostile and tiny guests as WebAssembly text. Each is the smallest program that does its one bad
//! thing; `wat::parse_str` turns them into modules.

/// A command whose `_start` is `body`, with one page of memory and the calls it may need.
fn command(body: &str) -> String {
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 2)
  (func (export "_start") {body}))"#
    )
}

/// Never yields, never stops.
pub fn infinite_loop() -> String {
    command("(loop $again (br $again))")
}

/// Calls itself until something gives.
pub fn recursion() -> String {
    r#"(module (memory (export "memory") 1)
  (func $deeper (param i32) (result i32) (i32.add (i32.const 1) (call $deeper (local.get 0))))
  (func (export "_start") (drop (call $deeper (i32.const 0)))))"#
        .into()
}

/// Grows its memory for ever.
pub fn memory_bomb() -> String {
    command("(loop $again (drop (memory.grow (i32.const 16))) (br $again))")
}

/// Asks for more memory at once than any profile has.
pub fn memory_declared() -> String {
    r#"(module (memory (export "memory") 32768) (func (export "_start")))"#.into()
}

/// Writes 64 KiB to the descriptor for ever.
pub fn output_flood(descriptor: u32) -> String {
    command(&format!(
        "(i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 65536))
         (loop $again (drop (call $fd_write (i32.const {descriptor}) (i32.const 0) (i32.const 1) (i32.const 8))) (br $again))"
    ))
}

/// Reads stdin to its end and exits 0.
pub fn drain_stdin() -> String {
    command(
        "(i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 65536))
         (loop $again
           (if (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)) (then (call $proc_exit (i32.const 9))))
           (br_if $again (i32.load (i32.const 8))))",
    )
}

/// Exits with a status.
pub fn exit(status: i32) -> String {
    command(&format!("(call $proc_exit (i32.const {status}))"))
}

/// Exits at once, and takes a while to compile: so many functions, each with work that no optimiser removes.
pub fn large(functions: u32) -> String {
    let step = "(local.set 0 (i32.rotl (i32.add (local.get 0) (local.get 1)) (i32.xor (local.get 0) (i32.const 7))))";
    let body = step.repeat(40);
    let many: String = (0..functions)
        .map(|at| format!("(func (export \"f{at}\") (param i32 i32) (result i32) {body} (local.get 0))\n"))
        .collect();
    format!("(module (memory (export \"memory\") 1) (func (export \"_start\")) {many})")
}

/// Does what wasm forbids.
pub fn unreachable() -> String {
    command("unreachable")
}

/// Hands pointers that lie outside its memory to every call that takes one, and exits with the
/// number of calls that did not answer EFAULT (21).
pub fn bad_pointers() -> String {
    command(
        "(local $wrong i32)
         (local.set $wrong (i32.add (local.get $wrong) (i32.ne (i32.const 21) (call $fd_write (i32.const 1) (i32.const -4) (i32.const 1) (i32.const 0)))))
         (local.set $wrong (i32.add (local.get $wrong) (i32.ne (i32.const 21) (call $fd_read (i32.const 0) (i32.const 131070) (i32.const 1) (i32.const 0)))))
         (i32.store (i32.const 0) (i32.const 131000)) (i32.store (i32.const 4) (i32.const -1))
         (local.set $wrong (i32.add (local.get $wrong) (i32.ne (i32.const 21) (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
         (i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 1))
         (local.set $wrong (i32.add (local.get $wrong) (i32.ne (i32.const 21) (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const -2)))))
         (call $proc_exit (local.get $wrong))",
    )
}

/// A module with one import and an empty `_start`.
pub fn importing(space: &str, name: &str, signature: &str) -> String {
    format!(
        r#"(module (import "{space}" "{name}" (func {signature})) (memory (export "memory") 1) (func (export "_start")))"#
    )
}

/// A library: no `_start`.
pub fn no_start() -> String {
    r#"(module (memory (export "memory") 1) (func (export "handle")))"#.into()
}

/// Runs the exec request found at the front of its stdin, writes the reply to stdout, and exits 0;
/// if it is refused, writes the code to stdout and exits 3.
pub fn nested_exec() -> String {
    r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (import "env" "host_exec" (func $exec (param i32 i32 i32 i32) (result i32)))
  (import "env" "host_error" (func $error (param i32 i32) (result i32)))
  (memory (export "memory") 32)
  (func $say (param $count i32)
    (i32.store (i32.const 0) (i32.const 1048576)) (i32.store (i32.const 4) (local.get $count))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func (export "_start") (local $end i32) (local $n i32)
    (local.set $end (i32.const 16))
    (loop $again
      (i32.store (i32.const 0) (local.get $end)) (i32.store (i32.const 4) (i32.sub (i32.const 1048576) (local.get $end)))
      (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (local.set $end (i32.add (local.get $end) (i32.load (i32.const 8))))
      (br_if $again (i32.load (i32.const 8))))
    (local.set $n (call $exec (i32.const 16) (i32.sub (local.get $end) (i32.const 16)) (i32.const 1048576) (i32.const 1048576)))
    (if (i32.lt_s (local.get $n) (i32.const 0))
      (then
        (call $say (call $error (i32.const 1048576) (i32.const 64)))
        (call $proc_exit (i32.const 3))))
    (call $say (local.get $n))))"#
        .into()
}

/// Sleeps for this many milliseconds.
pub fn sleep_ms(millis: u64) -> String {
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 16) (i32.const 1))
    (i64.store (i32.const 24) (i64.const {}))
    (drop (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 128)))))"#,
        millis * 1_000_000
    )
}

/// Writes 32 random bytes and both clocks to stdout.
pub fn clock_and_random() -> String {
    r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $random (i32.const 64) (i32.const 32)))
    (drop (call $clock (i32.const 0) (i64.const 1) (i32.const 96)))
    (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 104)))
    (i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 48))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#
        .into()
}

/// Does nothing but ask for randomness, a memoryful at a time: much work for little fuel.
pub fn host_work() -> String {
    r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 512)
  (func (export "_start")
    (loop $again (drop (call $random (i32.const 0) (i32.const 33554432))) (br $again))))"#
        .into()
}

/// Exits with the byte it finds in its memory, after writing 7 there.
pub fn leaves_a_mark() -> String {
    command(
        "(local $found i32)
         (local.set $found (i32.load8_u (i32.const 70000)))
         (i32.store8 (i32.const 70000) (i32.const 7))
         (call $proc_exit (local.get $found))",
    )
}

/// A guest that serves: `handle` is `body`. It has the request and the response, a helper `$echo` that answers with a head and
/// then the request, and 64 pages of memory, of which the first 4096 bytes are the body's own.
pub fn serving(body: &str) -> String {
    format!(
        r#"(module
  (import "env" "host_request_len" (func $len (result i32)))
  (import "env" "host_request_get" (func $get (param i32 i32) (result i32)))
  (import "env" "host_response_set" (func $set (param i32 i32) (result i32)))
  (import "env" "host_error" (func $error (param i32 i32) (result i32)))
  (import "env" "host_log" (func $log (param i32 i32) (result i32)))
  (memory (export "memory") 128)
  (data (i32.const 4096) "201\nx-guest: yes\n\n")
  (func $echo (result i32)
    (drop (call $get (i32.const 4114) (i32.const 2000000)))
    (call $set (i32.const 4096) (i32.add (i32.const 18) (call $len))))
  (func (export "handle") (result i32) {body}))"#
    )
}

/// Answers with 201, a header, and the request as it came.
pub fn serving_echo() -> String {
    serving("(call $echo)")
}
