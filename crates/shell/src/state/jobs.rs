//! Background jobs of a shell, and how those ended that were waited for.

use std::{collections::BTreeMap, sync::Arc};

use crate::{inbox::Inbox, tasks::Handle};

/// How many jobs that ended are remembered.
const ENDED_MAX: usize = 256;

/// A background job.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) id: u32,
    /// What `%1` means.
    pub(crate) number: u32,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) done: Handle<i32>,
    /// The command, as typed.
    pub(crate) typed: Arc<str>,
}

/// A process substitution. `$!` may be one, but it has no number and `jobs` does not tell of it.
pub(crate) struct ProcessJob {
    pub(crate) id: u32,
    pub(crate) done: Handle<i32>,
    /// It is `>(…)`, which writes where its shell writes.
    pub(crate) is_reader: bool,
}

#[derive(Default)]
pub(crate) struct Jobs {
    pub(crate) list: Vec<Job>,
    pub(crate) processes: Vec<ProcessJob>,
    /// Those of the shell around this one, for a `jobs` in a pipeline.
    shown: Vec<Job>,
    /// `$!`.
    pub(crate) last: Option<u32>,
    /// How jobs ended that were waited for already.
    pub(crate) ended: Arc<BTreeMap<u32, i32>>,
}

impl Jobs {
    /// A subshell has no jobs, and knows how its parent's ended.
    pub(super) fn fork(&self) -> Self {
        let shown = if self.list.is_empty() { self.shown.clone() } else { self.list.clone() };
        Self {
            list: Vec::new(),
            processes: Vec::new(),
            shown,
            last: self.last,
            ended: Arc::clone(&self.ended),
        }
    }

    /// Adds a job that `%1` and its like can name.
    pub(crate) fn add(&mut self, job: Job) {
        self.last = Some(job.id);
        self.list.push(job);
    }

    /// Adds a process substitution, and lets those go that have ended: a loop may make any number of them.
    pub(crate) fn add_process(&mut self, job: ProcessJob) {
        let mut ended = Vec::new();
        self.processes.retain(|job| job.done.take().map(|status| ended.push((job.id, status))).is_none());
        for (id, status) in ended {
            self.remember(id, status);
        }
        self.last = Some(job.id);
        self.processes.push(job);
    }

    /// Takes a process substitution off the list.
    pub(crate) fn take_process(&mut self, id: u32) -> Option<ProcessJob> {
        let at = self.processes.iter().position(|job| job.id == id)?;
        Some(self.processes.remove(at))
    }

    /// The next number for `%1`.
    pub(crate) fn next_number(&self) -> u32 {
        self.running().map(|job| job.number).max().map_or(1, |it| it + 1)
    }

    pub(crate) fn running(&self) -> impl Iterator<Item = &Job> {
        self.list.iter().filter(|job| !job.done.is_done())
    }

    /// Jobs that run, to tell of: a subshell without any tells of its parent's.
    pub(crate) fn listed(&self) -> Vec<&Job> {
        let all = if self.list.is_empty() { &self.shown } else { &self.list };
        all.iter().filter(|job| !job.done.is_done()).collect()
    }

    /// Keeps how a job ended for whoever asks again.
    pub(crate) fn remember(&mut self, id: u32, status: i32) {
        let ended = Arc::make_mut(&mut self.ended);
        ended.insert(id, status);
        if ended.len() > ENDED_MAX {
            ended.pop_first();
        }
    }
}
