//! The queue before the writer, and who may have how much of it.
//!
//! A principal may have as many records there as there are places left, some of which are for those who have hardly
//! any. So one that is noisy gets half of the queue, and several get less each; the noisy ones wait, and somebody
//! else's record finds a place.

use std::sync::{Arc, atomic::Ordering};

use drydock_contract::port::AuditRecord;

use super::writer::Shared;
use crate::account::Account;

/// A box of the queue, which goes back to whoever queues next: a box that is made on one thread and freed on another
/// costs more than the record that lies in it.
pub(super) type Boxed = Box<Option<Queued>>;
/// Boxes that are kept: as many as come between two rounds of a busy host.
pub(super) const SPARE_MAX: usize = 256;

/// Records waiting to be written.
pub(super) const QUEUED_MAX: usize = 2048;
/// With fewer than this nobody is counted.
const CROWDED: usize = QUEUED_MAX / 4;
/// Places that are left to principals with fewer records than this.
const RESERVED: usize = QUEUED_MAX / 8;
const FEW: usize = 8;
/// Records that could not wait for a place, at most. Ends of calls in flight are far fewer.
const BESIDE_MAX: usize = 65_536;

/// A record, and whose share of the queue it takes, if it was counted.
pub(super) struct Queued {
    record: AuditRecord,
    counted: Option<Arc<Account>>,
}

impl Queued {
    /// Takes it out: its place is somebody else's.
    pub(super) fn into_record(self) -> AuditRecord {
        if let Some(account) = self.counted {
            account.queued.fetch_sub(1, Ordering::Relaxed);
        }
        self.record
    }
}

impl Shared {
    /// Queues a record and answers the round of writing that had begun by then; gives it back if the principal has had
    /// its share, or the queue is full.
    #[expect(
        clippy::result_large_err,
        reason = "given back seldom, and then moved once more; nobody pays for a box"
    )]
    pub(super) fn enqueue(&self, record: AuditRecord, account: &Arc<Account>) -> Result<u64, AuditRecord> {
        let queued = self.queue.len();
        let mut counted = None;
        if queued >= CROWDED {
            let own = account.queued.fetch_add(1, Ordering::Relaxed) as usize;
            counted = Some(Arc::clone(account));
            if own >= FEW && own + RESERVED >= QUEUED_MAX.saturating_sub(queued) {
                return Err(Queued { record, counted }.into_record());
            }
        }
        self.push(Queued { record, counted }).map_err(Queued::into_record)?;
        Ok(self.round.load(Ordering::SeqCst))
    }

    /// Puts it into the queue, or gives it back where that is full.
    #[expect(
        clippy::result_large_err,
        reason = "given back seldom, and then moved once more; nobody pays for a box"
    )]
    fn push(&self, queued: Queued) -> Result<(), Queued> {
        let boxed = match self.spare.pop() {
            Some(mut boxed) => {
                *boxed = Some(queued);
                boxed
            }
            None => Box::new(Some(queued)),
        };
        match self.queue.push(boxed) {
            Ok(()) => Ok(()),
            Err(mut boxed) => boxed.take().map_or(Ok(()), Err),
        }
    }

    /// Takes the next one out. Its box is for the next who queues.
    pub(super) fn pop(&self) -> Option<AuditRecord> {
        let mut boxed = self.queue.pop()?;
        let queued = boxed.take()?;
        // More than are kept are freed.
        drop(self.spare.push(boxed));
        Some(queued.into_record())
    }

    /// Queues a record that cannot wait: beside the others if there is no place.
    pub(super) fn enqueue_now(&self, record: AuditRecord) -> u64 {
        if let Err(queued) = self.push(Queued { record, counted: None }) {
            let (record, mut beside) = (queued.into_record(), self.beside.lock());
            match beside.len() < BESIDE_MAX {
                true => beside.push(record),
                false => tracing::error!(?record, "audit record lost: the journal cannot be written"),
            }
        }
        self.round.load(Ordering::SeqCst)
    }
}
