//! What a conforming host answers each shape of guest, as a table: one row a guest, the expectation beside it.
//!
//! The limits are those of the ABI's own guests: 8 MiB of memory and 300 ms.
#![allow(clippy::unwrap_used)]

mod runner_room;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_embed::{
    DockSettings,
    engine::EngineSettings,
    extension::runner::{Code, FailureKind, Invoked},
};
use runner_room::{ALLOC, LOGS, NOTHING, Room, answers, guest, kind, message, room, room_with};

const REQUEST: &str = r#"{"context":{"request_id":"r1"},"http":{"method":"POST","path":"/p","body_b64":"AAEC/w=="},"limits":{"memory_mb":8,"timeout_ms":300}}"#;
const SHOWN: &str = r#"{"context":{"request_id":"r1","tenant_id":"dev","extension_id":"guest","version_id":null,"limits":{"timeout_ms":300,"memory_mb":8,"fuel":null}},"http":{"method":"POST","path":"/p","query":{},"headers":{},"body_b64":"AAEC/w=="}}"#;

/// What the host must answer.
enum Want {
    /// Status, the value of one header, and the body.
    Answer(u16, Option<(&'static str, &'static str)>, Option<&'static [u8]>),
    /// The kind of failure, and words of its message.
    Failure(FailureKind, &'static str),
}

use Want::{Answer, Failure};

/// A module with these exports beside the allocator's.
fn with(exports: &str) -> String {
    format!(r#"(module (memory (export "memory") 2) {ALLOC} {exports})"#)
}

/// A handler with this signature that does nothing.
fn handler(params: &str) -> String {
    format!(r#"(func (export "handler") (param {params}) (result i32) (i32.const 0))"#)
}

/// Answers its request in base64, as the body of a response.
fn echo() -> String {
    let head =
        r#"{\22status\22:200,\22headers\22:{\22content-type\22:\22application/json\22},\22body_b64\22:\22"#;
    let data = format!(
        r#"(data (i32.const 0) "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
           (data (i32.const 64) "{head}") (data (i32.const 160) "\22}}")
           (func $digit (param $at i32) (param $value i32)
             (i32.store8 (local.get $at) (i32.load8_u (i32.and (local.get $value) (i32.const 63)))))
           (func $byte (param $at i32) (param $end i32) (result i32)
             (if (result i32) (i32.lt_u (local.get $at) (local.get $end))
               (then (i32.load8_u (local.get $at))) (else (i32.const 0))))
           (func $encode (param $from i32) (param $end i32) (param $to i32) (result i32) (local $three i32)
             (loop $next
               (local.set $three (i32.or (i32.or
                 (i32.shl (call $byte (local.get $from) (local.get $end)) (i32.const 16))
                 (i32.shl (call $byte (i32.add (local.get $from) (i32.const 1)) (local.get $end)) (i32.const 8)))
                 (call $byte (i32.add (local.get $from) (i32.const 2)) (local.get $end))))
               (call $digit (local.get $to) (i32.shr_u (local.get $three) (i32.const 18)))
               (call $digit (i32.add (local.get $to) (i32.const 1)) (i32.shr_u (local.get $three) (i32.const 12)))
               (call $digit (i32.add (local.get $to) (i32.const 2)) (i32.shr_u (local.get $three) (i32.const 6)))
               (call $digit (i32.add (local.get $to) (i32.const 3)) (local.get $three))
               (if (i32.lt_u (local.get $end) (i32.add (local.get $from) (i32.const 3)))
                 (then (i32.store8 offset=3 (local.get $to) (i32.const 61))))
               (if (i32.lt_u (local.get $end) (i32.add (local.get $from) (i32.const 2)))
                 (then (i32.store8 offset=2 (local.get $to) (i32.const 61))))
               (local.set $to (i32.add (local.get $to) (i32.const 4)))
               (br_if $next (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 3))) (local.get $end))))
             (local.get $to))"#
    );
    let body = r#"
        (local.set $i (call $alloc (i32.add (i32.const 128) (i32.mul (local.get $len) (i32.const 2)))))
        (memory.copy (local.get $i) (i32.const 64) (i32.const 72))
        (local.set $len (call $encode (local.get $req) (i32.add (local.get $req) (local.get $len))
          (i32.add (local.get $i) (i32.const 72))))
        (i32.store16 (local.get $len) (i32.load16_u (i32.const 160)))
        (call $answer (local.get $out) (local.get $i)
          (i32.sub (i32.add (local.get $len) (i32.const 2)) (local.get $i)))
        (i32.const 0)"#;
    guest("", &data, body)
}

/// Grows by a MiB until it is told no, and answers its pages in a header.
fn memory_hog() -> String {
    let data = r#"(data (i32.const 16) "{\22status\22:200,\22headers\22:{\22x-pages\22:\22000\22}}")"#;
    let body = r#"
        (loop $more
          (local.set $i (memory.grow (i32.const 16)))
          (if (i32.ne (local.get $i) (i32.const -1))
            (then (i32.store8 (i32.mul (local.get $i) (i32.const 65536)) (i32.const 1)) (br $more))))
        (local.set $i (memory.size))
        (i32.store8 (i32.const 54) (i32.add (i32.const 48) (i32.rem_u (local.get $i) (i32.const 10))))
        (local.set $i (i32.div_u (local.get $i) (i32.const 10)))
        (i32.store8 (i32.const 53) (i32.add (i32.const 48) (i32.rem_u (local.get $i) (i32.const 10))))
        (i32.store8 (i32.const 52) (i32.add (i32.const 48) (i32.div_u (local.get $i) (i32.const 10))))
        (call $answer (local.get $out) (i32.const 16) (i32.const 42)) (i32.const 0)"#;
    guest("", data, body)
}

/// The guests of the ABI that need no network.
fn conformance() -> Vec<(&'static str, String, Want)> {
    let points =
        |at: &str| format!("(call $answer (local.get $out) (i32.const {at}) (i32.const 16)) (i32.const 0)");
    let bytes = r#"(data (i32.const 16) "hi \ff\00\0a")"#;
    let six = "(call $answer (local.get $out) (i32.const 16) (i32.const 6)) (i32.const 0)";
    let seven = r#"(data (i32.const 16) "{\22status\22:200}")"#;
    let says_no = "(call $answer (local.get $out) (i32.const 16) (i32.const 14)) (i32.const 7)";
    let traps = r#"(func (export "dealloc") (param i32 i32) unreachable)"#;
    let wasi = r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#;
    let bad_alloc = format!(
        r#"(module (memory (export "memory") 1) (func (export "alloc") (param i32) (result i32) (i32.const -8)) {})"#,
        handler("i32 i32 i32")
    );
    let no_alloc = format!(r#"(module (memory (export "memory") 1) {})"#, handler("i32 i32 i32"));
    let no_memory = format!(r#"(module (memory 2) {ALLOC} {})"#, handler("i32 i32 i32"));
    vec![
        ("echo", echo(), Answer(200, Some(("content-type", "application/json")), Some(SHOWN.as_bytes()))),
        ("nonjson", guest("", bytes, six), Answer(200, None, Some(b"hi \xff\0\n"))),
        ("nonzero", guest("", seven, says_no), Failure(FailureKind::App, "handler answered 7")),
        ("trap", guest("", "", "unreachable"), Failure(FailureKind::Trap, "unreachable")),
        ("loop", guest("", "", "(loop $l (br $l)) (i32.const 0)"), Failure(FailureKind::Timeout, "longer")),
        ("memhog", memory_hog(), Answer(200, Some(("x-pages", "114")), None)),
        (
            "oob_resp",
            guest("", "", &points("0x200000")),
            Failure(FailureKind::Abi, "not in the guest's memory"),
        ),
        ("no_tuple", guest("", "", NOTHING), Answer(200, None, Some(b""))),
        ("bad_alloc", bad_alloc, Failure(FailureKind::Abi, "4294967288")),
        ("no_dealloc", answers(r#"{"status":204}"#, ""), Answer(204, None, None)),
        ("dealloc_trap", answers(r#"{"status":204}"#, traps), Answer(204, None, None)),
        (
            "unknown_import",
            guest(r#"(import "alga" "exec" (func))"#, "", NOTHING),
            Failure(FailureKind::Link, "alga.exec"),
        ),
        (
            "wasi_import",
            guest(wasi, "", NOTHING),
            Failure(FailureKind::Link, "wasi_snapshot_preview1.fd_write"),
        ),
        ("missing_handler", with(""), Failure(FailureKind::Abi, "`handler`")),
        ("missing_alloc", no_alloc, Failure(FailureKind::Abi, "`alloc`")),
        ("missing_memory", no_memory, Failure(FailureKind::Abi, "`memory`")),
        ("wrong_sig", with(&handler("i64 i32 i32")), Failure(FailureKind::Abi, "`handler`")),
    ]
}

/// Shapes that nobody writes by accident.
fn oddities() -> Vec<(&'static str, String, Want)> {
    let fetched =
        r#"(func $f (export "handler") (import "alga" "http.fetch") (param i32 i32 i32) (result i32))"#;
    let freed = r#"(func $free (export "dealloc") (import "alga" "log_info") (param i32 i32))"#;
    let starts =
        r#"(data (i32.const 16) "hello") (func $s (call $info (i32.const 16) (i32.const 5))) (start $s)"#;
    let fetch = r#"(import "alga" "http.fetch" (func $f (param i32 i32 i32) (result i32)))"#;
    let start_fetch = "(func $s (drop (call $f (i32.const 0) (i32.const 2) (i32.const 64)))) (start $s)";
    let far = "(select (i32.const -4) (i32.const 16) (i32.eq (local.get 0) (i32.const 8)))";
    let far_tuple = format!(
        r#"(module (memory (export "memory") 1) (func (export "alloc") (param i32) (result i32) {far}) {})"#,
        handler("i32 i32 i32")
    );
    let outside = r#"(data (i32.const 131071) "ab")"#;
    vec![
        (
            "handler_is_an_import",
            format!(r#"(module {fetched} (memory (export "memory") 2) {ALLOC})"#),
            Failure(FailureKind::App, "handler answered 1"),
        ),
        ("dealloc_is_an_import", guest(freed, "", NOTHING), Answer(200, None, Some(b""))),
        ("start_logs", guest(LOGS, starts, NOTHING), Answer(200, None, Some(b""))),
        ("start_fetches", guest(fetch, start_fetch, NOTHING), Answer(200, None, Some(b""))),
        ("tuple_near_the_end_of_32_bits", far_tuple, Failure(FailureKind::Abi, "4294967292")),
        // Making an instance of it is what wasm forbids, though none of its functions ran.
        ("data_outside_of_memory", guest("", outside, NOTHING), Failure(FailureKind::Trap, "out of bounds")),
    ]
}

/// What a guest can get wrong about memory, exports and imports, and what looks wrong and is not.
fn mistakes() -> Vec<(&'static str, String, Want)> {
    let (abi, link) = (FailureKind::Abi, FailureKind::Link);
    let points = |at: &str, bytes: &str| {
        let body = "(call $answer (local.get $out) (i32.const AT) (i32.const BYTES)) (i32.const 0)";
        guest("", r#"(data (i32.const 16) "hi")"#, &body.replace("AT", at).replace("BYTES", bytes))
    };
    let alloc = |result: &str| {
        let alloc = format!(r#"(func (export "alloc") (param i32) (result i32) {result})"#);
        format!(r#"(module (memory (export "memory") 2) {alloc} {})"#, handler("i32 i32 i32"))
    };
    let plain = |memory: &str, exports: &str| format!("(module {memory} {ALLOC} {exports})");
    let memory = r#"(memory (export "memory") 2)"#;
    let fine = handler("i32 i32 i32");
    let other_dealloc = r#"(func (export "dealloc") (param i64))"#;
    let odd_log = r#"(import "alga" "log_info" (func (param i64)))"#;
    let odd_import = r#"(import "env" "memory" (memory 1)) (export "memory" (memory 0))"#;
    vec![
        ("oob_wrap", points("-16", "32"), Failure(abi, "at 4294967280 is not in")),
        ("huge_len", points("16", "0x7fffffff"), Failure(abi, "2147483647 bytes")),
        ("negative_len", points("16", "-1"), Failure(abi, "4294967295 bytes")),
        ("far_and_empty", points("-1", "0"), Failure(abi, "0 bytes at 4294967295")),
        ("empty_at_the_end", points("131072", "0"), Answer(200, None, Some(b""))),
        ("alloc_answers_0", alloc("(i32.const 0)"), Failure(abi, "no room")),
        ("alloc_at_the_end", alloc("(i32.const 131070)"), Failure(abi, "131070")),
        ("alloc_traps", alloc("unreachable"), Failure(FailureKind::Trap, "unreachable")),
        ("alloc_loops", alloc("(loop $l (br $l)) (i32.const 0)"), Failure(FailureKind::Timeout, "longer")),
        ("alloc_unaligned", alloc("(i32.const 4097)"), Answer(200, None, Some(b""))),
        (
            "alloc_is_no_function",
            format!(r#"(module {memory} (global (export "alloc") i32 (i32.const 0)) {fine})"#),
            Failure(abi, "`alloc` is not a function"),
        ),
        (
            "handler_without_result",
            with(r#"(func (export "handler") (param i32 i32 i32))"#),
            Failure(abi, "`handler`"),
        ),
        (
            "handler_is_a_memory",
            plain(r#"(memory (export "memory") (export "handler") 2)"#, ""),
            Failure(abi, "`handler` is not a function"),
        ),
        (
            "memory_is_a_function",
            plain("(memory 2)", &format!(r#"(func (export "memory")) {fine}"#)),
            Failure(abi, "`memory` is not a memory"),
        ),
        ("two_memories", plain(&format!("{memory} (memory 1)"), &fine), Failure(link, "does not compile")),
        (
            "memory_of_64_bits",
            format!(
                r#"(module (memory (export "memory") i64 1) (func (export "alloc") (param i32) (result i32) (i32.const 16)) {fine})"#
            ),
            Failure(link, "does not compile"),
        ),
        (
            "memory_of_the_host",
            format!(r#"(module {odd_import} {ALLOC} {fine})"#),
            Failure(link, "env.memory"),
        ),
        ("log_of_another_type", guest(odd_log, "", NOTHING), Failure(link, "log_info")),
        ("dealloc_of_another_type", answers(r#"{"status":204}"#, other_dealloc), Answer(204, None, None)),
        (
            "start_traps",
            guest("", "(func $s unreachable) (start $s)", NOTHING),
            Failure(FailureKind::Trap, "unreachable"),
        ),
        (
            "recurses",
            guest("", "(func $f (call $f))", "(call $f) (i32.const 0)"),
            Failure(FailureKind::Trap, "stack"),
        ),
        (
            "loads_outside",
            guest("", "", "(i32.load (i32.const -8))"),
            Failure(FailureKind::Trap, "out of bounds"),
        ),
        (
            "huge_table",
            guest("", "(table 100000000 funcref)", NOTHING),
            Failure(FailureKind::Memory, "begins with"),
        ),
        ("answers_minus_3", guest("", "", "(i32.const -3)"), Failure(FailureKind::App, "answered -3")),
    ]
}

#[tokio::test]
async fn mistakes_of_a_guest_are_told_by_their_kind_and_what_is_none_is_answered() {
    check_all(&room(), mistakes()).await;
}

fn check(name: &str, invoked: &Invoked, want: &Want) {
    let envelope = &invoked.envelope;
    match want {
        Answer(status, header, body) => {
            assert_eq!((envelope.status, kind(invoked)), (*status, None), "{name}: {}", message(invoked));
            let headers: Vec<_> = envelope.headers.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            assert_eq!(headers, header.iter().copied().collect::<Vec<_>>(), "{name}");
            let told = envelope.body_b64.as_ref().map(|it| STANDARD.decode(it).unwrap());
            assert_eq!(told.as_deref(), *body, "{name}");
        }
        Failure(want, words) => {
            assert_eq!((envelope.status, kind(invoked)), (500, Some(*want)), "{name}: {}", message(invoked));
            assert!(message(invoked).contains(words), "{name}: {}", message(invoked));
            assert_eq!((envelope.headers.len(), &envelope.body_b64), (0, &None), "{name}");
        }
    }
}

async fn check_all(room: &Room, guests: Vec<(&str, String, Want)>) {
    let good = answers(r#"{"status":204}"#, "");
    for (name, wat, want) in guests {
        check(name, &room.invoke(&wat, REQUEST).await, &want);
        assert_eq!(room.invoke(&good, "{}").await.envelope.status, 204, "the next call after {name} works");
    }
}

#[tokio::test]
async fn every_guest_of_the_abi_that_needs_no_network_is_answered_as_it_must_be() {
    let room = room();
    check_all(&room, conformance()).await;
    let code = room.invoke(&conformance().swap_remove(2).1, REQUEST).await.envelope.error.unwrap().code;
    assert_eq!(code, Code::Number(7));
}

#[tokio::test]
async fn exports_that_are_imports_start_functions_and_far_addresses_are_guests_like_others() {
    let room = room();
    let before = room.dock.gate().counts().denials();
    check_all(&room, oddities()).await;
    assert_eq!(room.dock.gate().counts().denials(), before + 2, "both fetches are on record");
    let mut odd = oddities();
    let freed = room.invoke(&odd.swap_remove(1).1, REQUEST).await.log;
    assert_eq!(
        (freed.len(), freed[0].text.as_str()),
        (2, SHOWN),
        "the request and the tuple were given back"
    );
    let started = room.invoke(&odd.swap_remove(2).1, REQUEST).await.log;
    assert_eq!((started.len(), started[0].text.as_str()), (1, "hello"));
}

#[tokio::test]
async fn limits_of_zero_are_limits_and_nothing_runs_under_them() {
    let room = room();
    for (limits, want) in [
        (r#""memory_mb":0"#, FailureKind::Memory),
        (r#""timeout_ms":0"#, FailureKind::Timeout),
        (r#""fuel":0"#, FailureKind::Timeout),
    ] {
        let invoked = room.invoke(&guest("", "", NOTHING), &format!(r#"{{"limits":{{{limits}}}}}"#)).await;
        assert_eq!(kind(&invoked), Some(want), "{}", message(&invoked));
    }
}

#[tokio::test]
async fn a_request_is_whole_where_the_allocator_grows_a_memory_that_moves() {
    let engine = EngineSettings { slots: Some(0), ..EngineSettings::default() };
    let moving = room_with(DockSettings { engine, ..DockSettings::default() });
    // Each allocation grows by 3 MiB, more than a memory without a reservation can do where it is.
    let grows = guest(LOGS, "", "(call $info (local.get $req) (local.get $len)) (i32.const 0)").replace(
        "(local.set $at (global.get $next))",
        "(drop (memory.grow (i32.const 48))) (local.set $at (global.get $next))",
    );
    for room in [room(), moving] {
        let invoked = room.invoke(&grows, REQUEST).await;
        assert_eq!((kind(&invoked), invoked.log[0].text.as_str()), (None, SHOWN));
    }
}
