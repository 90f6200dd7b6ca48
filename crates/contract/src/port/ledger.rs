//! What outlives a process and is shared by all that open the same home: revocations, counters, small cells.
//!
//! The ladder asks it for nothing while a call climbs: what is leased ahead is counted in memory, and leases are asked for
//! by threads of their own.

use std::path::PathBuf;

use crate::{Node, Tenant, Timestamp};

/// Keeps what every process of a home must agree on. All of it blocks, for as long as a disk takes.
pub trait Ledger: Send + Sync {
    /// Takes up to `wanted` of a counter that ends at `max`, and says how many were left to take. What is taken is
    /// never given twice, to whichever process.
    fn lease(&self, tenant: &Tenant, counter: &str, wanted: u64, max: u64) -> Result<u64, LedgerError>;

    /// Gives back what was leased and not used. Where that is not kept, it is lost.
    fn give_back(&self, tenant: &Tenant, counter: &str, unused: u64) -> Result<(), LedgerError> {
        let _ = (tenant, counter, unused);
        Ok(())
    }

    /// What was leased of a counter so far.
    fn leased(&self, tenant: &Tenant, counter: &str) -> Result<u64, LedgerError>;

    /// The value of a cell.
    fn cell(&self, tenant: &Tenant, key: &str) -> Result<Option<Vec<u8>>, LedgerError>;

    /// Puts `new` (or nothing) in the place of `expected` (or nothing). False if something else was there, and then
    /// nothing is changed.
    fn swap(
        &self,
        tenant: &Tenant,
        key: &str,
        expected: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool, LedgerError>;

    /// The keys and values of cells whose keys begin so, sorted.
    fn cells(&self, tenant: &Tenant, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, LedgerError>;

    /// Revokes a node, for every process of this home and for those to come. False if it was already.
    fn revoke(&self, node: &Node, at: Timestamp) -> Result<bool, LedgerError>;

    /// Takes a revocation back. False if there was none.
    fn unrevoke(&self, node: &Node) -> Result<bool, LedgerError>;

    /// Everything that is revoked, if that has changed since `seen`; with the mark to ask by the next time. Cheap
    /// while nothing has changed: it is asked several times a second.
    fn revocations(&self, seen: Option<u64>) -> Result<Option<(u64, Vec<Node>)>, LedgerError>;
}

/// The ledger could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the ledger `{path}` {problem}")]
pub struct LedgerError {
    /// The stable code: `ledger_damaged`, `ledger_locked`, `ledger_no_space`, `ledger_version`, `ledger_limit` or
    /// `ledger_unavailable`.
    pub code: &'static str,
    /// Which file.
    pub path: PathBuf,
    /// What is wrong with it, and what to do.
    pub problem: String,
    /// What the disk or the database said.
    #[source]
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}
