//! `tcp`: makes a connection to a host and port that a grant names. `egress` judges the addresses and dials.
//!
//! The connection outlives its call, and holds what the call had: its place in the counters and its open record. Once the
//! grant or the session is lost it is a broken pipe.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{
    any::Any,
    io,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use drydock_abi::tcp::{CONNECT, ConnectAnswer, ConnectFailure, ConnectRequest, Connected};
use drydock_contract::{
    ByteSink, ByteSource, CallError, Cap, Denial, Fault, Reply, Sink, Source, Streams, Terms, host::PRIVATE,
    port::Clock,
};
use drydock_egress::{Caller, Egress, FailureKind, FetchError, Limits, RawSink, RawSource, Refusal, Rules};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Lease, NotAdmitted, Operation, Permit, Refused, Session,
};

pub use policy::{Policy, Ready};
pub use request::Connect;

use crate::fetch::Told;

/// Bytes of a host's name, as DNS has it, and some for the rest.
const REQUEST_BYTES_MAX: u64 = 1024;
/// Connections of one principal.
const IN_FLIGHT_MAX: u32 = 64;

/// The power to connect.
pub struct Tcp {
    egress: Arc<Egress>,
    policy: Policy,
}

impl Tcp {
    /// The power over a way out.
    pub fn new(egress: Arc<Egress>, clock: Arc<dyn Clock>) -> Self {
        Self { egress, policy: Policy { clock } }
    }
}

impl Capability for Tcp {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Tcp,
        operations: &[Operation {
            name: CONNECT,
            class: Class::Fetch,
            request_bytes_max: REQUEST_BYTES_MAX,
            in_flight_max: Some(IN_FLIGHT_MAX),
            audited: Audited::Everything,
            summary: "A connection, as bytes both ways. Subjects: `host:port`, `private:address:port`. Asked by hosts only, so it has no encoding.",
        }],
        imports: &[],
    };

    type Request = Connect;
    type Ready = Ready;
    type Policy = Policy;

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn decode(_: &str, _: &[u8]) -> Result<Connect, Denial> {
        Err(Denial::Malformed("a connection is asked for by a host, and not in bytes".into()))
    }

    fn decode_typed(_: &str, value: Box<dyn Any + Send>) -> Option<Connect> {
        request::decode(*value.downcast::<ConnectRequest>().ok()?)
    }

    fn digested(request: &Connect) -> Option<[&[u8]; 2]> {
        Some([request.subject.as_bytes(), &[]])
    }

    fn subject(request: &Connect) -> &str {
        &request.subject
    }

    fn judge_terms(terms: &Terms) -> Result<(), String> {
        policy::judge_terms(terms)
    }

    fn not_admitted(request: &Connect, _: NotAdmitted) -> Denial {
        let host = Denial::subject(&request.subject);
        Denial::HostNotGranted { host, why: "", rules: Some(Arc::new([])) }
    }

    fn check(policy: &Policy, session: &Session, request: Connect) -> Result<Ready, Refused> {
        policy::check(policy, session, request)
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
        let session = permit.session();
        let caller = Caller {
            tenant: session.spec().tenant.clone(),
            principal: session.spec().principal.clone(),
            observer: Arc::new(Told(permit.attempts())),
        };
        let rules = Rules::only(&ready.target, ready.opened);
        let limits = Limits { connect_max: Duration::from_millis(ready.timeout_ms), ..Limits::default() };
        let made = self.egress.connect_raw(&caller, &rules, &ready.target, ready.prefer_ipv6, &limits).await;
        let answer: ConnectAnswer = match made {
            Ok(made) => {
                let lease = Arc::new(permit.into_lease());
                let source = Leased { half: made.source, lease: Arc::clone(&lease) };
                let sink = Leased { half: made.sink, lease };
                Ok(Connected { source: Source::Stream(Box::new(source)), sink: Sink::Stream(Box::new(sink)) })
            }
            Err(error) => Err(failure(error)?),
        };
        Ok(Reply::of_value(answer, streams))
    }
}

/// What whoever asked is told; what policy refused is the gate's to say.
fn failure(error: FetchError) -> Result<ConnectFailure, CallError> {
    if let FetchError::Refused(Refusal::AddressForbidden { address, port, .. }) = &error {
        let subject = format!("{PRIVATE}{}", core::net::SocketAddr::new(*address, *port));
        return Err(crate::net::not_open(&subject).into());
    }
    if let FetchError::NotRecorded(error) = &error {
        return Err(Fault::Unrecorded(error.to_string()).into());
    }
    match error.kind() {
        FailureKind::Timeout => Ok(ConnectFailure::TimedOut),
        FailureKind::Quota => Ok(ConnectFailure::Quota),
        FailureKind::Denied => {
            Err(Denial::HostNotGranted { host: "".into(), why: ": it cannot be reached", rules: None }.into())
        }
        _ => Ok(ConnectFailure::Unreachable),
    }
}

/// One half of a connection, for as long as what let it be made still holds.
struct Leased<T> {
    half: T,
    lease: Arc<Lease>,
}

impl<T> Leased<T> {
    fn check(&self) -> io::Result<()> {
        if self.lease.still_valid() { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }
}

impl ByteSource for Leased<RawSource> {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        self.half.poll_read(cx, buffer)
    }
}

impl ByteSink for Leased<RawSink> {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        self.half.poll_write(cx, bytes)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.half.poll_flush(cx)
    }
}
