//! One contract for all powers: what each of them must show of itself at the gate, operation by operation.
//!
//! The list of cases (`cases::case_of`) is a match over every name a power can have: a name that is not in it does not
//! compile. What a case must say of every operation is asked by `suite`, which goes by the specifications themselves.
#![allow(clippy::unwrap_used, clippy::panic)]

mod cases;
mod fakes;
mod suite;

use std::collections::BTreeSet;

use cases::{case_of, every_case};
use drydock_caps::{ROOMS, SPECS};
use drydock_contract::Cap;

#[test]
fn every_power_is_in_the_contract_with_all_its_operations() {
    let listed: BTreeSet<&str> = SPECS.iter().map(|it| it.cap.as_str()).collect();
    assert_eq!(BTreeSet::from_iter(ROOMS.iter().copied()), listed, "folders, and what each says of itself");
    let cased: BTreeSet<&str> =
        Cap::ALL.iter().filter(|it| case_of(**it).is_some()).map(|it| it.as_str()).collect();
    assert_eq!(cased, listed, "the powers of `drydock_caps::SPECS` and those of `cases::case_of`");
    for spec in SPECS {
        let case = case_of(spec.cap).unwrap();
        suite::lists(&*case, spec.cap);
        let operations =
            |it: &drydock_gate::CapSpec| it.operations.iter().map(|it| it.name).collect::<Vec<_>>();
        assert_eq!(operations(case.spec()), operations(spec), "{}", spec.cap);
    }
}

#[tokio::test]
async fn every_answer_is_recorded_and_gives_its_place_back() {
    for case in every_case() {
        suite::an_answer_is_recorded(&*case).await;
    }
}

#[tokio::test]
async fn whoever_is_revoked_or_cancelled_is_refused_by_every_operation() {
    for case in every_case() {
        suite::who_is_revoked_or_cancelled_is_refused(&*case).await;
    }
}

#[tokio::test]
async fn one_call_too_many_is_refused_by_every_operation() {
    for case in every_case() {
        suite::one_call_too_many_is_refused(&*case).await;
    }
}

#[tokio::test]
async fn whoever_was_granted_nothing_something_else_or_no_use_is_refused_by_every_operation() {
    for case in every_case() {
        suite::who_was_granted_nothing_or_something_else_is_refused(&*case).await;
    }
}

#[tokio::test]
async fn what_is_too_deep_or_too_large_is_refused_by_every_operation() {
    for case in every_case() {
        suite::what_is_too_deep_or_too_large_is_refused(&*case).await;
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused_by_every_operation() {
    for case in every_case() {
        suite::what_is_no_request_is_refused(&*case).await;
    }
}

#[tokio::test]
async fn each_power_refuses_by_its_own_codes_and_every_bound_it_lists_is_among_them() {
    for case in every_case() {
        let codes = suite::what_the_power_refuses_is_refused_by_its_code(&*case).await;
        for bound in case.bounds() {
            assert!(codes.contains(bound), "{}: nothing is refused as `{bound}`", case.spec().cap);
        }
    }
}

#[tokio::test]
async fn a_budget_that_is_spent_refuses_every_operation() {
    for case in every_case() {
        suite::a_budget_that_is_spent_refuses(&*case).await;
    }
}

/// Operations whose answer is there as soon as they are asked: nothing of them can be cut off.
const AT_ONCE: &[&str] = &["commands.list", "kernel.close", "process.spawn", "secret.sign", "serve.accept"];

#[tokio::test]
async fn a_call_in_flight_ends_with_its_principal_its_tenant_its_session_its_grant_and_its_caller() {
    let mut ended = BTreeSet::from_iter(AT_ONCE.iter().copied());
    for case in every_case() {
        ended.extend(suite::a_call_in_flight_ends_at_once(&*case).await);
    }
    let all: BTreeSet<&str> = SPECS.iter().flat_map(|it| it.operations).map(|it| it.name).collect();
    assert_eq!(ended, all, "an operation waits, or it is said here that it never does");
}

#[tokio::test]
async fn whoever_is_revoked_cancelled_or_loses_a_grant_loses_what_outlived_its_call_at_once() {
    let mut lost = Vec::new();
    for case in every_case() {
        lost.extend(suite::what_outlives_its_call_is_lost_with_what_let_it_begin(&*case).await);
    }
    assert_eq!(
        lost,
        ["tcp.connect", "tls.connect", "kernel.open", "process.spawn", "serve.listen", "serve.accept"]
    );
}
