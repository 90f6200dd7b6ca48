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
    BoxFuture, CallError, CallLimits, Cap, CapSet, Fault, GuestLog, LiveError, LiveKind, LiveSpec, LogLevel,
    Outcome, Waited,
    port::{LiveInstance, Runner},
    text::printable,
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
    ready: Box<InvokeReady>,
) -> Result<Answered, CallError> {
    let mut log = None;
    let response = match begin(runner, permit, ready, &mut log) {
        Ok(begun) => begun.answer().await,
        Err(error) => Err(error),
    };
    let response = match response {
        Ok(response) => Ok(response.into()),
        Err(error) => Err(failed(error)?),
    };
    let log = log.map(|it| std::mem::take(&mut *it.lines.lock())).unwrap_or_default();
    Ok(Answered { response, log })
}

/// A request whose instance is being made.
struct Begun<'a> {
    opening: BoxFuture<'a, Result<Box<dyn LiveInstance>, LiveError>>,
    /// As the guest is shown it.
    shown: Vec<u8>,
    held: Held,
    limits: CallLimits,
    began: Instant,
    waited: Waited,
}

/// What takes no time, and so is no part of the future.
fn begin<'a>(
    runner: &'a dyn Runner,
    permit: &Permit<'_, Instance>,
    ready: Box<InvokeReady>,
    log: &mut Option<Arc<Lines>>,
) -> Result<Begun<'a>, LiveError> {
    let InvokeReady { artifact, request, tenant, extension, limits } = *ready;
    let session = permit.session();
    let EffectiveLimits { timeout_ms, memory_mb, fuel } = limits;
    let (wall_max, fuel_max) = (Duration::from_millis(timeout_ms), fuel.unwrap_or(u64::MAX));
    // A guest's clock is looked at now and then, and a short one would have ended before.
    if wall_max.is_zero() {
        return Err(LiveError::Ended(Outcome::TimedOut));
    }
    let budget = session.spec().budget.clone();
    let limits_of_call = CallLimits { wall_max, fuel_max, reply_bytes_max: RESPONSE_BYTES_MAX, budget };
    tracing::trace!(target: "drydock::hop", "caps/instance: a request as the guest is shown it, and its limits");
    // What the host holds of a request, as it was sent and as it is shown, is memory that the session has no more.
    let bytes = request.bytes().saturating_mul(2);
    let held = Held::of(session.spec().memory.as_ref(), bytes).map_err(|max| LiveError::TooLarge {
        what: "request",
        bytes,
        max,
    })?;
    let shown = request.shown(&tenant, &extension, limits);
    let request = request.context.request_id.unwrap_or_default();
    let lines = Arc::new(Lines { lines: Mutex::default(), tenant, extension, request });
    *log = Some(Arc::clone(&lines));
    let (began, waited) = (Instant::now(), Waited::from_now(Some(Arc::clone(session.preparing()))));
    let opening = runner.open(LiveSpec {
        artifact,
        kind: LiveKind::Handler,
        memory_bytes_max: memory_mb.saturating_mul(1 << 20),
        memory: session.spec().memory.clone(),
        opening: limits_of_call.clone(),
        lane: None,
        compile: None,
        caps: of_handlers(permit.caps()),
        door: permit.door(),
        switches: session.switches(),
        preparing: Some(Arc::clone(session.preparing())),
        depth: session.depth(),
        tenant: session.spec().tenant.clone(),
        log: lines,
    });
    Ok(Begun { opening, shown, held, limits: limits_of_call, began, waited })
}

impl Begun<'_> {
    async fn answer(self) -> Result<Vec<u8>, LiveError> {
        let Self { opening, shown, held, mut limits, began, waited } = self;
        let instance = opening.await?;
        // One deadline for both: what the start function took, the handler does not have. Compiling is nobody's time.
        limits.wall_max = (limits.wall_max + waited.so_far()).saturating_sub(began.elapsed());
        limits.fuel_max = limits.fuel_max.saturating_sub(instance.opening_fuel());
        let reply = instance.call(&shown, limits).await?;
        drop(held);
        Ok(reply.bytes)
    }
}

/// The powers that handlers have imports for, as far as they are there.
fn of_handlers(caps: CapSet) -> CapSet {
    caps.iter().filter(|it| *it == Cap::Kv).collect()
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
