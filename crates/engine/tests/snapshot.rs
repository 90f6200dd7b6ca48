//! A program that was stopped when it was ready, and starts from there.
#![allow(clippy::unwrap_used)]

mod common;

use common::{engine, request};
use drydock_contract::{
    Artifact, Fault, Outcome,
    port::{Runner as _, SnapshotRecipe, SnapshotWord},
};
use drydock_engine::SnapshotError;

/// Prints how often it was initialised, the first letter of the last text that it ran, and how many variables it
/// counted last. With no argument it asks for input before that. It cannot be started twice.
const PROGRAM: &str = r#"
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
  (memory (export "memory") 2)
  (global $stack (mut i32) (i32.const 512))
  (func (export "_start")
    (if (i32.load (i32.const 1024)) (then unreachable))
    (i32.store (i32.const 1024) (i32.const 1))
    (if (i32.eqz (i32.load (i32.const 1028))) (then
      (i32.store (i32.const 1028) (i32.const 1))
      (i32.store8 (i32.const 2000) (i32.add (i32.load8_u (i32.const 2000)) (i32.const 1)))))
    (drop (call $args (i32.const 1040) (i32.const 1044)))
    (if (i32.eq (i32.load (i32.const 1040)) (i32.const 1)) (then
      (i32.store (i32.const 1048) (i32.const 3000))
      (i32.store (i32.const 1052) (i32.const 1))
      (drop (call $read (i32.const 0) (i32.const 1048) (i32.const 1) (i32.const 1056)))))
    (i32.store (i32.const 1048) (i32.const 2000))
    (i32.store (i32.const 1052) (i32.const 3))
    (drop (call $write (i32.const 1) (i32.const 1048) (i32.const 1) (i32.const 1056))))
  (func (param i32 i32) (result i32)
    (i32.store8 (i32.const 2001) (i32.load8_u (local.get 0)))
    (i32.const 0))
  (func
    (drop (call $environ (i32.const 1060) (i32.const 1064)))
    (i32.store8 (i32.const 2002) (i32.add (i32.const 48) (i32.load (i32.const 1060)))))
  (data (i32.const 2000) "0-0"))
"#;

fn recipe() -> SnapshotRecipe {
    SnapshotRecipe {
        argv: vec!["program".into()],
        env: Vec::new(),
        files: Vec::new(),
        before: vec![6],
        run: 5,
        text_at: 16,
        resume: "Text".into(),
        words: vec![SnapshotWord { at: 1024, value: 0 }],
        dead_from: 0,
        dead_to: 512,
        stack_bytes: 0,
        unoptimised: false,
        first: Vec::new(),
        not_env: Vec::new(),
        plain_paths: Vec::new(),
    }
}

async fn snapshot(wat: &str, recipe: &SnapshotRecipe) -> Result<Artifact, SnapshotError> {
    let mut wish = request(wat);
    wish.argv = recipe.argv.iter().map(|it| it.as_bytes().to_vec()).collect();
    engine().timed().unwrap().snapshot(wish, recipe).await
}

async fn printed(artifact: Artifact, variables: &[&str]) -> (Outcome, String) {
    let mut wish = request("(module)");
    wish.artifact = artifact;
    wish.argv = vec![b"program".to_vec(), b"argument".to_vec()];
    wish.env = variables.iter().map(|it| it.as_bytes().to_vec()).collect();
    let (report, streams) = engine().timed().unwrap().run(wish).await.unwrap();
    (report.outcome, String::from_utf8(streams.stdout.into_captured()).unwrap())
}

#[tokio::test]
async fn a_snapshot_starts_where_the_program_was_ready_and_takes_over_what_the_run_brings() {
    let plain = Artifact::hash(wat::parse_str(PROGRAM).unwrap());
    assert_eq!(printed(plain, &["A=1"]).await, (Outcome::Exited(0), "1-0".into()));
    let image = snapshot(PROGRAM, &recipe()).await.unwrap();
    let first = printed(image.clone(), &["A=1", "B=2", "C=3"]).await;
    assert_eq!(first, (Outcome::Exited(0), "1T3".into()), "initialised once, before");
    let deep = snapshot(PROGRAM, &SnapshotRecipe { stack_bytes: 1 << 20, ..recipe() }).await.unwrap();
    assert_eq!(
        printed(deep, &["A=1"]).await,
        (Outcome::Exited(0), "1T1".into()),
        "and may have another stack"
    );
    let without = PROGRAM.replace("(global $stack (mut i32)", "(global $stack i32");
    let refused = snapshot(&without, &SnapshotRecipe { stack_bytes: 1, ..recipe() }).await.unwrap_err();
    assert_eq!(refused.code(), "snapshot_module");
    let again = printed(image, &[]).await;
    assert_eq!(again, (Outcome::Exited(0), "1T0".into()), "each run starts from the same memory");
}

/// As a compiler writes C that does not optimise: every variable is in the frame, every field is read by a function.
/// Prints eight letters that depend on each: widths and signs, loops, calls of itself, an early return, room on the stack,
/// an address that is given away, and the stack pointer at the end.
const UNOPTIMISED: &str = r#"
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
  (memory (export "memory") 2)
  (table 1 funcref) (elem (i32.const 0) $double)
  (type $one (func (param i32) (result i32)))
  (global $stack (mut i32) (i32.const 4096))
  (func $field (param i32) (result i32) (local i32)
    (i32.store offset=12 (local.tee 1 (i32.sub (global.get $stack) (i32.const 16))) (local.get 0))
    (i32.load8_u offset=1 (i32.load offset=12 (local.get 1))))
  (func $double (param i32) (result i32) (local i32)
    (i32.store offset=12 (local.tee 1 (i32.sub (global.get $stack) (i32.const 16))) (local.get 0))
    (i32.add (i32.load offset=12 (local.get 1)) (i32.load offset=12 (local.get 1))))
  ;; 0xf1 as signed and unsigned of 8, 16 and 32 bits: -15 + 241 + -3855 + 61681 + -1 + 4294967295 = 4295025346
  (func $widths (param i32) (result i32) (local i32)
    (global.set $stack (local.tee 1 (i32.sub (global.get $stack) (i32.const 32))))
    (i32.store8 offset=1 (local.get 1) (local.get 0))
    (i64.store16 offset=2 (local.get 1) (i64.const 0x7f0f1))
    (i64.store32 offset=4 (local.get 1) (i64.const 0x7ffffffff))
    (i64.store offset=8 (local.get 1) (i64.extend_i32_s (i32.add
      (i32.load8_s offset=1 (local.get 1)) (i32.load8_u offset=1 (local.get 1)))))
    (i64.store offset=8 (local.get 1) (i64.add (i64.load offset=8 (local.get 1))
      (i64.add (i64.load16_s offset=2 (local.get 1)) (i64.load16_u offset=2 (local.get 1)))))
    (i64.store offset=8 (local.get 1) (i64.add (i64.load offset=8 (local.get 1))
      (i64.add (i64.load32_s offset=4 (local.get 1)) (i64.load32_u offset=4 (local.get 1)))))
    (f64.store offset=16 (local.get 1) (f64.convert_i64_s (i64.load offset=8 (local.get 1))))
    (local.set 0 (i32.add (i32.const 97)
      (i64.eq (i64.trunc_f64_s (f64.load offset=16 (local.get 1))) (i64.const 4295025346))))
    (global.set $stack (i32.add (local.get 1) (i32.const 32)))
    (local.get 0))
  ;; The sum of 1 to the number: by calls of itself.
  (func $sum (param i32) (result i32) (local i32)
    (global.set $stack (local.tee 1 (i32.sub (global.get $stack) (i32.const 16))))
    (i32.store offset=8 (local.get 1) (local.get 0))
    (block
      (if (i32.eqz (i32.load offset=8 (local.get 1))) (then (i32.store offset=12 (local.get 1) (i32.const 0)) (br 1)))
      (i32.store offset=12 (local.get 1) (i32.add (i32.load offset=8 (local.get 1))
        (call $sum (i32.sub (i32.load offset=8 (local.get 1)) (i32.const 1))))))
    (local.set 0 (i32.load offset=12 (local.get 1)))
    (global.set $stack (i32.add (local.get 1) (i32.const 16)))
    (local.get 0))
  ;; The same in a loop, with a small function that returns early.
  (func $limit (param i32) (result i32)
    (if (i32.gt_u (local.get 0) (i32.const 9)) (then (return (i32.const 9)))) (local.get 0))
  (func $loop (param i32) (result i32) (local i32)
    (global.set $stack (local.tee 1 (i32.sub (global.get $stack) (i32.const 16))))
    (i32.store offset=8 (local.get 1) (local.get 0))
    (i32.store offset=12 (local.get 1) (i32.const 0))
    (loop
      (i32.store offset=12 (local.get 1) (i32.add (i32.load offset=12 (local.get 1))
        (call $limit (i32.load offset=8 (local.get 1)))))
      (i32.store offset=8 (local.get 1) (i32.sub (i32.load offset=8 (local.get 1)) (i32.const 1)))
      (br_if 0 (i32.load offset=8 (local.get 1))))
    (local.set 0 (i32.load offset=12 (local.get 1)))
    (global.set $stack (i32.add (local.get 1) (i32.const 16)))
    (local.get 0))
  ;; Room on the stack, given back with the frame.
  (func $room (param i32) (local i32 i32)
    (global.set $stack (local.tee 1 (i32.sub (global.get $stack) (i32.const 16))))
    (i32.store offset=12 (local.get 1) (local.get 0))
    (global.set $stack (local.tee 2 (i32.sub (global.get $stack) (i32.load offset=12 (local.get 1)))))
    (i32.store8 (local.get 2) (i32.const 1))
    (global.set $stack (i32.add (local.get 1) (i32.const 16))))
  ;; Parameters in a structure whose address is given away.
  (func $print (param i32 i32) (local i32)
    (global.set $stack (local.tee 2 (i32.sub (global.get $stack) (i32.const 16))))
    (i32.store offset=4 (local.get 2) (local.get 0))
    (i32.store offset=8 (local.get 2) (local.get 1))
    (drop (call $write (i32.const 1) (i32.add (local.get 2) (i32.const 4)) (i32.const 1) (i32.const 1056)))
    (global.set $stack (i32.add (local.get 2) (i32.const 16))))
  (func (export "_start")
    (drop (call $args (i32.const 1040) (i32.const 1044)))
    (if (i32.eq (i32.load (i32.const 1040)) (i32.const 1)) (then
      (i32.store (i32.const 1048) (i32.const 3000))
      (i32.store (i32.const 1052) (i32.const 1))
      (drop (call $read (i32.const 0) (i32.const 1048) (i32.const 1) (i32.const 1056)))))
    (i32.store8 (i32.const 5000) (call $field (i32.const 6000)))
    (i32.store8 (i32.const 5001) (call_indirect (type $one) (i32.const 49) (i32.const 0)))
    (i32.store8 (i32.const 5002) (call $widths (i32.const 0xabcdf1)))
    (i32.store8 (i32.const 5003) (call $sum (i32.const 14)))
    (i32.store8 (i32.const 5004) (call $loop (i32.const 14)))
    (call $room (i32.const 64))
    (i32.store8 (i32.const 5005) (call $double (call $field (i32.const 6001))))
    (i32.store8 (i32.const 5006) (call $limit (call $field (i32.const 6002))))
    (i32.store8 (i32.const 5007) (i32.add (i32.const 65) (i32.ne (global.get $stack) (i32.const 4096))))
    (i32.store8 (i32.const 5006) (i32.add (i32.const 48) (i32.load8_u (i32.const 5006))))
    (call $print (i32.const 5000) (i32.const 8)))
  (func (param i32 i32) (result i32) (i32.const 0))
  (data (i32.const 6000) "-x!~"))
"#;

#[tokio::test]
async fn code_that_was_not_optimised_does_the_same_afterwards_and_needs_no_frames() {
    let plain = Artifact::hash(wat::parse_str(UNOPTIMISED).unwrap());
    let expected = (Outcome::Exited(0), "xbbiZB9A".into());
    assert_eq!(printed(plain, &[]).await, expected);
    let recipe = SnapshotRecipe { before: Vec::new(), run: 12, words: Vec::new(), ..recipe() };
    let same = snapshot(UNOPTIMISED, &recipe).await.unwrap();
    assert_eq!(printed(same.clone(), &[]).await, expected);
    let other = snapshot(UNOPTIMISED, &SnapshotRecipe { unoptimised: true, ..recipe }).await.unwrap();
    assert_eq!(printed(other.clone(), &[]).await, expected);
    // `global.get $stack`, `i32.const`, `i32.sub`. What makes room, and what gives its address away, has a frame yet; both
    // are small, and so are twice there.
    let frames = |image: &Artifact| {
        image.bytes().windows(5).filter(|it| it[..3] == [0x23, 0, 0x41] && it[4] == 0x6b).count()
    };
    assert_eq!((frames(&same), frames(&other)), (7, 4));
}

#[tokio::test]
async fn a_program_that_never_asks_for_input_or_complains_has_no_snapshot() {
    let mut busy = recipe();
    busy.argv.push("argument".into());
    let error = snapshot(PROGRAM, &busy).await.unwrap_err();
    assert_eq!(error.code(), "snapshot_program");
    let complains = PROGRAM.replace("(call $write (i32.const 1)", "(call $write (i32.const 2)");
    let error = snapshot(&complains, &busy).await.unwrap_err();
    assert!(error.to_string().contains("1-0"), "{error}");
}

#[tokio::test]
async fn state_outside_of_the_memory_is_refused_rather_than_lost() {
    let cases = [
        ("(global (mut i32) (i32.const 1))", "more than one global"),
        (r#"(data "passive") (func (data.drop 1))"#, "copies its data itself"),
    ];
    for (more, why) in cases {
        let program = PROGRAM.replace("(data (i32.const 2000)", &format!("{more} (data (i32.const 2000)"));
        let program = program.replace("data.drop 1", "data.drop 0");
        let error = snapshot(&program, &recipe()).await.unwrap_err();
        assert_eq!(error.code(), "snapshot_module", "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[tokio::test]
async fn a_recipe_for_another_module_is_refused_or_does_not_compile() {
    let outside = SnapshotRecipe { text_at: 2 << 16, ..recipe() };
    assert_eq!(snapshot(PROGRAM, &outside).await.unwrap_err().code(), "snapshot_recipe");
    let far = SnapshotRecipe { words: vec![SnapshotWord { at: u32::MAX, value: 0 }], ..recipe() };
    assert_eq!(snapshot(PROGRAM, &far).await.unwrap_err().code(), "snapshot_recipe");
    let cut = SnapshotRecipe { resume: "a\0b".into(), ..recipe() };
    assert_eq!(snapshot(PROGRAM, &cut).await.unwrap_err().code(), "snapshot_recipe");
    // A function of another type: the result is a module like any other, and validated like any other.
    let wrong = SnapshotRecipe { run: 6, ..recipe() };
    let image = snapshot(PROGRAM, &wrong).await.unwrap();
    let fault = engine().timed().unwrap().warm(&image, None).await.unwrap_err();
    assert!(matches!(fault, Fault::BadModule { .. }), "{fault}");
}
