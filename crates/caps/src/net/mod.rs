//! `net`: makes HTTP requests. A grant names hosts with their ports, and perhaps what may be asked of them; `egress` judges
//! the addresses and dials (decision 0083).
//!
//! One call is one request: redirects are not followed here. Whoever follows one asks again, and is judged and recorded
//! again.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use drydock_abi::fetch::{FETCH, FETCH_REQUEST_BYTES_MAX, FETCHED_BYTES_MAX};
use drydock_contract::{CallError, Cap, Denial, Reply, Streams, Terms, port::Clock};
use drydock_egress::Egress;
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Import, NotAdmitted, Operation, Permit, Refused, Session,
};

pub use crate::played::{Answers, Played, is_piece};
pub use crate::reach::{Credentials, grants_of};
pub use policy::{Policy, Ready};
pub(crate) use policy::{judge_subject, not_open};
pub use request::{Fetch, subject_of};

/// Who answers requests that were let through: the network, or a tape.
pub trait WayOut: Send + Sync + Sized + 'static {
    /// Answers one.
    fn answer(
        &self,
        permit: &Permit<'_, Net<Self>>,
        ready: Ready,
        streams: Streams,
    ) -> impl Future<Output = Result<Reply, CallError>> + Send;
}

/// The power to make HTTP requests.
pub struct Net<W = Egress> {
    way: Arc<W>,
    policy: Policy,
}

impl<W: WayOut> Net<W> {
    /// The power over a way out.
    pub fn new(way: Arc<W>, clock: Arc<dyn Clock>) -> Self {
        Self { way, policy: Policy { clock } }
    }
}

impl<W: WayOut> Capability for Net<W> {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Net,
        operations: &[Operation {
            name: FETCH,
            class: Class::Fetch,
            request_bytes_max: FETCH_REQUEST_BYTES_MAX,
            in_flight_max: None,
            audited: Audited::Everything,
            summary: "One HTTP request, as JSON with a `url`. Subjects: `host:port`, `private:address:port`.",
        }],
        imports: &[
            Import { module: "env", name: "http_start", signature: "(req: i32, req_len: i32) -> i32" },
            Import {
                module: "env",
                name: "http_read",
                signature: "(call: i32, out: i32, out_cap: i32) -> i32",
            },
            Import { module: "env", name: "http_close", signature: "(call: i32)" },
            Import {
                module: "env",
                name: "host_http_get",
                signature: "(url: i32, url_len: i32, out: i32, out_cap: i32) -> i32",
            },
            Import {
                module: "env",
                name: "host_http",
                signature: "(method: i32, method_len: i32, url: i32, url_len: i32, headers: i32, headers_len: i32, body: i32, body_len: i32, out: i32, out_cap: i32) -> i32",
            },
            Import {
                module: "env",
                name: "host_http_get_many",
                signature: "(urls: i32, urls_len: i32, out: i32, out_cap: i32) -> i32",
            },
        ],
    };

    const REPLY_BYTES_MAX: u64 = FETCHED_BYTES_MAX;
    type Request = Fetch;
    type Ready = Ready;
    type Policy = Policy;

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn decode(_: &str, payload: &[u8]) -> Result<Fetch, Denial> {
        request::decode(payload)
    }

    fn subject(request: &Fetch) -> &str {
        &request.subject
    }

    fn within(request: &Fetch, terms: &Terms) -> bool {
        policy::within(request, terms)
    }

    fn judge_terms(terms: &Terms) -> Result<(), String> {
        policy::judge_terms(terms)
    }

    fn not_admitted(request: &Fetch, why: NotAdmitted) -> Denial {
        policy::not_admitted(request, why)
    }

    fn check(policy: &Policy, session: &Session, request: Fetch) -> Result<Ready, Refused> {
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
        self.way.answer(&permit, ready, streams).await
    }
}
