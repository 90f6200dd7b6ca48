//! Proofs for the audit: who waits for whom, and what is written when a journal is slow or broken.

use std::task::{Context, Waker};

use drydock_contract::{
    CallId, Timestamp, TraceId, Who,
    port::{CallEnd, CallFacts, EndKind, JournalError, Subjects},
};
use drydock_testkit::block_on;
use parking_lot::Mutex;

use super::*;
use crate::{account::Accounts, rate::Rate};

/// A journal that stands still while a test holds it, and that has no disk for one tenant.
#[derive(Default)]
struct Disk {
    held: Mutex<()>,
    full_for: Mutex<Option<Tenant>>,
    lost_for: Mutex<Option<Tenant>>,
    records: Mutex<Vec<AuditRecord>>,
}

fn full(tenants: Vec<Tenant>) -> JournalError {
    let cause = std::io::Error::from(std::io::ErrorKind::StorageFull);
    JournalError { path: "disk".into(), kept: 0, tenants, cause }
}

impl Journal for Disk {
    fn append(&self, records: &[AuditRecord]) -> Result<(), JournalError> {
        let _turn = self.held.lock();
        let is_full = self.full_for.lock().as_ref() == Some(&records[0].call.who.tenant);
        if is_full {
            return Err(full(Vec::new()));
        }
        self.records.lock().extend_from_slice(records);
        Ok(())
    }

    fn sync(&self) -> Result<(), JournalError> {
        let lost = self.lost_for.lock().take();
        lost.map_or(Ok(()), |tenant| Err(full(vec![tenant])))
    }
}

struct Room {
    disk: Arc<Disk>,
    audit: Audit,
    accounts: Accounts,
}

fn room() -> Room {
    let disk = Arc::new(Disk::default());
    let audit = Audit::new(Arc::clone(&disk) as _);
    Room { disk, audit, accounts: Accounts::new(100, Rate { calls_max: 1, window_s: 1 }) }
}

impl Room {
    fn account(&self, tenant: &str) -> Arc<Account> {
        let who = Who { tenant: tenant.parse().unwrap(), principal: "me".parse().unwrap() };
        self.accounts.of(&who, Timestamp(1)).unwrap()
    }

    /// What the journal has of a tenant, by call and event.
    fn kept(&self, tenant: &str) -> Vec<(u128, String)> {
        let records = self.disk.records.lock();
        let ours = records.iter().filter(|it| it.call.who.tenant.as_str() == tenant);
        ours.map(|it| (it.call.call.0.into(), it.event.to_string())).collect()
    }
}

fn facts(account: &Account, call: u64) -> CallFacts {
    CallFacts {
        who: Arc::clone(&account.who),
        trace: TraceId(1),
        call: CallId(call),
        parent: CallId(0),
        operation: "toy.act",
        subjects: Subjects::none(),
        grant: None,
        request: None,
    }
}

fn record(account: &Account, call: u64, event: AuditEvent) -> AuditRecord {
    AuditRecord { at: Timestamp(call), call: facts(account, call), event }
}

fn end() -> AuditEvent {
    AuditEvent::Ended(CallEnd::plain(EndKind::Done))
}

#[test]
fn whoever_fills_the_queue_waits_and_its_neighbours_do_not() {
    let room = room();
    let held = room.disk.held.lock();
    let noisy: Vec<_> = (0..10).map(|n| room.account(&format!("noisy{n}"))).collect();
    let mut begun = 0;
    for account in &noisy {
        let one = |_: &u64| room.audit.begun(account, record(account, 1, AuditEvent::Begun)).is_ok();
        begun += (0..3_000).take_while(one).count();
    }
    // The writer stands still with what it took, so all of this was done by nobody but the callers.
    assert!((1_500..4_096).contains(&begun), "{begun}");
    let mut cx = Context::from_waker(Waker::noop());
    let mut waiting = Box::pin(room.audit.begun_later(&noisy[0], record(&noisy[0], 2, AuditEvent::Begun)));
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    let mut denial = Box::pin(room.audit.denied(&noisy[0], record(&noisy[0], 3, AuditEvent::Denied("no"))));
    assert!(denial.as_mut().poll(&mut cx).is_pending());
    drop(denial);
    for n in 0..20 {
        let quiet = room.account(&format!("quiet{n}"));
        assert!(room.audit.begun(&quiet, record(&quiet, 1, AuditEvent::Begun)).is_ok(), "{n}");
        room.audit.ended(record(&quiet, 1, end()));
    }
    drop(held);
    block_on(waiting).unwrap();
    room.audit.flush().unwrap();
    assert_eq!(room.disk.records.lock().len(), begun + 2 + 40, "nothing is lost");
    assert!(room.kept("noisy0").contains(&(3, "denied no".into())), "nor what nobody waited for any more");
    assert!(noisy.iter().all(|it| it.queued.load(Ordering::Relaxed) == 0), "and every place is given back");
}

#[test]
fn an_end_finds_no_queue_full_and_comes_after_its_beginning() {
    let room = room();
    let held = room.disk.held.lock();
    let accounts: Vec<_> = (0..50).map(|n| room.account(&format!("t{n}"))).collect();
    let mut begun = Vec::new();
    for call in 0..100 {
        for account in &accounts {
            let facts = facts(account, call);
            let first = AuditRecord { at: Timestamp(1), call: facts, event: AuditEvent::Begun };
            let call = first.call.clone();
            if room.audit.begun(account, first).is_ok() {
                begun.push(call);
            }
        }
    }
    for call in &begun {
        room.audit.ended(AuditRecord { at: Timestamp(2), call: call.clone(), event: end() });
    }
    drop(held);
    room.audit.flush().unwrap();
    let records = room.disk.records.lock();
    assert_eq!(records.len(), 2 * begun.len());
    for call in &begun {
        let of: Vec<_> = records.iter().filter(|it| it.call == *call).map(|it| &it.event).collect();
        assert_eq!(of, [&AuditEvent::Begun, &end()]);
    }
}

#[test]
fn a_tenant_whose_journal_cannot_be_written_is_refused_alone() {
    let room = room();
    let (bad, good) = (room.account("bad"), room.account("good"));
    *room.disk.full_for.lock() = Some("bad".parse().unwrap());
    let begin = |account: &Arc<Account>, call: u64| {
        let begun = room.audit.begun(account, record(account, call, AuditEvent::Begun));
        begun.or_else(|record| block_on(room.audit.begun_later(account, record)))
    };
    begin(&bad, 1).unwrap();
    room.audit.flush().unwrap_err();
    for call in 2..20 {
        assert!(begin(&bad, call).unwrap_err().contains("disk"));
        block_on(room.audit.denied(&bad, record(&bad, 100 + call, AuditEvent::Denied("no"))));
        begin(&good, call).unwrap();
        block_on(room.audit.denied(&good, record(&good, 100 + call, AuditEvent::Denied("no"))));
        assert!(room.kept("good").contains(&((100 + call).into(), "denied no".into())), "on disk by now");
    }
    assert_eq!(room.kept("bad"), []);
    *room.disk.full_for.lock() = None;
    begin(&bad, 20).unwrap();
    room.audit.flush().unwrap();
    let kept = room.kept("bad");
    assert_eq!((kept.len(), kept[0].0), (1 + 18 + 1, 1), "what was kept is written, and first: {kept:?}");
}

#[test]
fn a_sync_that_failed_for_one_tenant_is_made_up_for_and_no_one_elses_record_is_written_twice() {
    let room = room();
    let (bad, good) = (room.account("bad"), room.account("good"));
    let held = room.disk.held.lock();
    let denied = |account: &Arc<Account>| record(account, 1, AuditEvent::Denied("no"));
    *room.disk.lost_for.lock() = Some("bad".parse().unwrap());
    let mut waiting =
        [Box::pin(room.audit.denied(&bad, denied(&bad))), Box::pin(room.audit.denied(&good, denied(&good)))];
    let mut cx = Context::from_waker(Waker::noop());
    waiting.iter_mut().for_each(|it| assert!(it.as_mut().poll(&mut cx).is_pending()));
    drop(held);
    waiting.into_iter().for_each(block_on);
    room.audit.flush().unwrap();
    assert_eq!((room.kept("bad").len(), room.kept("good").len()), (2, 1));
}
