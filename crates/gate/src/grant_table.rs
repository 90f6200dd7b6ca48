//! Live grants by their id, so that one can be taken back wherever it is held: by a session here, or because another
//! process of the same home said so.
//!
//! Only grants that somebody named are here. The table keeps none alive, and is bounded: when it is full of live ones,
//! a further one is not given to anybody.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak},
};

use drydock_contract::{GrantId, Tenant};
use parking_lot::RwLock;

use crate::Grant;

/// Ids that are remembered at once, live ones and revoked ones each.
const IDS_MAX: usize = 65_536;

/// Whose grant, and which.
type Key = (Tenant, GrantId);

/// Live grants by their id.
#[derive(Debug)]
pub(crate) struct GrantTable {
    inner: RwLock<Inner>,
    ids_max: usize,
}

#[derive(Debug, Default)]
struct Inner {
    live: HashMap<Key, Vec<Weak<Grant>>>,
    /// What was revoked before a grant of that id came: the grant is, too.
    revoked: HashSet<Key>,
}

/// There are too many live grants.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TableFull;

impl Default for GrantTable {
    fn default() -> Self {
        Self { inner: RwLock::default(), ids_max: IDS_MAX }
    }
}

impl GrantTable {
    /// Remembers a grant and those that it hangs from, as far as they have ids. One that was revoked before is revoked.
    pub(crate) fn register(&self, tenant: &Tenant, grant: &Arc<Grant>) -> Result<(), TableFull> {
        std::iter::successors(Some(grant), |it| it.parent()).try_for_each(|it| self.register_one(tenant, it))
    }

    fn register_one(&self, tenant: &Tenant, grant: &Arc<Grant>) -> Result<(), TableFull> {
        let Some(id) = grant.id() else { return Ok(()) };
        let key = (tenant.clone(), id.clone());
        let same = |it: &Weak<Grant>| std::ptr::eq(it.as_ptr(), Arc::as_ptr(grant));
        // A line of a shell opens a session with grants that are here already.
        if self.inner.read().live.get(&key).is_some_and(|all| all.iter().any(same)) {
            return Ok(());
        }
        let mut inner = self.inner.write();
        if inner.live.len() >= self.ids_max && !inner.live.contains_key(&key) {
            inner.live.retain(|_, all| all.iter().any(|it| it.strong_count() > 0));
            if inner.live.len() >= self.ids_max {
                return Err(TableFull);
            }
        }
        if inner.revoked.contains(&key) {
            grant.revoke();
        }
        let all = inner.live.entry(key).or_default();
        all.retain(|it| it.strong_count() > 0);
        all.push(Arc::downgrade(grant));
        Ok(())
    }

    /// Revokes every grant of that id, and those that will come. Says how many were live.
    pub(crate) fn revoke(&self, tenant: &Tenant, id: &GrantId) -> usize {
        let key = (tenant.clone(), id.clone());
        let mut inner = self.inner.write();
        let live: Vec<_> = inner.live.get(&key).into_iter().flatten().filter_map(Weak::upgrade).collect();
        live.iter().for_each(|it| it.revoke());
        // Whoever hands out kept grants looks at the ledger too; this set only closes the gap in between.
        if inner.revoked.len() < self.ids_max {
            inner.revoked.insert(key);
        }
        live.len()
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::Cap;

    use super::*;

    fn named(id: &str) -> Arc<Grant> {
        Arc::new(Grant::of(Cap::Exec).named(id.parse().unwrap()))
    }

    #[test]
    fn a_grant_is_revoked_wherever_it_is_held_and_only_that_tenants() {
        let table = GrantTable::default();
        let (dev, other) = (Tenant::default(), "other".parse::<Tenant>().unwrap());
        let (ours, twin, theirs) = (named("a"), named("a"), named("a"));
        let child = Arc::new(ours.narrowed().named("b".parse().unwrap()));
        for grant in [&child, &twin, &child] {
            table.register(&dev, grant).unwrap();
        }
        table.register(&other, &theirs).unwrap();
        assert_eq!(table.revoke(&dev, &"a".parse().unwrap()), 2);
        assert!(ours.is_revoked() && twin.is_revoked() && child.is_revoked() && !theirs.is_revoked());
        let late = named("a");
        table.register(&dev, &late).unwrap();
        assert!(late.is_revoked(), "it was revoked before it came");
    }

    #[test]
    fn a_full_table_forgets_the_dead_and_refuses_what_it_could_not_revoke() {
        let table = GrantTable { ids_max: 2, ..GrantTable::default() };
        let dev = Tenant::default();
        let first = named("a");
        table.register(&dev, &first).unwrap();
        table.register(&dev, &named("b")).unwrap();
        let third = named("c");
        table.register(&dev, &third).unwrap();
        assert_eq!(table.register(&dev, &named("d")), Err(TableFull));
        table.register(&dev, &first).unwrap();
        table.register(&dev, &Arc::new(Grant::of(Cap::Kv))).unwrap();
    }
}
