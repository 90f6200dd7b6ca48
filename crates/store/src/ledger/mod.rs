//! What every process of a home must agree on, in SQLite: what is revoked in one file of the home, counters and cells in
//! one of each tenant.
//!
//! A file that is not there says that nothing was kept, and costs one `stat`. It is made whole, tables and all, and gets
//! its name when it is, so that an empty or half a file is damage and never a fresh start: what cannot be read is an
//! error, and whoever asks must refuse. What is revoked, and a cell that was swapped, survives the machine; a lease
//! survives the process.

mod error;
pub(crate) mod file;
mod revoked;
mod tenant;

use drydock_contract::{
    Node, Tenant, Timestamp,
    port::{Ledger, LedgerError},
};

pub use revoked::Revoked;
pub use tenant::OPEN_MAX as LEDGERS_MAX;

use crate::Home;
use revoked::Revocations;
use tenant::Ledgers;

/// The longest key of a cell and name of a counter, in bytes.
pub const LEDGER_KEY_BYTES_MAX: usize = 512;
/// The longest value of a cell, in bytes.
pub const LEDGER_VALUE_BYTES_MAX: usize = 1 << 20;

/// The ledger of one home. Any number of threads may use it; each file is one connection, and so one at a time.
#[derive(Debug)]
pub struct SqliteLedger {
    revocations: Revocations,
    ledgers: Ledgers,
}

impl SqliteLedger {
    /// The ledger of a home. Opens nothing.
    pub fn of(home: &Home) -> Self {
        Self { revocations: Revocations::of(home), ledgers: Ledgers::of(home) }
    }

    /// Everything that is revoked and since when, sorted.
    pub fn revoked(&self) -> Result<Vec<Revoked>, LedgerError> {
        self.revocations.all()
    }
}

impl Ledger for SqliteLedger {
    fn lease(&self, tenant: &Tenant, counter: &str, wanted: u64, max: u64) -> Result<u64, LedgerError> {
        self.ledgers.lease(tenant, counter, wanted, max)
    }

    fn give_back(&self, tenant: &Tenant, counter: &str, unused: u64) -> Result<(), LedgerError> {
        self.ledgers.give_back(tenant, counter, unused)
    }

    fn leased(&self, tenant: &Tenant, counter: &str) -> Result<u64, LedgerError> {
        self.ledgers.leased(tenant, counter)
    }

    fn cell(&self, tenant: &Tenant, key: &str) -> Result<Option<Vec<u8>>, LedgerError> {
        self.ledgers.cell(tenant, key)
    }

    fn swap(
        &self,
        tenant: &Tenant,
        key: &str,
        expected: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool, LedgerError> {
        self.ledgers.swap(tenant, key, expected, new)
    }

    fn cells(&self, tenant: &Tenant, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, LedgerError> {
        self.ledgers.cells(tenant, prefix)
    }

    fn revoke(&self, node: &Node, at: Timestamp) -> Result<bool, LedgerError> {
        self.revocations.revoke(node, at)
    }

    fn unrevoke(&self, node: &Node) -> Result<bool, LedgerError> {
        self.revocations.unrevoke(node)
    }

    fn revocations(&self, seen: Option<u64>) -> Result<Option<(u64, Vec<Node>)>, LedgerError> {
        self.revocations.since(seen)
    }
}

#[cfg(test)]
mod tests;
