//! What runs draw from a budget that they share: a run that waits for another one pays for nothing but itself.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use common::{engine, request};
use drydock_abi::exec::encode_report;
use drydock_abi::tool::encode_frame;
use drydock_contract::{
    BoxFuture, Budget, Call, CallError, Cap, CapSet, Dispatch, FUEL_PER_MICROSECOND, Limits, Outcome, Reply,
    RunRequest, Streams, Unit,
    port::{Interruption, LaneChoice, Runner as _},
};

/// Counts down from so many, and exits well.
fn burner(rounds: u64) -> String {
    format!(
        r#"(module
  (memory (export "memory") 1)
  (func (export "_start") (local $left i64)
    (local.set $left (i64.const {rounds}))
    (loop $again
      (local.set $left (i64.sub (local.get $left) (i64.const 1)))
      (br_if $again (i64.ne (local.get $left) (i64.const 0))))))"#
    )
}

/// Starts what its door starts, and exits with its status: by `host_command`, or by `host_exec`.
fn starter(exec: bool) -> String {
    let (name, params, arguments) = match exec {
        true => ("host_exec", "i32 i32 i32 i32", "(i32.const 0) (i32.const 0) (i32.const 64) (i32.const 64)"),
        false => ("host_command", "i32 i32 i32", "(i32.const 0) (i32.const 0) (i32.const 0)"),
    };
    format!(
        r#"(module
  (import "env" "{name}" (func $start (param {params}) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start") (call $exit (call $start {arguments}))))"#
    )
}

/// Each run starts the next one of the list.
struct Chain {
    rest: Vec<String>,
    budget: Arc<Budget>,
}

fn chained(mut rest: Vec<String>, budget: &Arc<Budget>) -> RunRequest {
    let wat = rest.remove(0);
    let door = Arc::new(Chain { rest, budget: Arc::clone(budget) });
    let caps = CapSet::of(&[Cap::Exec, Cap::Vfs]);
    // As the gate has it: no run may burn more than there is when it begins.
    let limits = Limits { fuel_max: budget.left(Unit::Fuel).unwrap(), ..Limits::default() };
    RunRequest { door, caps, limits, budget: Some(Arc::clone(budget)), ..request(&wat) }
}

impl Dispatch for Chain {
    fn dispatch<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            let run = engine().run(chained(self.rest.clone(), &self.budget));
            let (report, _) = run.await.map_err(CallError::Failed)?;
            Ok(Reply::of_bytes(encode_report(&report), Streams::default()))
        })
    }
}

#[tokio::test]
async fn a_nested_command_costs_those_who_wait_for_it_no_fuel() {
    let burner = burner(20_000_000);
    let (alone, _) = engine().run(request(&burner)).await.unwrap();
    assert_eq!(alone.outcome, Outcome::Exited(0));
    assert!(alone.fuel > 50_000_000, "it is no test if it yields never: {}", alone.fuel);
    let nested = [starter(false), starter(true), starter(false), burner.clone()];
    // Each of those who wait keeps two intervals, which it needs to go on.
    let spare = 9_000_000;
    let budget = Arc::new(Budget::of([(Unit::Fuel, alone.fuel + spare)]));
    let (report, _) = engine().run(chained(nested.to_vec(), &budget)).await.unwrap();
    assert_eq!(report.outcome, Outcome::Exited(0));
    let left = budget.left(Unit::Fuel).unwrap();
    assert!((spare - 1_000_000..spare).contains(&left), "what all burnt is paid for, and once: {left}");
    // And what there is not, nobody burns.
    let budget = Arc::new(Budget::of([(Unit::Fuel, alone.fuel - 1_000_000)]));
    let (report, _) = engine().run(chained(vec![starter(false), burner], &budget)).await.unwrap();
    assert_eq!(report.outcome, Outcome::Exited(-1), "the caller goes on, and is told");
}

/// A tool that computes for so long, where it is asked and when it is waited for.
struct Busy(Duration);

fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

impl Dispatch for Busy {
    fn dispatch<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move {
            spin(self.0);
            tokio::task::yield_now().await;
            spin(self.0);
            Ok(Reply::of_bytes(b"1".to_vec(), Streams::default()))
        })
    }
}

/// Calls one tool, and waits for its answer.
const ASKS: &str = r#"(module
  (import "env" "tool_start" (func $start (param i32 i32) (result i32)))
  (import "env" "tool_next" (func $next (param i32 i32) (result i64)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $start (i32.const 0) (i32.const 2)))
    (if (i64.le_s (call $next (i32.const 64) (i32.const 999)) (i64.const 0)) (then unreachable))))"#;

/// The same by `/dev/drydock`.
fn asks_the_device() -> String {
    use common::script::{Arg::*, Script, text};
    let list = [4096u32.to_le_bytes(), 999u32.to_le_bytes()].concat();
    let script = Script::default().open("dev/drydock", 0, 0, 0).write(0, &encode_frame(0, b"1"), 0);
    script.call("fd_read", [At(0), text(list), I(4092)], 0).wat()
}

#[tokio::test]
async fn time_that_a_tool_computes_within_a_programs_turns_is_not_the_programs() {
    let lane = Some(LaneChoice { interrupt: Interruption::Tick, ..LaneChoice::USUAL });
    let took = Duration::from_millis(100);
    for wat in [ASKS.to_owned(), asks_the_device()] {
        let budget = Arc::new(Budget::of([(Unit::Fuel, 1 << 40)]));
        let asked = RunRequest {
            lane,
            door: Arc::new(Busy(took)),
            caps: CapSet::of(&[Cap::Tool, Cap::Vfs]),
            budget: Some(Arc::clone(&budget)),
            ..request(&wat)
        };
        assert_eq!(engine().run(asked).await.unwrap().0.outcome, Outcome::Exited(0));
        let micros = ((1 << 40) - budget.left(Unit::Fuel).unwrap()) / FUEL_PER_MICROSECOND;
        // Its own turns take microseconds; the tool's took a fifth of a second.
        assert!(u128::from(micros) < took.as_micros(), "{micros} us");
    }
}
