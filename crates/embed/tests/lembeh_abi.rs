//! The laws of the lembeh guest ABI, by guests that check them: pointers, ends, directions, handles, the heap.
#![allow(clippy::unwrap_used)]

mod lembeh_room;

use std::time::Duration;

use drydock_abi::lembeh::{
    CapSelector, Source as AsyncSource,
    config::{self, encode_params, encode_value},
    ctl::{Operation, encode_request},
    encode_source,
    zax::{Command, CommandIds, Event, encode_command},
};
use drydock_embed::{
    LEMBEH_LIMITS, LembehError, LembehSetup,
    contract::{Limits, Outcome},
};
use lembeh_room::{LembehRoom, with_input};

const IMPORTS: &str = r#"
  (import "lembeh" "req_read" (func $read (param i32 i32 i32) (result i32)))
  (import "lembeh" "res_write" (func $write (param i32 i32 i32) (result i32)))
  (import "lembeh" "res_end" (func $end (param i32)))
  (import "lembeh" "log" (func $log (param i32 i32 i32 i32)))
  (import "lembeh" "_alloc" (func $alloc (param i32) (result i32)))
  (import "lembeh" "_free" (func $free (param i32)))
  (import "lembeh" "_ctl" (func $ctl (param i32 i32 i32 i32) (result i32)))
  (import "lembeh" "alloc" (func $alloc2 (param i32) (result i32)))
  (import "lembeh" "free" (func $free2 (param i32)))
  (import "lembeh" "telemetry" (func $telemetry (param i32 i32 i32 i32)))
  (import "lembeh" "_cap" (func $cap (param i32) (result i32)))
  (memory (export "memory") 1)
  (global (export "__heap_base") i32 (i32.const 1025))
  (data (i32.const 8) "hello")
  (func $is (param $got i32) (param $want i32)
    (if (i32.ne (local.get $got) (local.get $want)) (then unreachable)))"#;

fn guest(body: &str) -> String {
    format!("(module {IMPORTS} (func (export \"lembeh_handle\") (param $req i32) (param $res i32) {body}))")
}

/// Checks of the form `(call, expected)`.
fn checks(all: &[(&str, i32)]) -> String {
    let one = |(call, want): &(&str, i32)| format!("(call $is {call} (i32.const {want}))\n");
    all.iter().map(one).collect()
}

async fn ends_well(body: &str, input: &str) -> Vec<u8> {
    let run = LembehRoom::new().wat(&guest(body), "{}", with_input(input)).await.unwrap();
    assert_eq!(run.report.outcome, Outcome::Exited(0));
    run.stdout
}

#[tokio::test]
async fn pointers_that_lead_out_of_memory_are_refused_and_never_trap() {
    let mut body = String::new();
    for (at, count) in [
        (65536, 1),
        (65535, 2),
        (-1, 1),
        (0, -1),
        (-1, -1),
        (i32::MIN, i32::MIN),
        (1, i32::MAX),
        (i32::MAX, i32::MAX),
    ] {
        for call in ["$read (i32.const 0)", "$write (i32.const 1)"] {
            body +=
                &format!("(call $is (call {call} (i32.const {at}) (i32.const {count})) (i32.const -1))\n");
        }
        body += &format!(
            "(call $is (call $ctl (i32.const {at}) (i32.const {count}) (i32.const 0) (i32.const 9)) (i32.const -1))\n"
        );
        body += &format!(
            "(call $is (call $ctl (i32.const 8) (i32.const 24) (i32.const {at}) (i32.const {count})) (i32.const -1))\n"
        );
        body += &format!("(call $log (i32.const {at}) (i32.const {count}) (i32.const 8) (i32.const 5))\n");
        body += &format!("(call $log (i32.const 8) (i32.const 5) (i32.const {at}) (i32.const {count}))\n");
        body += &format!("(call $free (i32.const {at}))\n");
    }
    // The last byte, the end of memory with no bytes, and a whole range that is there though less is read.
    body += &checks(&[
        ("(call $read (i32.const 0) (i32.const 65535) (i32.const 1))", 1),
        ("(i32.load8_u (i32.const 65535))", i32::from(b'a')),
        ("(call $read (i32.const 0) (i32.const 65536) (i32.const 0))", 0),
        ("(call $read (i32.const 0) (i32.const 65000) (i32.const 537))", -1),
        ("(call $read (i32.const 0) (i32.const 65000) (i32.const 536))", 2),
        ("(call $write (i32.const 1) (i32.const 65000) (i32.const 2))", 2),
    ]);
    assert_eq!(ends_well(&body, "abc").await, b"bc");
}

#[tokio::test]
async fn ends_are_sticky_directions_are_kept_and_handles_are_checked_before_lengths() {
    let body = checks(&[
        ("(local.get $req)", 0),
        ("(local.get $res)", 1),
        ("(call $read (i32.const 0) (i32.const 100) (i32.const 0))", 0),
        ("(call $read (i32.const 0) (i32.const 100) (i32.const 9))", 2),
        ("(call $read (i32.const 0) (i32.const 100) (i32.const 9))", 0),
        ("(call $read (i32.const 0) (i32.const 100) (i32.const 9))", 0),
        ("(call $write (i32.const 0) (i32.const 8) (i32.const 5))", -1),
        ("(call $read (i32.const 1) (i32.const 8) (i32.const 5))", -1),
        ("(call $read (i32.const 2) (i32.const 8) (i32.const 5))", -1),
        ("(call $read (i32.const 3) (i32.const 8) (i32.const 0))", -1),
        ("(call $write (i32.const 3) (i32.const 8) (i32.const 0))", -1),
        ("(call $read (i32.const -1) (i32.const 8) (i32.const 5))", -1),
        ("(call $write (i32.const 2147483647) (i32.const 8) (i32.const 5))", -1),
        ("(call $write (i32.const 1) (i32.const 8) (i32.const 0))", 0),
        ("(call $write (i32.const 1) (i32.const 8) (i32.const 5))", 5),
        ("(call $write (i32.const 2) (i32.const 8) (i32.const 5))", 5),
        ("(call $cap (i32.const 1))", -1),
    ]) + "(call $end (i32.const 0)) (call $end (i32.const 1)) (call $end (i32.const 1)) (call $end (i32.const 77))"
        + &checks(&[
            ("(call $write (i32.const 1) (i32.const 8) (i32.const 5))", -1),
            ("(call $write (i32.const 1) (i32.const 8) (i32.const 0))", -1),
            ("(call $write (i32.const 2) (i32.const 8) (i32.const 5))", 5),
            ("(call $read (i32.const 0) (i32.const 100) (i32.const 9))", 0),
        ])
        + "(call $end (i32.const 2))"
        + &checks(&[("(call $write (i32.const 2) (i32.const 8) (i32.const 5))", -1)]);
    assert_eq!(ends_well(&body, "ab").await, b"hello");
}

#[tokio::test]
async fn the_heap_rises_from_its_base_and_says_no_at_the_limit() {
    let body = checks(&[
        ("(call $alloc (i32.const 0))", 0),
        ("(call $alloc (i32.const 5))", 1028),
        ("(call $alloc2 (i32.const 1))", 1036),
        ("(call $alloc (i32.const -1))", -1),
        ("(call $alloc (i32.const 2147483647))", -1),
        // Past the first page: memory grows for it.
        ("(call $alloc (i32.const 200000))", 1040),
        ("(i32.ge_u (memory.size) (i32.const 4))", 1),
        ("(call $alloc (i32.const 1000000000))", -1),
        ("(call $alloc (i32.const 4))", 201_040),
    ]) + "(call $free (i32.const 0)) (call $free2 (i32.const 1028)) (call $free (i32.const 99))";
    ends_well(&body, "").await;
}

#[tokio::test]
async fn what_a_guest_logs_is_text_of_its_log_stream() {
    let run = LembehRoom::new()
        .wat(&guest("(call $log (i32.const 8) (i32.const 2) (i32.const 8) (i32.const 5)) (call $telemetry (i32.const 9) (i32.const 1) (i32.const 7) (i32.const 2))"), "{}", LembehSetup::default())
        .await
        .unwrap();
    assert_eq!(String::from_utf8(run.stderr).unwrap(), "he: hello\ne: \\u{0}h\n");
}

#[tokio::test]
async fn a_module_that_is_no_guest_is_refused_before_it_runs() {
    let room = LembehRoom::new();
    let handle = "(func (export \"lembeh_handle\") (param i32 i32))";
    let memory = "(memory (export \"memory\") 1)";
    let cases = [
        (format!("(module {memory})"), "bad_exports"),
        (format!("(module {handle})"), "bad_exports"),
        (format!("(module {memory} (func (export \"lembeh_handle\") (param i32)))"), "bad_exports"),
        (
            format!(
                "(module (import \"lembeh\" \"_alloc\" (func (param i32) (result i32))) {memory} {handle})"
            ),
            "bad_exports",
        ),
        (
            format!("(module {memory} (global (export \"__heap_base\") i64 (i64.const 1)) {handle})"),
            "bad_exports",
        ),
        (format!("(module (import \"lembeh\" \"open\" (func)) {memory} {handle})"), "import_not_granted"),
        (
            format!(
                "(module (import \"wasi_snapshot_preview1\" \"proc_exit\" (func (param i32))) {memory} {handle})"
            ),
            "import_not_granted",
        ),
        (
            format!(
                "(module (import \"env\" \"host_exec\" (func (param i32 i32 i32 i32) (result i32))) {memory} {handle})"
            ),
            "import_not_granted",
        ),
    ];
    for (wat, want) in cases {
        let refused = room.wat(&wat, "{}", LembehSetup::default()).await.unwrap_err();
        assert!(matches!(&refused, LembehError::Call(_)), "{refused}");
        assert_eq!(refused.code(), want, "{wat}: {refused}");
    }
    // One that needs no heap has no base.
    let plain = room.wat(&format!("(module {memory} {handle})"), "{}", LembehSetup::default()).await.unwrap();
    assert_eq!(plain.report.outcome, Outcome::Exited(0));
    let large = format!("(module (memory (export \"memory\") 8000) {handle})");
    let large = room.wat(&large, "{}", LembehSetup::default());
    assert_eq!(large.await.unwrap().report.outcome, Outcome::OutOfMemory);
}

#[tokio::test]
async fn a_guest_that_only_reads_only_writes_or_never_ends_is_ended_by_its_limits() {
    let room = LembehRoom::new();
    let short = Limits {
        wall_max: Duration::from_millis(300),
        stdout_bytes_max: 1000,
        stdin_bytes_max: 4,
        ..LEMBEH_LIMITS
    };
    let within = |input: &str| LembehSetup { limits: short, ..with_input(input) };
    let endless = guest("(loop $l (br $l))");
    assert_eq!(room.wat(&endless, "{}", within("")).await.unwrap().report.outcome, Outcome::TimedOut);
    let reads = guest("(loop $l (drop (call $read (i32.const 0) (i32.const 100) (i32.const 9))) (br $l))");
    assert_eq!(room.wat(&reads, "{}", within("")).await.unwrap().report.outcome, Outcome::TimedOut);
    assert_eq!(room.wat(&reads, "{}", within("12345")).await.unwrap().report.outcome, Outcome::InputLimit);
    let writes = guest("(loop $l (drop (call $write (i32.const 1) (i32.const 8) (i32.const 5))) (br $l))");
    let run = room.wat(&writes, "{}", within("")).await.unwrap();
    assert_eq!((run.report.outcome, run.stdout.len()), (Outcome::OutputLimit, 1000));
}

/// Bytes as a string of the text format.
fn data(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:02x}")).collect()
}

/// A guest that opens a hub and registers futures with numbers from 1, each over at once. The frame lies at 1,024 and is
/// `$length` bytes long; `body` has the loop.
fn registering(locals: &str, body: &str) -> String {
    let open = Operation::Open { kind: "async", name: "default", mode: 1, params: b"" };
    let open = encode_request(1, 0, &open).unwrap();
    let params = encode_params("a").unwrap();
    let call = CapSelector { kind: config::KIND, name: config::NAME, selector: config::GET, params: &params };
    let source = encode_source(&AsyncSource::Selector(call)).unwrap();
    let mut frame = Vec::new();
    let ids = CommandIds { req_id: 1, future_id: 1, ..CommandIds::default() };
    encode_command(&mut frame, &ids, &Command::Register { source: &source }).unwrap();
    let (opened, length) = (open.len(), frame.len());
    format!(
        "(module {IMPORTS}
           (data (i32.const 512) \"{}\") (data (i32.const 1024) \"{}\")
           (func $register (param $i i64) (result i32)
             (i64.store (i32.const 1036) (local.get $i))
             (i64.store (i32.const 1060) (local.get $i))
             (call $write (i32.const 3) (i32.const 1024) (i32.const {length})))
           (func $tell (param $number i64)
             (i64.store (i32.const 8) (local.get $number))
             (call $is (call $write (i32.const 1) (i32.const 8) (i32.const 8)) (i32.const 8)))
           (func (export \"lembeh_handle\") (param $req i32) (param $res i32) {locals}
             (if (i32.le_s (call $ctl (i32.const 512) (i32.const {opened}) (i32.const 2048) (i32.const 999)) (i32.const 0))
               (then unreachable))
             {body}))",
        data(&open),
        data(&frame)
    )
    .replace("$length", &length.to_string())
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|it| u64::from_le_bytes(it.try_into().unwrap())).collect()
}

#[tokio::test]
async fn a_hundred_thousand_futures_of_one_guest_end_each_and_take_no_more_memory_than_a_few() {
    let room = LembehRoom::new();
    let run = async |count: u32| {
        let body = format!(
            "(loop $next
               (local.set $i (i64.add (local.get $i) (i64.const 1)))
               (call $is (call $register (local.get $i)) (i32.const $length))
               (loop $more
                 (local.set $n (call $read (i32.const 3) (i32.const 8192) (i32.const 32768)))
                 (if (i32.gt_s (local.get $n) (i32.const 0)) (then
                   (local.set $total (i64.add (local.get $total) (i64.extend_i32_s (local.get $n))))
                   (br $more))))
               (br_if $next (i64.lt_u (local.get $i) (i64.const {count}))))
             (call $tell (local.get $total))"
        );
        let guest = registering("(local $i i64) (local $total i64) (local $n i32)", &body);
        let run = room.wat(&guest, r#"{"config": {"a": "b"}}"#, LembehSetup::default()).await.unwrap();
        assert_eq!(run.report.outcome, Outcome::Exited(0), "{}", String::from_utf8_lossy(&run.stderr));
        (numbers(&run.stdout), run.report.memory_bytes)
    };
    let mut each = Vec::new();
    Event::Ack { req_id: 1 }.put(&mut each).unwrap();
    Event::FutureOk { future_id: 1, value: &encode_value(b"b").unwrap() }.put(&mut each).unwrap();
    let (few, some_memory) = run(100).await;
    let (all, memory) = run(100_000).await;
    assert_eq!((few, all), (vec![100 * each.len() as u64], vec![100_000 * each.len() as u64]));
    assert_eq!(memory, some_memory);
}

#[tokio::test]
async fn a_guest_that_never_reads_its_events_is_held_up_and_ends_as_it_likes() {
    let body = "(loop $next
          (local.set $i (i64.add (local.get $i) (i64.const 1)))
          (local.set $n (call $register (local.get $i)))
          (br_if $next (i32.eq (local.get $n) (i32.const $length))))
        (call $is (call $register (i64.const 1)) (i32.const 0))
        (call $tell (local.get $i))";
    let guest = registering("(local $i i64) (local $n i32)", body);
    let room = LembehRoom::new();
    let run = room.wat(&guest, r#"{"config": {"a": "b"}}"#, LembehSetup::default()).await.unwrap();
    assert_eq!(run.report.outcome, Outcome::Exited(0));
    // 64 KiB of events, which are two for each future.
    let frames = numbers(&run.stdout)[0];
    assert!((100..2_000).contains(&frames), "{frames}");
}
