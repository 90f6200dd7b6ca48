//! All of preview 1, called with arguments nobody sane would pass.
#![allow(clippy::unwrap_used)]

mod common;

use common::{request, run};
use drydock_contract::{Limits, Outcome, RunRequest, Source};
use drydock_testkit::prober::{self, FUNCTIONS, PARAMETERS};
use proptest::prelude::*;

fn argument() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0u64..8,
        2 => 0u64..200,
        1 => Just(131_072),
        1 => 131_060u64..131_080,
        1 => Just(u64::from(u32::MAX)),
        1 => Just(u64::MAX),
        1 => Just(i64::MAX as u64),
        1 => any::<u64>(),
    ]
}

fn calls() -> impl Strategy<Value = Vec<(usize, [u64; PARAMETERS])>> {
    let call = (0..FUNCTIONS.len(), prop::array::uniform9(argument()));
    prop::collection::vec(call, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_arguments_of_a_guest_upset_the_host(calls in calls()) {
        let mut stdin = Vec::new();
        prober::poke(&mut stdin, 0, b"a/../b\0dir/x");
        for (which, arguments) in &calls {
            prober::call(&mut stdin, *which, arguments);
        }
        let mut it = RunRequest {
            limits: Limits { wall_max: std::time::Duration::from_secs(20), ..Limits::default() },
            // A fixed clock, so that a guest that sleeps for a century costs nothing.
            time: drydock_contract::GuestTime::Fixed(drydock_contract::Timestamp(0)),
            ..request(&prober::guest())
        };
        it.streams.stdin = Source::from(stdin);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (report, _) = runtime.block_on(run(it)).unwrap();
        let fine = matches!(
            report.outcome,
            Outcome::Exited(_) | Outcome::OutOfMemory | Outcome::OutputLimit | Outcome::Trapped(_) | Outcome::OutOfFuel
        );
        prop_assert!(fine, "{}", report.outcome);
        prop_assert!(report.memory_bytes <= Limits::default().memory_bytes_max);
    }
}
