//! `/dev/http` call by call: who has it, what is written and read, what it costs and when it is let go of.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use common::{
    request, run,
    script::{Arg::*, Script, text},
};
use drydock_abi::fetch::{BODY, END, FETCH_REQUEST_BYTES_MAX, FetchFailure, HEAD, frame_of};
use drydock_contract::{
    BoxFuture, Call, CallError, Cap, CapSet, Denial, Dispatch, Limits, Outcome, Reply, RunReport, RunRequest,
    Sink, Streams,
};
use parking_lot::Mutex;

const FD: u32 = 0;
const OTHER: u32 = 8;
const INTO: u32 = 4096;
const NOENT: i32 = 44;
const INVAL: i32 = 28;
const FBIG: i32 = 22;
const MFILE: i32 = 33;

/// Answers a request with itself: in a head, a body and an end. `never` is never answered, `no` is refused.
#[derive(Default)]
struct Hosts {
    seen: Mutex<Vec<String>>,
    open: Arc<AtomicUsize>,
}

/// One call that is open.
struct Opened(Arc<AtomicUsize>);

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Dispatch for Hosts {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        let asked = match call.unread_bytes {
            0 => String::from_utf8_lossy(call.payload).into_owned(),
            bytes => format!("{bytes} bytes"),
        };
        self.seen.lock().push(format!("{} {asked}", call.operation));
        self.open.fetch_add(1, Ordering::Relaxed);
        let opened = Opened(Arc::clone(&self.open));
        let mut streams = call.streams;
        Box::pin(async move {
            let _opened = opened;
            match asked.as_str() {
                "never" => std::future::pending().await,
                "no" => return Err(Denial::UnknownOperation("x".into()).into()),
                _ => {}
            }
            if let Sink::Stream(sink) = &mut streams.stdout {
                for frame in [frame_of(HEAD, b"{}"), frame_of(BODY, asked.as_bytes())] {
                    std::future::poll_fn(|cx| sink.poll_write(cx, &frame)).await.unwrap();
                }
            }
            Ok(Reply::of_value(Ok::<(), FetchFailure>(()), Streams::default()))
        })
    }
}

fn framed(request: &str) -> Vec<u8> {
    [&(request.len() as u32).to_le_bytes()[..], request.as_bytes()].concat()
}

fn answered(request: &str) -> Vec<u8> {
    [frame_of(HEAD, b"{}"), frame_of(BODY, request.as_bytes()), frame_of(END, b"")].concat()
}

trait Devices {
    fn opened(self, into: u32) -> Self;
    fn reads(self, fd: u32, capacity: u32, want: &[u8]) -> Self;
}

impl Devices for Script {
    fn opened(self, into: u32) -> Self {
        self.open("dev/http", 0, into, 0)
    }

    /// One `fd_read` into so many bytes that gives exactly these.
    fn reads(self, fd: u32, capacity: u32, want: &[u8]) -> Self {
        let list = [INTO.to_le_bytes(), capacity.to_le_bytes()].concat();
        self.call("fd_read", [At(fd), text(list), I(i64::from(INTO - 4))], 0)
            .holds32(INTO - 4, want.len() as i32)
            .holds(INTO, want)
    }
}

fn refused_read(script: Script, fd: u32, errno: i32) -> Script {
    let list = [INTO.to_le_bytes(), 9u32.to_le_bytes()].concat();
    script.call("fd_read", [At(fd), text(list), I(i64::from(INTO - 4))], errno)
}

async fn with(script: &Script, change: impl FnOnce(RunRequest) -> RunRequest) -> (RunReport, Vec<String>) {
    let door = Arc::new(Hosts::default());
    let asked = RunRequest {
        caps: CapSet::of(&[Cap::Net, Cap::Vfs]),
        door: Arc::clone(&door) as _,
        ..request(&script.wat())
    };
    let (report, _) = run(change(asked)).await.unwrap();
    assert_eq!(door.open.load(Ordering::Relaxed), 0, "nothing is open once the run is over");
    let seen = door.seen.lock().clone();
    (report, seen)
}

async fn holds(script: &Script) -> Vec<String> {
    let (report, seen) = with(script, |it| it).await;
    assert_eq!(report.outcome, Outcome::Exited(0), "the status is the step that went wrong");
    seen
}

#[tokio::test]
async fn the_device_of_requests_is_there_where_the_network_can_be_imported_and_nowhere_else() {
    holds(&Script::default().opened(FD)).await;
    let absent = Script::default().open("dev/http", 0, FD, NOENT);
    for caps in [&[Cap::Vfs][..], &[Cap::Vfs, Cap::Tool]] {
        let (report, seen) = with(&absent, |it| RunRequest { caps: CapSet::of(caps), ..it }).await;
        assert_eq!((report.outcome, seen.len()), (Outcome::Exited(0), 0));
    }
}

#[tokio::test]
async fn one_opening_is_one_request_and_its_answer_comes_in_frames_and_ends() {
    let (request, whole) = (framed("{}"), answered("{}"));
    let script = Script::default()
        .opened(FD)
        .write(FD, &request[..3], 0)
        .write(FD, &request[3..], 0)
        .write(FD, b"x", INVAL)
        .reads(FD, 3, &whole[..3])
        .reads(FD, 999, &whole[3..])
        .reads(FD, 999, b"");
    assert_eq!(holds(&script).await, ["http.fetch {}"]);
}

#[tokio::test]
async fn nothing_is_asked_before_somebody_reads_and_two_openings_are_two_answers() {
    let unread = Script::default().opened(FD).write(FD, &framed("{}"), 0).call("fd_close", [At(FD)], 0);
    assert_eq!(holds(&unread).await, [""; 0]);
    let both = Script::default()
        .opened(FD)
        .opened(OTHER)
        .write(FD, &framed("one"), 0)
        .write(OTHER, &framed("two"), 0)
        .reads(OTHER, 15, &answered("two")[..15])
        .reads(FD, 15, &answered("one")[..15]);
    assert_eq!(holds(&both).await, ["http.fetch two", "http.fetch one"]);
}

#[tokio::test]
async fn a_request_that_is_not_whole_has_no_answer_and_one_that_is_too_long_is_recorded_and_refused() {
    let script = Script::default().opened(FD).write(FD, &framed("{}")[..5], 0);
    assert_eq!(holds(&refused_read(script, FD, INVAL)).await, [""; 0]);
    let long = FETCH_REQUEST_BYTES_MAX as u32 + 1;
    let script = Script::default().opened(FD).write(FD, &long.to_le_bytes(), FBIG);
    assert_eq!(holds(&refused_read(script, FD, INVAL)).await, [format!("http.fetch {long} bytes")]);
}

#[tokio::test]
async fn what_the_gate_refuses_is_a_frame_as_it_is_for_the_imports() {
    let script = Script::default().opened(FD).write(FD, &framed("no"), 0).reads(FD, 1, b"F");
    assert_eq!(holds(&script).await, ["http.fetch no"]);
}

#[tokio::test]
async fn requests_are_on_the_runs_bill_and_sixteen_are_open_at_once() {
    let limits = Limits { memory_bytes_max: 8 << 20, ..Limits::default() };
    let claim = Script::default().opened(FD).write(FD, &(7u32 << 20).to_le_bytes(), 0);
    let (report, _) = with(&claim, |it| RunRequest { limits, ..it }).await;
    assert_eq!(report.outcome, Outcome::OutOfMemory);
    let mut many = Script::default();
    for place in 0..16 {
        many = many.opened(place * 4).write(place * 4, &framed("{}"), 0);
    }
    many = many.opened(100).write(100, &framed("{}"), MFILE);
    // Whoever closes one makes room.
    many = many.call("fd_close", [At(0)], 0).opened(104).write(104, &framed("{}"), 0);
    assert_eq!(holds(&many).await, [""; 0]);
}

#[tokio::test]
async fn whoever_waits_for_a_host_that_never_answers_ends_with_its_time() {
    let script = Script::default().opened(FD).write(FD, &framed("never"), 0).reads(FD, 9, b"");
    let limits = Limits { wall_max: Duration::from_millis(30), ..Limits::default() };
    let (report, seen) = with(&script, |it| RunRequest { limits, ..it }).await;
    assert_eq!((report.outcome, seen.len()), (Outcome::TimedOut, 1));
}

#[tokio::test]
async fn a_device_of_requests_cannot_be_sought_synced_or_listed() {
    let script = Script::default()
        .opened(FD)
        .call("fd_seek", [At(FD), L(0), I(0), I(1024)], 70)
        .call("fd_sync", [At(FD)], INVAL)
        .call("fd_readdir", [At(FD), I(1024), I(99), L(0), I(1020)], 54)
        .call("fd_filestat_get", [At(FD), I(1024)], 0)
        .holds64(1024 + 32, 0)
        .call("fd_close", [At(FD)], 0)
        .call("fd_sync", [At(FD)], 8);
    holds(&script).await;
}
