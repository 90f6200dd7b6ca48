//! Every limit of a run is a named outcome, and the next run is fine.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use common::{engine, request, run};
use drydock_contract::{
    Budget, ByteSink, ByteSource, Limits, Outcome, RunRequest, Sink, Source, Unit, port::Runner as _,
};
use drydock_testkit::guests;

/// Generous: only a hang is caught by it.
const HANG: Duration = Duration::from_secs(60);

async fn outcome(wat: &str, limits: Limits) -> Outcome {
    let guard = tokio::time::timeout(HANG, run(RunRequest { limits, ..request(wat) }));
    guard.await.expect("the run hangs").unwrap().0.outcome
}

#[tokio::test]
async fn a_loop_that_never_yields_dies_by_fuel() {
    let limits = Limits { fuel_max: 50_000_000, ..Limits::default() };
    assert_eq!(outcome(&guests::infinite_loop(), limits).await, Outcome::OutOfFuel);
}

#[tokio::test]
async fn a_loop_that_never_yields_dies_by_the_clock() {
    let limits = Limits { fuel_max: u64::MAX, wall_max: Duration::from_millis(50), ..Limits::default() };
    assert_eq!(outcome(&guests::infinite_loop(), limits).await, Outcome::TimedOut);
}

#[tokio::test]
async fn a_run_that_is_dropped_pays_what_it_burnt_and_not_what_it_might_have() {
    let limits = Limits { fuel_max: 1 << 60, wall_max: HANG, ..Limits::default() };
    let budget = Arc::new(Budget::of([(Unit::Fuel, 1 << 60)]));
    let endless =
        RunRequest { limits, budget: Some(Arc::clone(&budget)), ..request(&guests::infinite_loop()) };
    let dropped = tokio::time::timeout(Duration::from_millis(100), run(endless)).await;
    assert!(dropped.is_err(), "it ended");
    let burnt = (1 << 60) - budget.left(Unit::Fuel).unwrap();
    assert!(burnt > 0 && burnt < 1 << 50, "{burnt}");
}

#[tokio::test]
async fn where_fuel_is_not_counted_a_loop_dies_by_the_clock_and_by_a_switch() {
    let lane = engine().timed().unwrap();
    // More fuel than that would be used up at once, if it were counted.
    let limits = Limits { fuel_max: 1, wall_max: Duration::from_millis(50), ..Limits::default() };
    let wish = || RunRequest { limits, ..request(&guests::infinite_loop()) };
    let (report, _) = tokio::time::timeout(HANG, lane.run(wish())).await.expect("it hangs").unwrap();
    assert_eq!((report.outcome, report.fuel), (Outcome::TimedOut, 0));

    let limits = Limits { wall_max: HANG * 2, ..limits };
    let endless = RunRequest { limits, ..wish() };
    let switch = Arc::clone(&endless.switches[0]);
    let run = tokio::spawn(lane.run(endless));
    // The ticker may rest by now, and has to be awake for the guest all the same.
    tokio::time::sleep(Duration::from_millis(100)).await;
    switch.trip();
    let (report, _) = tokio::time::timeout(HANG, run).await.expect("it hangs").unwrap().unwrap();
    assert_eq!(report.outcome, Outcome::Cancelled);
}

#[tokio::test]
async fn where_fuel_is_not_counted_guests_of_one_thread_take_turns() {
    let lane = engine().timed().unwrap();
    let limits = Limits { wall_max: Duration::from_millis(300), ..Limits::default() };
    let endless = lane.run(RunRequest { limits, ..request(&guests::infinite_loop()) });
    let short = lane.run(request(&guests::exit(7)));
    let first =
        tokio::time::timeout(HANG, futures_util::future::select(endless, short)).await.expect("it hangs");
    let futures_util::future::Either::Right((Ok((report, _)), _)) = first else {
        panic!("the endless one kept the thread to its end")
    };
    assert_eq!(report.outcome, Outcome::Exited(7));
}

#[tokio::test]
async fn waiting_dies_by_the_clock_too() {
    let limits = Limits { wall_max: Duration::from_millis(50), ..Limits::default() };
    let started = Instant::now();
    assert_eq!(outcome(&guests::sleep_ms(3_600_000), limits).await, Outcome::TimedOut);
    assert!(started.elapsed() < HANG);
    let forever = RunRequest { limits, ..request(&guests::drain_stdin()) };
    let forever = with_stdin(forever, Source::Stream(Box::new(Never)));
    assert_eq!(run(forever).await.unwrap().0.outcome, Outcome::TimedOut);
}

#[tokio::test]
async fn work_done_by_the_host_dies_by_the_clock_too() {
    let limits = Limits { wall_max: Duration::from_millis(100), ..Limits::default() };
    let started = Instant::now();
    assert_eq!(outcome(&guests::host_work(), limits).await, Outcome::TimedOut);
    assert!(started.elapsed() < HANG, "host calls cost no fuel, so they must look at the clock themselves");
}

#[tokio::test]
async fn recursion_ends_as_a_trap() {
    let Outcome::Trapped(reason) = outcome(&guests::recursion(), Limits::default()).await else { panic!() };
    assert_eq!(reason, "call stack exhausted");
}

#[tokio::test]
async fn memory_that_grows_for_ever_is_out_of_memory() {
    assert_eq!(outcome(&guests::memory_bomb(), Limits::default()).await, Outcome::OutOfMemory);
    assert_eq!(outcome(&guests::memory_declared(), Limits::default()).await, Outcome::OutOfMemory);
}

#[tokio::test]
async fn what_the_host_buffers_for_the_guest_counts_as_its_memory() {
    let small = Limits { memory_bytes_max: 1 << 20, ..Limits::default() };
    assert_eq!(outcome(&guests::output_flood(1), small).await, Outcome::OutOfMemory);
}

#[tokio::test]
async fn output_past_the_cap_ends_the_run_with_what_was_produced() {
    for descriptor in [1, 2] {
        let (report, streams) = run(request(&guests::output_flood(descriptor))).await.unwrap();
        assert_eq!(report.outcome, Outcome::OutputLimit);
        let (out, err) = (streams.stdout.into_captured().len(), streams.stderr.into_captured().len());
        assert_eq!(out + err, 8 << 20, "descriptor {descriptor}");
        assert_eq!(report.stdout_bytes + report.stderr_bytes, 8 << 20);
    }
}

#[tokio::test]
async fn stdin_past_its_cap_is_an_input_limit_and_one_that_just_fits_is_not() {
    for (length, want) in [(1000, Outcome::Exited(0)), (1001, Outcome::InputLimit)] {
        let limits = Limits { stdin_bytes_max: 1000, ..Limits::default() };
        let it = RunRequest { limits, ..request(&guests::drain_stdin()) };
        let (report, _) = run(with_stdin(it, Source::from(vec![7; length]))).await.unwrap();
        assert_eq!((report.outcome, report.stdin_bytes), (want, 1000));
    }
    let endless = with_stdin(request(&guests::drain_stdin()), Source::Stream(Box::new(Endless)));
    assert_eq!(run(endless).await.unwrap().0.outcome, Outcome::InputLimit);
}

#[tokio::test]
async fn a_trap_and_an_exit_are_told_apart() {
    for (wat, want) in [
        (guests::exit(0), Outcome::Exited(0)),
        (guests::exit(42), Outcome::Exited(42)),
        (guests::unreachable(), Outcome::Trapped("wasm `unreachable` instruction executed".into())),
    ] {
        assert_eq!(outcome(&wat, Limits::default()).await, want);
    }
}

#[tokio::test]
async fn pointers_outside_memory_are_answered_with_efault() {
    assert_eq!(outcome(&guests::bad_pointers(), Limits::default()).await, Outcome::Exited(0));
}

#[tokio::test]
async fn a_tripped_switch_ends_runs_that_compute_and_runs_that_wait() {
    for (index, wat) in [guests::infinite_loop(), guests::sleep_ms(3_600_000)].iter().enumerate() {
        let it = RunRequest { limits: Limits { fuel_max: u64::MAX, ..Limits::default() }, ..request(wat) };
        let switch = Arc::clone(&it.switches[index]);
        let tripper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            switch.trip();
        });
        let (report, _) = tokio::time::timeout(HANG, run(it)).await.unwrap().unwrap();
        assert_eq!(report.outcome, Outcome::Cancelled);
        tripper.join().unwrap();
    }
}

#[tokio::test]
async fn a_sink_that_takes_nothing_does_not_hold_the_run_past_its_deadline() {
    let limits = Limits { wall_max: Duration::from_millis(50), ..Limits::default() };
    let mut it = RunRequest { limits, ..request(&guests::output_flood(1)) };
    it.streams.stdout = Sink::Stream(Box::new(Never));
    let (report, _) = tokio::time::timeout(HANG, run(it)).await.unwrap().unwrap();
    assert_eq!(report.outcome, Outcome::TimedOut);
}

#[tokio::test]
async fn dropping_a_run_ends_it_and_frees_its_slot() {
    // More runs than the pool has slots, each dropped while the guest is in the middle of something.
    for wat in [guests::sleep_ms(3_600_000), guests::infinite_loop()] {
        for _ in 0..200 {
            let it =
                RunRequest { limits: Limits { fuel_max: u64::MAX, ..Limits::default() }, ..request(&wat) };
            assert!(tokio::time::timeout(Duration::from_millis(1), run(it)).await.is_err());
        }
    }
    assert_eq!(outcome(&guests::exit(0), Limits::default()).await, Outcome::Exited(0));
}

fn with_stdin(mut request: RunRequest, stdin: Source) -> RunRequest {
    request.streams.stdin = stdin;
    request
}

/// Never ready, in either direction.
struct Never;

impl ByteSource for Never {
    fn poll_read(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }
}

impl ByteSink for Never {
    fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

/// Always has more.
struct Endless;

impl ByteSource for Endless {
    fn poll_read(&mut self, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        buffer.fill(b'x');
        Poll::Ready(Ok(buffer.len()))
    }
}

/// A pipe whose reader has gone.
struct Closed;

impl ByteSink for Closed {
    fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_guest_that_writes_to_nobody_ends_as_by_sigpipe() {
    let writes_for_ever = |fd: u32| {
        format!(
            r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 4) (i32.const 8))
    (loop $again (drop (call $write (i32.const {fd}) (i32.const 0) (i32.const 1) (i32.const 8))) (br $again))))"#
        )
    };
    for fd in [1, 2] {
        let mut it = request(&writes_for_ever(fd));
        (it.streams.stdout, it.streams.stderr) =
            (Sink::Stream(Box::new(Closed)), Sink::Stream(Box::new(Closed)));
        let (report, _) = tokio::time::timeout(HANG, run(it)).await.expect("the run hangs").unwrap();
        assert_eq!(report.outcome, Outcome::Exited(141), "{fd}");
    }
}
