//! The lines of the Runner ABI (seed 001) by their numbers: A1 to A21, a test each. What fetches is in `runner_fetch`; here
//! is a word of each of those too, so that no number is missing.
#![allow(clippy::unwrap_used)]

mod runner_room;
mod web_room;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_embed::{
    DockSettings, HANDLER_LIMITS, Network, Setup,
    contract::LogLevel,
    egress::{QuotaLimits, Rules},
    extension::runner::{Code, FailureKind, Invoked},
};
use runner_room::{ALLOC, LOGS, NOTHING, Room, answers, guest, kind, message, room, room_with};
use web_room::{local, serving};

const HANDLER: &str = r#"(func (export "handler") (param i32 i32 i32) (result i32) (i32.const 0))"#;

fn body(invoked: &Invoked) -> Vec<u8> {
    STANDARD.decode(invoked.envelope.body_b64.as_deref().unwrap_or_default()).unwrap()
}

async fn refused(room: &Room, wat: &str, want: FailureKind, words: &str) {
    let invoked = room.invoke(wat, r#"{"limits":{"timeout_ms":300,"memory_mb":8}}"#).await;
    assert_eq!((invoked.envelope.status, kind(&invoked)), (500, Some(want)), "{}", message(&invoked));
    assert!(message(&invoked).contains(words), "{}", message(&invoked));
    assert_eq!(room.invoke(&answers(r#"{"status":204}"#, ""), "{}").await.envelope.status, 204);
}

#[tokio::test]
async fn a01_memory_is_exported_or_the_module_is_refused() {
    let without = format!("(module (memory 2) {ALLOC} {HANDLER})");
    refused(&room(), &without, FailureKind::Abi, "`memory`").await;
}

#[tokio::test]
async fn a02_alloc_is_exported_and_answers_a_place_in_memory() {
    let room = room();
    refused(
        &room,
        &format!(r#"(module (memory (export "memory") 1) {HANDLER})"#),
        FailureKind::Abi,
        "`alloc`",
    )
    .await;
    let bad = r#"(func (export "alloc") (param i32) (result i32) (i32.const -8))"#;
    let bad = format!(r#"(module (memory (export "memory") 1) {bad} {HANDLER})"#);
    refused(&room, &bad, FailureKind::Abi, "4294967288").await;
}

#[tokio::test]
async fn a03_handler_is_exported_with_its_type() {
    let room = room();
    let without = format!(r#"(module (memory (export "memory") 2) {ALLOC})"#);
    refused(&room, &without, FailureKind::Abi, "`handler`").await;
    let other = HANDLER.replace("i32 i32 i32", "i64 i32 i32");
    let other = format!(r#"(module (memory (export "memory") 2) {ALLOC} {other})"#);
    refused(&room, &other, FailureKind::Abi, "`handler`").await;
}

#[tokio::test]
async fn a04_dealloc_is_optional_called_for_all_three_and_its_trap_loses_nothing() {
    let room = room();
    assert_eq!(room.invoke(&answers(r#"{"status":204}"#, ""), "{}").await.envelope.status, 204);
    let traps = r#"(func (export "dealloc") (param i32 i32) unreachable)"#;
    assert_eq!(room.invoke(&answers(r#"{"status":204}"#, traps), "{}").await.envelope.status, 204);
    let traced = r#"(func (export "dealloc") (param i32 i32) (call $info (local.get 0) (local.get 1)))"#;
    let wat = answers(r#"{"status":204}"#, traced).replace("(module ", &format!("(module {LOGS} "));
    let log = room.invoke(&wat, "{}").await.log;
    assert_eq!(log.len(), 3, "request, response, tuple");
    assert!(log[0].text.contains("context") && log[1].text.contains("204"), "{log:?}");
}

#[tokio::test]
async fn a05_the_request_is_json_where_the_handler_is_told() {
    let wat = guest(LOGS, "", "(call $info (local.get $req) (local.get $len)) (i32.const 0)");
    let log = room().invoke(&wat, r#"{"http":{"path":"/é"}}"#).await.log;
    let shown: serde_json::Value = serde_json::from_str(&log[0].text).unwrap();
    assert_eq!(shown["http"]["path"], "/é");
    // A guest without room for it: a clean error, and its handler is not called.
    let logs = "(call $info (i32.const 16) (i32.const 1)) (i32.const 0)";
    let small = guest(LOGS, "", logs).replace(r#"(export "memory") 2)"#, r#"(export "memory") 2 2)"#);
    let body = STANDARD.encode(vec![7; 200_000]);
    let invoked = room().invoke(&small, &format!(r#"{{"http":{{"body_b64":"{body}"}}}}"#)).await;
    assert_eq!((kind(&invoked), invoked.log.len()), (Some(FailureKind::Abi), 0), "{}", message(&invoked));
    assert!(message(&invoked).contains("not in the guest's memory of 131072 bytes"), "{}", message(&invoked));
}

#[tokio::test]
async fn a06_the_answer_is_two_words_and_ranges_outside_of_memory_are_refused() {
    let room = room();
    for (at, len) in [("0x200000", "16"), ("-16", "32"), ("16", "-1")] {
        let points =
            format!("(call $answer (local.get $out) (i32.const {at}) (i32.const {len})) (i32.const 0)");
        refused(&room, &guest("", "", &points), FailureKind::Abi, "not in the guest's memory").await;
    }
}

#[tokio::test]
async fn a07_a_handler_that_says_no_is_500_with_its_code() {
    let room = room();
    let invoked = room.invoke(&guest("", "", "(i32.const 7)"), "{}").await;
    let error = invoked.envelope.error.unwrap();
    assert_eq!((error.kind, error.code), (FailureKind::App, Code::Number(7)));
    assert!(error.message.starts_with("execute_failed"), "{}", error.message);
}

#[tokio::test]
async fn a08_a_trap_ends_the_call_and_not_the_host() {
    let room = room();
    refused(&room, &guest("", "", "unreachable"), FailureKind::Trap, "unreachable").await;
    let recurses = guest("", "(func $f (call $f))", "(call $f) (i32.const 0)");
    refused(&room, &recurses, FailureKind::Trap, "stack").await;
}

#[tokio::test]
async fn a09_context_and_http_have_every_key_and_what_is_missing_is_null() {
    let wat = guest(LOGS, "", "(call $info (local.get $req) (local.get $len)) (i32.const 0)");
    let log = room().invoke(&wat, "{}").await.log;
    let shown: serde_json::Value = serde_json::from_str(&log[0].text).unwrap();
    let keys = |of: &str| shown[of].as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(keys("context"), "extension_id limits request_id tenant_id version_id");
    assert_eq!(keys("http"), "body_b64 headers method path query");
    assert!(shown["context"]["request_id"].is_null() && shown["context"]["version_id"].is_null());
}

#[tokio::test]
async fn a10_bytes_survive_base64_both_ways_and_no_body_is_null() {
    let room = room();
    let wat = guest(LOGS, "", "(call $info (local.get $req) (local.get $len)) (i32.const 0)");
    let shown = async |request: &str| {
        let log = room.invoke(&wat, request).await.log;
        serde_json::from_str::<serde_json::Value>(&log[0].text).unwrap()["http"]["body_b64"].clone()
    };
    assert!(shown("{}").await.is_null());
    let bytes: Vec<u8> = (0..=255).collect();
    let sent = STANDARD.encode(&bytes);
    assert_eq!(shown(&format!(r#"{{"http":{{"body_b64":"{sent}"}}}}"#)).await, sent.as_str());
    let answer = room.invoke(&answers(&format!(r#"{{"status":200,"body_b64":"{sent}"}}"#), ""), "{}").await;
    assert_eq!(body(&answer), bytes);
}

#[tokio::test]
async fn a11_a_response_is_status_headers_and_body() {
    let room = room();
    let whole = r#"{"status":200,"headers":{"a":"b"},"body_b64":"aGk="}"#;
    let invoked = room.invoke(&answers(whole, ""), "{}").await;
    assert_eq!((invoked.envelope.status, &body(&invoked)[..]), (200, &b"hi"[..]));
    assert_eq!(invoked.envelope.headers["a"], "b");
    for bad in
        [r#"{"status":70000}"#, r#"{"status":200,"headers":{"a":1}}"#, r#"{"status":200,"body_b64":"%"}"#]
    {
        refused(&room, &answers(bad, ""), FailureKind::Abi, "malformed response").await;
    }
}

#[tokio::test]
async fn a12_bytes_that_are_no_json_are_a_payload() {
    let wat = answers("hi \u{0}\n", "");
    let invoked = room().invoke(&wat, "{}").await;
    assert_eq!((invoked.envelope.status, invoked.envelope.headers.len()), (200, 0));
    assert_eq!(body(&invoked), b"hi \0\n");
}

#[tokio::test]
async fn a13_logs_have_a_level_and_hurt_nobody() {
    let data = r#"(data (i32.const 16) "a\ffb")"#;
    let says =
        "(call $error (i32.const 16) (i32.const 3)) (call $info (i32.const -1) (i32.const 9)) (i32.const 0)";
    let log = room().invoke(&guest(LOGS, data, says), "{}").await.log;
    assert_eq!((log[0].level, log[0].text.as_str()), (LogLevel::Error, "a\u{fffd}b"));
    assert!(log[1].text.contains("outside of the guest's memory"));
}

/// A14 to A17: one fetch that is allowed and one that is not; the rest is in `runner_fetch`.
#[tokio::test]
async fn a14_a15_a16_a17_a_fetch_is_allowed_or_answered_with_a_code() {
    let (egress, dialled) = local(QuotaLimits::default());
    let room = room_with(DockSettings { egress: Some(egress), ..DockSettings::default() });
    let server = serving("200 OK", "", "fetched");
    let rules = Rules::parse(&[], &[], &[server.address.to_string()]).unwrap();
    let network = Network { rules, injected: Vec::new() };
    let session = room.dock.session("me", Setup { network, ..Setup::instances(HANDLER_LIMITS) }).unwrap();
    let import = r#"(import "alga" "http.fetch" (func $fetch (param i32 i32 i32) (result i32)))"#;
    let fetches = |url: &str| {
        let request = format!(r#"{{"url":"{url}"}}"#);
        let data: String = request.bytes().map(|byte| format!("\\{byte:02x}")).collect();
        let body = format!("(call $fetch (i32.const 1024) (i32.const {}) (local.get $out))", request.len());
        wat::parse_str(guest(import, &format!(r#"(data (i32.const 1024) "{data}")"#), &body)).unwrap()
    };
    let allowed = room.invoke_in(&session, &fetches(&server.url("/ok")), "{}").await;
    assert_eq!((allowed.envelope.status, &body(&allowed)[..]), (200, &b"fetched"[..]));
    let denied = room.invoke_in(&session, &fetches("http://notallowed.test/"), "{}").await;
    assert_eq!(denied.envelope.error.unwrap().code, Code::Number(1));
    assert_eq!(dialled.to.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a18_a_deadline_ends_a_loop_in_the_handler_and_in_the_start_function() {
    let room = room();
    refused(&room, &guest("", "", "(loop $l (br $l)) (i32.const 0)"), FailureKind::Timeout, "longer").await;
    let starts = "(func $s (loop $l (br $l))) (start $s)";
    refused(&room, &guest("", starts, NOTHING), FailureKind::Timeout, "longer").await;
}

#[tokio::test]
async fn a19_memory_grows_to_its_limit_and_a_module_that_begins_beyond_it_is_refused() {
    let room = room();
    let grows = "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
        (i32.store (i32.const 64) (memory.size))
        (call $answer (local.get $out) (i32.const 64) (i32.const 4)) (i32.const 0)";
    let invoked = room.invoke(&guest("", "", grows), r#"{"limits":{"memory_mb":8}}"#).await;
    assert_eq!(body(&invoked), 128u32.to_le_bytes(), "{}", message(&invoked));
    let large = guest("", "", NOTHING).replace(r#"(export "memory") 2)"#, r#"(export "memory") 129)"#);
    refused(&room, &large, FailureKind::Memory, "begins with 8454144 bytes").await;
}

#[tokio::test]
async fn a20_bodies_at_their_cap_pass_and_one_byte_more_is_too_large() {
    let room = room();
    let points = |bytes: u32| {
        let body = format!(
            "(drop (memory.grow (i32.const 161))) (call $answer (local.get $out) (i32.const 0) (i32.const {bytes})) (i32.const 0)"
        );
        guest("", "", &body)
    };
    let invoked = room.invoke(&points(10 << 20), "{}").await;
    assert_eq!(body(&invoked).len(), 10 << 20, "{}", message(&invoked));
    refused(&room, &points(10 << 20 | 1).replace("161", "100"), FailureKind::Abi, "not in").await;
    let over = room.invoke(&points(10 << 20 | 1), "{}").await;
    assert_eq!(kind(&over), Some(FailureKind::TooLarge), "{}", message(&over));
}

#[tokio::test]
async fn a21_no_other_import_exists() {
    let room = room();
    let unknown = guest(r#"(import "alga" "exec" (func))"#, "", NOTHING);
    refused(&room, &unknown, FailureKind::Link, "alga.exec").await;
    let wasi = r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#;
    refused(&room, &guest(wasi, "", NOTHING), FailureKind::Link, "fd_write").await;
    let commands = r#"(import "env" "http_start" (func (param i32 i32) (result i32)))"#;
    refused(&room, &guest(commands, "", NOTHING), FailureKind::Link, "http_start").await;
}
