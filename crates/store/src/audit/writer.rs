//! Appends records, each to its tenant's journal. One buffer, one lock, one write for what stands side by side.
//!
//! `append` returning means the lines are with the kernel: they survive this process. `sync`
//! makes them survive the machine. Repeats of a denial are the exception: they are counted here and written within a
//! second, by a thread that is there only while there are some.

use std::{
    collections::HashSet,
    io::Write as _,
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use drydock_contract::port::{AuditEvent, AuditRecord, EndKind, Journal, JournalError};
use parking_lot::{Mutex, MutexGuard};

use super::{
    fold::{self, Folds, Key, Repeats},
    held::{Held, Segment, failed},
    line::LineWriter,
    segment::{Row, SEGMENT_BYTES_MAX},
    share::{PRINCIPAL_RECORDS_MAX, Shares},
};
use crate::Home;

/// A buffer larger than this is given back after the batch that needed it.
const BUFFER_BYTES_KEPT: usize = 1 << 20;
/// Tenants whose counts are written before whoever has a new record is let in again.
const TENANTS_AT_ONCE: usize = 16;

/// The journals of all tenants of one home.
#[derive(Debug)]
pub struct FileJournal {
    open: Arc<Mutex<Open>>,
}

/// What can be smaller in a test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) segment_bytes_max: u64,
    pub(super) principal_records_max: u32,
    pub(super) fold_window: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            segment_bytes_max: SEGMENT_BYTES_MAX,
            principal_records_max: PRINCIPAL_RECORDS_MAX,
            fold_window: fold::WINDOW,
        }
    }
}

#[derive(Debug)]
pub(super) struct Open {
    pub(super) held: Held,
    shares: Shares,
    folds: Folds,
    fold_window: Duration,
    /// Whether somebody will write what is counted.
    watched: bool,
    lines: LineWriter,
    buffers: [Vec<u8>; 2],
}

impl FileJournal {
    /// The journals of a home. A tenant's is opened, or made, when its first record comes.
    pub fn open(home: &Home) -> Self {
        Self::within(home, Bounds::default())
    }

    pub(super) fn within(home: &Home, bounds: Bounds) -> Self {
        let open = Open {
            held: Held::of(home, bounds.segment_bytes_max),
            shares: Shares::of(bounds.principal_records_max),
            folds: Folds::default(),
            fold_window: bounds.fold_window,
            watched: false,
            lines: LineWriter::default(),
            buffers: Default::default(),
        };
        Self { open: Arc::new(Mutex::new(open)) }
    }
}

#[cfg(test)]
impl FileJournal {
    pub(super) fn look<T>(&self, act: impl FnOnce(&mut Open) -> T) -> T {
        act(&mut self.open.lock())
    }
}

impl Journal for FileJournal {
    fn append(&self, records: &[AuditRecord]) -> Result<(), JournalError> {
        let mut open = self.open.lock();
        let mut kept = 0;
        for side_by_side in records.chunk_by(|a, b| a.call.who.tenant == b.call.who.tenant) {
            open.append(side_by_side, &self.open).map_err(|error| JournalError { kept, ..error })?;
            kept += side_by_side.len();
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), JournalError> {
        let mut open = self.open.lock();
        let synced = open.held.sync();
        if synced.is_err() {
            // Whoever gives the same records again is not to find them taken for repeats.
            open.folds.doubt();
        }
        synced
    }

    fn settle(&self) -> Result<(), JournalError> {
        self.open.lock().settle(None, usize::MAX).map(drop)
    }
}

/// Whether the one is the beginning of a call that was answered, and the other its end.
fn is_end_of(begin: &AuditRecord, end: &AuditRecord) -> bool {
    let answered = matches!(&end.event, AuditEvent::Ended(end) if end.kind == EndKind::Done);
    answered && begin.event == AuditEvent::Begun && is_same_call(begin, end)
}

/// Ids repeat in other sessions of the same seed, so all of it counts; and a connection of a call is recorded under the
/// call's id and an operation of its own.
fn is_same_call(one: &AuditRecord, other: &AuditRecord) -> bool {
    (one.call.call, one.call.trace, one.call.operation)
        == (other.call.call, other.call.trace, other.call.operation)
        && Arc::ptr_eq(&one.call.who, &other.call.who)
}

impl Drop for FileJournal {
    fn drop(&mut self) {
        if let Err(error) = self.settle() {
            tracing::error!(%error, "repeated denials were counted, and the count is not in the journal");
        }
    }
}

impl Open {
    /// Appends records of one tenant. Nothing is remembered of them if that fails.
    fn append(&mut self, records: &[AuditRecord], own: &Arc<Mutex<Self>>) -> Result<(), JournalError> {
        let now = Instant::now();
        let mut lines: Vec<(&AuditRecord, Option<Repeats>)> = Vec::with_capacity(records.len());
        let mut firsts: HashSet<Key> = HashSet::new();
        let mut repeats = Vec::new();
        if !self.folds.has_room_for(records.len()) {
            self.folds.forget_idle(now);
        }
        for record in records {
            match Key::of(record) {
                Some(key) if self.folds.knows(&key, now) || firsts.contains(&key) => {
                    // Without somebody to write the count, each is written.
                    match self.watch(own) {
                        true => repeats.push((key, record)),
                        false => lines.push((record, None)),
                    }
                }
                key => {
                    lines.push((record, None));
                    firsts.extend(key.filter(|_| self.folds.has_room_for(firsts.len())));
                }
            }
        }
        self.write(&lines)?;
        let due = now + self.fold_window;
        firsts.into_iter().for_each(|key| self.folds.remember(key, due));
        repeats.iter().for_each(|(key, record)| self.folds.count(key, record));
        Ok(())
    }

    /// Writes lines of one tenant, whatever was counted.
    fn write(&mut self, lines: &[(&AuditRecord, Option<Repeats>)]) -> Result<(), JournalError> {
        let Some((first, _)) = lines.first() else { return Ok(()) };
        let tenant = &first.call.who.tenant;
        let number = self.held.newest(tenant, Row::Shared)?.number;
        self.buffers.iter_mut().for_each(Vec::clear);
        let mut lines = lines.iter().peekable();
        while let Some((record, times)) = lines.next() {
            // Most calls are over before their beginning is written: then both are one line.
            let end = lines.next_if(|(next, _)| is_end_of(record, next)).map(|(end, _)| *end);
            let row = self.shares.take(tenant, &record.call.who.principal, number);
            self.lines.write(record, *times, end, &mut self.buffers[row as usize]);
        }
        for row in Row::ALL {
            let buffer = &mut self.buffers[row as usize];
            if buffer.is_empty() {
                continue;
            }
            let written = self.held.newest(tenant, row).and_then(|segment| segment.append(buffer));
            if buffer.len() > BUFFER_BYTES_KEPT {
                *buffer = Vec::new();
            }
            written?;
        }
        Ok(())
    }

    /// Writes what was counted: what is due by then, or all of it, of so many tenants. True if there is more.
    fn settle(&mut self, by: Option<Instant>, tenants_max: usize) -> Result<bool, JournalError> {
        let due = self.folds.due(by);
        let mut tenants_due = due.chunk_by(|a, b| a.1.call.who.tenant == b.1.call.who.tenant);
        let mut written = Ok(());
        for tenants in tenants_due.by_ref().take(tenants_max) {
            let lines: Vec<_> = tenants.iter().map(|(_, record, times)| (record, Some(*times))).collect();
            let next = Instant::now() + self.fold_window;
            match self.write(&lines) {
                Ok(()) => tenants.iter().for_each(|(key, ..)| self.folds.written(key, next)),
                Err(error) => {
                    // They stay counted and are tried again a window later, whoever else is due now.
                    tenants.iter().for_each(|(key, ..)| self.folds.put_off(key, next));
                    written = written.and(Err(error));
                }
            }
        }
        written.map(|()| tenants_due.next().is_some())
    }

    /// Sees to it that counts are written in time; false if nobody can.
    fn watch(&mut self, own: &Arc<Mutex<Self>>) -> bool {
        if !self.watched {
            let (own, window) = (Arc::downgrade(own), self.fold_window);
            let watch = move || keep_settling(&own, window);
            self.watched = thread::Builder::new().name("drydock-folds".into()).spawn(watch).is_ok();
        }
        self.watched
    }
}

/// Writes counts when they are due, until there is nothing to count or nobody to count for.
fn keep_settling(open: &Weak<Mutex<Open>>, window: Duration) {
    // Twice a window, so that nothing waits for much more than one.
    let pause = window / 2;
    loop {
        thread::sleep(pause);
        let Some(open) = open.upgrade() else { return };
        let mut open = open.lock();
        let now = Instant::now();
        open.folds.forget_idle(now);
        loop {
            match open.settle(Some(now), TENANTS_AT_ONCE) {
                Ok(true) => MutexGuard::bump(&mut open),
                Ok(false) => break,
                Err(error) => {
                    tracing::error!(%error, "repeated denials could not be written");
                    MutexGuard::bump(&mut open);
                }
            }
        }
        if open.folds.is_empty() {
            open.watched = false;
            return;
        }
    }
}

impl Segment {
    fn append(&mut self, lines: &mut Vec<u8>) -> Result<(), JournalError> {
        if self.torn {
            lines.insert(0, b'\n');
        }
        // One write, so that lines of two processes do not mix. A disk that is nearly full takes a
        // part; `write_all` then asks again, and so learns the true error.
        let written = self.file.write_all(lines);
        self.torn = written.is_err();
        self.dirty = true;
        written.map_err(|cause| failed(&self.path, cause))
    }
}
