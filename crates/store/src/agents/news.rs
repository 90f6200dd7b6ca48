//! Who listens hears of what changes. What goes through this process is heard at once; for what other processes do, a
//! thread looks at the file of each tenant that somebody listens to, ten times a second, and ends when nobody does.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, Weak},
    thread,
    time::Duration,
};

use drydock_contract::{AgentId, Switch, Tenant};
use parking_lot::Mutex;
use rusqlite::Connection;

use super::{Inner, drive::Sync, driver::Holder, look::news};
use crate::commits::Work;

/// How often other processes are looked after.
const TICK: Duration = Duration::from_millis(100);
/// How long whoever listens waits for nothing.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(1);
/// Ticks after which all that listen look again, so that none waits longer than that.
const HEARTBEAT_TICKS: u64 = 5;
/// Ticks after which appends that did not wait for a disk are synced all the same.
const SYNC_TICKS: u64 = 10;
/// Ticks after which a file that is not open is looked at in line.
const CLOSED_TICKS: u64 = 5;
/// Ticks that the thread stays without anybody who listens.
const IDLE_TICKS: u64 = 50;
/// Groups of runs that hear of changes together.
const BELLS: usize = 256;

/// What has changed in a tenant's file.
#[derive(Debug)]
pub(super) struct News {
    pub(super) version: u64,
    /// Nobody looked before: whatever it is may have changed.
    pub(super) is_first: bool,
    /// The runs that have, and who drives those that somebody wants to end.
    pub(super) runs: Vec<(AgentId, Option<Holder>)>,
}

/// A bell is for many runs: whoever is woken looks.
#[derive(Debug)]
pub(super) struct Desk {
    hasher: RandomState,
    bells: Box<[Switch]>,
    watch: Mutex<Watch>,
}

#[derive(Debug, Default)]
struct Watch {
    tenants: HashMap<Tenant, Watched>,
    is_running: bool,
}

#[derive(Debug, Default)]
struct Watched {
    listeners: usize,
    version: Option<u64>,
    is_unsynced: bool,
}

impl Desk {
    pub(super) fn new() -> Self {
        let bells = std::iter::repeat_with(Switch::default).take(BELLS).collect();
        Self { hasher: RandomState::new(), bells, watch: Mutex::default() }
    }

    pub(super) fn bell(&self, tenant: &Tenant, run: &AgentId) -> &Switch {
        &self.bells[(self.hasher.hash_one((tenant, run)) % BELLS as u64) as usize]
    }

    /// This process has changed a run.
    pub(super) fn own(&self, tenant: &Tenant, run: &AgentId, version: u64) {
        if let Some(watched) = self.watch.lock().tenants.get_mut(tenant)
            && watched.version == version.checked_sub(1)
        {
            // Nothing of others lies between: the thread need not look for this one.
            watched.version = Some(version);
        }
        self.bell(tenant, run).wake();
    }

    /// Something was appended that a power cut would take.
    pub(super) fn to_be_synced(&self, tenant: &Tenant) {
        if let Some(watched) = self.watch.lock().tenants.get_mut(tenant) {
            watched.is_unsynced = true;
        }
    }

    fn all(&self) {
        for bell in &self.bells {
            bell.wake();
        }
    }
}

/// Somebody listens, for as long as it lives.
pub(super) struct Listening {
    inner: Arc<Inner>,
    tenant: Tenant,
}

impl Listening {
    pub(super) fn to(inner: &Arc<Inner>, tenant: &Tenant) -> Self {
        let mut watch = inner.shared.news.watch.lock();
        watch.tenants.entry(tenant.clone()).or_default().listeners += 1;
        if !watch.is_running {
            let weak = Arc::downgrade(inner);
            let thread = thread::Builder::new().name("drydock-agents".into());
            // Without it what other processes do is not heard, and the next who listens tries again.
            watch.is_running = thread.spawn(move || look_on(&weak)).is_ok();
        }
        drop(watch);
        Self { inner: Arc::clone(inner), tenant: tenant.clone() }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut watch = self.inner.shared.news.watch.lock();
        if let Some(watched) = watch.tenants.get_mut(&self.tenant) {
            watched.listeners -= 1;
            // What was appended is synced first.
            if watched.listeners == 0 && !watched.is_unsynced {
                watch.tenants.remove(&self.tenant);
            }
        }
    }
}

fn look_on(inner: &Weak<Inner>) {
    let (mut ticks, mut idle) = (0, 0);
    loop {
        thread::sleep(TICK);
        ticks += 1;
        let Some(inner) = inner.upgrade() else { return };
        idle = if inner.tick(ticks) { 0 } else { idle + 1 };
        if idle < IDLE_TICKS {
            continue;
        }
        let mut watch = inner.shared.news.watch.lock();
        if watch.tenants.is_empty() {
            watch.is_running = false;
            return;
        }
    }
}

impl Inner {
    /// Looks at each tenant's file once. False if there is nobody to look for.
    fn tick(&self, ticks: u64) -> bool {
        let desk = &self.shared.news;
        let tenants: Vec<_> = {
            let watch = desk.watch.lock();
            watch.tenants.iter().map(|(tenant, it)| (tenant.clone(), it.version)).collect()
        };
        for (tenant, version) in &tenants {
            match self.commits.glance(tenant, |conn| news(conn, *version)) {
                Some(news) => self.heard(tenant, news),
                None if ticks.is_multiple_of(CLOSED_TICKS) => self.look_in_line(tenant, *version),
                None => {}
            }
        }
        if ticks.is_multiple_of(HEARTBEAT_TICKS) {
            desk.all();
        }
        if ticks.is_multiple_of(SYNC_TICKS) {
            self.sync_all();
        }
        !tenants.is_empty()
    }

    fn heard(&self, tenant: &Tenant, news: News) {
        self.shared.heard(tenant, news);
    }

    fn look_in_line(&self, tenant: &Tenant, since: Option<u64>) {
        let Some(commits) = self.commits.weak().upgrade() else { return };
        let (shared, whose) = (Arc::clone(&self.shared), tenant.clone());
        let tell = Box::new(move |news| shared.heard(&whose, news));
        commits.submit_for_nobody(tenant, LookForNews { since, tell });
    }

    /// What was appended a while ago survives the machine from here on.
    fn sync_all(&self) {
        let unsynced: Vec<Tenant> = {
            let mut watch = self.shared.news.watch.lock();
            let unsynced = watch.tenants.iter_mut().filter_map(|(tenant, watched)| {
                std::mem::take(&mut watched.is_unsynced).then(|| tenant.clone())
            });
            let unsynced = unsynced.collect();
            watch.tenants.retain(|_, it| it.listeners > 0);
            unsynced
        };
        let Some(commits) = self.commits.weak().upgrade() else { return };
        for tenant in unsynced {
            commits.submit_for_nobody(&tenant, Sync);
        }
    }
}

impl super::Shared {
    fn heard(&self, tenant: &Tenant, news: News) {
        if let Some(watched) = self.news.watch.lock().tenants.get_mut(tenant) {
            watched.version = watched.version.max(Some(news.version));
        }
        if news.is_first {
            self.news.all();
        }
        for (run, ending) in news.runs {
            if let Some(holder) = ending {
                self.driver.cancel(tenant, &run, holder);
            }
            self.news.bell(tenant, &run).wake();
        }
    }
}

/// The look at a file that is not open.
struct LookForNews<T> {
    since: Option<u64>,
    tell: Box<T>,
}

impl<T: Fn(News) + Send + 'static> Work for LookForNews<T> {
    type Made = ();
    const MAKES: bool = false;

    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<()>> {
        (self.tell)(news(conn, self.since)?);
        Ok(Some(()))
    }

    fn act(&mut self, _: &Connection) -> rusqlite::Result<((), bool)> {
        Ok(((), false))
    }
}
