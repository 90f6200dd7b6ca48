//! A handler of the Runner ABI that is written in JavaScript: a script with a function `handler(request)`, run as a program
//! of code mode, in an instance of the guest `js` that did not exist before the request.
//!
//! To the gate it is a handler like any other. What stands on the shelf is its text behind a mark that no module begins
//! with; whoever opens an instance of that gets one that runs the text, and everything else is the engine's. A script has no
//! tools: it has the globals of the web, `fetch` through the door of its call, and `log`.

mod heard;

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use bytes::Bytes;
use drydock_abi::fetch::{FETCH, FETCHES_MAX};
use drydock_codemode::{
    protocol::{Failure, Json, RuntimeOptions},
    runner::Program,
};
use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, CallLimits, CapSet, Denial, Digest, Dispatch, Entropy, Exchange,
    FailureCode, Fault, GuestLog, GuestTime, LiveError, LiveKind, LiveReply, LiveSpec, NoLog, Outcome, Reply,
    RunReport, RunRequest, SharedLembeh, Streams, Switch, Tenant, ToolAnswer, ToolFailure, ToolRequest,
    Tools,
    port::{LiveInstance, Runner},
};
use drydock_engine::Engine;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    answer::{self, End},
    guest::JsGuest,
    log::Log,
    runtime,
    start::{Bearings, forwarding},
};
use heard::Heard;

/// What the artifact of a script begins with: neither a module nor a text does.
const MARK: &[u8] = b"\0js\n";
/// The longest script.
pub(crate) const SCRIPT_BYTES_MAX: usize = 4 << 20;
/// The path of a script: with one it has the globals of the web. It has no files, so nothing can be imported.
const PATH: &str = "./extension.js";

/// Before the script, on its first line, so that its lines keep their numbers.
const BEFORE: &str = include_str!("before.js");
/// After it: calls its handler, and makes a response of what that answers.
const AFTER: &str = include_str!("after.js");

/// The bytes that stand for a script.
pub(crate) fn artifact_of(script: &str) -> Bytes {
    [MARK, script.as_bytes()].concat().into()
}

/// The script that these bytes stand for, if they do.
fn script_in(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes.strip_prefix(MARK)?).ok()
}

/// The engine, and what runs scripts on it.
pub(crate) struct WithScripts(pub(crate) Arc<Engine>);

impl Runner for WithScripts {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        self.0.run(request)
    }

    fn run_lembeh(
        &self,
        request: RunRequest,
        host: SharedLembeh,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        self.0.run_lembeh(request, host)
    }

    fn run_serving(
        &self,
        request: RunRequest,
        exchange: Arc<Exchange>,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        self.0.run_serving(request, exchange)
    }

    fn check_serving(
        &self,
        artifact: &Artifact,
        caps: CapSet,
        tenant: Tenant,
    ) -> BoxFuture<'_, Result<(), Fault>> {
        self.0.check_serving(artifact, caps, tenant)
    }

    fn open(&self, spec: LiveSpec) -> BoxFuture<'_, Result<Box<dyn LiveInstance>, LiveError>> {
        match script_in(spec.artifact.bytes()) {
            Some(script) if spec.kind == LiveKind::Handler => {
                let instance = Script::new(&self.0, script, spec.artifact.digest());
                let instance = ScriptInstance { script: instance, spec, is_over: AtomicBool::new(false) };
                Box::pin(async move { Ok(Box::new(instance) as _) })
            }
            _ => self.0.open(spec),
        }
    }
}

/// Says why a script can be no handler, if it cannot. Its own statements run, and reach nothing.
pub(crate) async fn check(engine: &Arc<Engine>, artifact: &Artifact) -> Option<Result<(), LiveError>> {
    let script = Script::new(engine, script_in(artifact.bytes())?, artifact.digest());
    let limits = RuntimeOptions::default();
    let asked = Asked {
        args: Json::null(),
        memory_bytes_max: limits.memory_bytes_max(),
        limits: CallLimits {
            wall_max: limits.timeout(),
            fuel_max: u64::MAX,
            reply_bytes_max: u64::MAX,
            budget: None,
        },
        log: Arc::new(NoLog),
        bearings: Bearings::default(),
        preparing: None,
    };
    Some(script.run(asked, Arc::default()).await.map(drop))
}

/// A handler that lives for its request.
struct ScriptInstance {
    script: Script,
    spec: LiveSpec,
    is_over: AtomicBool,
}

impl LiveInstance for ScriptInstance {
    fn call<'a>(
        &'a self,
        input: &'a [u8],
        limits: CallLimits,
    ) -> BoxFuture<'a, Result<LiveReply, LiveError>> {
        Box::pin(async move {
            if self.is_over.swap(true, Ordering::Relaxed) {
                return Err(LiveError::Dead("a script answers one request".into()));
            }
            let spec = &self.spec;
            let args = Json::parse(input.to_vec())
                .map_err(|error| Fault::Internal(format!("the request is no JSON: {error}")))?;
            let door = Counted { door: Arc::clone(&spec.door), fetches: AtomicU32::new(0) };
            let bearings = Bearings {
                entropy: Entropy::default(),
                budget: limits.budget.clone(),
                tenant: spec.tenant.clone(),
                depth: spec.depth,
                door: Some(Arc::new(door)),
            };
            let (log, preparing) = (Arc::clone(&spec.log), spec.preparing.clone());
            let memory_bytes_max = spec.memory_bytes_max;
            let asked = Asked { args, memory_bytes_max, limits, log, bearings, preparing };
            let end = Arc::new(Switch::default());
            let [principal, session] = spec.switches.clone();
            let work = std::pin::pin!(self.script.run(asked, Arc::clone(&end)));
            forwarding(work, &[Some(principal), Some(session), None], &end).await
        })
    }

    fn opening_fuel(&self) -> u64 {
        0
    }

    fn close(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// A script and what it runs on.
struct Script {
    engine: Arc<Engine>,
    text: Arc<str>,
    digest: Digest,
}

/// One run of it.
struct Asked {
    args: Json,
    memory_bytes_max: u64,
    limits: CallLimits,
    log: Arc<dyn GuestLog>,
    bearings: Bearings,
    preparing: Option<Arc<drydock_contract::Preparing>>,
}

impl Script {
    fn new(engine: &Arc<Engine>, script: &str, digest: Digest) -> Self {
        let text = [BEFORE.trim_end(), script, "\n", AFTER].concat();
        Self { engine: Arc::clone(engine), text: text.into(), digest }
    }

    async fn run(&self, asked: Asked, end: Arc<Switch>) -> Result<LiveReply, LiveError> {
        let Asked { args, memory_bytes_max, limits, log, bearings, preparing } = asked;
        let heard = Arc::new(Heard::new(log));
        let program = Program {
            code: Arc::clone(&self.text),
            providers: Arc::default(),
            options: heard::options(limits.wall_max, memory_bytes_max),
            args: Some(args),
            console: Some(heard.console()),
            file: Some(PATH.into()),
        };
        let guest = JsGuest::new(
            Arc::clone(&self.engine),
            runtime::artifact("js")?,
            GuestTime::Real,
            bearings.entropy,
        );
        let guest = guest.waiting_with(preparing);
        let lines = Log::new(&program.options, program.console.clone());
        let too_large =
            || LiveError::TooLarge { what: "script", bytes: self.text.len() as u64, max: u32::MAX.into() };
        let mut request =
            guest.request(&program, Arc::new(NoTools), end, &lines, &bearings).ok_or_else(too_large)?;
        request.limits.fuel_max = limits.fuel_max;
        let (report, streams) = match limits.fuel_max {
            u64::MAX => self.engine.timed()?.run(request).await?,
            _ => self.engine.run(request).await?,
        };
        heard.end(lines.into_lines().is_cut());
        if report.outcome == Outcome::OutputLimit {
            let max = limits.reply_bytes_max;
            return Err(LiveError::TooLarge { what: "response", bytes: report.stdout_bytes, max });
        }
        if report.outcome != Outcome::Exited(0) {
            return Err(LiveError::Ended(report.outcome));
        }
        let ended = answer::end(&report.outcome, streams.stdout.into_captured());
        let bytes = self.answer(ended, heard.has_begun())?;
        match bytes.len() as u64 {
            length if length > limits.reply_bytes_max => {
                Err(LiveError::TooLarge { what: "response", bytes: length, max: limits.reply_bytes_max })
            }
            _ => Ok(LiveReply {
                bytes,
                fuel: report.fuel,
                memory_bytes: report.memory_bytes,
                duration: report.duration,
            }),
        }
    }

    /// The response's bytes, or in the terms of a handler why there are none.
    fn answer(&self, end: End, has_begun: bool) -> Result<Vec<u8>, LiveError> {
        let place = end.remarks.position.map(|it| format!(" (line {})", it.line)).unwrap_or_default();
        let value = end.outcome.map_err(|failure: Failure| match failure.code {
            FailureCode::Timeout => LiveError::Ended(Outcome::TimedOut),
            FailureCode::MemoryLimit => LiveError::Ended(Outcome::OutOfMemory),
            FailureCode::SerializationError => too_large(&failure.message)
                .unwrap_or(LiveError::Contract { code: "malformed_response", reason: failure.message }),
            FailureCode::InternalError => Fault::Internal(failure.message).into(),
            _ if !has_begun => {
                let reason = format!("it is no JavaScript: {}{place}", failure.message);
                Fault::BadModule { digest: self.digest, reason }.into()
            }
            _ => LiveError::Ended(Outcome::Trapped(format!("{}{place}", failure.message))),
        })?;
        let value = value.as_ref().map_or("null", Json::as_str);
        match serde_json::from_str(value) {
            Ok(Answer { response: Some(response), .. }) => Ok(response.get().into()),
            Ok(Answer { ready: Some(true), .. }) => Ok(Vec::new()),
            Ok(Answer { ready: Some(false), .. }) => {
                let reason = "it has no function `handler`".to_owned();
                Err(Fault::Exports { digest: self.digest, kind: "handler", reason }.into())
            }
            // A script that returns by itself never gets to its handler.
            _ => Err(LiveError::Contract {
                code: "malformed_response",
                reason: "the script returned before its handler was called".into(),
            }),
        }
    }
}

/// What our own guest says of a value that is longer than it hands over, as a response that is too large.
fn too_large(message: &str) -> Option<LiveError> {
    let (bytes, max) = message.strip_prefix("the result of ")?.split_once(" bytes exceeds the limit of ")?;
    Some(LiveError::TooLarge { what: "response", bytes: bytes.parse().ok()?, max: max.parse().ok()? })
}

/// What the text after a script answers.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    ready: Option<bool>,
}

/// A script has no tools.
struct NoTools;

impl Tools for NoTools {
    fn call(&self, _: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        Box::pin(async { Err(ToolFailure::new(FailureCode::ToolError, "an extension has no tools")) })
    }
}

/// The door of a call, which lets so many fetches through.
struct Counted {
    door: Arc<dyn Dispatch>,
    fetches: AtomicU32,
}

impl Dispatch for Counted {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        if call.operation == FETCH && self.fetches.fetch_add(1, Ordering::Relaxed) >= FETCHES_MAX {
            return Box::pin(async { Err(Denial::spent("fetches").into()) });
        }
        self.door.dispatch(call)
    }
}
