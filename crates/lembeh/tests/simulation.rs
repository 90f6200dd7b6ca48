//! Random schedules against the hub: commands, completions, cancels, timeouts, short reads and short writes in any
//! order, with the laws as assertions.
//!
//! `DRYDOCK_SCHEDULES=N` runs so many; a schedule that fails prints its seed, and `DRYDOCK_SEED=SEED` runs it alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::disallowed_methods)] // The two variables above; the room itself reads none.

mod simulation_parts;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use simulation_parts::Schedule;

/// How many run in an ordinary test.
const SCHEDULES: u64 = 2_000;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn no_schedule_breaks_a_law() {
    if let Some(seed) = number("DRYDOCK_SEED") {
        println!("{:?}", Schedule::new(seed).run());
        return;
    }
    let count = number("DRYDOCK_SCHEDULES").unwrap_or(SCHEDULES);
    let mut total = simulation_parts::Tally::default();
    for seed in 0..count {
        match catch_unwind(AssertUnwindSafe(|| Schedule::new(seed).run())) {
            Ok(tally) => total.add(&tally),
            Err(panic) => {
                eprintln!("schedule {seed} breaks a law; DRYDOCK_SEED={seed} runs it again");
                resume_unwind(panic);
            }
        }
    }
    println!("{count} schedules: {total:?}");
    // A simulation in which something never happens shows nothing about it.
    assert!(total.all_happened(), "{total:?}");
}

#[test]
fn a_schedule_is_its_seed() {
    for seed in 0..50 {
        assert_eq!(Schedule::new(seed).run(), Schedule::new(seed).run());
    }
}
