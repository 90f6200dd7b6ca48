//! `parallel`: one command over many inputs. Each task is a call of `exec` through the door of the map, so what may be run,
//! and with which arguments, is decided there and recorded there; this power adds that sixteen of them go on at once, and
//! that the answers come in the order of the inputs.
//!
//! A task that fails hurts no other. Output is held until all are done, on the bill of the session's memory where it has one.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{any::Any, sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_abi::{
    broker::{Blob, Failure, answer_json},
    exec::{START, encode_request, take_report},
    parallel::{
        AT_ONCE_MAX, MAP, MapAnswer, MapRequest, Mapped, OUTPUT_BYTES_MAX, OUTPUT_TOO_LARGE,
        REQUEST_BYTES_MAX, TASK_WALL_MAX,
    },
};
use drydock_contract::{Call, CallError, Cap, Denial, Outcome, Reply, Sink, Source, Streams, port::Subjects};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Import, NotAdmitted, Operation, Permit, Refused, Session,
};

pub use policy::Ready;
pub use request::Map;

use crate::{
    beside::Beside,
    exec::{ExecStart, IN_FLIGHT_MAX},
    program::Held,
};

/// The power to map.
#[derive(Debug)]
pub struct Parallel {
    task_wall_max: Duration,
}

impl Default for Parallel {
    fn default() -> Self {
        Self::within(TASK_WALL_MAX)
    }
}

impl Parallel {
    /// With so much time for each task.
    pub const fn within(task_wall_max: Duration) -> Self {
        Self { task_wall_max }
    }
}

impl Capability for Parallel {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Parallel,
        operations: &[Operation {
            name: MAP,
            class: Class::Tool,
            request_bytes_max: REQUEST_BYTES_MAX,
            in_flight_max: Some(IN_FLIGHT_MAX),
            audited: Audited::Everything,
            summary: "Runs a command once for each of at most 1,024 inputs, 16 at once, 30 s each. Subject: the command. Request and reply: JSON.",
        }],
        imports: &[
            Import {
                module: "env",
                name: "host_parallel_map",
                signature: "(req: i32, req_len: i32, out: i32, out_cap: i32) -> i32",
            },
            Import { module: "env", name: "host_parallel_status", signature: "(index: i32) -> i32" },
        ],
    };
    const REPLY_BYTES_MAX: u64 = OUTPUT_BYTES_MAX;

    type Request = Map;
    type Ready = Ready;
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }

    fn decode(_: &str, payload: &[u8]) -> Result<Map, Denial> {
        request::decode(payload)
    }

    fn decode_typed(_: &str, value: Box<dyn Any + Send>) -> Option<Map> {
        value.downcast::<MapRequest>().ok().map(|it| Map::of(*it))
    }

    fn digested(request: &Map) -> Option<[&[u8]; 2]> {
        Some(request.digested())
    }

    fn subject(request: &Map) -> &str {
        &request.asked.command
    }

    fn not_admitted(request: &Map, _: NotAdmitted) -> Denial {
        let subjects = Subjects::cut(&request.asked.command);
        Denial::NotGranted { cap: Cap::Parallel, subjects, why: ": the grant is for other commands" }
    }

    fn check((): &(), _: &Session, request: Map) -> Result<Ready, Refused> {
        policy::check(request)
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
        let answer = map(&permit, ready.asked, self.task_wall_max).await?;
        Ok(match permit.wants_typed() {
            true => Reply::of_value(Ok::<_, Failure>(answer), streams),
            false => Reply::of_bytes(answer_json(&Ok(answer)), streams),
        })
    }
}

async fn map(
    permit: &Permit<'_, Parallel>,
    asked: MapRequest,
    task_wall_max: Duration,
) -> Result<MapAnswer, CallError> {
    let MapRequest { command, args, inputs } = asked;
    tracing::trace!(target: "drydock::hop", "caps/parallel: {} inputs for {command}", inputs.len());
    let args: Vec<Vec<u8>> = args.into_iter().map(|it| it.0).collect();
    let too_long = |bytes| Denial::TooLarge { what: "argv", bytes, max: REQUEST_BYTES_MAX };
    let wire = encode_request(&command, &args, b"").map_err(|it| too_long(it.0 as u64))?;
    let bytes = wire.len() as u64;
    // Its time is its own, by the session's clock, from its own beginning.
    let start = ExecStart::of_wire(wire, task_wall_max)?;
    let (spec, door) = (permit.session().spec(), permit.door());
    let mut results: Vec<Option<Mapped>> = inputs.iter().map(|_| None).collect();
    let mut waiting = inputs.into_iter().enumerate();
    let mut going = Beside::by(spec.clock.as_ref());
    let mut output = Output { left: OUTPUT_BYTES_MAX, held: Vec::new() };
    loop {
        while going.len() < AT_ONCE_MAX
            && let Some((index, Blob(input))) = waiting.next()
        {
            // Its call is known by its place among the inputs.
            let (door, start, file_rules) = (Arc::clone(&door), start.clone(), permit.file_rules());
            going.push(Box::pin(async move {
                let streams = Streams {
                    stdin: Source::Bytes(Bytes::from(input)),
                    stdout: Sink::capture(),
                    ..Streams::default()
                };
                let call = Call::typed(START, start, bytes, streams).with_file_rules(file_rules);
                (index, ended(door.dispatch(call.numbered(index as u64)).await))
            }));
        }
        let Some((index, result)) = going.next().await else { break };
        if let Some(place) = results.get_mut(index) {
            *place = Some(output.keep(result, spec.memory.as_ref()));
        }
    }
    // Each was begun, and each has ended.
    Ok(MapAnswer { results: results.into_iter().flatten().collect() })
}

/// What came of one task.
fn ended(answer: Result<Reply, CallError>) -> Mapped {
    let failed = |code: &'static str, text: String| Mapped::Failed { error: Failure::new(code, text) };
    let mut reply = match answer {
        Ok(reply) => reply,
        Err(CallError::Failed(fault)) => {
            tracing::debug!("a task of a map failed: {fault}");
            return match fault.code() {
                code @ ("artifact_integrity" | "bad_module" | "import_not_granted" | "saturated"
                | "timed_out") => failed(code, fault.to_string()),
                // What happened to us is for whoever runs us.
                _ => failed("internal_error", "the host failed".into()),
            };
        }
        Err(CallError::Denied(denial)) => return failed(denial.code(), denial.to_string()),
    };
    match take_report(&mut reply).map(|it| it.outcome) {
        Ok(Outcome::Exited(status)) => {
            Mapped::Exited { status, stdout: Blob(reply.streams.stdout.into_captured()) }
        }
        Ok(outcome) => failed(outcome.code(), outcome.to_string()),
        Err(bad) => failed("internal_error", bad.to_string()),
    }
}

/// What may still be kept of the tasks' output, and the bill for what is.
struct Output {
    left: u64,
    held: Vec<Held>,
}

impl Output {
    fn keep(&mut self, result: Mapped, memory: Option<&Arc<drydock_contract::Meter>>) -> Mapped {
        let Mapped::Exited { stdout, .. } = &result else { return result };
        let bytes = stdout.0.len() as u64;
        let (Some(left), Ok(held)) = (self.left.checked_sub(bytes), Held::of(memory, bytes)) else {
            let text = format!(
                "{bytes} bytes of output do not fit beside those of the other tasks, {} are left",
                self.left
            );
            return Mapped::Failed { error: Failure::new(OUTPUT_TOO_LARGE, text) };
        };
        self.left = left;
        self.held.push(held);
        result
    }
}
