//! Every denial, and the beginning and end of every recorded call, written down.
//!
//! Records are queued without a lock and written in batches by one thread of its own. A denial is
//! reported only after its record is synced to disk; an allowed call goes on at once and its record
//! follows within milliseconds ([`Recording::Behind`]), or waits for the write ([`Recording::Ahead`]).
//! Whoever has more records on the way than its share waits, without holding a thread; its neighbours do not.
//! While a tenant's journal cannot be written, its records are kept and tried again, and nothing of that tenant that
//! needs a record is allowed.

mod queue;
#[cfg(test)]
mod tests;
mod writer;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread::Thread,
};

use drydock_contract::{
    Tenant,
    port::{AuditEvent, AuditRecord, Journal},
};
use parking_lot::Mutex;

use crate::account::Account;
use writer::{Durability, Shared, chain};

/// When the record of an allowed call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// Milliseconds after it was let through, in batches. For hosts that run many.
    Behind,
    /// Before it acts. For a process that runs one command and ends.
    Ahead,
}

/// Decisions since the start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditCounts {
    /// Calls let through, of those that are recorded.
    pub allowed: u64,
    /// Denials by operation and code.
    pub denied: BTreeMap<(&'static str, &'static str), u64>,
}

impl AuditCounts {
    /// All denials together.
    pub fn denials(&self) -> u64 {
        self.denied.values().sum()
    }
}

pub(crate) struct Audit {
    shared: Arc<Shared>,
    writer: OnceLock<Option<Thread>>,
    allowed: AtomicU64,
    denied: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
}

impl Audit {
    pub(crate) fn new(journal: Arc<dyn Journal>) -> Self {
        Self {
            shared: Arc::new(Shared::of(journal)),
            writer: OnceLock::new(),
            allowed: AtomicU64::new(0),
            denied: Mutex::default(),
        }
    }

    /// Records a call that was let through, if that can be done at once. A record that is given back is one for
    /// [`Self::begun_later`].
    #[expect(
        clippy::result_large_err,
        reason = "given back seldom, and then moved once more; nobody pays for a box"
    )]
    pub(crate) fn begun(&self, account: &Arc<Account>, record: AuditRecord) -> Result<(), AuditRecord> {
        if self.shared.has_trouble.load(Ordering::Acquire)
            && self.shared.trouble_of(&record.call.who.tenant).is_some()
        {
            return Err(record);
        }
        self.shared.enqueue(record, account)?;
        self.allowed.fetch_add(1, Ordering::Relaxed);
        self.wake();
        Ok(())
    }

    /// The same for one that has to wait: for a place in the queue, or for one more try where its tenant's journal could
    /// not be written. An error means that the call must not act.
    pub(crate) async fn begun_later(
        &self,
        account: &Arc<Account>,
        mut record: AuditRecord,
    ) -> Result<(), String> {
        let mut try_of = None;
        loop {
            let progress = self.shared.progress.listen();
            match self.shared.trouble_of(&record.call.who.tenant) {
                None => match self.begun(account, record) {
                    Ok(()) => return Ok(()),
                    Err(back) => record = back,
                },
                // Perhaps there is room again: one try that begins now, and if it fails nothing is done unrecorded.
                Some(why) => {
                    let own = *try_of.get_or_insert_with(|| self.shared.round.load(Ordering::SeqCst) + 1);
                    if self.shared.finished_round.load(Ordering::Acquire) >= own {
                        return Err(why);
                    }
                }
            }
            self.press();
            if !self.wake() {
                progress.await;
            }
        }
    }

    /// Records a call that was let through, on the calling thread, before it acts.
    pub(crate) fn begun_ahead(&self, account: &Arc<Account>, mut record: AuditRecord) -> Result<(), String> {
        let tenant = record.call.who.tenant.clone();
        if self.shared.trouble_of(&tenant).is_some() {
            self.write_here(Durability::Written, &tenant)?;
        }
        self.allowed.fetch_add(1, Ordering::Relaxed);
        while let Err(back) = self.shared.enqueue(record, account) {
            record = back;
            self.write_here(Durability::Written, &tenant)?;
        }
        self.write_here(Durability::Written, &tenant)
    }

    /// Records a connection that a call is about to make. The call has its place in the queue, and makes few, so nobody
    /// waits for one. An error means that it must not be made.
    pub(crate) fn attempted(&self, record: AuditRecord, recording: Recording) -> Result<(), String> {
        let tenant = record.call.who.tenant.clone();
        match recording {
            Recording::Behind => {
                if let Some(why) = self.shared.trouble_of(&tenant) {
                    return Err(why);
                }
                self.shared.enqueue_now(record);
                self.wake();
                Ok(())
            }
            Recording::Ahead => {
                self.shared.enqueue_now(record);
                self.write_here(Durability::Written, &tenant)
            }
        }
    }

    /// Records that a call is over. It was let through, so nobody waits for this.
    pub(crate) fn ended(&self, record: AuditRecord) {
        self.shared.enqueue_now(record);
        self.wake();
    }

    /// The same on the calling thread: where beginnings are written there too, a thread for the end of one line would
    /// start when the process is over.
    pub(crate) fn ended_here(&self, record: AuditRecord) {
        let tenant = record.call.who.tenant.clone();
        self.shared.enqueue_now(record);
        // What could not be written is tried again, by the writer.
        if self.write_here(Durability::Written, &tenant).is_err() {
            self.wake();
        }
    }

    /// Records a denial and returns once it is on disk, or cannot be put there.
    pub(crate) async fn denied(&self, account: &Arc<Account>, record: AuditRecord) {
        self.count_denial(&record);
        let who = Arc::clone(&record.call.who);
        let mut waiting = Waiting { shared: &self.shared, record: Some(record) };
        let round = loop {
            let progress = self.shared.progress.listen();
            let Some(record) = waiting.record.take() else { return };
            match self.shared.enqueue(record, account) {
                Ok(round) => break round,
                Err(back) => waiting.record = Some(back),
            }
            self.press();
            if !self.wake() {
                progress.await;
            }
        };
        self.synced(&who.tenant, round).await;
    }

    /// The same for a call that had begun: its end takes nobody's place in the queue.
    pub(crate) async fn denied_late(&self, record: AuditRecord) {
        self.count_denial(&record);
        let who = Arc::clone(&record.call.who);
        let round = self.shared.enqueue_now(record);
        self.synced(&who.tenant, round).await;
    }

    /// Waits until what was queued by that round is on disk, or cannot be put there.
    async fn synced(&self, tenant: &Tenant, round: u64) {
        self.wake();
        loop {
            let progress = self.shared.progress.listen();
            let synced = self.shared.durable_round.load(Ordering::Acquire) > round;
            // The denial stands either way; what could not be written is tried again and logged.
            let is_tried = self.shared.round.load(Ordering::SeqCst) > round;
            if synced || (is_tried && self.shared.trouble_of(tenant).is_some()) {
                return;
            }
            if self.is_alone() {
                return self.shared.write_out(Durability::Synced);
            }
            progress.await;
        }
    }

    /// A denial of somebody who cannot wait: written on the calling thread.
    pub(crate) fn refused(&self, record: AuditRecord) {
        self.count_denial(&record);
        self.shared.enqueue_now(record);
        self.shared.write_out(Durability::Synced);
    }

    fn count_denial(&self, record: &AuditRecord) {
        let code = match &record.event {
            AuditEvent::Denied(code) => *code,
            AuditEvent::Ended(end) => end.kind.code(),
            AuditEvent::Begun => return,
        };
        *self.denied.lock().entry((record.call.operation, code)).or_default() += 1;
    }

    pub(crate) fn counts(&self) -> AuditCounts {
        AuditCounts { allowed: self.allowed.load(Ordering::Relaxed), denied: self.denied.lock().clone() }
    }

    /// Writes what is queued. The error says how many records would be lost if the process ended now.
    pub(crate) fn flush(&self) -> Result<(), String> {
        self.shared.write_out(Durability::Synced);
        let settled = self.shared.journal.settle().map_err(|error| chain(&error));
        let trouble = self.shared.trouble().map_or(settled, Err);
        trouble.map_err(|why| {
            let count = self.shared.unwritten();
            let records = if count == 1 { "record is" } else { "records are" };
            format!("{count} audit {records} not in the journal: {why}")
        })
    }

    fn write_here(&self, durability: Durability, tenant: &Tenant) -> Result<(), String> {
        self.shared.write_out(durability);
        self.shared.trouble_of(tenant).map_or(Ok(()), Err)
    }

    /// Sets the writer to work, and starts it the first time. Where there is none the caller writes; true if it did.
    fn wake(&self) -> bool {
        if !self.shared.dirty.swap(true, Ordering::AcqRel)
            && let Some(writer) = self.writer.get_or_init(|| Shared::start(&self.shared))
        {
            writer.unpark();
        }
        let is_alone = self.is_alone();
        if is_alone {
            self.shared.write_out(Durability::Synced);
        }
        is_alone
    }

    /// Somebody waits: the writer is not to gather.
    fn press(&self) {
        if !self.shared.pressing.swap(true, Ordering::AcqRel)
            && let Some(Some(writer)) = self.writer.get()
        {
            writer.unpark();
        }
    }

    /// Whether nobody writes but whoever has a record.
    fn is_alone(&self) -> bool {
        matches!(self.writer.get(), Some(None)) || self.shared.is_dead.load(Ordering::Acquire)
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        let _ = self.flush();
        self.shared.closed.store(true, Ordering::Release);
        if let Some(Some(writer)) = self.writer.get() {
            writer.unpark();
        }
    }
}

/// A denial that has no place in the queue yet. Whoever stops waiting for it does not take it along.
struct Waiting<'a> {
    shared: &'a Shared,
    record: Option<AuditRecord>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            self.shared.enqueue_now(record);
        }
    }
}
