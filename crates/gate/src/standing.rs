//! What the gate remembers of each principal: revoked or not, calls this minute, runs in flight.
//!
//! The memory is bounded. When it is full, principals that are idle and not revoked are forgotten;
//! if there are none, a new principal is refused. Nobody is ever un-revoked by being forgotten.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use drydock_contract::{Denial, Principal, Switch, Timestamp};
use parking_lot::RwLock;

use crate::rate::{Counter, Rate};

/// One principal's standing.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) principal: Principal,
    pub(crate) revoked: Arc<Switch>,
    pub(crate) rate: Counter,
    in_flight: AtomicU32,
}

impl Standing {
    /// Takes one of `max` slots, or refuses and changes nothing.
    pub(crate) fn take_slot(self: &Arc<Self>, max: u32) -> Result<Slot, Denial> {
        let one_more = |running: u32| (running < max).then(|| running + 1);
        match self.in_flight.fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(Slot(Arc::clone(self))),
            Err(_) => Err(Denial::TooManyProcesses { max }),
        }
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Acquire)
    }
}

/// One run in flight. Dropping it is the only way to give it back, so it always is.
#[derive(Debug)]
pub(crate) struct Slot(Arc<Standing>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Everybody's standing.
pub(crate) struct Standings {
    all: RwLock<HashMap<Principal, Arc<Standing>>>,
    principals_max: usize,
    rate: Rate,
}

impl Standings {
    pub(crate) fn new(principals_max: usize, rate: Rate) -> Self {
        Self { all: RwLock::default(), principals_max, rate }
    }

    /// The standing of a principal, made if there is none.
    pub(crate) fn of(&self, principal: &Principal, now: Timestamp) -> Result<Arc<Standing>, Denial> {
        if let Some(standing) = self.all.read().get(principal) {
            return Ok(Arc::clone(standing));
        }
        let mut all = self.all.write();
        if let Some(standing) = all.get(principal) {
            return Ok(Arc::clone(standing));
        }
        if all.len() >= self.principals_max {
            all.retain(|_, it| {
                Arc::strong_count(it) > 1 || it.revoked.is_tripped() || !it.rate.is_idle(self.rate, now)
            });
        }
        if all.len() >= self.principals_max {
            let Rate { calls_max, window_s } = self.rate;
            return Err(Denial::RateLimited { calls_max, window_s });
        }
        let standing = Arc::new(Standing {
            principal: principal.clone(),
            revoked: Arc::default(),
            rate: Counter::default(),
            in_flight: AtomicU32::new(0),
        });
        all.insert(principal.clone(), Arc::clone(&standing));
        Ok(standing)
    }

    /// How many principals are remembered.
    pub(crate) fn len(&self) -> usize {
        self.all.read().len()
    }
}
