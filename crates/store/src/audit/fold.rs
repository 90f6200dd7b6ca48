//! The same denial again and again: the first is written, the others are counted for a moment and written as one.
//!
//! What is the same has the same tenant, principal, operation, subject and code. The table is bounded; what finds no
//! room in it is simply written.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_contract::{
    Timestamp, Who,
    port::{AuditEvent, AuditRecord, Subjects},
};

/// Denials that are remembered at once.
pub(super) const FOLDS_MAX: usize = 4096;
/// How long repeats are counted before they are written.
pub(super) const WINDOW: Duration = Duration::from_millis(500);

/// By what denials are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    who: Arc<Who>,
    operation: &'static str,
    subjects: Subjects,
    code: &'static str,
}

impl Key {
    /// Only denials are folded: what was allowed was done, each time.
    pub(super) fn of(record: &AuditRecord) -> Option<Self> {
        let AuditEvent::Denied(code) = record.event else { return None };
        let call = &record.call;
        let (who, subjects) = (Arc::clone(&call.who), call.subjects.clone());
        Some(Self { who, operation: call.operation, subjects, code })
    }
}

/// How often a denial was repeated, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeats {
    pub(super) count: u64,
    pub(super) first: Timestamp,
}

#[derive(Debug)]
struct Fold {
    /// The last of them and how many, since it was last written.
    repeated: Option<(AuditRecord, Repeats)>,
    due: Instant,
    /// A sync failed since it was written, so perhaps the disk does not have it.
    doubted: bool,
}

/// Denials that were written lately, and how often they were repeated since.
#[derive(Debug, Default)]
pub(super) struct Folds {
    table: HashMap<Key, Fold>,
}

impl Folds {
    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub(super) fn has_room_for(&self, more: usize) -> bool {
        self.table.len() + more < FOLDS_MAX
    }

    /// Whether such a denial was written less than a window ago, or waits to be.
    pub(super) fn knows(&self, key: &Key, now: Instant) -> bool {
        self.table.get(key).is_some_and(|it| !it.doubted && (it.repeated.is_some() || now < it.due))
    }

    /// Remembers a denial that was written. What is counted of it stays counted.
    pub(super) fn remember(&mut self, key: Key, due: Instant) {
        let fold = self.table.entry(key).or_insert(Fold { repeated: None, due, doubted: false });
        (fold.due, fold.doubted) = (due, false);
    }

    /// A sync failed: the next of each denial is written again, and not only counted.
    pub(super) fn doubt(&mut self) {
        self.table.values_mut().for_each(|fold| fold.doubted = true);
    }

    /// Counts one that was not.
    pub(super) fn count(&mut self, key: &Key, record: &AuditRecord) {
        let Some(fold) = self.table.get_mut(key) else { return };
        let Repeats { count, first } =
            fold.repeated.as_ref().map_or(Repeats { count: 0, first: record.at }, |it| it.1);
        fold.repeated = Some((record.clone(), Repeats { count: count.saturating_add(1), first }));
    }

    /// Forgets what was not repeated.
    pub(super) fn forget_idle(&mut self, now: Instant) {
        self.table.retain(|_, fold| fold.repeated.is_some() || now < fold.due);
    }

    /// What has been counted long enough, or all of it, by tenant; each with its key, to be
    /// [written off](Self::written).
    pub(super) fn due(&self, now: Option<Instant>) -> Vec<(Key, AuditRecord, Repeats)> {
        let due = self.table.iter().filter(|(_, fold)| now.is_none_or(|now| fold.due <= now));
        let mut due: Vec<_> = due
            .filter_map(|(key, fold)| {
                fold.repeated.clone().map(|(record, times)| (key.clone(), record, times))
            })
            .collect();
        due.sort_by(|a, b| (&a.1.call.who.tenant, a.1.at).cmp(&(&b.1.call.who.tenant, b.1.at)));
        due
    }

    /// This count could not be written: the next time is then.
    pub(super) fn put_off(&mut self, key: &Key, due: Instant) {
        if let Some(fold) = self.table.get_mut(key) {
            fold.due = due;
        }
    }

    /// These counts are in the journal now; repeats are counted from here.
    pub(super) fn written(&mut self, key: &Key, due: Instant) {
        if let Some(fold) = self.table.get_mut(key) {
            (fold.repeated, fold.due) = (None, due);
        }
    }
}
