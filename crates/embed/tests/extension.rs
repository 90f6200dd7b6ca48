//! Guests of the Runner ABI through the whole path: gate, capability, engine, and back as an envelope.
//!
//! Each guest is a few lines of text around the same bump allocator; what it must be answered stands beside it.
#![allow(clippy::unwrap_used)]

mod runner_room;

use std::{sync::Arc, time::Duration};

use drydock_embed::{
    HANDLER_LIMITS, Setup,
    contract::{Cap, Limits, LogLevel},
    extension::runner::{Code, FailureKind},
    gate::DenialLog,
};
use runner_room::{LOGS, NOTHING, answers, guest, kind, message, room};

#[tokio::test]
async fn a_handlers_answer_is_the_envelope_and_other_bytes_are_a_payload() {
    let room = room();
    let json = r#"{"status":201,"headers":{"x-a":"b"},"body_b64":"AAE=","more":1}"#;
    let envelope = room.invoke(&answers(json, ""), "{}").await.envelope;
    assert_eq!((envelope.status, envelope.headers["x-a"].as_str()), (201, "b"));
    assert_eq!((envelope.body_b64.as_deref(), envelope.error), (Some("AAE="), None));
    let bare = room.invoke(&answers(r#"{"status":204}"#, ""), "{}").await.envelope;
    assert_eq!((bare.status, bare.headers.len(), bare.body_b64), (204, 0, None));
    for (payload, base64) in [("no json", "bm8ganNvbg=="), ("[1]", "WzFd"), ("7", "Nw=="), ("{", "ew==")] {
        let envelope = room.invoke(&answers(payload, ""), "{}").await.envelope;
        assert_eq!((envelope.status, envelope.headers.len()), (200, 0), "{payload}");
        assert_eq!(envelope.body_b64.as_deref(), Some(base64));
    }
    let untouched = room.invoke(&guest("", "", NOTHING), "{}").await.envelope;
    assert_eq!((untouched.status, untouched.body_b64.as_deref(), untouched.error), (200, Some(""), None));
    for odd in [r#"{"status":70000}"#, r#"{"status":"200"}"#, r#"{"status":200,"body_b64":"%"}"#, "{}"] {
        let invoked = room.invoke(&answers(odd, ""), "{}").await;
        assert_eq!(kind(&invoked), Some(FailureKind::Abi), "{odd}");
        assert!(message(&invoked).starts_with("malformed response: "), "{}", message(&invoked));
    }
}

#[tokio::test]
async fn the_guest_is_shown_the_whole_request_with_its_effective_limits() {
    let room = room();
    let logs = guest(LOGS, "", "(call $info (local.get $req) (local.get $len)) (i32.const 0)");
    let shown = room.invoke(&logs, "{}").await.log.remove(0);
    assert_eq!(shown.level, LogLevel::Info);
    assert_eq!(
        shown.text,
        r#"{"context":{"request_id":null,"tenant_id":"dev","extension_id":"guest","version_id":null,"#
            .to_owned()
            + r#""limits":{"timeout_ms":5000,"memory_mb":64,"fuel":null}},"#
            + r#""http":{"method":"GET","path":"/","query":{},"headers":{},"body_b64":null}}"#
    );
    let request = r#"{"context":{"request_id":"r","tenant_id":"t","extension_id":"e","version_id":"v",
        "limits":{"memory_mb":9999}},"http":{"method":"POST","path":"/p","query":{"q":"1"},"headers":{"h":"v"},
        "body_b64":"AAECAw=="},"limits":{"timeout_ms":999999999,"fuel":1000000}}"#;
    let refused = room.invoke(&logs, request).await;
    assert_eq!(refused.envelope.error.unwrap().code, Code::from("malformed"), "it is another tenant's");
    let module = room.dock.hand_over(wat::parse_str(&logs).unwrap()).await;
    let shown = room.dock.try_out(&room.session, &module, "guest", request).await.log.remove(0).text;
    assert_eq!(
        shown,
        r#"{"context":{"request_id":"r","tenant_id":"t","extension_id":"e","version_id":"v","#.to_owned()
            + r#""limits":{"timeout_ms":60000,"memory_mb":1024,"fuel":1000000}},"http":{"method":"POST","path":"/p","#
            + r#""query":{"q":"1"},"headers":{"h":"v"},"body_b64":"AAECAw=="}}"#
    );
}

#[tokio::test]
async fn a_handler_that_says_no_traps_or_recurses_is_told_apart_and_the_next_call_is_fine() {
    let room = room();
    let says_no = guest(
        "",
        r#"(data (i32.const 16) "good")"#,
        "(call $answer (local.get $out) (i32.const 16) (i32.const 4)) (i32.const 7)",
    );
    let invoked = room.invoke(&says_no, "{}").await;
    assert_eq!((kind(&invoked), invoked.envelope.status), (Some(FailureKind::App), 500));
    assert_eq!(invoked.envelope.error.as_ref().unwrap().code, Code::Number(7));
    assert_eq!(message(&invoked), "execute_failed: handler answered 7");
    assert_eq!(invoked.envelope.body_b64, None, "what it wrote is not delivered");
    for (body, want) in [
        ("unreachable", "unreachable"),
        ("(drop (i32.load (i32.const -4))) (i32.const 0)", "out of bounds memory access"),
        ("(call $deep (i32.const 1))", "call stack exhausted"),
    ] {
        let deep = "(func $deep (param i32) (result i32) (i32.add (call $deep (local.get 0)) (i32.const 1)))";
        let invoked = room.invoke(&guest("", deep, body), "{}").await;
        assert_eq!(kind(&invoked), Some(FailureKind::Trap), "{body}");
        assert!(message(&invoked).contains(want), "{}", message(&invoked));
        assert_eq!(room.invoke(&answers(r#"{"status":200}"#, ""), "{}").await.envelope.status, 200);
    }
}

#[tokio::test]
async fn time_and_fuel_of_a_call_end_a_loop_in_the_handler_and_in_the_start_function() {
    let room = room();
    let looping = "(loop $l (br $l)) (i32.const 0)";
    let start = guest("", "(func $s (loop $l (br $l))) (start $s)", NOTHING);
    for wat in [guest("", "", looping), start] {
        let began = std::time::Instant::now();
        let invoked = room.invoke(&wat, r#"{"limits":{"timeout_ms":100}}"#).await;
        assert_eq!(kind(&invoked), Some(FailureKind::Timeout));
        assert!(began.elapsed() < Duration::from_secs(30), "it was ended in time");
        let frugal = room.invoke(&wat, r#"{"context":{"limits":{"fuel":10000}}}"#).await;
        assert_eq!(kind(&frugal), Some(FailureKind::Timeout));
        assert_eq!(frugal.envelope.error.unwrap().code, Code::from("out_of_fuel"));
    }
    // No time at all is a limit like others, also for a guest that would be quick.
    let hurried = room.invoke(&guest("", "", NOTHING), r#"{"limits":{"timeout_ms":0}}"#).await;
    assert_eq!(kind(&hurried), Some(FailureKind::Timeout));
}

#[tokio::test]
async fn memory_past_the_limit_is_refused_to_a_guest_that_carries_on_and_to_a_module_that_begins_with_it() {
    let room = room();
    let grows = guest(
        "",
        "",
        r#"
        (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
        (i32.store (i32.const 64) (memory.size))
        (call $answer (local.get $out) (i32.const 64) (i32.const 4)) (i32.const 0)"#,
    );
    let invoked = room.invoke(&grows, r#"{"limits":{"memory_mb":8}}"#).await;
    assert_eq!(invoked.envelope.body_b64.as_deref(), Some("gAAAAA=="), "128 pages: {:?}", invoked.envelope);
    let large = guest("", "", NOTHING).replace(r#"(export "memory") 2)"#, r#"(export "memory") 129)"#);
    let invoked = room.invoke(&large, r#"{"limits":{"memory_mb":8}}"#).await;
    assert_eq!(kind(&invoked), Some(FailureKind::Memory));
    assert!(message(&invoked).contains("begins with 8454144 bytes"), "{}", message(&invoked));
    let none = room.invoke(&guest("", "", NOTHING), r#"{"limits":{"memory_mb":0}}"#).await;
    assert_eq!(message(&none), "the module begins with 131072 bytes of memory, and the limit is 0");
    assert_eq!(room.invoke(&large, "{}").await.envelope.status, 200);
    // One that grows within its allocator is written to where the memory is then.
    let grown = guest(
        "",
        "",
        r#"(call $answer (local.get $out) (i32.load8_u (local.get $req)) (i32.const 0)) (i32.const 0)"#,
    )
    .replace("(i32.const 8192)", "(i32.const 131064)");
    assert_eq!(kind(&room.invoke(&grown, "{}").await), None);
}

#[tokio::test]
async fn ranges_outside_of_memory_break_the_contract_and_never_the_host() {
    let room = room();
    let points = |at: &str, len: &str| {
        guest(
            "",
            "",
            &format!("(call $answer (local.get $out) (i32.const {at}) (i32.const {len})) (i32.const 0)"),
        )
    };
    let bad_alloc = |answer: &str| {
        format!(
            r#"(module (memory (export "memory") 1) (func (export "alloc") (param i32) (result i32) {answer})
               (func (export "handler") (param i32 i32 i32) (result i32) unreachable))"#
        )
    };
    let cases = [
        points("131071", "2"),
        points("-16", "32"),
        points("0", "-1"),
        points("-1", "-1"),
        points("200000", "0"),
        bad_alloc("(i32.const -8)"),
        bad_alloc("(i32.const 0)"),
        bad_alloc("(i32.const 65530)"),
        // The tuple does not fit where the request did.
        bad_alloc("(select (i32.const 65532) (i32.const 16) (i32.eq (local.get 0) (i32.const 8)))"),
    ];
    for wat in cases {
        let invoked = room.invoke(&wat, "{}").await;
        assert_eq!(kind(&invoked), Some(FailureKind::Abi), "{wat}");
        assert!(
            message(&invoked).contains("memory") || message(&invoked).contains("no room"),
            "{}",
            message(&invoked)
        );
    }
    assert_eq!(kind(&room.invoke(&points("131072", "0"), "{}").await), None, "the end of memory is in it");
}

#[tokio::test]
async fn dealloc_is_called_for_request_response_and_tuple_and_its_trap_loses_nothing() {
    let room = room();
    let freeing = r#"(func (export "dealloc") (param $at i32) (param $n i32) (call $info (local.get $at) (local.get $n)))"#;
    let data = format!(r#"(data (i32.const 16) "{{\22status\22:204}}") {freeing}"#);
    let body = "(call $answer (local.get $out) (i32.const 16) (i32.const 14)) (i32.const 0)";
    let invoked = room.invoke(&guest(LOGS, &data, body), "{}").await;
    assert_eq!(invoked.envelope.status, 204);
    let texts: Vec<&str> = invoked.log.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[0].starts_with(r#"{"context":"#) && texts[1] == r#"{"status":204}"#);
    assert_eq!(texts[2].as_bytes(), [16, 0, 0, 0, 14, 0, 0, 0]);

    for dealloc in [
        r#"(func (export "dealloc") (param i32 i32) unreachable)"#,
        r#"(func (export "dealloc") (param i32 i32) (loop $l (br $l)))"#,
        r#"(func (export "dealloc") (param i64) unreachable)"#,
        "",
    ] {
        let wat = answers(r#"{"status":204}"#, dealloc);
        let invoked = room.invoke(&wat, r#"{"limits":{"timeout_ms":200}}"#).await;
        assert_eq!((invoked.envelope.status, kind(&invoked)), (204, None), "{dealloc}");
    }
}

#[tokio::test]
async fn a_module_that_lacks_an_export_or_imports_too_much_is_refused_by_name_before_it_runs() {
    let room = room();
    let whole = guest("", "(func $s unreachable) (start $s)", NOTHING);
    for (missing, with, want) in [
        (r#"(export "memory")"#, "", "it does not export `memory`"),
        (r#"(export "memory")"#, r#"(export "alloc2")"#, "it does not export `memory`"),
        (r#"(export "alloc")"#, "", "it does not export `alloc`, a function of type (i32) -> (i32)"),
        (
            r#"(export "handler")"#,
            "",
            "it does not export `handler`, a function of type (i32, i32, i32) -> (i32)",
        ),
        (r#"(param $req i32)"#, "(param $req i64)", "its export `handler` has another type"),
    ] {
        let invoked = room.invoke(&whole.replace(missing, with), "{}").await;
        assert_eq!(kind(&invoked), Some(FailureKind::Abi), "{missing}");
        assert!(message(&invoked).contains(want), "{}", message(&invoked));
    }
    for (import, name) in [
        (r#"(import "alga" "exec" (func (param i32)))"#, "alga.exec"),
        (
            r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#,
            "wasi_snapshot_preview1.fd_write",
        ),
        (r#"(import "env" "host_exec" (func (param i32 i32 i32 i32) (result i32)))"#, "env.host_exec"),
        (r#"(import "alga" "log_info" (func (param i64)))"#, "alga"),
    ] {
        let invoked = room.invoke(&guest(import, "(func $s unreachable) (start $s)", NOTHING), "{}").await;
        assert_eq!(kind(&invoked), Some(FailureKind::Link), "{import}");
        assert!(message(&invoked).contains(name), "{}", message(&invoked));
    }
    let junk = room.invoke_in(&room.session, b"no module", "{}").await;
    assert_eq!(kind(&junk), Some(FailureKind::Link));
}

#[tokio::test]
async fn fetch_is_linked_under_three_names_and_denied_and_its_ranges_are_checked_first() {
    let room = room();
    let fetches = |space: &str, name: &str, at: i32, len: i32, out: i32| {
        let import = format!(r#"(import "{space}" "{name}" (func $fetch (param i32 i32 i32) (result i32)))"#);
        let body = format!("(call $fetch (i32.const {at}) (i32.const {len}) (i32.const {out}))");
        guest(&import, "", &body)
    };
    for (space, name) in [("alga", "http.fetch"), ("alga", "http_fetch"), ("alga.http", "fetch")] {
        let before = room.dock.gate().counts().denials();
        let invoked = room.invoke(&fetches(space, name, 0, 8, 64), "{}").await;
        assert_eq!(
            invoked.envelope.error.as_ref().unwrap().code,
            Code::Number(1),
            "{name} answers 1: denied"
        );
        assert_eq!(room.dock.gate().counts().denials(), before + 1, "a record of it is kept");
    }
    // Whoever shows denials, or reads records, learns where it wanted to go.
    let log = Arc::new(DenialLog::default());
    let setup = Setup { denials: Some(Arc::clone(&log)), ..Setup::instances(HANDLER_LIMITS) };
    let session = room.dock.session("me", setup).unwrap();
    let url = r#"{\22url\22:\22https://api.example.com/v1\22}"#;
    let import = r#"(import "alga" "http.fetch" (func $fetch (param i32 i32 i32) (result i32)))"#;
    let data = format!(r#"(data (i32.const 16) "{url}")"#);
    let body = "(call $fetch (i32.const 16) (i32.const 36) (i32.const 64))";
    let module = wat::parse_str(guest(import, &data, body)).unwrap();
    assert_eq!(kind(&room.invoke_in(&session, &module, "{}").await), Some(FailureKind::App));
    let denied = log.take().remove(0);
    assert_eq!((denied.power, denied.code), (Some(Cap::Net), "denied"));
    assert_eq!(denied.grant.unwrap().to_json(), r#"{"cap":"net","subjects":["api.example.com:443"]}"#);
    for (at, len, out) in [(0, 200_000, 64), (-1, 2, 64), (0, 8, 131_065), (0, 8, -4)] {
        let invoked = room.invoke(&fetches("alga", "http.fetch", at, len, out), "{}").await;
        assert_eq!(kind(&invoked), Some(FailureKind::Trap), "{at} {len} {out}");
        assert!(message(&invoked).contains("http.fetch"), "{}", message(&invoked));
    }
}

#[tokio::test]
async fn logs_are_lossy_bounded_and_harmless() {
    let room = room();
    let wat = guest(
        LOGS,
        r#"(data (i32.const 16) "a\ffb")"#,
        r#"
        (call $error (i32.const 16) (i32.const 3))
        (call $info (i32.const -1) (i32.const 2))
        (call $info (i32.const 0) (i32.const 100000))
        (loop $more
          (call $info (i32.const 16) (i32.const 1))
          (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 300))))
        (i32.const 0)"#,
    );
    let invoked = room.invoke(&wat, "{}").await;
    assert_eq!(kind(&invoked), None);
    assert_eq!((invoked.log[0].level, invoked.log[0].text.as_str()), (LogLevel::Error, "a\u{fffd}b"));
    assert!(invoked.log[1].text.contains("outside of the guest's memory"), "{}", invoked.log[1].text);
    assert!(invoked.log[2].text.len() < 9000 && invoked.log[2].text.ends_with("[…]"));
    assert_eq!(invoked.log.len(), 201);
    assert!(invoked.log[200].text.contains("more than 200 lines"));
}

#[tokio::test]
async fn bodies_at_their_cap_pass_and_one_byte_more_is_too_large() {
    let room = room();
    let sized = |bytes: u32| {
        let body = format!(
            "(drop (call $alloc (i32.const {bytes}))) (drop (memory.grow (i32.const 1)))
             (call $answer (local.get $out) (i32.const 65536) (i32.const {bytes})) (i32.const 0)"
        );
        guest("", "", &body)
    };
    let whole = room.invoke(&sized(10 << 20), "{}").await;
    assert_eq!((kind(&whole), whole.envelope.status), (None, 200));
    assert_eq!(whole.envelope.body_b64.unwrap().len(), (10usize << 20).div_ceil(3) * 4);
    let over = room.invoke(&sized((10 << 20) + 1), "{}").await;
    assert_eq!(kind(&over), Some(FailureKind::TooLarge));
    assert_eq!(message(&over), "response of 10485761 bytes exceeds the limit of 10485760");

    let posts = |bytes: usize| {
        // Zeroes in base64 are the letter A.
        let (whole, rest) = (bytes / 3, bytes % 3);
        let tail = ["", "AA==", "AAA="][rest];
        format!(r#"{{"http":{{"body_b64":"{}{tail}"}}}}"#, "AAAA".repeat(whole))
    };
    assert_eq!(kind(&room.invoke(&guest("", "", NOTHING), &posts(10 << 20)).await), None);
    let over = room.invoke(&guest("", "", NOTHING), &posts((10 << 20) + 1)).await;
    assert_eq!(kind(&over), Some(FailureKind::TooLarge));
    assert_eq!(message(&over), "request body of 10485761 bytes exceeds the limit of 10485760");
    let huge = room.invoke(&guest("", "", NOTHING), &posts(20 << 20)).await;
    assert_eq!(kind(&huge), Some(FailureKind::TooLarge));
}

#[tokio::test]
async fn a_request_that_is_none_and_a_session_without_the_power_are_denied() {
    let room = room();
    for bad in ["", "[]", "{", r#"{"http":{"query":{"a":1}}}"#] {
        let invoked = room.invoke(&guest("", "", NOTHING), bad).await;
        assert_eq!(kind(&invoked), Some(FailureKind::Denied), "{bad}");
        assert_eq!(invoked.envelope.error.unwrap().code, Code::from("malformed"));
    }
    let session = room.dock.session("me", Setup::profile("posix")).unwrap();
    let module = wat::parse_str(guest("", "", NOTHING)).unwrap();
    let invoked = room.invoke_in(&session, &module, "{}").await;
    assert_eq!(invoked.envelope.error.unwrap().code, Code::from("denied"));
}

#[tokio::test]
async fn revocation_ends_a_handler_in_flight_and_no_other_begins() {
    let room = room();
    let endless = guest("", "", "(loop $l (br $l)) (i32.const 0)");
    let revoking = async {
        // The handler's first slice of work is over when this one is asked for the second time.
        while room.session.inner().in_flight() == 0 {
            tokio::task::yield_now().await;
        }
        room.dock.revoke("me").unwrap();
    };
    let (invoked, ()) = tokio::join!(room.invoke(&endless, r#"{"limits":{"timeout_ms":60000}}"#), revoking);
    assert_eq!(kind(&invoked), Some(FailureKind::Denied));
    assert_eq!(invoked.envelope.error.unwrap().code, Code::from("cancelled"));
    let again = room.invoke(&endless, "{}").await;
    assert_eq!(again.envelope.error.unwrap().code, Code::from("revoked"));
}

#[tokio::test]
async fn a_session_bounds_what_a_request_may_ask_for() {
    let room = room();
    let limits = Limits { wall_max: Duration::from_millis(80), memory_bytes_max: 1 << 20, ..HANDLER_LIMITS };
    let session = room.dock.session("small", Setup::instances(limits)).unwrap();
    let module = wat::parse_str(guest("", "", "(loop $l (br $l)) (i32.const 0)")).unwrap();
    let asked = r#"{"limits":{"timeout_ms":60000,"memory_mb":512}}"#;
    let invoked = room.invoke_in(&session, &module, asked).await;
    assert_eq!(kind(&invoked), Some(FailureKind::Timeout));
    let large = guest("", "", NOTHING).replace(r#"(export "memory") 2)"#, r#"(export "memory") 17)"#);
    let invoked = room.invoke_in(&session, &wat::parse_str(large).unwrap(), asked).await;
    assert_eq!(kind(&invoked), Some(FailureKind::Memory));
}

#[tokio::test]
async fn the_guest_of_the_documents_pseudo_code_answers_ok() {
    let json =
        r#"{"status":200,"headers":{"content-type":"application/json"},"body_b64":"eyJvayI6dHJ1ZX0="}"#;
    let data: String = json.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let more = format!(r#"(data (i32.const 16) "{data}") (func (export "dealloc") (param i32 i32))"#);
    let body = format!(
        "(local.set $i (call $alloc (i32.const {0})))
         (memory.copy (local.get $i) (i32.const 16) (i32.const {0}))
         (call $answer (local.get $out) (local.get $i) (i32.const {0})) (i32.const 0)",
        json.len()
    );
    let envelope = room().invoke(&guest("", &more, &body), "{}").await.envelope;
    assert_eq!((envelope.status, envelope.headers["content-type"].as_str()), (200, "application/json"));
    assert_eq!(envelope.body_b64.as_deref(), Some("eyJvayI6dHJ1ZX0="));
}

#[tokio::test]
async fn large_modules_and_requests_are_read_on_a_thread_that_may_wait_and_a_module_once() {
    let room = room();
    let (small, large) = (room.dock.hand_over(vec![0; 1 << 10]), room.dock.hand_over(vec![0; 1 << 20]));
    let (mut small, mut large) = (Box::pin(small), Box::pin(large));
    assert!(asked_once(small.as_mut()).is_ready(), "a kilobyte is hashed here and now");
    assert!(asked_once(large.as_mut()).is_pending(), "a megabyte is not");
    drop(large.await);
    // Handed over once, it answers as often as it is asked, and is gone with its handle.
    let module = room.dock.hand_over(wat::parse_str(guest("", "", NOTHING)).unwrap()).await;
    let body = format!(r#"{{"http":{{"body_b64":"{}"}}}}"#, "AAAA".repeat(1 << 20));
    for request in ["{}".to_owned(), "{}".to_owned(), body] {
        let invoked = room.dock.invoke(&room.session, &module, "guest", request).await;
        assert_eq!(invoked.envelope.status, 200);
    }
}

/// Asks a future once.
fn asked_once<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
    future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
}
