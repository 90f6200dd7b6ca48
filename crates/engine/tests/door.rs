//! `/dev/drydock` call by call: who has it, what is written and read, what waits, and what it costs.
#![allow(clippy::unwrap_used)]

mod common;

use std::{sync::Arc, time::Duration};

use common::{
    request, run,
    script::{Arg::*, Script, text},
};
use drydock_abi::tool::{REQUEST_BYTES_MAX, encode_frame};
use drydock_contract::{
    BoxFuture, Call, CallError, Cap, CapSet, Denial, Dispatch, GuestTime, Limits, Outcome, Reply, RunReport,
    RunRequest, Streams, Timestamp,
};
use parking_lot::Mutex;

const FD: u32 = 0;
const INTO: u32 = 4096;
const NOENT: i32 = 44;

/// Answers a request with itself: `slow` after all others, `never` not at all, `no` with a denial.
#[derive(Default)]
struct Echo {
    seen: Mutex<Vec<String>>,
}

impl Dispatch for Echo {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        let asked = match call.unread_bytes {
            0 => String::from_utf8_lossy(call.payload).into_owned(),
            bytes => format!("{bytes} bytes"),
        };
        self.seen.lock().push(format!("{} {asked}", call.operation));
        Box::pin(async move {
            match asked.as_str() {
                "never" => std::future::pending().await,
                "\"slow\"" => {
                    for _ in 0..50 {
                        tokio::task::yield_now().await;
                    }
                }
                "no" => return Err(Denial::UnknownOperation("x".into()).into()),
                "large" => return Ok(Reply::of_bytes(vec![b'1'; 20 << 20], Streams::default())),
                _ => {}
            }
            Ok(Reply::of_bytes(call.payload.to_vec(), Streams::default()))
        })
    }
}

fn answer(json: &str) -> Vec<u8> {
    [&(json.len() as u32).to_le_bytes()[..], json.as_bytes()].concat()
}

trait Doors {
    fn opened(self) -> Self;
    fn reads(self, capacity: u32, want: &[u8]) -> Self;
}

impl Doors for Script {
    fn opened(self) -> Self {
        self.open("dev/drydock", 0, FD, 0)
    }

    /// One `fd_read` into so many bytes that gives exactly these.
    fn reads(self, capacity: u32, want: &[u8]) -> Self {
        let list = [INTO.to_le_bytes(), capacity.to_le_bytes()].concat();
        self.call("fd_read", [At(FD), text(list), I(i64::from(INTO - 4))], 0)
            .holds32(INTO - 4, want.len() as i32)
            .holds(INTO, want)
    }
}

async fn with(script: &Script, change: impl FnOnce(RunRequest) -> RunRequest) -> (RunReport, Vec<String>) {
    let door = Arc::new(Echo::default());
    let asked = RunRequest {
        caps: CapSet::of(&[Cap::Tool, Cap::Vfs]),
        door: Arc::clone(&door) as _,
        ..request(&script.wat())
    };
    let (report, _) = run(change(asked)).await.unwrap();
    let seen = door.seen.lock().clone();
    (report, seen)
}

async fn holds(script: &Script) -> Vec<String> {
    let (report, seen) = with(script, |it| it).await;
    assert_eq!(report.outcome, Outcome::Exited(0), "the status is the step that went wrong");
    seen
}

#[tokio::test]
async fn the_device_is_there_where_tools_were_granted_and_nowhere_else() {
    holds(&Script::default().opened()).await;
    let absent = Script::default().open("dev/drydock", 0, FD, NOENT);
    let (report, seen) = with(&absent, |it| RunRequest { caps: CapSet::of(&[Cap::Vfs]), ..it }).await;
    assert_eq!((report.outcome, seen.len()), (Outcome::Exited(0), 0));
}

#[tokio::test]
async fn a_request_is_a_call_at_the_door_and_its_answer_is_read_in_any_pieces() {
    let whole = answer(r#"{"call":7,"ok":true,"result":[1]}"#);
    let script = Script::default()
        .opened()
        .write(FD, &encode_frame(7, b"[1]"), 0)
        .reads(3, &whole[..3])
        .reads(2, &whole[3..5])
        .reads(999, &whole[5..])
        .reads(999, b"");
    assert_eq!(holds(&script).await, ["tool.call [1]"]);
}

#[tokio::test]
async fn requests_come_in_any_pieces_and_several_at_once_and_answers_as_they_end() {
    let frames = [encode_frame(1, b"\"slow\""), encode_frame(2, b"2"), encode_frame(3, b"no")].concat();
    let script = Script::default()
        .opened()
        .write(FD, &frames[..5], 0)
        .write(FD, &frames[5..20], 0)
        .write(FD, &frames[20..], 0)
        .reads(999, &answer(r#"{"call":2,"ok":true,"result":2}"#))
        .reads(999, &answer(r#"{"call":3,"ok":false,"code":"tool_error","message":"unknown operation `x`"}"#))
        .reads(999, &answer(r#"{"call":1,"ok":true,"result":"slow"}"#))
        .reads(999, b"");
    assert_eq!(holds(&script).await, ["tool.call \"slow\"", "tool.call 2", "tool.call no"]);
}

#[tokio::test]
async fn a_request_that_is_too_long_is_recorded_and_refused_before_it_is_written() {
    let long = REQUEST_BYTES_MAX as u32 + 1;
    let head = [long.to_le_bytes(), 9u32.to_le_bytes()].concat();
    let want = format!(
        r#"{{"call":9,"ok":false,"code":"tool_error","message":"a request of {long} bytes exceeds the limit of {REQUEST_BYTES_MAX}"}}"#
    );
    let script = Script::default().opened().write(FD, &head, 0).reads(999, &answer(&want));
    assert_eq!(holds(&script).await, [format!("tool.call {long} bytes")]);
}

#[tokio::test]
async fn a_claimed_length_and_an_answer_are_on_the_runs_bill() {
    let limits = Limits { memory_bytes_max: 8 << 20, ..Limits::default() };
    let claim = [(7u32 << 20).to_le_bytes(), 0u32.to_le_bytes()].concat();
    let large = encode_frame(0, b"large");
    for script in [
        Script::default().opened().write(FD, &claim, 0),
        Script::default().opened().write(FD, &large, 0).reads(9, b""),
    ] {
        let (report, _) = with(&script, |it| RunRequest { limits, ..it }).await;
        assert_eq!(report.outcome, Outcome::OutOfMemory);
    }
}

#[tokio::test]
async fn whoever_waits_for_an_answer_that_never_comes_ends_with_its_time() {
    let script = Script::default().opened().write(FD, &encode_frame(0, b"never"), 0).reads(9, b"");
    let limits = Limits { wall_max: Duration::from_millis(30), ..Limits::default() };
    let (report, seen) = with(&script, |it| RunRequest { limits, ..it }).await;
    assert_eq!((report.outcome, seen.len()), (Outcome::TimedOut, 1));
}

#[tokio::test]
async fn a_door_cannot_be_sought_synced_or_listed() {
    let script = Script::default()
        .opened()
        .call("fd_seek", [At(FD), L(0), I(0), I(1024)], 70)
        .call("fd_sync", [At(FD)], 28)
        .call("fd_readdir", [At(FD), I(1024), I(99), L(0), I(1020)], 54)
        .call("fd_filestat_get", [At(FD), I(1024)], 0)
        .holds64(1024 + 32, 0)
        .call("fd_close", [At(FD)], 0)
        .call("fd_sync", [At(FD)], 8);
    holds(&script).await;
}

/// A guest that begins `request` as call 5 and polls for its answer and, unless it is 0, for `nanos`. It exits with
/// the number of events, and the kind of the first above them.
fn polling(request: &[u8], nanos: u64) -> String {
    let quoted = |bytes: &[u8]| bytes.iter().map(|it| format!("\\{it:02x}")).collect::<String>();
    let frame = if request.is_empty() { Vec::new() } else { encode_frame(5, request) };
    let mut list = [0; 96];
    (list[0], list[8]) = (1, 1);
    (list[48], list[56], list[64]) = (2, 0, 1);
    list[72..80].copy_from_slice(&nanos.to_le_bytes());
    let count = if nanos == 0 { 1 } else { 2 };
    format!(
        r#"(module
          (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
          (memory (export "memory") 1)
          (data (i32.const 100) "dev/drydock") (data (i32.const 200) "{}") (data (i32.const 400) "{}")
          (func (export "_start")
            (drop (call $open (i32.const 3) (i32.const 0) (i32.const 100) (i32.const 11) (i32.const 0)
              (i64.const 0x42) (i64.const 0) (i32.const 0) (i32.const 0)))
            (i32.store (i32.const 16) (i32.const 200)) (i32.store (i32.const 20) (i32.const {}))
            (drop (call $write (i32.load (i32.const 0)) (i32.const 16) (i32.const 1) (i32.const 24)))
            (i32.store (i32.const 416) (i32.load (i32.const 0)))
            (drop (call $poll (i32.const 400) (i32.const 600) (i32.const {count}) (i32.const 28)))
            (call $exit (i32.add (i32.load (i32.const 28))
              (i32.mul (i32.const 16) (i32.load8_u (i32.const 610)))))))"#,
        quoted(&frame),
        quoted(&list),
        frame.len()
    )
}

#[tokio::test]
async fn polling_waits_for_an_answer_or_for_the_timer_whichever_is_first() {
    let (timer, answered) = (Outcome::Exited(1), Outcome::Exited(1 + 16));
    let cases = [
        // what                                    request        nanos      want
        ("an answer", &b"1"[..], 3_600_000_000_000, answered.clone()),
        ("an answer that takes a turn", b"\"slow\"", 3_600_000_000_000, answered.clone()),
        ("an answer, without a timer", b"\"slow\"", 0, answered.clone()),
        ("the timer", b"never", 1_000_000, timer),
        ("nothing is open, so a read would find the end", b"", 0, answered.clone()),
    ];
    for (what, asked, nanos, want) in cases {
        let door = Arc::new(Echo::default());
        let caps = CapSet::of(&[Cap::Tool, Cap::Vfs]);
        let asked = RunRequest { caps, door, ..request(&polling(asked, nanos)) };
        assert_eq!(run(asked).await.unwrap().0.outcome, want, "{what}");
    }
    // By a fixed clock a call takes no time: the answer comes before any timer.
    let asked = RunRequest {
        caps: CapSet::of(&[Cap::Tool, Cap::Vfs]),
        door: Arc::new(Echo::default()),
        time: GuestTime::Fixed(Timestamp(0)),
        ..request(&polling(b"\"slow\"", 1))
    };
    assert_eq!(run(asked).await.unwrap().0.outcome, answered);
}
