//! Who drives runs. Each process that does has a name that is never used twice, and holds the lock of a file of that name:
//! the kernel frees it when the process dies, so whoever finds a name without a lock beside a run knows that nobody drives
//! it. One descriptor is enough for any number of runs.

use std::{collections::HashMap, fs, io, path::PathBuf, sync::Arc};

use drydock_contract::{AgentId, Switch, Tenant};
use parking_lot::Mutex;

use crate::{Home, home::Lock};

/// What the files are called before their name.
const PREFIX: &str = "agents-";
/// Files of dead processes that one that starts takes away.
const SWEPT_MAX: usize = 64;
/// How often a name is tried.
const TRIES_MAX: usize = 8;

const NAME_BYTES: usize = 16;
/// The name of a process, and which of its holds.
const HOLDER_BYTES: usize = NAME_BYTES + 8;

/// What stands beside a run that is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Holder([u8; HOLDER_BYTES]);

impl Holder {
    fn of(name: [u8; NAME_BYTES], hold: u64) -> Self {
        let mut bytes = [0; HOLDER_BYTES];
        bytes[..NAME_BYTES].copy_from_slice(&name);
        bytes[NAME_BYTES..].copy_from_slice(&hold.to_be_bytes());
        Self(bytes)
    }

    /// As it is kept.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// What was kept; what is no holder is nobody.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    fn name(&self) -> [u8; NAME_BYTES] {
        std::array::from_fn(|at| self.0[at])
    }

    fn hold(&self) -> u64 {
        u64::from_be_bytes(std::array::from_fn(|at| self.0[NAME_BYTES + at]))
    }
}

/// The runs that are driven through one [`SqliteAgents`](super::SqliteAgents).
#[derive(Debug)]
pub(super) struct Driver {
    home: Home,
    own: Mutex<Option<Own>>,
    holds: Mutex<Holds>,
}

#[derive(Debug)]
struct Own {
    name: [u8; NAME_BYTES],
    path: PathBuf,
    _lock: Lock,
}

impl Drop for Own {
    fn drop(&mut self) {
        // While the lock is held, so that nobody else has the name.
        let _ = fs::remove_file(&self.path);
    }
}

#[derive(Debug, Default)]
struct Holds {
    last: u64,
    by_number: HashMap<u64, (Tenant, AgentId, Arc<Switch>)>,
}

impl Driver {
    pub(super) fn of(home: &Home) -> Self {
        Self { home: home.clone(), own: Mutex::default(), holds: Mutex::default() }
    }

    /// A number for one hold, which counts as alive from now on, and the switch that ends it.
    pub(super) fn begin(&self, tenant: &Tenant, run: &AgentId) -> (u64, Arc<Switch>) {
        let ended = Arc::<Switch>::default();
        let mut holds = self.holds.lock();
        holds.last += 1;
        let number = holds.last;
        holds.by_number.insert(number, (tenant.clone(), run.clone(), Arc::clone(&ended)));
        (number, ended)
    }

    /// It counts as alive no longer.
    pub(super) fn end(&self, hold: u64) {
        self.holds.lock().by_number.remove(&hold);
    }

    /// Somebody asked for the end of a run: if it is driven from here, whoever does hears of it.
    pub(super) fn cancel(&self, tenant: &Tenant, run: &AgentId, holder: Holder) {
        if self.own.lock().as_ref().is_none_or(|it| it.name != holder.name()) {
            return;
        }
        let holds = self.holds.lock();
        if let Some((whose, which, ended)) = holds.by_number.get(&holder.hold())
            && (whose, which) == (tenant, run)
        {
            ended.trip();
        }
    }

    /// What is written beside a run that this hold drives. Waits for a disk the first time.
    pub(super) fn holder(&self, hold: u64) -> io::Result<Holder> {
        let mut own = self.own.lock();
        if let Some(own) = own.as_ref() {
            return Ok(Holder::of(own.name, hold));
        }
        let made = self.make()?;
        let name = made.name;
        *own = Some(made);
        Ok(Holder::of(name, hold))
    }

    /// What is written beside a run that this hold drives, if anything ever was.
    pub(super) fn known_holder(&self, hold: u64) -> Option<Holder> {
        self.own.lock().as_ref().map(|own| Holder::of(own.name, hold))
    }

    /// Whether whoever held a run still does. What cannot be found out counts as held: a run is not driven twice.
    pub(super) fn is_alive(&self, holder: Holder) -> bool {
        self.is_alive_here(holder).unwrap_or_else(|| self.is_alive_elsewhere(holder))
    }

    /// The same of a run that is driven from here; nothing if it is not.
    fn is_alive_here(&self, holder: Holder) -> Option<bool> {
        let is_ours = self.own.lock().as_ref().is_some_and(|it| it.name == holder.name());
        is_ours.then(|| self.holds.lock().by_number.contains_key(&holder.hold()))
    }

    fn is_alive_elsewhere(&self, holder: Holder) -> bool {
        Lock::is_taken(&self.path(holder.name())).unwrap_or(true)
    }

    fn path(&self, name: [u8; NAME_BYTES]) -> PathBuf {
        self.home.lock_file(&format!("{PREFIX}{:032x}", u128::from_be_bytes(name)))
    }

    fn make(&self) -> io::Result<Own> {
        self.sweep();
        for _ in 0..TRIES_MAX {
            let mut name = [0; NAME_BYTES];
            getrandom::fill(&mut name).map_err(io::Error::other)?;
            let path = self.path(name);
            let Some(lock) = Lock::try_take(&path)? else { continue };
            // Whoever sweeps at this moment may have taken the new file for a dead one's.
            if lock.is_of(&path).unwrap_or(false) {
                return Ok(Own { name, path, _lock: lock });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Takes away files of processes that died.
    fn sweep(&self) {
        let Some(folder) = self.path([0; NAME_BYTES]).parent().map(PathBuf::from) else { return };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let ours = entries.filter(|it| it.file_name().to_string_lossy().starts_with(PREFIX));
        for path in ours.take(SWEPT_MAX).map(|it| it.path()) {
            if let Ok(Some(_lock)) = Lock::try_take(&path) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// Whether holders live; each process is asked about once in one look.
pub(super) struct Living<'d> {
    driver: &'d Driver,
    asked: Vec<([u8; NAME_BYTES], bool)>,
}

impl<'d> Living<'d> {
    pub(super) fn of(driver: &'d Driver) -> Self {
        Self { driver, asked: Vec::new() }
    }

    pub(super) fn holds(&mut self, holder: Option<Holder>) -> bool {
        let Some(holder) = holder else { return false };
        if let Some(here) = self.driver.is_alive_here(holder) {
            return here;
        }
        if let Some(known) = self.asked.iter().find(|it| it.0 == holder.name()) {
            return known.1;
        }
        let is_alive = self.driver.is_alive_elsewhere(holder);
        self.asked.push((holder.name(), is_alive));
        is_alive
    }
}
