//! Powers that send bytes to a host and port that a grant names, over TCP, TLS or UDP: what they share. `egress` judges the
//! addresses and dials.
//!
//! A request and its reply is an answer like a broker's, and so on a tape. A connection outlives its call, and holds what
//! the call had: its place in the counters and its open record. Once the grant or the session is lost it is a broken pipe.
//! It is on no tape (docs/specs/tape.md says why).

use std::{any::Any, marker::PhantomData, sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_abi::{
    broker::{Answer, Failure, answer_json},
    exchange::{EXCHANGE_DATA_BYTES_MAX, EXCHANGE_REPLY_BYTES_MAX, Ended, Exchanged},
    tcp::{ConnectAnswer, ConnectFailure, Connected},
};
use drydock_contract::{
    CallError, Cap, Denial, Fault, Reply, Sink, Source, Streams, Terms, host::PRIVATE, port::Clock,
};
use drydock_egress::{
    Caller, Egress, FailureKind, FetchError, Limits, PrivateRule, RawEnd, Refusal, Rules, Target,
};
use drydock_gate::{CapSpec, Capability, NotAdmitted, Permit, Refused, Session};

use crate::{
    broker::{recorded, replayed},
    fetch::{Told, held},
    leased::leased,
    net,
    played::Played,
    program::short,
    sent::{Act, Exchange},
};

pub use crate::sent::Asked;

/// Which power it is, and how it speaks.
pub trait Protocol: Send + Sync + 'static {
    /// As [`Capability::SPEC`].
    const SPEC: CapSpec;
    /// How it is spoken.
    const WIRE: Wire;

    /// As [`Capability::decode`].
    fn decode(operation: &str, payload: &[u8]) -> Result<Asked, Denial>;

    /// As [`Capability::decode_typed`].
    fn decode_typed(operation: &str, value: Box<dyn Any + Send>) -> Option<Asked>;
}

/// How a power's bytes go over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// A connection in the clear.
    Tcp,
    /// A connection over TLS.
    Tls,
    /// Datagrams.
    Udp,
}

/// The power to send by one protocol, over a way out.
pub struct Dialled<P, W = Egress> {
    way: Arc<W>,
    policy: Policy,
    of: PhantomData<fn() -> P>,
}

impl<P: Protocol, W: DialWay> Dialled<P, W> {
    /// The power over a way out.
    pub fn new(way: Arc<W>, clock: Arc<dyn Clock>) -> Self {
        Self { way, policy: Policy { clock }, of: PhantomData }
    }
}

/// What a decision may look at: grants end at moments.
pub struct Policy {
    clock: Arc<dyn Clock>,
}

/// What may be sent.
pub struct Ready {
    target: Target,
    act: Act,
    /// Addresses that may be dialled though they are not public.
    opened: Vec<PrivateRule>,
    label: Arc<str>,
}

/// Who answers requests that were let through: the network, or a tape.
pub trait DialWay: Send + Sync + Sized + 'static {
    /// Makes a connection.
    fn connect<P: Protocol>(
        &self,
        permit: Permit<'_, Dialled<P, Self>>,
        ready: Ready,
        streams: Streams,
    ) -> impl Future<Output = Result<Reply, CallError>> + Send;

    /// Sends something and reads what comes back.
    fn exchange<P: Protocol>(
        &self,
        permit: &Permit<'_, Dialled<P, Self>>,
        ready: Ready,
    ) -> impl Future<Output = Result<Answer<Exchanged>, CallError>> + Send;
}

impl<P: Protocol, W: DialWay> Capability for Dialled<P, W> {
    const SPEC: CapSpec = P::SPEC;
    const REPLY_BYTES_MAX: u64 = EXCHANGE_REPLY_BYTES_MAX;
    type Request = Asked;
    type Ready = Ready;
    type Policy = Policy;

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn decode(operation: &str, payload: &[u8]) -> Result<Asked, Denial> {
        P::decode(operation, payload)
    }

    fn decode_typed(operation: &str, value: Box<dyn Any + Send>) -> Option<Asked> {
        P::decode_typed(operation, value)
    }

    fn digested(request: &Asked) -> Option<[&[u8]; 2]> {
        let data: &[u8] = match &request.act {
            Act::Connect { .. } => &[],
            Act::Exchange(it) => &it.data,
        };
        Some([request.digested.as_bytes(), data])
    }

    fn subject(request: &Asked) -> &str {
        &request.subject
    }

    fn judge_terms(terms: &Terms) -> Result<(), String> {
        for subject in terms.subjects.iter().flatten() {
            net::judge_subject(subject).map_err(|why| format!("field `subjects`: {why}"))?;
        }
        match terms.rules.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "field `rules`: a request of `{}` has no arguments to have rules about",
                P::SPEC.cap
            )),
        }
    }

    fn not_admitted(request: &Asked, _: NotAdmitted) -> Denial {
        let host = Denial::subject(&request.subject);
        Denial::HostNotGranted { cap: P::SPEC.cap, host, why: "", rules: Some(Arc::new([])) }
    }

    fn check(policy: &Policy, session: &Session, request: Asked) -> Result<Ready, Refused> {
        let cap = P::SPEC.cap;
        let named = session.grants().named_exactly(cap, policy.clock.now());
        let label = short(&request.subject);
        // A star names no address that is not public.
        if request.subject.starts_with(PRIVATE) && !named.contains(&request.subject) {
            return Err(Refused { denial: net::not_open(cap, &request.subject), subjects: label.into() });
        }
        if let Act::Exchange(Exchange { data, data_bytes_max: max, .. }) = &request.act
            && data.len() as u64 > *max
        {
            let denial = Denial::TooLarge { what: "data to send", bytes: data.len() as u64, max: *max };
            return Err(Refused { denial, subjects: label.into() });
        }
        let opened = named.iter().filter_map(|it| it.strip_prefix(PRIVATE)?.parse().ok()).collect();
        Ok(Ready { target: request.target, act: request.act, opened, label })
    }

    fn label(ready: &Ready) -> Arc<str> {
        Arc::clone(&ready.label)
    }

    async fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: Ready,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        if let Act::Connect { .. } = ready.act {
            return self.way.connect(permit, ready, streams).await;
        }
        let answer = self.way.exchange(&permit, ready).await?;
        if permit.wants_typed() {
            let digested = answer.as_ref().ok().map(|it| Bytes::copy_from_slice(&it.data.0));
            return Ok(Reply { digested, ..Reply::of_value(answer, streams) });
        }
        Ok(Reply::of_bytes(answer_json(&answer), streams))
    }
}

fn caller_of<C: Capability>(permit: &Permit<'_, C>) -> Caller {
    let spec = permit.session().spec();
    Caller {
        tenant: spec.tenant.clone(),
        principal: spec.principal.clone(),
        observer: Arc::new(Told(permit.attempts())),
    }
}

impl DialWay for Egress {
    async fn connect<P: Protocol>(
        &self,
        permit: Permit<'_, Dialled<P, Self>>,
        ready: Ready,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        let Act::Connect { prefer_ipv6, timeout_ms } = ready.act else {
            return Err(Fault::Internal("this asks for no connection".into()).into());
        };
        let rules = Rules::only(&ready.target, ready.opened);
        let limits = Limits { connect_max: Duration::from_millis(timeout_ms), ..Limits::default() };
        let caller = caller_of(&permit);
        let made = self.connect_raw(&caller, &rules, &ready.target, prefer_ipv6, &limits).await;
        let answer: ConnectAnswer = match made {
            Ok(made) => {
                let (source, sink) = leased(made, permit.into_lease());
                Ok(Connected { source: Source::Stream(Box::new(source)), sink: Sink::Stream(Box::new(sink)) })
            }
            Err(error) => Err(unconnected(P::SPEC.cap, error)?),
        };
        Ok(Reply::of_value(answer, streams))
    }

    async fn exchange<P: Protocol>(
        &self,
        permit: &Permit<'_, Dialled<P, Self>>,
        ready: Ready,
    ) -> Result<Answer<Exchanged>, CallError> {
        recorded(permit, async {
            let Act::Exchange(Exchange { data, half_close, reply_bytes_max, timeout_ms, .. }) = ready.act
            else {
                return Err(Fault::Internal("this sends nothing".into()).into());
            };
            let rules = Rules::only(&ready.target, ready.opened);
            let left = permit.session().deadline();
            let left = left.map(|it| it.at().saturating_duration_since(std::time::Instant::now()));
            let total_max = Duration::from_millis(timeout_ms).min(left.unwrap_or(Duration::MAX));
            let limits = Limits {
                request_bytes_max: EXCHANGE_DATA_BYTES_MAX,
                response_bytes_max: reply_bytes_max,
                total_max,
                ..Limits::default()
            };
            let (caller, target) = (caller_of(permit), &ready.target);
            let answered = match P::WIRE {
                Wire::Udp => {
                    let asking = self.exchange_datagram(&caller, &rules, target, &data, &limits);
                    held(asking).await.map(|data| (data, Ended::Closed))
                }
                Wire::Tcp | Wire::Tls => {
                    let asking = self.exchange_raw(&caller, &rules, target, &data, half_close, &limits);
                    held(asking).await.map(|reply| (reply.data, ended(reply.ended)))
                }
            };
            match answered {
                Ok((data, ended)) => Ok(Ok(Exchanged { data: data.into(), ended })),
                Err(error) => Ok(Err(failure(P::SPEC.cap, error)?)),
            }
        })
        .await
    }
}

impl DialWay for Played {
    async fn connect<P: Protocol>(
        &self,
        _: Permit<'_, Dialled<P, Self>>,
        _: Ready,
        _: Streams,
    ) -> Result<Reply, CallError> {
        Err(Fault::Internal("a connection is on no tape".into()).into())
    }

    async fn exchange<P: Protocol>(
        &self,
        permit: &Permit<'_, Dialled<P, Self>>,
        _: Ready,
    ) -> Result<Answer<Exchanged>, CallError> {
        replayed(&*self.0, permit, P::SPEC.cap, &[]).await
    }
}

fn ended(by: RawEnd) -> Ended {
    match by {
        RawEnd::Closed => Ended::Closed,
        RawEnd::TimedOut => Ended::TimedOut,
        RawEnd::Full => Ended::Full,
        RawEnd::Reset => Ended::Reset,
    }
}

/// An address that is not public is a denial, with the grant that would open it.
fn denied(cap: Cap, error: &FetchError) -> Option<CallError> {
    match error {
        FetchError::Refused(Refusal::AddressForbidden { address, port, .. }) => {
            let subject = format!("{PRIVATE}{}", core::net::SocketAddr::new(*address, *port));
            Some(net::not_open(cap, &subject).into())
        }
        FetchError::NotRecorded(error) => Some(Fault::Unrecorded(error.to_string()).into()),
        _ => None,
    }
}

/// What could not be had, by the code that the record has too.
fn failure(cap: Cap, error: FetchError) -> Result<Failure, CallError> {
    if let Some(denied) = denied(cap, &error) {
        return Err(denied);
    }
    let code = match error.kind() {
        FailureKind::Timeout => "timed_out",
        _ => error.code(),
    };
    let cause = std::error::Error::source(&error).map(|it| format!(": {it}")).unwrap_or_default();
    Ok(Failure::new(code, format!("{error}{cause}")))
}

/// What whoever asked for a connection is told; what policy refused is the gate's to say.
fn unconnected(cap: Cap, error: FetchError) -> Result<ConnectFailure, CallError> {
    if let Some(denied) = denied(cap, &error) {
        return Err(denied);
    }
    match error.kind() {
        FailureKind::Timeout => Ok(ConnectFailure::TimedOut),
        FailureKind::Quota => Ok(ConnectFailure::Quota),
        FailureKind::Denied => {
            let why = ": it cannot be reached";
            Err(Denial::HostNotGranted { cap, host: "".into(), why, rules: None }.into())
        }
        _ => Ok(ConnectFailure::Unreachable),
    }
}
