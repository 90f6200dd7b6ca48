//! The shape of a power: parse, decide, act, each in its own step, and only the last has hands.

use std::sync::Arc;

use drydock_contract::{CallError, Denial, Reply, Streams};

use crate::{CapSpec, Constraint, NotAdmitted, Permit, Session};

/// A power behind the gate.
///
/// `decode` and `check` have no `self`: they cannot act even by mistake. `perform` takes a
/// [`Permit`] that only the gate makes.
pub trait Capability: Send + Sync + Sized + 'static {
    /// Name, operations, imports and limits.
    const SPEC: CapSpec;
    /// What the guest's bytes say.
    type Request: Send;
    /// What `check` found out on the way, so that `perform` need not look again.
    type Ready: Send;
    /// What `check` may look at.
    type Policy: Send + Sync;

    /// What `check` may look at.
    fn policy(&self) -> &Self::Policy;

    /// Parses the guest's bytes.
    fn decode(operation: &str, payload: &[u8]) -> Result<Self::Request, Denial>;

    /// The name the request is about: what a grant's constraint is compared with, and what the
    /// audit record says.
    fn subject(request: &Self::Request) -> &str;

    /// Whether the request keeps the terms of a grant that names its subject. Only a power that
    /// reads more of a request than its subject has anything to say here.
    fn within(request: &Self::Request, constraint: &Constraint) -> bool {
        let _ = (request, constraint);
        true
    }

    /// The denial for a request that no live grant admits.
    fn not_admitted(request: &Self::Request, why: NotAdmitted) -> Denial;

    /// Decides by the power's own rules.
    fn check(
        policy: &Self::Policy,
        session: &Session,
        request: Self::Request,
    ) -> Result<Self::Ready, Refused>;

    /// The subject of a request that passed, shared so that recording it copies nothing.
    fn label(ready: &Self::Ready) -> Arc<str>;

    /// Acts. The only method with authority.
    fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: Self::Ready,
        streams: Streams,
    ) -> impl Future<Output = Result<Reply, CallError>> + Send;
}

/// A denial by the power's own rules, with the subject it is about.
pub struct Refused {
    /// Why.
    pub denial: Denial,
    /// About what.
    pub subject: Arc<str>,
}
