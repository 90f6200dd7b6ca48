//! `net`: makes HTTP requests. Specified, judged and recorded like any other power; what is missing is the act, until there
//! is a room that dials out. So a guest that fetches is refused with the grant that it lacks, and who reads the records
//! sees what it wanted to reach.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{convert::Infallible, sync::Arc};

use drydock_abi::runner::{FETCH, FETCH_REQUEST_BYTES_MAX};
use drydock_contract::{CallError, Cap, Denial, Reply, Streams};
use drydock_gate::{Audited, CapSpec, Capability, Class, NotAdmitted, Operation, Permit, Refused, Session};

pub use request::Fetch;

/// The power to make HTTP requests.
#[derive(Debug, Default)]
pub struct Net;

impl Capability for Net {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Net,
        operations: &[Operation {
            name: FETCH,
            class: Class::Look,
            request_bytes_max: FETCH_REQUEST_BYTES_MAX,
            in_flight_max: None,
            audited: Audited::Everything,
            summary: "One HTTP request of an extension, as JSON with a `url`. Refused: nothing here dials out yet.",
        }],
        imports: &[],
    };

    type Request = Fetch;
    type Ready = Infallible;
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }

    fn decode(_: &str, payload: &[u8]) -> Result<Fetch, Denial> {
        request::decode(payload)
    }

    fn subject(request: &Fetch) -> &str {
        request.host()
    }

    fn not_admitted(request: &Fetch, _: NotAdmitted) -> Denial {
        policy::not_admitted(request)
    }

    fn check((): &(), _: &Session, request: Fetch) -> Result<Infallible, Refused> {
        Err(policy::refuse(&request))
    }

    fn label(ready: &Infallible) -> Arc<str> {
        match *ready {}
    }

    async fn perform(&self, _: Permit<'_, Self>, ready: Infallible, _: Streams) -> Result<Reply, CallError> {
        match ready {}
    }
}
