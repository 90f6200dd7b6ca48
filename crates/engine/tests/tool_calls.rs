//! `env.tool_start` and `env.tool_next`, called by hand: numbers, lengths, bad pointers, the bill.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{request, run};
use drydock_contract::{
    BoxFuture, Call, CallError, Cap, CapSet, Dispatch, Fault, Limits, Outcome, Reply, RunRequest, Streams,
};

/// Answers with as many bytes as the request says, or not at all.
struct Echo;

impl Dispatch for Echo {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            match call.payload {
                b"fault" => Err(Fault::Internal("a secret".into()).into()),
                b"large" => Ok(Reply::of_bytes(vec![b'1'; 20 << 20], Streams::default())),
                other => Ok(Reply::of_bytes(other.to_vec(), Streams::default())),
            }
        })
    }
}

/// A guest whose `_start` exits with the value of `body`.
fn guest(body: &str) -> RunRequest {
    let wat = format!(
        r#"(module
            (import "env" "tool_start" (func $start (param i32 i32) (result i32)))
            (import "env" "tool_next" (func $next (param i32 i32) (result i64)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1)
            (data (i32.const 0) "[1]") (data (i32.const 16) "fault") (data (i32.const 32) "large")
            (func (export "_start") {body}))"#
    );
    RunRequest { caps: CapSet::of(&[Cap::Tool]), door: Arc::new(Echo), ..request(&wat) }
}

#[tokio::test]
async fn calls_are_numbered_and_answers_have_their_length() {
    let answer = r#"{"call":0,"ok":true,"result":[1]}"#.len() as i32;
    let begin = "(drop (call $start (i32.const 0) (i32.const 3)))";
    let exit = |value: &str| format!("(call $exit {value})");
    let next =
        |out: u32, cap: u32| format!("(i32.wrap_i64 (call $next (i32.const {out}) (i32.const {cap})))");
    let fault = r#"{"call":0,"ok":false,"code":"internal_error","message":"the tool could not be called"}"#;
    let cases = [
        // what                               the guest                                             want
        ("nothing is open", exit(&next(64, 99)), 0),
        ("the first call", exit("(call $start (i32.const 0) (i32.const 3))"), 0),
        ("the second call", format!("{begin}{}", exit("(call $start (i32.const 0) (i32.const 3))")), 1),
        ("an answer", format!("{begin}{}", exit(&next(64, 99))), answer),
        ("no room", format!("{begin}{}", exit(&next(64, 5))), -answer),
        ("no room, then room", format!("{begin}(drop {}){}", next(64, 5), exit(&next(64, 99))), answer),
        ("an answer is given once", format!("{begin}(drop {}){}", next(64, 99), exit(&next(64, 99))), 0),
        ("a request outside", exit("(call $start (i32.const 65535) (i32.const 3))"), -3),
        ("a request too long", exit("(call $start (i32.const 0) (i32.const 0x7fffffff))"), -2),
        (
            "a fault keeps its secret",
            format!("(drop (call $start (i32.const 16) (i32.const 5))){}", exit(&next(64, 999))),
            fault.len() as i32,
        ),
    ];
    for (what, body, want) in cases {
        let (report, _) = run(guest(&body)).await.unwrap();
        assert_eq!(report.outcome, Outcome::Exited(want), "{what}");
    }
}

#[tokio::test]
async fn an_answer_that_the_run_cannot_pay_for_ends_it() {
    let body =
        "(drop (call $start (i32.const 32) (i32.const 5))) (drop (call $next (i32.const 64) (i32.const 9)))";
    let limits = Limits { memory_bytes_max: 8 << 20, ..Limits::default() };
    let (report, _) = run(RunRequest { limits, ..guest(body) }).await.unwrap();
    assert_eq!(report.outcome, Outcome::OutOfMemory);
}

#[tokio::test]
async fn an_answer_written_outside_of_memory_is_a_trap() {
    let body = "(drop (call $start (i32.const 0) (i32.const 3))) (drop (call $next (i32.const 65530) (i32.const 99)))";
    let (report, _) = run(guest(body)).await.unwrap();
    assert!(matches!(report.outcome, Outcome::Trapped(_)), "{:?}", report.outcome);
}
