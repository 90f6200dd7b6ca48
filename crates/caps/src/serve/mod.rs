//! `serve`: the host listens, and a guest answers. Where is named by the grant; no guest names an address, and none ever sees
//! a socket.
//!
//! Nothing here listens. Whoever binds the address asks first, and keeps what it is given: a lease, which holds the name and
//! whose switches end everything at once. Each connection and each request is a call at the lease's door, with its own record.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{any::Any, sync::Arc};

use drydock_abi::serve::{ACCEPT, CONNECTIONS_MAX, LISTEN, REQUEST, REQUEST_BYTES_MAX, RESPONSE_BYTES_MAX};
use drydock_contract::{
    CallError, Cap, Denial, Reply, Streams, Terms,
    port::{Clock, Runner, Subjects},
};
use drydock_gate::{Audited, CapSpec, Capability, Class, NotAdmitted, Operation, Permit, Refused, Session};
use parking_lot::Mutex;

use policy::Act;
pub use policy::{Policy, Ready, SERVE_ID_TAKEN};
pub use request::{Accept, Ask, Listen, Request, subject_of};

pub use crate::serving::{Accepted, Handler, Serving};
use crate::{
    clients::Clients,
    exec::IN_FLIGHT_MAX,
    instance::Shelf,
    serving::{self, Found},
};

/// A client that holds too many connections open.
pub const TOO_MANY_CONNECTIONS: &str = "too_many_connections";

/// A request that only names something.
const NAMING_BYTES_MAX: u64 = 64 << 10;

/// The power to serve.
pub struct Serve {
    runner: Arc<dyn Runner>,
    policy: Policy,
}

impl Serve {
    /// Serving guests come from `shelf` and run on `runner`; clients are counted by `clock`.
    pub fn new(runner: Arc<dyn Runner>, shelf: Arc<Shelf>, clock: Arc<dyn Clock>) -> Self {
        Self { runner, policy: Policy { clock, shelf, names: Arc::default() } }
    }
}

impl Capability for Serve {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Serve,
        operations: &[
            Operation {
                name: LISTEN,
                class: Class::Connection,
                request_bytes_max: NAMING_BYTES_MAX,
                in_flight_max: Some(CONNECTIONS_MAX),
                audited: Audited::Everything,
                summary: "Listens for a guest that answers. Subjects: `http:ADDRESS:PORT`, `tcp:ADDRESS:PORT`. Asked by hosts only, so it has no encoding.",
            },
            Operation {
                name: ACCEPT,
                class: Class::Connection,
                request_bytes_max: 0,
                in_flight_max: Some(CONNECTIONS_MAX),
                audited: Audited::Denials,
                summary: "Takes one connection of a listener. Asked by hosts only, so it has no encoding.",
            },
            Operation {
                name: REQUEST,
                class: Class::Run,
                request_bytes_max: REQUEST_BYTES_MAX,
                in_flight_max: Some(IN_FLIGHT_MAX),
                audited: Audited::Everything,
                summary: "Has one request answered by a fresh instance of the guest. Asked by hosts only, so it has no encoding.",
            },
        ],
        imports: &[],
    };
    const REPLY_BYTES_MAX: u64 = RESPONSE_BYTES_MAX;

    type Request = Request;
    type Ready = Ready;
    type Policy = Policy;

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn decode(_: &str, _: &[u8]) -> Result<Request, Denial> {
        Err(Denial::Malformed("a host listens, and is not asked for it in bytes".into()))
    }

    fn decode_typed(operation: &str, value: Box<dyn Any + Send>) -> Option<Request> {
        request::decode(operation, value)
    }

    fn digested(request: &Request) -> Option<[&[u8]; 2]> {
        Some(request.digested())
    }

    fn subject(request: &Request) -> &str {
        &request.subject
    }

    fn judge_terms(terms: &Terms) -> Result<(), String> {
        policy::judge_terms(terms)
    }

    fn not_admitted(request: &Request, _: NotAdmitted) -> Denial {
        let subjects = Subjects::cut(&request.subject);
        Denial::NotGranted { cap: Cap::Serve, subjects, why: ": the grant is for other addresses" }
    }

    fn check(policy: &Policy, session: &Session, request: Request) -> Result<Ready, Refused> {
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
        let Ready { label, act } = ready;
        match act {
            Act::Listen(listen) => {
                if let Found::Module(artifact) = &listen.handler {
                    let tenant = permit.session().spec().tenant.clone();
                    self.runner.check_serving(artifact, permit.caps(), tenant).await?;
                }
                let serving = Serving {
                    protocol: listen.protocol,
                    subject: label,
                    serve_id: listen.serve_id,
                    handler: listen.handler,
                    clients: Mutex::new(Clients::new(listen.client_calls_max)),
                    clock: Arc::clone(&self.policy.clock),
                    name: listen.name,
                    lease: permit.into_lease(),
                };
                Ok(Reply::of_value(Arc::new(serving), streams))
            }
            Act::Accept(Accept { serving, client }) => {
                still(&serving)?;
                let accepted = Accepted::enter(serving, client)?;
                Ok(Reply::of_value(accepted.with(permit.into_lease()), streams))
            }
            Act::Ask(serving, client, bytes) => {
                still(&serving)?;
                if serving.protocol == drydock_abi::serve::Protocol::Http {
                    serving.ask(client)?;
                }
                let (answer, outcome) = serving::answer(&*self.runner, &permit, &serving, bytes).await?;
                let digested = answer.as_ref().ok().cloned();
                Ok(Reply { digested, ..Reply::of_value(answer, streams) }.ended(outcome, [0; 3]))
            }
        }
    }
}

/// A listener whose grant is gone takes nothing more.
fn still(serving: &Serving) -> Result<(), Denial> {
    if serving.still_valid() { Ok(()) } else { Err(Denial::Revoked) }
}
