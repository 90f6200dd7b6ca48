//! One commit for many: what callers want of a tenant's file waits in line, and a thread that may wait for a disk does all
//! that waits there in one transaction. Whoever asked hears of it when it is on disk, and not before.
//!
//! Tenants take turns, and each has at most one thread at a time, so that one whose file is locked by another process, or
//! whose disk is slow, waits by itself. Threads end when there is nothing to do. What nobody waits for any more and was not
//! begun is not done.

mod answer;
mod job;
mod serve;

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Weak},
    thread::{self, JoinHandle},
    time::Duration,
};

use drydock_contract::{Tenant, port::LedgerError};
use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;

pub(crate) use job::Work;
use {
    answer::{Answer, Slot},
    job::{Job, Task},
};

use crate::{
    Home, TenantHome,
    ledger::file::{Kind, LedgerFile},
};

/// Threads that wait for disks at once, for all tenants of one kind of file.
const WORKERS_MAX: usize = 4;
/// Jobs of one transaction.
const JOBS_MAX: usize = 256;
/// How long a thread without work stays.
const IDLE_MAX: Duration = Duration::from_secs(10);

/// One kind of file, of which each tenant has its own.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) kind: &'static Kind,
    pub(crate) path: fn(&TenantHome) -> PathBuf,
    /// The lock under which it is made.
    pub(crate) lock: &'static str,
    /// Files that are open at once, besides those in use this moment: three descriptors each, and two more for glances.
    pub(crate) open_max: usize,
    /// Whether there is a second connection for glances.
    pub(crate) glances: bool,
}

/// The files of all tenants. Ends its threads when it is dropped.
#[derive(Debug)]
pub(crate) struct Commits {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    home: Home,
    shelf: &'static Shelf,
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The one used last comes first.
    open: Vec<(Tenant, Arc<Line>)>,
    /// What fell out of it: closing a file may take as long as a disk does, so a thread that may wait does it.
    closing: Vec<Arc<Line>>,
    ready: VecDeque<Arc<Line>>,
    threads: Vec<JoinHandle<()>>,
    workers: usize,
    idle: usize,
    is_closed: bool,
}

/// One tenant's file, and what waits for it.
#[derive(Debug)]
struct Line {
    home: TenantHome,
    writer: LedgerFile,
    reader: Option<LedgerFile>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Box<dyn Job>>,
    is_ready: bool,
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} jobs", self.jobs.len())
    }
}

impl Commits {
    pub(crate) fn of(home: &Home, shelf: &'static Shelf) -> Self {
        let (state, work) = (Mutex::default(), Condvar::new());
        Self { inner: Arc::new(Inner { home: home.clone(), shelf, state, work }) }
    }

    /// Puts work in line. `lost` gets what was made where nobody took it.
    pub(crate) fn submit<W: Work>(
        &self,
        tenant: &Tenant,
        work: W,
        lost: Option<Box<dyn FnOnce(W::Made) + Send>>,
    ) -> Answer<W::Made> {
        self.inner.submit(tenant, work, lost)
    }

    /// For those that come back later, and that must not keep it open.
    pub(crate) fn weak(&self) -> Weak<Inner> {
        Arc::downgrade(&self.inner)
    }

    /// Looks at a tenant's file at once, where that takes no waiting.
    pub(crate) fn glance<T>(
        &self,
        tenant: &Tenant,
        act: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Option<T> {
        let line = self.inner.state.lock().line(&self.inner, tenant);
        line.reader.as_ref()?.glance(act)
    }
}

impl Drop for Commits {
    fn drop(&mut self) {
        let threads = {
            let mut state = self.inner.state.lock();
            state.is_closed = true;
            std::mem::take(&mut state.threads)
        };
        self.inner.work.notify_all();
        // What waits is done, and then files are closed: whoever looks at them next finds nobody in them.
        for thread in threads {
            let _ = thread.join();
        }
        let mut state = self.inner.state.lock();
        state.closing.clear();
        state.open.clear();
    }
}

impl Inner {
    pub(crate) fn submit<W: Work>(
        self: &Arc<Self>,
        tenant: &Tenant,
        work: W,
        lost: Option<Box<dyn FnOnce(W::Made) + Send>>,
    ) -> Answer<W::Made> {
        let slot = Slot::new(lost);
        let answer = Answer::of(&slot);
        let mut state = self.state.lock();
        let line = state.line(self, tenant);
        let mut waiting = line.waiting.lock();
        waiting.jobs.push_back(Box::new(Task::new(work, slot)));
        if !waiting.is_ready {
            waiting.is_ready = true;
            state.ready.push_back(Arc::clone(&line));
            drop(waiting);
            self.call_worker(&mut state);
        }
        answer
    }

    /// The same for work that nobody waits for.
    pub(crate) fn submit_for_nobody<W: Work<Made = ()>>(self: &Arc<Self>, tenant: &Tenant, work: W) {
        self.submit(tenant, work, None).forget();
    }

    fn call_worker(self: &Arc<Self>, state: &mut State) {
        if state.ready.len() > state.idle && state.workers < WORKERS_MAX {
            let inner = Arc::clone(self);
            let thread = thread::Builder::new().name("drydock-commits".into());
            if let Ok(thread) = thread.spawn(move || inner.work_on()) {
                state.workers += 1;
                state.threads.retain(|it| !it.is_finished());
                state.threads.push(thread);
            } else if state.workers == 0 {
                // Nobody will ever come: whoever waits is told so, because dropping a job is an answer.
                for line in state.ready.drain(..) {
                    let mut waiting = line.waiting.lock();
                    waiting.is_ready = false;
                    waiting.jobs.clear();
                }
            }
        }
        self.work.notify_one();
    }

    /// What a thread does, tenant after tenant.
    fn work_on(&self) {
        let mut state = self.state.lock();
        loop {
            let Some(line) = state.ready.pop_front() else {
                if state.is_closed {
                    break;
                }
                state.idle += 1;
                let slept = self.work.wait_for(&mut state, IDLE_MAX);
                state.idle -= 1;
                if slept.timed_out() && state.ready.is_empty() {
                    break;
                }
                continue;
            };
            let closing = std::mem::take(&mut state.closing);
            drop(state);
            drop(closing);
            let jobs: Vec<_> = {
                let mut waiting = line.waiting.lock();
                let count = waiting.jobs.len().min(JOBS_MAX);
                waiting.jobs.drain(..count).collect()
            };
            serve::serve(&line, self.shelf, jobs);
            state = self.state.lock();
            let mut waiting = line.waiting.lock();
            waiting.is_ready = !waiting.jobs.is_empty();
            if waiting.is_ready {
                state.ready.push_back(Arc::clone(&line));
            }
        }
        state.workers -= 1;
    }
}

impl State {
    /// The file of a tenant, which may not be there.
    fn line(&mut self, inner: &Inner, tenant: &Tenant) -> Arc<Line> {
        match self.open.iter().position(|it| it.0 == *tenant) {
            Some(at) => self.open[..=at].rotate_right(1),
            None => {
                let home = inner.home.tenant(tenant);
                let file = || LedgerFile::at((inner.shelf.path)(&home), inner.shelf.kind);
                let reader = inner.shelf.glances.then(|| file().within(Duration::ZERO));
                let (writer, waiting) = (file(), Mutex::default());
                let kept = self.open.len().min(inner.shelf.open_max - 1);
                self.closing.extend(self.open.drain(kept..).map(|it| it.1));
                self.open.insert(0, (tenant.clone(), Arc::new(Line { home, writer, reader, waiting })));
            }
        }
        Arc::clone(&self.open[0].1)
    }
}

/// Nobody did it, and nobody will.
fn abandoned() -> LedgerError {
    let problem = "could not be written: no thread could be started, or the process is about to end".into();
    LedgerError { code: "ledger_unavailable", path: PathBuf::new(), problem, cause: None }
}

#[cfg(test)]
mod tests;
