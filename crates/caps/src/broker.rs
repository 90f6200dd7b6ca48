//! Brokers: powers whose answer is a value that was kept or fetched outside the session. The shape they share is written
//! once: how requests and answers travel, what a tape hears of them, and how a replay answers in their place.
//!
//! A [`Broker`] has the hands; [`Brokered`] is the capability that the gate knows. In a replay the same capability stands over
//! [`Played`], which has a tape and no way to anything else.

use std::{any::Any, sync::Arc};

use drydock_abi::broker::{Answer, Failure, answer_json};
use drydock_contract::{
    CallError, Cap, Denial, Fault, Reply, Streams, Terms, Unit,
    port::{Clock, Subjects},
};
use drydock_gate::{CapSpec, Capability, NotAdmitted, Permit, Refused, Session};
use serde::{Serialize, de::DeserializeOwned};

pub use crate::played::Played;
use crate::{
    net::not_open,
    played::{self, Answers, Is, Piece},
};

/// What a decision of a broker may look at: grants end at moments.
pub struct Policy {
    /// The gate's clock.
    pub clock: Arc<dyn Clock>,
}

/// A power that keeps or fetches values.
pub trait Broker: Send + Sync + Sized + 'static {
    /// As [`Capability::SPEC`].
    const SPEC: CapSpec;
    /// As [`Capability::REPLY_BYTES_MAX`].
    const REPLY_BYTES_MAX: u64;
    /// The codes of [`Denial::ByPower`] that it refuses with.
    const BOUNDS: &'static [&'static str];
    /// What is asked.
    type Request: Send + 'static;
    /// What `check` found out.
    type Ready: Send;
    /// What it answers.
    type Value: Serialize + DeserializeOwned + Send + 'static;

    /// As [`Capability::decode`]: a JSON object, most often by [`drydock_abi::broker::parse`].
    fn decode(operation: &str, payload: &[u8]) -> Result<Self::Request, Denial>;

    /// What a request's digest is made of: together with [`Broker::digested_besides`] all that tells it from another one of
    /// its operation. A tape finds by it that something else is asked.
    fn digested(request: &Self::Request) -> [&[u8]; 2];

    /// As [`Capability::digested_besides`].
    fn digested_besides(request: &Self::Request) -> Vec<u8> {
        let _ = request;
        Vec::new()
    }

    /// As [`Capability::subject`].
    fn subject(request: &Self::Request) -> &str;

    /// As [`Capability::within`].
    fn within(request: &Self::Request, terms: &Terms) -> bool {
        let _ = request;
        terms.rules.is_empty()
    }

    /// As [`Capability::judge_terms`].
    fn judge_terms(terms: &Terms) -> Result<(), String> {
        match terms.rules.is_empty() {
            true => Ok(()),
            false => Err(format!("field `rules`: a request of `{}` has none", Self::SPEC.cap)),
        }
    }

    /// As [`Capability::not_admitted`].
    fn not_admitted(request: &Self::Request, why: NotAdmitted) -> Denial {
        let why = match why {
            NotAdmitted::ByName => ": no grant names this",
            NotAdmitted::ByTerms => " with these arguments",
        };
        Denial::NotGranted { cap: Self::SPEC.cap, subjects: Subjects::cut(Self::subject(request)), why }
    }

    /// As [`Capability::check`].
    fn check(policy: &Policy, session: &Session, request: Self::Request) -> Result<Self::Ready, Refused>;

    /// As [`Capability::label`].
    fn label(ready: &Self::Ready) -> Arc<str>;

    /// Acts. What is allowed and cannot be had is a [`Failure`]; a bound that only acting finds is a denial.
    fn act<C: Capability>(
        &self,
        permit: &Permit<'_, C>,
        ready: Self::Ready,
    ) -> impl Future<Output = Result<Answer<Self::Value>, CallError>> + Send;
}

/// Who answers: a broker, or a tape.
pub trait Way<B: Broker>: Send + Sync + Sized + 'static {
    /// Answers one request that was let through.
    fn answer(
        &self,
        permit: &Permit<'_, Brokered<B, Self>>,
        ready: B::Ready,
    ) -> impl Future<Output = Result<Answer<B::Value>, CallError>> + Send;
}

/// A broker with its hands.
pub struct Live<B>(B);

impl<B: Broker> Way<B> for Live<B> {
    async fn answer(
        &self,
        permit: &Permit<'_, Brokered<B, Self>>,
        ready: B::Ready,
    ) -> Result<Answer<B::Value>, CallError> {
        recorded(permit, self.0.act(permit, ready)).await
    }
}

/// What the world answers, and the tape hears of.
pub(crate) async fn recorded<T: Serialize>(
    permit: &Permit<'_, impl Capability>,
    act: impl Future<Output = Result<Answer<T>, CallError>>,
) -> Result<Answer<T>, CallError> {
    let Some(tape) = played::of(permit) else { return act.await };
    tape.catch_up().await;
    let done = act.await;
    if let Some((piece, body)) = piece_of(&done) {
        played::tell(permit, piece.with_attempts(&permit.attempts().told()), &body);
    }
    done
}

impl<B: Broker> Way<B> for Played {
    async fn answer(
        &self,
        permit: &Permit<'_, Brokered<B, Self>>,
        _: B::Ready,
    ) -> Result<Answer<B::Value>, CallError> {
        replayed(&*self.0, permit, B::SPEC.cap, B::BOUNDS).await
    }
}

/// What a tape has in the place of the world. Codes of bounds are those that the power lists.
pub(crate) async fn replayed<T: DeserializeOwned>(
    answers: &dyn Answers,
    permit: &Permit<'_, impl Capability>,
    cap: Cap,
    bounds: &[&'static str],
) -> Result<Answer<T>, CallError> {
    let (is, body) = played::next_whole(answers, permit).await?;
    match is {
        Is::Answer => Ok(Ok(serde_json::from_slice(&body).map_err(|_| played::broken())?)),
        Is::Lacks(code, message) => Ok(Err(Failure { code: code.into(), message })),
        Is::Bound(code, why) => {
            let code = bounds.iter().copied().find(|it| **it == code).ok_or_else(played::broken)?;
            Err(Denial::ByPower { cap, code, why }.into())
        }
        Is::Spent(unit, needed, left) => {
            let unit: Unit = unit.parse().map_err(|_| played::broken())?;
            Err(Denial::BudgetExceeded { what: unit.as_str(), needed, left }.into())
        }
        Is::NotOpen(subject) => Err(not_open(cap, &subject).into()),
        Is::Unrecorded(text) => Err(Fault::Unrecorded(text).into()),
        _ => Err(played::broken().into()),
    }
}

/// What a tape hears; nothing where it was not the world that answered.
fn piece_of<T: Serialize>(done: &Result<Answer<T>, CallError>) -> Option<(Piece, Vec<u8>)> {
    let (is, body) = match done {
        Ok(Ok(value)) => (Is::Answer, serde_json::to_vec(value).ok()?),
        Ok(Err(Failure { code, message })) => (Is::Lacks(code.to_string(), message.clone()), Vec::new()),
        Err(CallError::Denied(Denial::ByPower { code, why, .. })) => {
            (Is::Bound((*code).to_owned(), why.clone()), Vec::new())
        }
        Err(CallError::Denied(Denial::HostNotGranted { host, .. })) => {
            (Is::NotOpen(host.to_string()), Vec::new())
        }
        Err(CallError::Denied(Denial::BudgetExceeded { what, needed, left })) => {
            (Is::Spent((*what).to_owned(), *needed, *left), Vec::new())
        }
        Err(CallError::Failed(Fault::Unrecorded(text))) => (Is::Unrecorded(text.clone()), Vec::new()),
        Err(_) => return None,
    };
    Some((Piece::new(is), body))
}

/// A broker as the gate knows it.
pub struct Brokered<B, W = Live<B>> {
    way: W,
    policy: Policy,
    of: std::marker::PhantomData<fn() -> B>,
}

impl<B: Broker> Brokered<B> {
    /// Over the broker itself.
    pub fn new(broker: B, clock: Arc<dyn Clock>) -> Self {
        Self::over(Live(broker), clock)
    }
}

impl<B: Broker, W: Way<B>> Brokered<B, W> {
    /// Over whoever answers.
    pub fn over(way: W, clock: Arc<dyn Clock>) -> Self {
        Self { way, policy: Policy { clock }, of: std::marker::PhantomData }
    }
}

impl<B: Broker, W: Way<B>> Capability for Brokered<B, W> {
    const SPEC: CapSpec = B::SPEC;
    const REPLY_BYTES_MAX: u64 = B::REPLY_BYTES_MAX;
    type Request = B::Request;
    type Ready = B::Ready;
    type Policy = Policy;

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn decode(operation: &str, payload: &[u8]) -> Result<B::Request, Denial> {
        B::decode(operation, payload)
    }

    fn decode_typed(_: &str, value: Box<dyn Any + Send>) -> Option<B::Request> {
        value.downcast().ok().map(|it| *it)
    }

    fn digested(request: &B::Request) -> Option<[&[u8]; 2]> {
        Some(B::digested(request))
    }

    fn digested_besides(request: &B::Request) -> Vec<u8> {
        B::digested_besides(request)
    }

    fn subject(request: &B::Request) -> &str {
        B::subject(request)
    }

    fn within(request: &B::Request, terms: &Terms) -> bool {
        B::within(request, terms)
    }

    fn judge_terms(terms: &Terms) -> Result<(), String> {
        B::judge_terms(terms)
    }

    fn not_admitted(request: &B::Request, why: NotAdmitted) -> Denial {
        B::not_admitted(request, why)
    }

    fn check(policy: &Policy, session: &Session, request: B::Request) -> Result<B::Ready, Refused> {
        B::check(policy, session, request)
    }

    fn label(ready: &B::Ready) -> Arc<str> {
        B::label(ready)
    }

    async fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: B::Ready,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        let answer = self.way.answer(&permit, ready).await?;
        Ok(match permit.wants_typed() {
            true => Reply::of_value(answer, streams),
            false => Reply::of_bytes(answer_json(&answer), streams),
        })
    }
}
