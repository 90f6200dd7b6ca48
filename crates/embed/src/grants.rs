//! Grants that outlive a process: cells of the ledger, by tenant, principal and id.
//!
//! Revoking one leaves the cell, so that it can be seen what was given; a revoked grant and what hangs from it are
//! handed to nobody. This file decides nothing about calls: it hands grants to sessions that are being opened.

use std::{collections::BTreeSet, sync::Arc};

use drydock_contract::{
    BadGrants, Digest, GrantFile, GrantId, GrantSpec, Node, Principal, Tenant, Timestamp,
    port::{Ledger, LedgerError},
};
use drydock_gate::Grant;

use crate::Dock;

/// The grants of a tenant that are kept.
pub struct StoredGrants {
    ledger: Arc<dyn Ledger>,
    tenant: Tenant,
}

/// One grant that is kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct StoredGrant {
    /// Whose it is.
    pub principal: Principal,
    /// What it grants, with its id.
    pub grant: GrantSpec,
    /// Whether it, or one that it hangs from, was revoked.
    pub revoked: bool,
    /// How many of its uses are taken, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
}

/// Kept grants could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredGrantsError {
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// What is to be kept.
    #[error(transparent)]
    Bad(#[from] BadGrants),
    /// What was kept makes no sense any more.
    #[error("the grants of principal `{principal}` cannot be read from the ledger")]
    Broken {
        /// Whose.
        principal: Principal,
        /// Why not.
        #[source]
        cause: BadGrants,
    },
    /// An id is taken.
    #[error("there is a grant `{0}` already, of this tenant; give the new one another id")]
    Taken(GrantId),
    /// An id was revoked.
    #[error("grant `{0}` was revoked, and an id is revoked for good; give the new one another id")]
    WasRevoked(GrantId),
    /// No such id.
    #[error("there is no grant `{0}`; `drydock grants list` shows those there are")]
    Unknown(GrantId),
}

impl StoredGrantsError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Ledger(error) => error.code,
            Self::Bad(bad) | Self::Broken { cause: bad, .. } => bad.code(),
            Self::Taken(_) => "duplicate_grant",
            Self::WasRevoked(_) => "revoked_grant",
            Self::Unknown(_) => "unknown_grant",
        }
    }
}

/// Where the grants of a tenant begin: one cell for each file that was added, so that it is there whole or not at all. Its
/// key has the principal and the first id, its value the grants.
const PREFIX: &str = "grant/";
/// Where it is kept whose an id is: whoever swaps first has it, whichever principal it is for.
const IDS: &str = "grant-id/";

impl Dock {
    /// The grants that are kept for a tenant.
    pub fn stored_grants(&self, tenant: Tenant) -> StoredGrants {
        StoredGrants { ledger: Arc::clone(&self.ledger) as _, tenant }
    }
}

impl StoredGrants {
    /// The grants that this ledger keeps for a tenant.
    pub fn new(ledger: Arc<dyn Ledger>, tenant: Tenant) -> Self {
        Self { ledger, tenant }
    }

    /// Every grant of the tenant, by principal and id, revoked ones too.
    pub fn all(&self) -> Result<Vec<StoredGrant>, StoredGrantsError> {
        let mut all = Vec::new();
        let mut of_one: Vec<GrantSpec> = Vec::new();
        let mut cells = self.cells(PREFIX)?.into_iter().peekable();
        let mut revoked = None;
        while let Some((principal, grant)) = cells.next() {
            of_one.push(grant);
            if cells.peek().is_some_and(|(next, _)| *next == principal) {
                continue;
            }
            let revoked = match &revoked {
                Some(revoked) => revoked,
                None => revoked.insert(self.revoked()?),
            };
            all.extend(self.judged(&principal, std::mem::take(&mut of_one), revoked)?);
        }
        Ok(all)
    }

    /// One grant by its id.
    pub fn find(&self, id: &GrantId) -> Result<StoredGrant, StoredGrantsError> {
        let found = self.all()?.into_iter().find(|it| it.grant.id.as_ref() == Some(id));
        found.ok_or_else(|| StoredGrantsError::Unknown(id.clone()))
    }

    /// Keeps the grants of a file for a principal, all or none, and says as what. One without an id gets one.
    pub fn add(
        &self,
        principal: &Principal,
        file: &[u8],
        at: Timestamp,
    ) -> Result<Vec<GrantSpec>, StoredGrantsError> {
        // Two files at two moments never give the same ids.
        let hash = Digest::of(&[&at.0.to_le_bytes(), file].concat()).to_string();
        let stem = format!("g{}", hash.get(..8).unwrap_or_default());
        let file = GrantFile::parse_naming(file, &stem)?.check(drydock_caps::judge_terms)?;
        let before = self.all()?;
        let revoked = self.revoked()?;
        for id in file.grants().iter().filter_map(|it| it.id.as_ref()) {
            if before.iter().any(|it| it.grant.id.as_ref() == Some(id)) {
                return Err(StoredGrantsError::Taken(id.clone()));
            }
            if revoked.contains(id.as_str()) {
                return Err(StoredGrantsError::WasRevoked(id.clone()));
            }
        }
        // A session holds them all together, so together they must make sense.
        let ours = before.into_iter().filter(|it| it.principal == *principal).map(|it| it.grant);
        GrantFile::of(ours.chain(file.grants().iter().cloned()).collect(), &stem)?;
        let ids: Vec<&GrantId> = file.grants().iter().filter_map(|it| it.id.as_ref()).collect();
        let Some(first) = ids.first() else { return Ok(Vec::new()) };
        let key = format!("{PREFIX}{principal}/{first}");
        let grants: Vec<_> = file.grants().iter().map(GrantSpec::to_json).collect();
        let value = format!(r#"{{"grants":[{}]}}"#, grants.join(","));
        // With the ids that were given it may be longer than what may be read.
        GrantFile::parse(value.as_bytes())?;
        self.claim(&ids, key.as_bytes())?;
        match self.ledger.swap(&self.tenant, &key, None, Some(value.as_bytes()))? {
            true => Ok(file.grants().to_vec()),
            false => Err(StoredGrantsError::Taken(GrantId::clone(first))),
        }
    }

    /// Takes ids for the cell of that key, all or none. What a process left behind that was killed before it kept its
    /// grants is taken over.
    fn claim(&self, ids: &[&GrantId], key: &[u8]) -> Result<(), StoredGrantsError> {
        for (at, id) in ids.iter().enumerate() {
            let cell = format!("{IDS}{id}");
            if self.ledger.swap(&self.tenant, &cell, None, Some(key))? {
                continue;
            }
            let owner = self.ledger.cell(&self.tenant, &cell)?;
            if owner.as_deref() == Some(key) {
                continue;
            }
            for id in &ids[..at] {
                self.ledger.swap(&self.tenant, &format!("{IDS}{id}"), Some(key), None)?;
            }
            return Err(StoredGrantsError::Taken(GrantId::clone(id)));
        }
        Ok(())
    }

    /// Revokes a grant for every process of the home, and what hangs from it. False if it was revoked already. It need
    /// not be kept here: a session may hold one of a file, by its id.
    pub fn revoke(&self, id: &GrantId, at: Timestamp) -> Result<bool, StoredGrantsError> {
        Ok(self.ledger.revoke(&Node::Grant(self.tenant.clone(), id.shared()), at)?)
    }

    /// The grants that a principal holds now, ready to be given to a session. Those that count their uses count them
    /// in the ledger.
    pub fn of(&self, principal: &Principal) -> Result<Vec<Arc<Grant>>, StoredGrantsError> {
        let cells = self.cells(&format!("{PREFIX}{principal}/"))?;
        let ours: Vec<GrantSpec> =
            cells.into_iter().filter(|(owner, _)| owner == principal).map(|(_, grant)| grant).collect();
        if ours.is_empty() {
            return Ok(Vec::new());
        }
        let file = self.linked(principal, ours)?;
        let grants =
            Grant::all_of(&file, |grant| grant.counted_in(Arc::clone(&self.ledger), self.tenant.clone()));
        let revoked = self.revoked()?;
        for grant in &grants {
            if grant.id().is_some_and(|id| revoked.contains(id.as_str())) {
                grant.revoke();
            }
        }
        Ok(grants.into_iter().filter(|it| !it.is_revoked()).collect())
    }

    /// What is kept below a key: whose, and what. An id has no slash, so the last one ends the principal.
    fn cells(&self, prefix: &str) -> Result<Vec<(Principal, GrantSpec)>, StoredGrantsError> {
        let mut all = Vec::new();
        for (key, value) in self.ledger.cells(&self.tenant, prefix)? {
            let owner = key.strip_prefix(PREFIX).and_then(|it| it.rsplit_once('/'));
            let Some(principal) = owner.and_then(|(it, _)| it.parse::<Principal>().ok()) else { continue };
            let broken = |cause| StoredGrantsError::Broken { principal: principal.clone(), cause };
            let file = GrantFile::parse(&value).map_err(broken)?;
            all.extend(file.grants().iter().map(|grant| (principal.clone(), grant.clone())));
        }
        // Sorted by key, `a/b` comes between grants of `a`.
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(all)
    }

    fn linked(&self, principal: &Principal, grants: Vec<GrantSpec>) -> Result<GrantFile, StoredGrantsError> {
        let broken = |cause| StoredGrantsError::Broken { principal: principal.clone(), cause };
        GrantFile::of(grants, "grant").and_then(|it| it.check(drydock_caps::judge_terms)).map_err(broken)
    }

    fn judged(
        &self,
        principal: &Principal,
        grants: Vec<GrantSpec>,
        revoked: &BTreeSet<String>,
    ) -> Result<Vec<StoredGrant>, StoredGrantsError> {
        let mut lost: BTreeSet<GrantId> = BTreeSet::new();
        let mut all = Vec::new();
        // Parents come first, so what hangs from a revoked one is known by then.
        for grant in self.linked(principal, grants)?.grants() {
            let own = grant.id.as_ref().is_some_and(|it| revoked.contains(it.as_str()));
            let is_lost = own || grant.parent.as_ref().is_some_and(|it| lost.contains(it));
            if let Some(id) = grant.id.as_ref().filter(|_| is_lost) {
                lost.insert(id.clone());
            }
            let used = match (&grant.id, grant.uses) {
                (Some(id), Some(_)) => Some(self.ledger.leased(&self.tenant, &format!("uses/{id}"))?),
                _ => None,
            };
            all.push(StoredGrant {
                principal: principal.clone(),
                grant: grant.clone(),
                revoked: is_lost,
                used,
            });
        }
        Ok(all)
    }

    /// The ids of this tenant that are revoked.
    fn revoked(&self) -> Result<BTreeSet<String>, StoredGrantsError> {
        let (_, nodes) = self.ledger.revocations(None)?.unwrap_or_default();
        let ours = |node: Node| match node {
            Node::Grant(tenant, id) if tenant == self.tenant => Some(id.to_string()),
            _ => None,
        };
        Ok(nodes.into_iter().filter_map(ours).collect())
    }
}
