//! The shape of a power: parse, decide, act, each in its own step, and only the last has hands.

use std::{any::Any, sync::Arc};

use drydock_contract::{CallError, Denial, Reply, Streams, Terms, port::Subjects};

use crate::{CapSpec, NotAdmitted, Permit, Session};

/// A power behind the gate.
///
/// `decode` and `check` have no `self`: they cannot act even by mistake. `perform` takes a
/// [`Permit`] that only the gate makes.
pub trait Capability: Send + Sync + Sized + 'static {
    /// Name, operations, imports and limits.
    const SPEC: CapSpec;
    /// The longest reply in bytes. A session whose budget counts bytes has so many of them reserved while a call is in
    /// flight, as far as they are there.
    const REPLY_BYTES_MAX: u64 = 64 << 10;
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

    /// Takes a request that a caller in this process did not encode; nothing if it is not one of this power.
    fn decode_typed(operation: &str, value: Box<dyn Any + Send>) -> Option<Self::Request> {
        let _ = (operation, value);
        None
    }

    /// The parts that the record's digest is made of, if they are not the payload's bytes. A power whose requests
    /// travel typed says the same of both forms.
    fn digested(request: &Self::Request) -> Option<[&[u8]; 2]> {
        let _ = request;
        None
    }

    /// What else tells it from another request and is none of those parts: numbers, conditions, receipts. Empty where there
    /// is nothing.
    fn digested_besides(request: &Self::Request) -> Vec<u8> {
        let _ = request;
        Vec::new()
    }

    /// The name the request is about: what a grant's patterns are compared with, and what the
    /// audit record says.
    fn subject(request: &Self::Request) -> &str;

    /// Further names that it is about. One grant must admit all of them.
    fn more_subjects(request: &Self::Request) -> Vec<&str> {
        let _ = request;
        Vec::new()
    }

    /// Whether the request keeps the rules of a grant that names its subject. A power that finds no arguments in
    /// a request keeps none.
    fn within(request: &Self::Request, terms: &Terms) -> bool {
        let _ = request;
        terms.rules.is_empty()
    }

    /// Whether a grant with such patterns and rules means anything; if not, what is wrong and what to write.
    fn judge_terms(terms: &Terms) -> Result<(), String> {
        match terms.rules.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "field `rules`: a request of `{}` has no arguments to have rules about",
                Self::SPEC.cap
            )),
        }
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

    /// All names it is about, for its record.
    fn subjects(ready: &Self::Ready) -> Subjects {
        Subjects::One(Self::label(ready))
    }

    /// Acts. The only method with authority. It may find out by acting that it must not, and then the denial is
    /// part of the call's record.
    fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: Self::Ready,
        streams: Streams,
    ) -> impl Future<Output = Result<Reply, CallError>> + Send;
}

/// A denial by the power's own rules, with the subjects it is about.
pub struct Refused {
    /// Why.
    pub denial: Denial,
    /// About what.
    pub subjects: Subjects,
}
