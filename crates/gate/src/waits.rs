//! What a call waits for between the ladder and its act: more calls of its principal, a use of a kept grant. It waits as a
//! future, and holds no thread.

use std::sync::Arc;

use drydock_contract::{Fault, Timestamp};

use crate::{
    Gate, Grant, Session,
    rate::Leasing,
    uses::{KeptUses, NoUse},
};

impl Gate {
    /// Where more calls are leased, if there is a ledger.
    pub(crate) fn leasing(&self) -> Option<Leasing<'_>> {
        let (rate, lender) = (self.rate, &self.lender);
        self.ledger.as_ref().map(|ledger| Leasing { rate, lender, ledger })
    }

    /// Waits for a further lease of calls. What cannot be leased because the ledger does not answer is a fault by its
    /// name: nobody called too often.
    pub(crate) async fn lease_calls(&self, session: &Session, now: Timestamp) -> Result<(), Fault> {
        match self.leasing() {
            Some(leasing) => leasing.done(session.account(), now).await,
            None => Ok(()),
        }
    }

    /// Waits for a use of a kept grant, and takes it.
    pub(crate) async fn lease_use(&self, grant: &Grant, mut kept: Arc<KeptUses>) -> Result<bool, Fault> {
        loop {
            kept.lease(&self.lender).await?;
            match grant.take_use() {
                Ok(()) => return Ok(true),
                Err(NoUse::UsedUp) => return Ok(false),
                Err(NoUse::Unleased(next)) => kept = next,
            }
        }
    }
}
