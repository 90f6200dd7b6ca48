//! Every denial, and the beginning and end of every recorded call, written down.
//!
//! Records are queued without a lock and written in batches by one thread of its own. A denial is
//! reported only after its record is synced to disk; an allowed call goes on at once and its record
//! follows within milliseconds ([`Recording::Behind`]), or waits for the write ([`Recording::Ahead`]).
//! While the journal cannot be written, records are kept and tried again, and nothing that needs a
//! record is allowed.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

use crossbeam_queue::ArrayQueue;
use drydock_contract::port::{AuditEvent, AuditRecord, Journal};
use event_listener::Event;
use parking_lot::Mutex;

/// Records waiting to be written; more make their callers write.
const QUEUED_MAX: usize = 2048;
/// How long the writer gathers before it writes.
const GATHER: Duration = Duration::from_millis(2);

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

struct Shared {
    journal: Arc<dyn Journal>,
    queue: ArrayQueue<AuditRecord>,
    /// Rounds of writing begun, and the last one after which nothing was left to sync. A record
    /// queued while round n is the last begun is surely on disk once round n + 1 is durable.
    round: AtomicU64,
    durable_round: AtomicU64,
    progress: Event,
    dirty: AtomicBool,
    closed: AtomicBool,
    broken: AtomicBool,
    tray: Mutex<Tray>,
}

/// Records on their way to the journal. Holding it is the right to write.
#[derive(Default)]
struct Tray {
    records: Vec<AuditRecord>,
    error: Option<String>,
    /// Denials that were written and not synced yet.
    unsynced: Vec<AuditRecord>,
}

impl Audit {
    pub(crate) fn new(journal: Arc<dyn Journal>) -> Self {
        let shared = Shared {
            journal,
            queue: ArrayQueue::new(QUEUED_MAX),
            round: AtomicU64::new(0),
            durable_round: AtomicU64::new(0),
            progress: Event::new(),
            dirty: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            tray: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            writer: OnceLock::new(),
            allowed: AtomicU64::new(0),
            denied: Mutex::default(),
        }
    }

    /// Records a call that was let through; an error means that it must not act.
    pub(crate) fn begun(&self, record: AuditRecord, recording: Recording) -> Result<(), String> {
        if self.shared.broken.load(Ordering::Acquire) {
            // Perhaps there is room again: one try, and if it fails nothing is done unrecorded.
            self.shared.write_out(Durability::Written)?;
        }
        self.allowed.fetch_add(1, Ordering::Relaxed);
        self.push(record).ok_or("the journal and its queue are full")?;
        match recording {
            Recording::Behind => {
                self.wake();
                Ok(())
            }
            Recording::Ahead => self.shared.write_out(Durability::Written),
        }
    }

    /// Records that a call is over. It was let through, so nobody waits for this.
    pub(crate) fn ended(&self, record: AuditRecord) {
        if self.push(record).is_some() {
            self.wake();
        }
    }

    /// Records a denial and returns once it is on disk, or cannot be put there.
    pub(crate) async fn denied(&self, record: AuditRecord) {
        self.count_denial(&record);
        let Some(round) = self.push(record) else { return };
        self.wake();
        if matches!(self.writer.get(), Some(None)) {
            // Nobody writes but us.
            let _ = self.shared.write_out(Durability::Synced);
            return;
        }
        loop {
            let progress = self.shared.progress.listen();
            let synced = self.shared.durable_round.load(Ordering::Acquire) > round;
            // The denial stands either way; what could not be written is tried again and logged.
            if synced || self.shared.broken.load(Ordering::Acquire) {
                return;
            }
            progress.await;
        }
    }

    /// The same for a caller that cannot wait: writes on the calling thread.
    pub(crate) fn refused(&self, record: AuditRecord) {
        self.count_denial(&record);
        self.push(record);
        let _ = self.shared.write_out(Durability::Synced);
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
        let settled = |()| self.shared.journal.settle().map_err(|error| chain(&error));
        self.shared.write_out(Durability::Synced).and_then(settled).map_err(|why| {
            let count = self.shared.tray.lock().records.len() + self.shared.queue.len();
            let records = if count == 1 { "record is" } else { "records are" };
            format!("{count} audit {records} not in the journal: {why}")
        })
    }

    /// Queues a record and answers the round of writing that had begun by then; nothing if there is
    /// no room in the queue and none on the disk.
    fn push(&self, mut record: AuditRecord) -> Option<u64> {
        while let Err(back) = self.shared.queue.push(record) {
            record = back;
            if self.shared.write_out(Durability::Written).is_err() {
                // A full queue and a full disk: the record is logged instead, and `broken` is set,
                // so nothing further is allowed.
                tracing::error!(?record, "audit record lost: the journal cannot be written");
                return None;
            }
        }
        Some(self.shared.round.load(Ordering::SeqCst))
    }

    /// Sets the writer to work, and starts it the first time.
    fn wake(&self) {
        if !self.shared.dirty.swap(true, Ordering::AcqRel)
            && let Some(writer) = self.writer.get_or_init(|| Shared::start(&self.shared))
        {
            writer.unpark();
        }
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    Written,
    Synced,
}

impl Shared {
    /// Starts the writer. Without one the callers write.
    fn start(shared: &Arc<Self>) -> Option<Thread> {
        let shared = Arc::clone(shared);
        let spawned =
            thread::Builder::new().name("drydock-audit".into()).spawn(move || shared.keep_writing());
        spawned.ok().map(|handle| handle.thread().clone())
    }

    fn keep_writing(&self) {
        // Should this thread ever die, whoever waits for it must not wait for ever.
        let _mourner = Mourner(self);
        while !self.closed.load(Ordering::Acquire) {
            if !self.dirty.swap(false, Ordering::AcqRel) {
                thread::park();
                continue;
            }
            // Denials wait for this, so they are not made to wait for company.
            if self.write_out(Durability::Synced).is_err() {
                self.dirty.store(true, Ordering::Release);
                thread::park_timeout(Duration::from_millis(200));
                continue;
            }
            thread::sleep(GATHER);
        }
    }

    /// Writes everything queued so far. Syncs if asked to and if a denial is among it.
    fn write_out(&self, durability: Durability) -> Result<(), String> {
        let mut tray = self.tray.lock();
        let round = self.round.fetch_add(1, Ordering::SeqCst) + 1;
        // Bounded by what the queue can hold, which includes all that was queued before this round.
        // While nothing can be written the tray stays bounded too, and the queue fills up.
        for _ in 0..QUEUED_MAX.saturating_sub(tray.records.len()) {
            let Some(record) = self.queue.pop() else { break };
            tray.records.push(record);
        }
        let Tray { records, unsynced, .. } = &mut *tray;
        // Each tenant's records go to a file of its own: side by side they are one write. The order of one call stays.
        records.sort_by(|a, b| a.call.who.tenant.cmp(&b.call.who.tenant));
        let mut result = match records.is_empty() {
            true => Ok(()),
            false => self.journal.append(records),
        };
        let kept = result.as_ref().map_or_else(|error| error.kept.min(records.len()), |()| records.len());
        unsynced.extend(records.drain(..kept).filter(|it| it.event.is_grave()));
        if result.is_ok() {
            let due = durability == Durability::Synced || unsynced.len() >= QUEUED_MAX;
            if due && !unsynced.is_empty() {
                result = self.journal.sync();
                // After a sync that failed nobody knows what the disk has, and the next one may succeed without
                // it: they are written again. A record twice is better than none.
                match result {
                    Ok(()) => unsynced.clear(),
                    Err(_) => records.append(unsynced),
                }
            }
            if result.is_ok() && unsynced.is_empty() {
                self.durable_round.store(round, Ordering::Release);
            }
        }
        let result = result.map_err(|error| chain(&error));
        self.broken.store(result.is_err(), Ordering::Release);
        if let Err(text) = &result
            && tray.error.as_ref() != Some(text)
        {
            tracing::error!("{text}");
        }
        tray.error = result.clone().err();
        drop(tray);
        self.progress.notify(usize::MAX);
        result
    }
}

/// Declares the journal broken if the writer ends before the gate does.
struct Mourner<'a>(&'a Shared);

impl Drop for Mourner<'_> {
    fn drop(&mut self) {
        if !self.0.closed.load(Ordering::Acquire) {
            self.0.broken.store(true, Ordering::Release);
            self.0.progress.notify(usize::MAX);
        }
    }
}

/// The error and its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
