//! Places for compilations: each tenant has its own, and all together have a few more.
//!
//! What compiles takes a processor for up to a minute. A tenant's modules that are slow to compile hold its own places,
//! and then its next one waits; another tenant finds one. Only where several tenants compile at once do they wait for
//! each other, and then in the order in which they came: each has no more of them waiting than it has places.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use drydock_contract::{Fault, Tenant};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// All places, for each that one tenant has. Few: they share the processors, and each has a minute.
const TENANTS_AT_ONCE: usize = 2;

/// The places of one engine.
pub(crate) struct Compiling {
    all: Arc<Semaphore>,
    per_tenant_max: usize,
    /// Of those who compile or wait.
    tenants: Mutex<HashMap<Tenant, Weak<Semaphore>>>,
}

/// One place, until it is dropped.
pub(crate) struct Place {
    _one_of_all: OwnedSemaphorePermit,
    _one_of_the_tenant: OwnedSemaphorePermit,
}

impl Compiling {
    /// With so many places for each tenant, and at least one.
    pub(crate) fn new(per_tenant_max: usize) -> Self {
        let per_tenant_max = per_tenant_max.clamp(1, Semaphore::MAX_PERMITS / TENANTS_AT_ONCE);
        let all = Arc::new(Semaphore::new(per_tenant_max * TENANTS_AT_ONCE));
        Self { all, per_tenant_max, tenants: Mutex::default() }
    }

    /// A place for the tenant, as soon as there is one.
    pub(crate) async fn place(&self, tenant: Tenant) -> Result<Place, Fault> {
        let closed = |_| Fault::Internal("the engine is shutting down".into());
        let own = self.of(tenant);
        let one_of_the_tenant = own.acquire_owned().await.map_err(closed)?;
        let one_of_all = Arc::clone(&self.all).acquire_owned().await.map_err(closed)?;
        Ok(Place { _one_of_all: one_of_all, _one_of_the_tenant: one_of_the_tenant })
    }

    fn of(&self, tenant: Tenant) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock();
        if let Some(own) = tenants.get(&tenant).and_then(Weak::upgrade) {
            return own;
        }
        tenants.retain(|_, it| it.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.per_tenant_max));
        tenants.insert(tenant, Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn a_tenant_that_holds_its_places_leaves_those_of_others_and_nothing_stays() {
        let compiling = Compiling::new(2);
        let of = |name: &str| Box::pin(compiling.place(name.parse().unwrap()));
        let held = [of("a").await.unwrap(), of("a").await.unwrap()];
        let mut third = of("a");
        assert!(poll!(&mut third).is_pending());
        let other = of("b").await.unwrap();
        assert!(poll!(&mut third).is_pending(), "its own are taken");
        drop(held);
        drop((third.await.unwrap(), other));
        of("c").await.unwrap();
        assert_eq!(compiling.tenants.lock().len(), 1, "who compiles nothing is not known");
    }

    #[tokio::test]
    async fn where_several_tenants_compile_nobody_comes_twice_before_another() {
        let compiling = Compiling::new(1);
        let of = |name: &str| Box::pin(compiling.place(name.parse().unwrap()));
        let (first, second) = (of("a").await.unwrap(), of("b").await.unwrap());
        let (mut again, mut other) = (of("a"), of("c"));
        assert!(poll!(&mut again).is_pending() && poll!(&mut other).is_pending());
        drop(first);
        assert!(poll!(&mut again).is_pending(), "the other came to the places of all before it");
        let other = other.await.unwrap();
        drop((second, other));
        again.await.unwrap();
    }
}
