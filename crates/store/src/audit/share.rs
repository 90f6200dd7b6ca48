//! How much of the newest segment each principal has had. Whoever has had its share goes on in a row of segments for
//! the busy, so that one noisy principal does not push everybody's records out. Nothing is left out for it.
//!
//! Counted in this process alone, and from nothing when it starts: it bounds noise, it is no account.

use std::collections::HashMap;

use drydock_contract::{Principal, Tenant};

use super::segment::Row;

/// Records of one principal in one shared segment: at most a quarter of it, if lines are long.
pub const PRINCIPAL_RECORDS_MAX: u32 = 16_384;
/// Principals that are counted at once.
const PRINCIPALS_MAX: usize = 65_536;

#[derive(Debug)]
pub(super) struct Shares {
    records_max: u32,
    table: HashMap<(Tenant, Principal), Share>,
}

#[derive(Debug, Clone, Copy)]
struct Share {
    segment: u64,
    records: u32,
}

impl Shares {
    pub(super) fn of(records_max: u32) -> Self {
        Self { records_max, table: HashMap::new() }
    }

    /// Where the next record of a principal goes, while its tenant's newest shared segment has that number.
    pub(super) fn take(&mut self, tenant: &Tenant, principal: &Principal, segment: u64) -> Row {
        let key = (tenant.clone(), principal.clone());
        if self.table.len() >= PRINCIPALS_MAX && !self.table.contains_key(&key) {
            // Everybody's count begins anew: more than so many at once are not one noisy one.
            self.table.clear();
        }
        let share = self.table.entry(key).or_insert(Share { segment, records: 0 });
        if share.segment != segment {
            *share = Share { segment, records: 0 };
        }
        share.records = share.records.saturating_add(1);
        if share.records > self.records_max { Row::Busy } else { Row::Shared }
    }
}
