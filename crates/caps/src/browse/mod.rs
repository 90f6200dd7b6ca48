//! `browse`: reads a web page as text. The page is fetched through `egress` without credentials, hop by hop as grants allow,
//! and taken apart in a guest (`reader`): no byte of a foreign page meets a parser of HTML in this process.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use drydock_abi::{
    broker::{Answer, Failure},
    browse::{BROWSE, BROWSE_BYTES_MAX, LINKS_MAX, Page, TEXT_BYTES_MAX},
};
use drydock_contract::{
    CallError, Cap, Denial, Terms,
    port::{Registry, Runner},
};
use drydock_egress::Egress;
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Import, NotAdmitted, Operation, Permit, Refused, Session,
};

pub use policy::Ready;
pub(crate) use policy::{Bounds, follow};
pub use request::Request;

use crate::{
    broker::{Broker, Policy},
    reader::{self, Reader},
};

/// Pages of one principal that are being read.
const IN_FLIGHT_MAX: u32 = 64;

/// The way out, and whoever takes pages apart.
pub struct Browse {
    egress: Arc<Egress>,
    reader: Reader,
    policy: Policy,
}

impl Browse {
    /// Pages come by `egress`, and the built-in guest of `registry` reads them on `runner`. Grants that a redirect needs are
    /// looked up by `policy`'s clock.
    pub fn new(
        egress: Arc<Egress>,
        registry: Arc<dyn Registry>,
        runner: Arc<dyn Runner>,
        policy: Policy,
    ) -> Self {
        Self { egress, reader: Reader::new(registry, runner), policy }
    }
}

impl Broker for Browse {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Browse,
        operations: &[Operation {
            name: BROWSE,
            class: Class::Fetch,
            request_bytes_max: BROWSE_BYTES_MAX,
            in_flight_max: Some(IN_FLIGHT_MAX),
            audited: Audited::Everything,
            summary: "A web page as text, as JSON with a `url`. Subjects: `host:port`, `private:address:port`.",
        }],
        imports: &[Import {
            module: "env",
            name: "host_browse_call",
            signature: "(op: i32, op_len: i32, req: i32, req_len: i32) -> i32",
        }],
    };
    // Text as JSON, links, and what stands around them.
    const REPLY_BYTES_MAX: u64 = 2 * TEXT_BYTES_MAX as u64 + LINKS_MAX as u64 * 4096;
    const BOUNDS: &'static [&'static str] = &[];
    type Request = Request;
    type Ready = Ready;
    type Value = Page;

    fn decode(_: &str, payload: &[u8]) -> Result<Request, Denial> {
        request::decode(payload)
    }

    fn digested(request: &Request) -> [&[u8]; 2] {
        [BROWSE.as_bytes(), &request.json]
    }

    fn subject(request: &Request) -> &str {
        &request.subject
    }

    fn judge_terms(terms: &Terms) -> Result<(), String> {
        policy::judge_terms(terms)
    }

    fn not_admitted(request: &Request, _: NotAdmitted) -> Denial {
        policy::not_granted(&request.subject)
    }

    fn check(policy: &Policy, session: &Session, request: Request) -> Result<Ready, Refused> {
        policy::check(policy, session, request)
    }

    fn label(ready: &Ready) -> Arc<str> {
        Arc::clone(&ready.label)
    }

    async fn act<C: Capability>(
        &self,
        permit: &Permit<'_, C>,
        ready: Ready,
    ) -> Result<Answer<Page>, CallError> {
        tracing::trace!(target: "drydock::hop", "caps/browse: {} is asked for a page", ready.label);
        let bounds = ready.bounds;
        let fetched = match reader::fetch(&self.egress, &self.policy, permit, ready).await? {
            Ok(fetched) => fetched,
            Err(failure) => return Ok(Err(failure)),
        };
        let Some(kind) = fetched.kind else {
            let message = format!("{} is {}, which is no page", fetched.target.host(), fetched.content_type);
            return Ok(Err(Failure::new("not_a_page", message)));
        };
        self.reader.read(permit, fetched, kind, bounds).await
    }
}
