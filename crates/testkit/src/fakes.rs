//! Stand-ins for the ports: a clock that is set by hand, a journal that can be read and broken.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use drydock_contract::{
    Principal, Timestamp,
    port::{AuditRecord, Clock, Journal, JournalError},
};
use parking_lot::Mutex;

/// A clock that stands until it is moved.
#[derive(Debug, Default)]
pub struct FixedClock(AtomicU64);

impl FixedClock {
    pub fn at_second(second: u64) -> Self {
        Self(AtomicU64::new(second * 1_000_000_000))
    }

    pub fn advance_s(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1_000_000_000, Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// Keeps records in memory. `break_now` makes it fail like a full disk, `lose_next_sync` like a disk whose cache was
/// lost: what was not synced is gone, and the sync after that succeeds.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    records: Mutex<Vec<AuditRecord>>,
    synced: AtomicU64,
    broken: AtomicBool,
    loses: AtomicBool,
}

impl MemoryJournal {
    pub fn records(&self) -> Vec<AuditRecord> {
        self.records.lock().clone()
    }

    /// How many records were there at the last sync.
    pub fn synced(&self) -> u64 {
        self.synced.load(Ordering::SeqCst)
    }

    pub fn break_now(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }

    pub fn lose_next_sync(&self) {
        self.loses.store(true, Ordering::SeqCst);
    }

    pub fn mend(&self) {
        self.broken.store(false, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), JournalError> {
        if self.broken.load(Ordering::SeqCst) {
            let cause = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(JournalError { path: "memory".into(), kept: 0, tenants: Vec::new(), cause });
        }
        Ok(())
    }
}

impl Journal for MemoryJournal {
    fn append(&self, records: &[AuditRecord]) -> Result<(), JournalError> {
        self.check()?;
        self.records.lock().extend_from_slice(records);
        Ok(())
    }

    fn sync(&self) -> Result<(), JournalError> {
        self.check()?;
        if self.loses.swap(false, Ordering::SeqCst) {
            let synced = usize::try_from(self.synced()).unwrap_or(usize::MAX);
            self.records.lock().truncate(synced);
            let cause = std::io::Error::other("the disk lost its cache");
            return Err(JournalError { path: "memory".into(), kept: 0, tenants: Vec::new(), cause });
        }
        self.synced.store(self.records.lock().len() as u64, Ordering::SeqCst);
        Ok(())
    }
}

/// A principal for a test.
pub fn principal(name: &str) -> Principal {
    name.parse().expect("a test's principal is legal")
}
