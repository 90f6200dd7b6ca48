//! A run in the hands of whoever drives it.

use std::sync::Arc;

use drydock_contract::{
    AgentHead, AgentId, BoxFuture, Switch, Tenant,
    port::{AgentRefusal, LedgerError, RunHold},
};

use super::{
    Inner,
    drive::{Append, Release, Sync},
    news::Listening,
    row::written,
};

pub(super) struct SqliteHold {
    inner: Arc<Inner>,
    tenant: Tenant,
    run: AgentId,
    /// Which of this process's holds.
    pub(super) number: u64,
    ended: Arc<Switch>,
    /// Somebody in another process may want to end it.
    _listening: Listening,
}

impl SqliteHold {
    /// It counts as held from here on, whether that is written beside the run or not: so that nobody between the two takes
    /// it for another one's that is dead.
    pub(super) fn begin(inner: &Arc<Inner>, tenant: &Tenant, run: &AgentId) -> Self {
        let (number, ended) = inner.shared.driver.begin(tenant, run);
        Self {
            inner: Arc::clone(inner),
            tenant: tenant.clone(),
            run: run.clone(),
            number,
            ended,
            _listening: Listening::to(inner, tenant),
        }
    }
}

impl Drop for SqliteHold {
    fn drop(&mut self) {
        self.inner.shared.driver.end(self.number);
        if let Some(commits) = self.inner.commits.weak().upgrade() {
            let (shared, tenant) = (Arc::clone(&self.inner.shared), self.tenant.clone());
            let release = Release { shared, tenant, id: self.run.clone(), hold: self.number, version: None };
            commits.submit_for_nobody(&self.tenant, release);
        }
    }
}

impl RunHold for SqliteHold {
    fn run(&self) -> &AgentId {
        &self.run
    }

    fn append<'a>(
        &'a self,
        at: u64,
        events: Vec<Vec<u8>>,
        head: AgentHead,
    ) -> BoxFuture<'a, Result<Result<(), AgentRefusal>, LedgerError>> {
        Box::pin(async move {
            if let Err(why) = Append::check(&self.run, &head, &events) {
                return Ok(Err(why));
            }
            let status = head.status;
            let head = match written(&head) {
                Ok(head) => head,
                Err(why) => return Ok(Err(why)),
            };
            let (shared, tenant) = (Arc::clone(&self.inner.shared), self.tenant.clone());
            let (id, hold) = (self.run.clone(), self.number);
            let append = Append { shared, tenant, id, hold, at, events, head, status, version: 0 };
            self.inner.change(&self.tenant, append).await
        })
    }

    fn sync(&self) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(self.inner.commits.submit(&self.tenant, Sync, None))
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            loop {
                let ended = self.ended.listen();
                if self.ended.is_tripped() {
                    return;
                }
                ended.await;
            }
        })
    }
}
