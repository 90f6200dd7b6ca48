//! A ledger in memory, for everybody who asks one: it counts who asks, can break down, and can be slow to answer.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use drydock_contract::{
    Node, Tenant, Timestamp,
    port::{Ledger, LedgerError},
};
use parking_lot::{Condvar, Mutex};

/// Keeps everything in memory. `break_down` makes it fail until it is mended; `hold` makes whoever asks for a tenant's
/// cells and counters wait until it is let go, as a lock of another process does.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    inner: Mutex<Inner>,
    asked: AtomicU64,
    broken: AtomicBool,
    held: Mutex<Option<Tenant>>,
    let_go: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    counters: BTreeMap<(Tenant, String), u64>,
    cells: BTreeMap<(Tenant, String), Vec<u8>>,
    revoked: BTreeSet<Node>,
    version: u64,
}

impl MemoryLedger {
    /// How often anything was asked of it.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    pub fn break_down(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }

    pub fn mend(&self) {
        self.broken.store(false, Ordering::SeqCst);
    }

    pub fn hold(&self, tenant: &Tenant) {
        *self.held.lock() = Some(tenant.clone());
    }

    pub fn let_go(&self) {
        *self.held.lock() = None;
        self.let_go.notify_all();
    }

    fn ask_of<T>(&self, tenant: &Tenant, answer: impl FnOnce(&mut Inner) -> T) -> Result<T, LedgerError> {
        let mut held = self.held.lock();
        self.let_go.wait_while(&mut held, |it| it.as_ref() == Some(tenant));
        drop(held);
        self.ask(answer)
    }

    fn ask<T>(&self, answer: impl FnOnce(&mut Inner) -> T) -> Result<T, LedgerError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.broken.load(Ordering::SeqCst) {
            let problem = "is broken".into();
            return Err(LedgerError {
                code: "ledger_unavailable",
                path: "memory".into(),
                problem,
                cause: None,
            });
        }
        Ok(answer(&mut self.inner.lock()))
    }
}

impl Ledger for MemoryLedger {
    fn lease(&self, tenant: &Tenant, counter: &str, wanted: u64, max: u64) -> Result<u64, LedgerError> {
        self.ask_of(tenant, |it| {
            let leased = it.counters.entry((tenant.clone(), counter.to_owned())).or_default();
            let taken = wanted.min(max.saturating_sub(*leased));
            *leased += taken;
            taken
        })
    }

    fn give_back(&self, tenant: &Tenant, counter: &str, unused: u64) -> Result<(), LedgerError> {
        self.ask_of(tenant, |it| {
            if let Some(leased) = it.counters.get_mut(&(tenant.clone(), counter.to_owned())) {
                *leased = leased.saturating_sub(unused);
            }
        })
    }

    fn leased(&self, tenant: &Tenant, counter: &str) -> Result<u64, LedgerError> {
        self.ask_of(tenant, |it| it.counters.get(&(tenant.clone(), counter.to_owned())).copied().unwrap_or(0))
    }

    fn cell(&self, tenant: &Tenant, key: &str) -> Result<Option<Vec<u8>>, LedgerError> {
        self.ask_of(tenant, |it| it.cells.get(&(tenant.clone(), key.to_owned())).cloned())
    }

    fn swap(
        &self,
        tenant: &Tenant,
        key: &str,
        expected: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool, LedgerError> {
        self.ask_of(tenant, |it| {
            let key = (tenant.clone(), key.to_owned());
            if it.cells.get(&key).map(Vec::as_slice) != expected {
                return false;
            }
            match new {
                Some(value) => it.cells.insert(key, value.to_vec()),
                None => it.cells.remove(&key),
            };
            true
        })
    }

    fn cells(&self, tenant: &Tenant, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, LedgerError> {
        self.ask_of(tenant, |it| {
            let ours = it.cells.iter().filter(|((owner, key), _)| owner == tenant && key.starts_with(prefix));
            ours.map(|((_, key), value)| (key.clone(), value.clone())).collect()
        })
    }

    fn revoke(&self, node: &Node, _: Timestamp) -> Result<bool, LedgerError> {
        self.ask(|it| {
            it.version += 1;
            it.revoked.insert(node.clone())
        })
    }

    fn unrevoke(&self, node: &Node) -> Result<bool, LedgerError> {
        self.ask(|it| {
            it.version += 1;
            it.revoked.remove(node)
        })
    }

    fn revocations(&self, seen: Option<u64>) -> Result<Option<(u64, Vec<Node>)>, LedgerError> {
        self.ask(|it| (seen != Some(it.version)).then(|| (it.version, it.revoked.iter().cloned().collect())))
    }
}
