//! A thousand tenants at once: what they cost in descriptors, memory of counts and disk.

#![allow(clippy::unwrap_used)]

use std::{fs, sync::Arc};

use drydock_contract::{
    CallId, Tenant, Timestamp, TraceId, Who,
    port::{AuditEvent, AuditRecord, CallFacts, Journal as _, Subjects},
};
use drydock_store::{AUDIT_FILES_MAX, FileJournal, Filter, Home, count_audit, read_audit};

const TENANTS: usize = 1000;
const ROUNDS: u64 = 300;

fn open_in(home: &Home) -> usize {
    let open =
        fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|it| fs::read_link(it.path()).ok());
    open.filter(|it| it.starts_with(home.root())).count()
}

#[test]
fn a_thousand_tenants_with_a_denial_a_millisecond_each_stay_within_bounds_and_lose_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let journal = FileJournal::open(&home);
    let tenants: Vec<Tenant> = (0..TENANTS).map(|n| format!("tenant/{n}").parse().unwrap()).collect();
    let denial = |tenant: &Tenant, at: u64| AuditRecord {
        at: Timestamp(at * 1_000_000),
        call: CallFacts {
            who: Arc::new(Who { tenant: tenant.clone(), principal: "../noisy".parse().unwrap() }),
            trace: TraceId(1),
            call: CallId(at),
            parent: CallId(0),
            operation: "exec.start",
            subjects: Subjects::One("rm".into()),
            grant: None,
            request: None,
        },
        event: AuditEvent::Denied("command_not_granted"),
    };
    let mut most = 0;
    for round in 0..ROUNDS {
        // As the gate hands them over: a millisecond of all of them, side by side, and synced before anybody is told.
        let batch: Vec<_> = tenants.iter().map(|it| denial(it, round)).collect();
        journal.append(&batch).unwrap();
        journal.sync().unwrap();
        most = most.max(open_in(&home));
        if round == 0 {
            let first = read_audit(&home.tenant(&tenants[7]), Filter::default()).unwrap().next().unwrap();
            assert_eq!(first.unwrap().count, 1, "the first of each is there at once");
        }
    }
    drop(journal);
    // The disk's own, and a segment that is made while another is still open.
    assert!(most <= AUDIT_FILES_MAX + 2, "{most} descriptors");
    let mut bytes = 0;
    for tenant in &tenants {
        let home = home.tenant(tenant);
        let counts = count_audit(&home).unwrap();
        assert_eq!((counts.decisions.values().sum::<u64>(), counts.torn), (ROUNDS, 0));
        let files = fs::read_dir(home.audit()).unwrap().map(|it| it.unwrap().metadata().unwrap().len());
        bytes += files.sum::<u64>();
    }
    // Every line would be 55 MB.
    assert!(bytes < 20 << 20, "{bytes} bytes for {} denials", TENANTS as u64 * ROUNDS);
}
