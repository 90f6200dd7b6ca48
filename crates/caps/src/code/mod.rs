//! `code`: runs a program of code mode, in JavaScript or Python. The program's own powers are its tools.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{any::Any, sync::Arc};

use drydock_contract::{CallError, Cap, Denial, Reply, Streams};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, NotAdmitted, Operation, Permit, ProgramEnd, ProgramStart, Refused,
    Session, StartedProgram,
};

/// The operation that runs a program to its end.
pub const RUN: &str = "code.run";

/// The longest program that is even looked at.
pub const TEXT_BYTES_MAX: u64 = 64 << 20;

/// The power to run programs.
#[derive(Debug, Default)]
pub struct Code;

impl Capability for Code {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Code,
        operations: &[Operation {
            name: RUN,
            class: Class::Run,
            request_bytes_max: TEXT_BYTES_MAX,
            in_flight_max: Some(crate::exec::IN_FLIGHT_MAX),
            audited: Audited::Everything,
            summary: "Runs a program of code mode to its end. Started by hosts only, so it has no encoding.",
        }],
        imports: &[],
    };

    type Request = ProgramStart;
    type Ready = ProgramStart;
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }

    fn decode(_: &str, payload: &[u8]) -> Result<ProgramStart, Denial> {
        request::decode(payload)
    }

    fn decode_typed(_: &str, value: Box<dyn Any + Send>) -> Option<ProgramStart> {
        value.downcast::<ProgramStart>().ok().map(|it| *it)
    }

    fn digested(request: &ProgramStart) -> Option<[&[u8]; 2]> {
        Some([request.language.as_bytes(), request.text.as_bytes()])
    }

    fn subject(request: &ProgramStart) -> &str {
        &request.language
    }

    fn not_admitted(request: &ProgramStart, why: NotAdmitted) -> Denial {
        policy::not_admitted(&request.language, why)
    }

    fn check((): &(), _: &Session, request: ProgramStart) -> Result<ProgramStart, Refused> {
        Ok(request)
    }

    fn label(ready: &ProgramStart) -> Arc<str> {
        Arc::clone(&ready.language)
    }

    async fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: ProgramStart,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        tracing::trace!(target: "drydock::hop", "caps/code: a program in {}", ready.language);
        let started = StartedProgram { session: permit.inner_session(), entropy: permit.entropy() };
        let ProgramEnd { result, outcome, digested } = (ready.run)(started).await;
        Ok(Reply { typed: Some(result), digested, streams, ..Reply::default() }.ended(outcome, [0; 3]))
    }
}
