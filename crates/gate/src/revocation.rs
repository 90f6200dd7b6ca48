//! Taking rights away from tenants, principals and grants, and giving them back, in agreement with every process of
//! the home.
//!
//! Here a revocation works at once. In the ledger it is a moment later, and somebody else may be hearing an answer
//! meanwhile that is older: so asking the ledger and doing as it says is one step, and what it does not have is not
//! taken back by what it says.

use drydock_contract::{
    GrantId, Node,
    port::{Ledger, LedgerError},
};

use crate::Gate;

/// A revocation could not be taken back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnrevokeError {
    /// A grant is revoked for good.
    #[error("grant `{0}` was revoked, and a grant is revoked for good; give a new one with another id")]
    Grant(String),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl UnrevokeError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Grant(_) => "revoked_grant",
            Self::Ledger(error) => error.code,
        }
    }
}

impl Gate {
    /// Takes every power from a tenant, a principal or a grant, what is in flight included: in this process at once,
    /// and in all others of the home where there is a ledger. If the ledger cannot be written it holds here all the
    /// same, until it is taken back.
    pub fn revoke(&self, node: &Node) -> Result<(), LedgerError> {
        self.accounts.revoke(node.clone());
        self.revoke_grants(std::slice::from_ref(node));
        let _turn = self.agreeing.lock();
        if let Some(ledger) = &self.ledger {
            ledger.revoke(node, self.clock.now())?;
        }
        self.accounts.written(node.clone());
        Ok(())
    }

    /// Lets a tenant or a principal that was revoked ask again. What was ended stays ended.
    pub fn unrevoke(&self, node: &Node) -> Result<(), UnrevokeError> {
        if let Node::Grant(_, id) = node {
            return Err(UnrevokeError::Grant(id.to_string()));
        }
        let _turn = self.agreeing.lock();
        if let Some(ledger) = &self.ledger {
            ledger.unrevoke(node)?;
        }
        self.accounts.unrevoke(node);
        Ok(())
    }

    /// Asks the home's ledger what is revoked, if that has changed since it was last `seen`, and does as it says.
    pub fn hear(&self, ledger: &dyn Ledger, seen: &mut Option<u64>) -> Result<(), LedgerError> {
        let _turn = self.agreeing.lock();
        if let Some((mark, nodes)) = ledger.revocations(*seen)? {
            self.revoke_grants(&nodes);
            self.accounts.set_revoked(Some(nodes.into_iter().collect()));
            *seen = Some(mark);
        }
        Ok(())
    }

    /// Nobody can say what is revoked, so everybody is, until [`Gate::hear`] hears something again.
    pub fn revoke_everybody(&self) {
        self.accounts.set_revoked(None);
    }

    /// Takes grants back from whoever holds them here, and what hangs from them; also from those who will hold them.
    fn revoke_grants(&self, nodes: &[Node]) {
        for node in nodes {
            if let Node::Grant(tenant, id) = node
                && let Ok(id) = id.parse::<GrantId>()
                && self.grants.revoke(tenant, &id) > 0
            {
                self.accounts.wake(tenant);
            }
        }
    }
}
