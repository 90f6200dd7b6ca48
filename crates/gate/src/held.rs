//! What a session holds while it lives: it can be given a grant, and can lose one.
//!
//! Whoever decides takes a snapshot and decides by that. Losing a grant ends nothing that it let begin: a call in
//! flight learns of it where it asks whether its permit still holds.

use std::sync::Arc;

use drydock_contract::{Cap, Denial, GrantId, port::Subjects};
use parking_lot::RwLock;

use crate::{Grant, GrantSet};

/// Grants one session may hold at once.
const HELD_MAX: usize = 4096;

/// The grants of a session. Clones are the same: sessions of one shell hold what the shell holds.
#[derive(Debug, Clone, Default)]
pub struct HeldGrants(Arc<RwLock<Arc<GrantSet>>>);

impl HeldGrants {
    /// What is held now.
    pub fn now(&self) -> Arc<GrantSet> {
        Arc::clone(&self.0.read())
    }

    pub(crate) fn give(&self, grant: Arc<Grant>) -> Result<(), Denial> {
        let mut held = self.0.write();
        if held.iter().count() >= HELD_MAX {
            return Err(not_counted(grant.cap()));
        }
        if !held.holds(&grant) {
            *held = Arc::new(held.with(grant));
        }
        Ok(())
    }

    pub(crate) fn lose(&self, id: &GrantId) -> bool {
        let mut held = self.0.write();
        let left = held.without(id);
        let lost = left.iter().count() < held.iter().count();
        *held = Arc::new(left);
        lost
    }
}

/// The denial for a grant that cannot be kept track of, and is therefore not given.
pub(crate) fn not_counted(cap: Cap) -> Denial {
    Denial::NotGranted { cap, subjects: Subjects::none(), why: ": too many grants are live already" }
}

impl From<GrantSet> for HeldGrants {
    fn from(set: GrantSet) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(set))))
    }
}

impl<G: Into<Arc<Grant>>> FromIterator<G> for HeldGrants {
    fn from_iter<I: IntoIterator<Item = G>>(grants: I) -> Self {
        grants.into_iter().collect::<GrantSet>().into()
    }
}
