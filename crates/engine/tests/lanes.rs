//! Lanes as data: the one without fuel, and the ones where modules may throw.
#![allow(clippy::unwrap_used)]

mod common;

use std::time::Duration;

use common::{engine, request, run};
use drydock_contract::{
    Limits, Outcome, RunRequest,
    port::{Interruption, LaneChoice, Runner as _, WasmFeatures},
};

/// Nothing here takes a minute unless it hangs.
const HANG: Duration = Duration::from_secs(60);

fn choice(interrupt: Interruption, exceptions: bool) -> Option<LaneChoice> {
    Some(LaneChoice { interrupt, features: WasmFeatures { exceptions }, ..LaneChoice::USUAL })
}

/// Throws a number and exits with what it caught.
const CATCHES: &str = r#"(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1) (tag $t (param i32))
  (func (export "_start")
    (call $exit (block $caught (result i32) (try_table (catch $t $caught) (throw $t (i32.const 7))) (i32.const 1)))))"#;

const UNCAUGHT: &str =
    r#"(module (memory (export "memory") 1) (tag $t) (func (export "_start") (throw $t)))"#;

/// Throws for ever, and keeps each thing that was thrown in a table; all of them are wide.
fn keeps_what_it_throws() -> String {
    let wide = "i64 ".repeat(500);
    let values = "(i64.const 1)".repeat(500);
    format!(
        r#"(module (memory (export "memory") 1) (table $kept 60000 exnref) (tag $t (param {wide}))
          (func (export "_start") (local $i i32)
            (loop $again
              (table.set $kept (local.get $i)
                (block $caught (result exnref) (try_table (catch_all_ref $caught) {values} (throw $t)) unreachable))
              (local.set $i (i32.rem_u (i32.add (local.get $i) (i32.const 1)) (i32.const 60000)))
              (br $again))))"#
    )
}

const THROWS_FOR_EVER: &str = r#"(module (memory (export "memory") 1) (tag $t)
  (func (export "_start") (loop $again (block $caught (try_table (catch $t $caught) (throw $t))) (br $again))))"#;

#[tokio::test]
async fn a_module_that_throws_runs_where_that_is_on_and_is_refused_by_the_features_name_elsewhere() {
    for interrupt in [Interruption::Fuel, Interruption::Tick] {
        let asked = RunRequest { lane: choice(interrupt, true), ..request(CATCHES) };
        assert_eq!(run(asked).await.unwrap().0.outcome, Outcome::Exited(7), "{interrupt:?}");
        let refused = RunRequest { lane: choice(interrupt, false), ..request(CATCHES) };
        let fault = run(refused).await.map(drop).unwrap_err();
        let said = fault.to_string();
        assert_eq!(fault.code(), "bad_module");
        assert!(said.contains("feature `exceptions`") && said.contains("--feature exceptions"), "{said}");
    }
    let by_itself = RunRequest { lane: None, ..request(CATCHES) };
    assert_eq!(run(by_itself).await.unwrap().0.outcome, Outcome::Exited(7));
}

#[tokio::test]
async fn what_nobody_catches_is_the_guests_own_end() {
    let (report, _) = run(request(UNCAUGHT)).await.unwrap();
    assert_eq!(report.outcome, Outcome::Trapped("uncaught exception".into()));
}

#[tokio::test]
async fn what_is_thrown_and_kept_counts_as_the_guests_memory() {
    for interrupt in [Interruption::Fuel, Interruption::Tick] {
        let limits =
            Limits { memory_bytes_max: 16 << 20, fuel_max: u64::MAX, wall_max: HANG, ..Limits::default() };
        let asked = RunRequest { lane: choice(interrupt, true), limits, ..request(&keeps_what_it_throws()) };
        let (report, _) = run(asked).await.unwrap();
        assert_eq!(report.outcome, Outcome::OutOfMemory, "{interrupt:?}");
        assert!(report.memory_bytes > 8 << 20 && report.memory_bytes <= 16 << 20, "{}", report.memory_bytes);
    }
}

#[tokio::test]
async fn a_guest_that_throws_for_ever_dies_by_the_clock_by_a_switch_and_by_its_fuel() {
    let limits = Limits { fuel_max: u64::MAX, wall_max: Duration::from_millis(50), ..Limits::default() };
    for interrupt in [Interruption::Fuel, Interruption::Tick] {
        let lane = choice(interrupt, true);
        let (report, _) = run(RunRequest { lane, limits, ..request(THROWS_FOR_EVER) }).await.unwrap();
        assert_eq!(report.outcome, Outcome::TimedOut, "{interrupt:?}");

        let limits = Limits { wall_max: HANG * 2, ..limits };
        let endless = RunRequest { lane, limits, ..request(THROWS_FOR_EVER) };
        endless.switches[1].trip();
        let (report, _) = tokio::time::timeout(HANG, run(endless)).await.expect("it hangs").unwrap();
        assert_eq!(report.outcome, Outcome::Cancelled, "{interrupt:?}");
    }
    let limits = Limits { fuel_max: 1_000_000, wall_max: HANG, ..Limits::default() };
    let (report, _) = run(RunRequest { limits, ..request(THROWS_FOR_EVER) }).await.unwrap();
    assert_eq!(report.outcome, Outcome::OutOfFuel);
}

#[tokio::test]
async fn as_many_guests_throw_at_once_as_there_are_slots() {
    let all = (0..64).map(|_| engine().run(RunRequest { lane: None, ..request(CATCHES) }));
    for done in futures_util::future::join_all(all).await {
        assert_eq!(done.unwrap().0.outcome, Outcome::Exited(7));
    }
}

#[tokio::test]
async fn a_tick_lane_of_a_command_counts_no_fuel_and_keeps_its_clock_and_memory() {
    let lane = choice(Interruption::Tick, false);
    let limits = Limits { fuel_max: 1, wall_max: Duration::from_millis(50), ..Limits::default() };
    let endless = RunRequest { lane, limits, ..request(&drydock_testkit::guests::infinite_loop()) };
    let (report, _) = run(endless).await.unwrap();
    assert_eq!((report.outcome, report.fuel), (Outcome::TimedOut, 0));
    let bomb = RunRequest { lane, ..request(&drydock_testkit::guests::memory_bomb()) };
    assert_eq!(run(bomb).await.unwrap().0.outcome, Outcome::OutOfMemory);
}
