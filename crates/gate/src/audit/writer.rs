//! From the queue to the journal: one batch at a time, each tenant's records apart, so that a tenant whose journal cannot
//! be written is in trouble alone.
//!
//! What could not be written is kept and tried again, up to a bound for each tenant.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

use crossbeam_queue::ArrayQueue;
use drydock_contract::{
    Tenant,
    port::{AuditRecord, Journal},
};
use event_listener::Event;
use parking_lot::Mutex;

use super::queue::{Boxed, QUEUED_MAX, SPARE_MAX};

/// How long the writer gathers before it writes, unless the queue fills up.
const GATHER: Duration = Duration::from_millis(2);
/// Between two tries at what could not be written, unless somebody asks for one.
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// Records of one tenant, and of all, that are kept while they cannot be written.
const TENANT_KEPT_MAX: usize = QUEUED_MAX;
const KEPT_MAX: usize = 8 * QUEUED_MAX;

pub(super) struct Shared {
    pub(super) journal: Arc<dyn Journal>,
    /// Boxed: a queue of whole records is half a megabyte that every process would write before its first line.
    pub(super) queue: ArrayQueue<Boxed>,
    /// Boxes that wait for a record.
    pub(super) spare: ArrayQueue<Boxed>,
    /// What cannot wait for a place in the queue: ends of calls, as many as were in flight.
    pub(super) beside: Mutex<Vec<AuditRecord>>,
    /// Rounds of writing begun, the last one that is over, and the last one after which nothing was left to sync. A record
    /// queued while round n is the last begun is surely on disk once round n + 1 is durable.
    pub(super) round: AtomicU64,
    pub(super) finished_round: AtomicU64,
    pub(super) durable_round: AtomicU64,
    pub(super) progress: Event,
    pub(super) dirty: AtomicBool,
    /// Somebody waits for a place in the queue: there is no time to gather.
    pub(super) pressing: AtomicBool,
    pub(super) closed: AtomicBool,
    /// The writer ended before the gate did: whoever has a record writes.
    pub(super) is_dead: AtomicBool,
    /// Whether anybody's records cannot be written. Asked before `troubles` is.
    pub(super) has_trouble: AtomicBool,
    troubles: Mutex<Troubles>,
    tray: Mutex<Tray>,
}

/// Whose records cannot be written, and why.
#[derive(Default, PartialEq, Eq, Clone)]
struct Troubles {
    everybody: Option<String>,
    tenants: BTreeMap<Tenant, String>,
}

impl Troubles {
    fn of(&self, tenant: &Tenant) -> Option<&String> {
        self.everybody.as_ref().or_else(|| self.tenants.get(tenant))
    }

    fn any(&self) -> Option<&String> {
        self.everybody.as_ref().or_else(|| self.tenants.values().next())
    }
}

/// Records on their way to the journal. Holding it is the right to write.
#[derive(Default)]
struct Tray {
    records: Vec<AuditRecord>,
    /// Denials that were written and not synced yet.
    unsynced: Vec<AuditRecord>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    Written,
    Synced,
}

impl Shared {
    pub(super) fn of(journal: Arc<dyn Journal>) -> Self {
        Self {
            journal,
            queue: ArrayQueue::new(QUEUED_MAX),
            spare: ArrayQueue::new(SPARE_MAX),
            beside: Mutex::default(),
            round: AtomicU64::new(0),
            finished_round: AtomicU64::new(0),
            durable_round: AtomicU64::new(0),
            progress: Event::new(),
            dirty: AtomicBool::new(false),
            pressing: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            is_dead: AtomicBool::new(false),
            has_trouble: AtomicBool::new(false),
            troubles: Mutex::default(),
            tray: Mutex::default(),
        }
    }

    /// Starts the writer. Without one the callers write.
    pub(super) fn start(shared: &Arc<Self>) -> Option<Thread> {
        let shared = Arc::clone(shared);
        let spawned =
            thread::Builder::new().name("drydock-audit".into()).spawn(move || shared.keep_writing());
        spawned.ok().map(|handle| handle.thread().clone())
    }

    /// Why the records of a tenant cannot be written, if they cannot.
    pub(super) fn trouble_of(&self, tenant: &Tenant) -> Option<String> {
        let has_trouble = self.has_trouble.load(Ordering::Acquire);
        has_trouble.then(|| self.troubles.lock().of(tenant).cloned()).flatten()
    }

    /// Why somebody's cannot.
    pub(super) fn trouble(&self) -> Option<String> {
        self.troubles.lock().any().cloned()
    }

    /// How many records are not in the journal.
    pub(super) fn unwritten(&self) -> usize {
        self.tray.lock().records.len() + self.queue.len() + self.beside.lock().len()
    }

    fn keep_writing(&self) {
        // Should this thread ever die, whoever waits for it must not wait for ever.
        let _mourner = Mourner(self);
        let mut is_owing = false;
        while !self.closed.load(Ordering::Acquire) {
            if !self.dirty.swap(false, Ordering::AcqRel) && !is_owing {
                thread::park();
                continue;
            }
            self.pressing.store(false, Ordering::Release);
            // Denials wait for this, so they are not made to wait for company.
            self.write_out(Durability::Synced);
            is_owing = self.has_trouble.load(Ordering::Acquire);
            self.gather(if is_owing { TRY_AGAIN } else { GATHER });
        }
    }

    /// Waits for more to write. In trouble, whoever asks is not made to wait for the next try.
    fn gather(&self, pause: Duration) {
        let began = Instant::now();
        loop {
            let waited = began.elapsed();
            let is_asked = pause > GATHER && waited >= GATHER && self.dirty.load(Ordering::Acquire);
            let is_pressing = self.pressing.load(Ordering::Acquire);
            if waited >= pause || is_asked || is_pressing || self.closed.load(Ordering::Acquire) {
                return;
            }
            let rest = pause - waited;
            thread::park_timeout(if self.dirty.load(Ordering::Acquire) { rest.min(GATHER) } else { rest });
        }
    }

    /// Writes everything queued so far. Syncs if asked to and if a denial is among it.
    pub(super) fn write_out(&self, durability: Durability) {
        let mut tray = self.tray.lock();
        let round = self.round.fetch_add(1, Ordering::SeqCst) + 1;
        let Tray { records, unsynced } = &mut *tray;
        // Taken before the queue is emptied, and put behind it: an end never comes before its beginning.
        let beside = std::mem::take(&mut *self.beside.lock());
        // Bounded by what the queue can hold, which includes all that was queued before this round.
        records.extend((0..QUEUED_MAX).map_while(|_| self.pop()));
        records.extend(beside);
        let mut troubles = Troubles::default();
        self.append(records, unsynced, &mut troubles);
        let due = durability == Durability::Synced || unsynced.len() >= QUEUED_MAX;
        if due && !unsynced.is_empty() {
            self.sync(records, unsynced, &mut troubles);
        }
        if unsynced.is_empty() {
            self.durable_round.store(round, Ordering::Release);
        }
        bound(records);
        self.tell(troubles);
        self.finished_round.store(round, Ordering::Release);
        drop(tray);
        self.progress.notify(usize::MAX);
    }

    /// Appends the records of each tenant; those that could not be written stay.
    fn append(
        &self,
        records: &mut Vec<AuditRecord>,
        unsynced: &mut Vec<AuditRecord>,
        troubles: &mut Troubles,
    ) {
        // Each tenant's records go to a file of its own: side by side they are one write. The order of one call stays.
        records.sort_by(|a, b| a.call.who.tenant.cmp(&b.call.who.tenant));
        let mut is_kept = Vec::with_capacity(records.len());
        for tenants in records.chunk_by(|a, b| a.call.who.tenant == b.call.who.tenant) {
            let kept = match self.journal.append(tenants) {
                Ok(()) => tenants.len(),
                Err(error) => {
                    troubles.tenants.insert(tenants[0].call.who.tenant.clone(), chain(&error));
                    error.kept.min(tenants.len())
                }
            };
            is_kept.extend((0..tenants.len()).map(|at| at < kept));
        }
        let mut is_kept = is_kept.into_iter();
        let written = records.extract_if(.., |_| is_kept.next().unwrap_or_default());
        unsynced.extend(written.filter(|it| it.event.is_grave()));
    }

    fn sync(&self, records: &mut Vec<AuditRecord>, unsynced: &mut Vec<AuditRecord>, troubles: &mut Troubles) {
        let Err(error) = self.journal.sync() else { return unsynced.clear() };
        let text = chain(&error);
        let is_lost =
            |it: &AuditRecord| error.tenants.is_empty() || error.tenants.contains(&it.call.who.tenant);
        // After a sync that failed nobody knows what the disk has, and the next one may succeed without
        // it: they are written again. A record twice is better than none.
        records.extend(unsynced.drain(..).filter(is_lost));
        match error.tenants.is_empty() {
            true => troubles.everybody = Some(text),
            false => troubles.tenants.extend(error.tenants.into_iter().map(|it| (it, text.clone()))),
        }
    }

    /// Lets everybody know who is in trouble, and logs what is new.
    fn tell(&self, now: Troubles) {
        let mut troubles = self.troubles.lock();
        if *troubles == now {
            return;
        }
        let is_new = |(tenant, text): &(&Tenant, &String)| troubles.tenants.get(tenant) != Some(text);
        now.tenants.iter().filter(is_new).for_each(|(_, text)| tracing::error!("{text}"));
        if now.everybody != troubles.everybody
            && let Some(text) = &now.everybody
        {
            tracing::error!("{text}");
        }
        self.has_trouble.store(now.any().is_some(), Ordering::Release);
        *troubles = now;
    }
}

/// Leaves out, and logs, what is more than can be kept while it cannot be written.
fn bound(records: &mut Vec<AuditRecord>) {
    let mut of_tenant: Option<(Tenant, usize)> = None;
    let mut all = 0;
    records.retain(|record| {
        let tenant = &record.call.who.tenant;
        let count = match &mut of_tenant {
            Some((of, count)) if of == tenant => count,
            other => &mut other.insert((tenant.clone(), 0)).1,
        };
        *count += 1;
        let is_kept = *count <= TENANT_KEPT_MAX && all < KEPT_MAX;
        all += usize::from(is_kept);
        if !is_kept {
            tracing::error!(?record, "audit record lost: the journal cannot be written");
        }
        is_kept
    });
}

/// Says that nobody writes any more, if the writer ends before the gate does.
struct Mourner<'a>(&'a Shared);

impl Drop for Mourner<'_> {
    fn drop(&mut self) {
        if !self.0.closed.load(Ordering::Acquire) {
            self.0.is_dead.store(true, Ordering::Release);
            self.0.progress.notify(usize::MAX);
        }
    }
}

/// The error and its causes in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
