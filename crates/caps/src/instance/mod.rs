//! `instance`: makes instances of modules that are called from outside. A handler lives for one request, a kernel until it
//! is closed, a lembeh guest until it returns.
//!
//! A module is named by its hash and lies on a shelf that the host filled; nothing here reads a file. What an instance may
//! take is what was asked for, and never more than its session has.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{any::Any, sync::Arc};

use drydock_abi::{
    kernel::{CALL, CALL_HEAD_BYTES, CLOSE, INPUT_BYTES_MAX, OPEN, OUTPUT_BYTES_MAX},
    lembeh::run::{RUN, RunGuest},
    runner::{INVOKE, Invoke, REQUEST_BYTES_MAX},
};
use drydock_contract::{
    CallError, Cap, Denial, Reply, Streams,
    port::{Runner, Subjects},
};
use drydock_gate::{Audited, CapSpec, Capability, Class, NotAdmitted, Operation, Permit, Refused, Session};

use policy::Act;
pub use policy::Ready;
pub(crate) use policy::{CallReady, InvokeReady, OpenReady};
pub use request::Request;

pub use crate::shelf::{Shelf, Shelved};
use crate::{handler, kernel, lembeh};

/// Calls of one principal in flight, like runs of commands.
const IN_FLIGHT_MAX: u32 = 64;
/// A request to make a kernel: names and numbers.
const OPEN_BYTES_MAX: u64 = 4096;

/// The power to make instances.
pub struct Instance {
    runner: Arc<dyn Runner>,
    shelf: Arc<Shelf>,
}

impl Instance {
    /// Modules come from `shelf` and live on `runner`.
    pub fn new(runner: Arc<dyn Runner>, shelf: Arc<Shelf>) -> Self {
        Self { runner, shelf }
    }
}

impl Capability for Instance {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Instance,
        operations: &[
            Operation {
                name: INVOKE,
                class: Class::Run,
                request_bytes_max: REQUEST_BYTES_MAX,
                in_flight_max: Some(IN_FLIGHT_MAX),
                audited: Audited::Everything,
                summary: "One HTTP request for a handler of the Runner ABI. Asked by hosts only, so it has no encoding.",
            },
            Operation {
                name: RUN,
                class: Class::Run,
                request_bytes_max: OPEN_BYTES_MAX,
                in_flight_max: Some(IN_FLIGHT_MAX),
                audited: Audited::Everything,
                summary: "Runs a guest of the lembeh ABI to its end. Asked by hosts only, so it has no encoding.",
            },
            Operation {
                name: OPEN,
                class: Class::Run,
                request_bytes_max: OPEN_BYTES_MAX,
                in_flight_max: Some(IN_FLIGHT_MAX),
                audited: Audited::Everything,
                summary: "Makes a kernel. Reply: its number.",
            },
            Operation {
                name: CALL,
                class: Class::Run,
                request_bytes_max: INPUT_BYTES_MAX + CALL_HEAD_BYTES,
                in_flight_max: Some(IN_FLIGHT_MAX),
                audited: Audited::Denials,
                summary: "Calls a kernel of this session: number, milliseconds, module, input. Reply: what it cost, output.",
            },
            Operation {
                name: CLOSE,
                class: Class::Look,
                request_bytes_max: 40,
                in_flight_max: None,
                audited: Audited::Denials,
                summary: "Gives a kernel of this session up: its number and its module. Reply: nothing.",
            },
        ],
        imports: &[],
    };

    // A kernel's; a handler's is shorter, in base64 and with its log too.
    const REPLY_BYTES_MAX: u64 = OUTPUT_BYTES_MAX + CALL_HEAD_BYTES;
    type Request = Request;
    type Ready = Ready;
    type Policy = Arc<Shelf>;

    fn policy(&self) -> &Self::Policy {
        &self.shelf
    }

    fn decode(operation: &str, payload: &[u8]) -> Result<Request, Denial> {
        request::decode(operation, payload)
    }

    fn decode_typed(operation: &str, value: Box<dyn Any + Send>) -> Option<Request> {
        if operation == RUN {
            return value.downcast::<RunGuest>().ok().map(Request::of_guest);
        }
        let invoke = value.downcast::<Invoke>().ok().filter(|_| operation == INVOKE)?;
        Some(Request::of_handler(invoke))
    }

    fn digested(request: &Request) -> Option<[&[u8]; 2]> {
        request.digested()
    }

    fn subject(request: &Request) -> &str {
        request.subject()
    }

    fn more_subjects(request: &Request) -> Vec<&str> {
        request.module().into_iter().collect()
    }

    fn not_admitted(request: &Request, _: NotAdmitted) -> Denial {
        let subject = Denial::subject(request.subject());
        let subjects: Subjects = match request.module() {
            None => subject.into(),
            Some(module) => [subject, module.into()].into(),
        };
        Denial::NotGranted { cap: Cap::Instance, subjects, why: ": the grant is for other names" }
    }

    fn check(shelf: &Arc<Shelf>, session: &Session, request: Request) -> Result<Ready, Refused> {
        policy::check(shelf, session, request)
    }

    fn label(ready: &Ready) -> Arc<str> {
        ready.subjects.first().into()
    }

    fn subjects(ready: &Ready) -> Subjects {
        ready.subjects.clone()
    }

    async fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: Ready,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        let payload = match ready.act {
            Act::Invoke(invoke) => {
                let answered = handler::invoke(&*self.runner, &permit, invoke).await?;
                let digested = answered.response.as_ref().ok().cloned();
                return Ok(Reply { digested, ..Reply::of_value(answered, streams) });
            }
            // Boxed, because a handler's request would carry the longest of them with it.
            Act::Run(guest) => {
                return Box::pin(lembeh::run(&*self.runner, &permit, *guest, streams)).await;
            }
            Act::Open(open) => Box::pin(kernel::open(&*self.runner, &permit, open)).await?,
            Act::Call(call) => Box::pin(kernel::call(&permit, call)).await?,
            Act::Close(id) => {
                self.shelf.close(id);
                Vec::new()
            }
        };
        Ok(Reply::of_bytes(payload, streams))
    }
}
