//! The tree of accounts: tenants, their principals, and the sessions of those. Each node has a switch and counters for
//! each class of operation; revoking a node trips all below it.
//!
//! What is revoked is a set of its own, which the ledger keeps across processes; accounts are what is remembered of
//! those who asked lately. That memory is bounded: when it is full, principals that are idle are forgotten, and if
//! there are none a new one is refused. Nobody is un-revoked by being forgotten.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use drydock_contract::{Denial, Node, Switch, Tenant, Timestamp, Who};
use parking_lot::RwLock;

use crate::{
    Class,
    rate::{Counter, Rate},
};

/// Calls in flight, counted by class.
#[derive(Debug, Default)]
pub(crate) struct InFlight([AtomicU32; Class::COUNT]);

impl InFlight {
    fn take(&self, class: Class, max: u32) -> bool {
        let one_more = |running: u32| (running < max).then(|| running + 1);
        self.0[class.index()].fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more).is_ok()
    }

    fn give_back(&self, class: Class) {
        self.0[class.index()].fetch_sub(1, Ordering::AcqRel);
    }

    /// How many of a class there are now.
    pub(crate) fn of(&self, class: Class) -> u32 {
        self.0[class.index()].load(Ordering::Acquire)
    }
}

/// One principal's account, below its tenant's.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) who: Arc<Who>,
    /// Tripped while the principal or its tenant is revoked.
    pub(crate) revoked: Arc<Switch>,
    pub(crate) rate: Counter,
    pub(crate) in_flight: InFlight,
    /// Its records in the audit's queue, as far as they were counted.
    pub(crate) queued: AtomicU32,
    tenant: Arc<InFlight>,
}

impl Account {
    /// Takes a place in the counters of session, principal and tenant, or refuses and changes nothing.
    pub(crate) fn take_slot(
        self: &Arc<Self>,
        session: &Arc<InFlight>,
        class: Class,
        principal_max: u32,
        tenant_max: u32,
    ) -> Result<Slot, Denial> {
        if !self.in_flight.take(class, principal_max) {
            return Err(Denial::TooManyProcesses { max: principal_max });
        }
        if !self.tenant.take(class, tenant_max) {
            self.in_flight.give_back(class);
            return Err(Denial::TooManyProcesses { max: tenant_max });
        }
        session.take(class, u32::MAX);
        Ok(Slot { account: Arc::clone(self), session: Arc::clone(session), class })
    }
}

/// One call in flight. Dropping it is the only way to give its places back, so they always are.
#[derive(Debug)]
pub(crate) struct Slot {
    account: Arc<Account>,
    session: Arc<InFlight>,
    class: Class,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.account.in_flight.give_back(self.class);
        self.account.tenant.give_back(self.class);
        self.session.give_back(self.class);
    }
}

/// Everybody's account.
pub(crate) struct Accounts {
    state: RwLock<State>,
    principals_max: usize,
    rate: Rate,
}

#[derive(Default)]
struct State {
    tenants: HashMap<Tenant, Arc<InFlight>>,
    accounts: HashMap<Arc<Who>, Arc<Account>>,
    revoked: HashSet<Node>,
    /// What was revoked here and is not in the ledger: not yet, or because it could not be written. No answer of the
    /// ledger takes it back.
    unwritten: HashSet<Node>,
    /// Nobody knows what is revoked, so everybody is.
    unknown: bool,
}

impl State {
    fn is_revoked(&self, who: &Who) -> bool {
        // Mostly nothing is, and then no name is copied to look it up.
        if self.unknown || (self.revoked.is_empty() && self.unwritten.is_empty()) {
            return self.unknown;
        }
        let above =
            [Node::Tenant(who.tenant.clone()), Node::Principal(who.tenant.clone(), who.principal.clone())];
        above.iter().any(|it| self.revoked.contains(it) || self.unwritten.contains(it))
    }

    /// Puts every switch where the set of revocations says.
    fn settle(&self) {
        for account in self.accounts.values() {
            match (self.is_revoked(&account.who), account.revoked.is_tripped()) {
                (true, false) => account.revoked.trip(),
                (false, true) => account.revoked.reset(),
                _ => {}
            }
        }
    }
}

impl Accounts {
    pub(crate) fn new(principals_max: usize, rate: Rate) -> Self {
        Self { state: RwLock::default(), principals_max, rate }
    }

    /// The account of a principal, made if there is none.
    pub(crate) fn of(&self, who: &Who, now: Timestamp) -> Result<Arc<Account>, Denial> {
        if let Some(account) = self.state.read().accounts.get(who) {
            return Ok(Arc::clone(account));
        }
        let mut state = self.state.write();
        if let Some(account) = state.accounts.get(who) {
            return Ok(Arc::clone(account));
        }
        if state.accounts.len() >= self.principals_max {
            state.accounts.retain(|_, it| Arc::strong_count(it) > 1 || !it.rate.is_idle(self.rate, now));
            let used: HashSet<Tenant> = state.accounts.keys().map(|it| it.tenant.clone()).collect();
            state.tenants.retain(|tenant, _| used.contains(tenant));
        }
        if state.accounts.len() >= self.principals_max {
            let Rate { calls_max, window_s } = self.rate;
            return Err(Denial::RateLimited { calls_max, window_s });
        }
        let tenant = Arc::clone(state.tenants.entry(who.tenant.clone()).or_default());
        let who = Arc::new(who.clone());
        let account = Arc::new(Account {
            who: Arc::clone(&who),
            revoked: Arc::default(),
            rate: Counter::default(),
            in_flight: InFlight::default(),
            queued: AtomicU32::new(0),
            tenant,
        });
        if state.is_revoked(&who) {
            account.revoked.trip();
        }
        state.accounts.insert(who, Arc::clone(&account));
        Ok(account)
    }

    /// Revokes a node; everything below it ends, whatever the ledger says until it has heard of it.
    pub(crate) fn revoke(&self, node: Node) {
        let mut state = self.state.write();
        state.unwritten.insert(node);
        state.settle();
    }

    /// The ledger has it now, and what it says next is right.
    pub(crate) fn written(&self, node: Node) {
        let mut state = self.state.write();
        state.unwritten.remove(&node);
        state.revoked.insert(node);
        state.settle();
    }

    /// Takes a revocation back. What was ended stays ended.
    pub(crate) fn unrevoke(&self, node: &Node) {
        let mut state = self.state.write();
        state.revoked.remove(node);
        state.unwritten.remove(node);
        state.settle();
    }

    /// Has every call in flight of a tenant look again whether its grant still holds.
    pub(crate) fn wake(&self, tenant: &Tenant) {
        let state = self.state.read();
        state.accounts.values().filter(|it| it.who.tenant == *tenant).for_each(|it| it.revoked.wake());
    }

    /// From now on these nodes are revoked, and what was revoked here and is not in the ledger; without any knowledge,
    /// everybody is.
    pub(crate) fn set_revoked(&self, nodes: Option<HashSet<Node>>) {
        let mut state = self.state.write();
        state.unknown = nodes.is_none();
        if let Some(nodes) = nodes {
            state.revoked = nodes;
        }
        state.settle();
    }

    /// How many principals are remembered.
    pub(crate) fn len(&self) -> usize {
        self.state.read().accounts.len()
    }
}
