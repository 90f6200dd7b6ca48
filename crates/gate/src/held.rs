//! What a session holds while it lives: it can be given a grant, and can lose one.
//!
//! Whoever decides takes a snapshot and decides by that. Losing a grant ends what it let begin: calls in flight ask
//! whether it is still held.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use drydock_contract::{Cap, Denial, GrantId, port::Subjects};
use parking_lot::RwLock;

use crate::{Grant, GrantSet};

/// Grants one session may hold at once.
const HELD_MAX: usize = 4096;

/// The grants of a session. Clones are the same: sessions of one shell hold what the shell holds.
#[derive(Debug, Clone, Default)]
pub struct HeldGrants(Arc<Held>);

#[derive(Debug, Default)]
struct Held {
    now: RwLock<Arc<GrantSet>>,
    /// Whether any was ever lost: mostly none is, and then nobody need look for one.
    ever_lost: AtomicBool,
}

impl HeldGrants {
    /// What is held now.
    pub fn now(&self) -> Arc<GrantSet> {
        Arc::clone(&self.0.now.read())
    }

    /// Whether any was ever lost.
    pub(crate) fn ever_lost(&self) -> bool {
        self.0.ever_lost.load(Ordering::Acquire)
    }

    pub(crate) fn give(&self, grant: Arc<Grant>) -> Result<(), Denial> {
        let mut held = self.0.now.write();
        if held.iter().count() >= HELD_MAX {
            return Err(not_counted(grant.cap()));
        }
        if !held.holds(&grant) {
            *held = Arc::new(held.with(grant));
        }
        Ok(())
    }

    pub(crate) fn lose(&self, id: &GrantId) -> bool {
        let mut held = self.0.now.write();
        let left = held.without(id);
        let lost = left.iter().count() < held.iter().count();
        *held = Arc::new(left);
        self.0.ever_lost.fetch_or(lost, Ordering::Release);
        lost
    }
}

/// The denial for a grant that cannot be kept track of, and is therefore not given.
pub(crate) fn not_counted(cap: Cap) -> Denial {
    Denial::NotGranted { cap, subjects: Subjects::none(), why: ": too many grants are live already" }
}

impl From<GrantSet> for HeldGrants {
    fn from(set: GrantSet) -> Self {
        Self(Arc::new(Held { now: RwLock::new(Arc::new(set)), ever_lost: AtomicBool::new(false) }))
    }
}

impl<G: Into<Arc<Grant>>> FromIterator<G> for HeldGrants {
    fn from_iter<I: IntoIterator<Item = G>>(grants: I) -> Self {
        grants.into_iter().collect::<GrantSet>().into()
    }
}
