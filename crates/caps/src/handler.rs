//! One HTTP request, one guest: a fresh instance, one call, and its bytes, or the envelope that says why there are none.
//!
//! Only what is no guest's doing is a fault; everything else is an answer that the caller can read.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_abi::runner::{
    Answered, Code, EffectiveLimits, Envelope, FailureKind, LogLine, RESPONSE_BYTES_MAX,
};
use drydock_contract::{
    CallError, CallLimits, Fault, GuestLog, LiveError, LiveKind, LiveSpec, LogLevel, Outcome, Waited,
    port::Runner, text::printable,
};
use drydock_gate::Permit;
use parking_lot::Mutex;

use crate::{
    instance::{Instance, InvokeReady},
    program::Held,
};

pub(crate) async fn invoke(
    runner: &dyn Runner,
    permit: &Permit<'_, Instance>,
    ready: InvokeReady,
) -> Result<Answered, CallError> {
    let log = Arc::new(Lines::of(&ready));
    let response = match answer(runner, permit, ready, Arc::clone(&log)).await {
        Ok(response) => Ok(response.into()),
        Err(error) => Err(failed(error)?),
    };
    Ok(Answered { response, log: std::mem::take(&mut *log.lines.lock()) })
}

async fn answer(
    runner: &dyn Runner,
    permit: &Permit<'_, Instance>,
    ready: InvokeReady,
    log: Arc<Lines>,
) -> Result<Vec<u8>, LiveError> {
    let InvokeReady { artifact, request, tenant, extension, limits } = ready;
    let session = permit.session();
    let EffectiveLimits { timeout_ms, memory_mb, fuel } = limits;
    let (wall_max, fuel_max) = (Duration::from_millis(timeout_ms), fuel.unwrap_or(u64::MAX));
    // A guest's clock is looked at now and then, and a short one would have ended before.
    if wall_max.is_zero() {
        return Err(LiveError::Ended(Outcome::TimedOut));
    }
    let calling = |wall_max, fuel_max| CallLimits {
        wall_max,
        fuel_max,
        reply_bytes_max: RESPONSE_BYTES_MAX,
        budget: session.spec().budget.clone(),
    };
    tracing::trace!(target: "drydock::hop", "caps/instance: a request as the guest is shown it, and its limits");
    // What the host holds of a request, as it was sent and as it is shown, is memory that the session has no more.
    let bytes = request.bytes().saturating_mul(2);
    let held = Held::of(session.spec().memory.as_ref(), bytes).map_err(|max| LiveError::TooLarge {
        what: "request",
        bytes,
        max,
    })?;
    let shown = request.shown(&tenant, &extension, limits);
    drop(request);
    let (began, waited) = (Instant::now(), Waited::from_now(Some(Arc::clone(session.preparing()))));
    let spec = LiveSpec {
        artifact,
        kind: LiveKind::Handler,
        memory_bytes_max: memory_mb.saturating_mul(1 << 20),
        memory: session.spec().memory.clone(),
        opening: calling(wall_max, fuel_max),
        lane: None,
        compile: None,
        door: permit.door(),
        switches: session.switches(),
        preparing: Some(Arc::clone(session.preparing())),
        depth: session.depth(),
        tenant: session.spec().tenant.clone(),
        log,
    };
    let instance = runner.open(spec).await?;
    // One deadline for both: what the start function took, the handler does not have. Compiling is nobody's time.
    let left = (wall_max + waited.so_far()).saturating_sub(began.elapsed());
    let fuel_left = fuel_max.saturating_sub(instance.opening_fuel());
    let reply = instance.call(&shown, calling(left, fuel_left)).await?;
    drop(held);
    Ok(reply.bytes)
}

/// What a caller is told of a call without an answer.
fn failed(error: LiveError) -> Result<Envelope, Fault> {
    let code = Code::from(error.code());
    let kind = match &error {
        LiveError::Fault(Fault::Import { .. } | Fault::BadModule { .. }) => FailureKind::Link,
        LiveError::Fault(Fault::Exports { .. }) | LiveError::Contract { .. } => FailureKind::Abi,
        LiveError::InitialMemory { .. } | LiveError::Ended(Outcome::OutOfMemory) => FailureKind::Memory,
        LiveError::Ended(Outcome::TimedOut | Outcome::OutOfFuel) => FailureKind::Timeout,
        LiveError::Ended(Outcome::Cancelled) => FailureKind::Denied,
        LiveError::Ended(_) => FailureKind::Trap,
        LiveError::TooLarge { .. } => FailureKind::TooLarge,
        LiveError::Failed { code, .. } => {
            let text = format!("execute_failed: {error}");
            return Ok(Envelope::failed(FailureKind::App, Code::Number(*code), text));
        }
        _ => {
            return Err(match error {
                LiveError::Fault(fault) => fault,
                other => Fault::Internal(other.to_string()),
            });
        }
    };
    Ok(Envelope::failed(kind, code, error.to_string()))
}

/// The lines of one call, kept for the reply and told to whoever watches the host.
struct Lines {
    lines: Mutex<Vec<LogLine>>,
    tenant: String,
    extension: String,
    request: String,
}

impl Lines {
    fn of(ready: &InvokeReady) -> Self {
        Self {
            lines: Mutex::default(),
            tenant: ready.tenant.clone(),
            extension: ready.extension.clone(),
            request: ready.request.context.request_id.clone().unwrap_or_default(),
        }
    }
}

impl GuestLog for Lines {
    fn line(&self, level: LogLevel, text: &str) {
        let Self { tenant, extension, request, .. } = self;
        let shown = printable(text);
        match level {
            LogLevel::Info => {
                tracing::info!(target: "drydock::extension", tenant, extension, request, "{shown}");
            }
            LogLevel::Error => {
                tracing::error!(target: "drydock::extension", tenant, extension, request, "{shown}");
            }
        }
        self.lines.lock().push(LogLine { level, text: text.to_owned() });
    }
}
