//! Kernels: made once, called often. How one failed is an answer; only what is no guest's doing is a fault.

use std::{sync::Arc, time::Duration};

use drydock_abi::kernel::{KernelFailure, OUTPUT_BYTES_MAX, Output, encode_opened, encode_output};
use drydock_contract::{
    CallError, CallLimits, CapSet, Denial, Fault, LiveError, LiveKind, LiveSpec, NoLog, port::Runner,
};
use drydock_gate::Permit;

use crate::instance::{CallReady, Instance, OpenReady};

/// What making a kernel may take: its start function is guest code.
const OPENING_MAX: Duration = Duration::from_secs(60);

pub(crate) async fn open(
    runner: &dyn Runner,
    permit: &Permit<'_, Instance>,
    open: OpenReady,
) -> Result<Vec<u8>, CallError> {
    let session = permit.session();
    let limits = &session.spec().limits;
    let opened = runner.open(LiveSpec {
        artifact: open.artifact,
        kind: LiveKind::Kernel(open.kernel),
        memory_bytes_max: open.memory_bytes_max,
        memory: session.spec().memory.clone(),
        opening: CallLimits {
            wall_max: OPENING_MAX.min(session.spec().call_wall_max),
            fuel_max: limits.fuel_max,
            reply_bytes_max: 0,
            budget: session.spec().budget.clone(),
        },
        lane: None,
        compile: None,
        caps: CapSet::EMPTY,
        door: permit.door(),
        switches: session.switches(),
        preparing: Some(Arc::clone(session.preparing())),
        depth: session.depth(),
        tenant: session.spec().tenant.clone(),
        log: Arc::new(NoLog),
    });
    match opened.await {
        // A session that ended meanwhile has no kernels.
        Ok(instance) => {
            let id = open.place.keep(Arc::from(instance)).ok_or(Denial::Cancelled)?;
            Ok(encode_opened(Ok(id)))
        }
        Err(error) => Ok(encode_opened(Err(&failure(error)?))),
    }
}

pub(crate) async fn call(permit: &Permit<'_, Instance>, call: CallReady) -> Result<Vec<u8>, CallError> {
    let limits = CallLimits {
        wall_max: call.wall_max,
        fuel_max: permit.session().spec().limits.fuel_max,
        reply_bytes_max: OUTPUT_BYTES_MAX,
        budget: permit.session().spec().budget.clone(),
    };
    match call.instance.call(&call.input, limits).await {
        Ok(reply) => {
            let duration_us = u64::try_from(reply.duration.as_micros()).unwrap_or(u64::MAX);
            let (fuel, memory_bytes) = (reply.fuel, reply.memory_bytes);
            Ok(encode_output(Ok(&Output { bytes: reply.bytes, fuel, memory_bytes, duration_us })))
        }
        Err(error) => Ok(encode_output(Err(&failure(error)?))),
    }
}

fn failure(error: LiveError) -> Result<KernelFailure, Fault> {
    match error {
        LiveError::Fault(fault) => Err(fault),
        // The seed's own word for it.
        LiveError::Failed { .. } => {
            Ok(KernelFailure { code: "bad_entry_result".into(), message: error.to_string() })
        }
        other => Ok(KernelFailure { code: other.code().to_owned(), message: other.to_string() }),
    }
}
