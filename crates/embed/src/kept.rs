//! What guests keep, for whoever manages it: the same requests as a guest's, through the same gate, on record under the
//! person's name.

use std::{any::Any, sync::Arc};

use drydock_abi::{
    broker::Answer,
    kv::{KvRequest, KvValue},
    queue::{QueueRequest, QueueValue},
};
use drydock_contract::{Call, CallError, Cap, Fault, Streams, port::Subjects};
use drydock_gate::{Grant, HostWork};

use crate::{BadSetup, Dock, DockSession, Setup};

impl Dock {
    /// A session for somebody who may see and change all that the tenant's guests keep, and nothing else.
    pub fn kept(&self, principal: &str) -> Result<DockSession, BadSetup> {
        let grants = vec![Arc::new(Grant::of(Cap::Kv)), Arc::new(Grant::of(Cap::Queue))];
        self.session(principal, Setup { grants, only_grants: true, ..Setup::default() })
    }
}

impl DockSession {
    /// Asks for values by key, by the name of the operation.
    pub async fn ask_kv(&self, operation: &str, request: KvRequest) -> Result<Answer<KvValue>, CallError> {
        self.ask_broker(operation, request).await
    }

    /// Asks for messages, by the name of the operation.
    pub async fn ask_queue(
        &self,
        operation: &str,
        request: QueueRequest,
    ) -> Result<Answer<QueueValue>, CallError> {
        self.ask_broker(operation, request).await
    }

    /// Begins a change that a person makes to what the tenant has under this name and that is no call of a power, such as to a
    /// secret. It is on record until the work is ended; of what is changed the record has the name alone.
    pub async fn begin_change(&self, operation: &'static str, name: &str) -> Result<HostWork, CallError> {
        let lineage = self.session.lineage().branch();
        let session = self.session.at(lineage.call, lineage.depth);
        let parent = self.session.lineage().call;
        self.gate.begin_work_on(&session, operation, parent, Subjects::cut(name)).await
    }

    async fn ask_broker<T: 'static>(
        &self,
        operation: &str,
        request: impl Any + Send,
    ) -> Result<Answer<T>, CallError> {
        // Who asks here is bounded where it reads its request: bytes are not counted again.
        let call = Call::typed(operation, request, 0, Streams::default());
        let mut reply = self.gate.dispatch(&self.session, call).await?;
        let told = reply.value::<Answer<T>>();
        told.ok_or_else(|| Fault::Internal("the broker answered in another form".into()).into())
    }
}
