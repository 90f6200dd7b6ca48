//! JavaScript in a fresh instance of our own guest: what stands behind code mode's `Guest`.

use std::{num::TryFromIntError, sync::Arc};

use drydock_codemode::{
    protocol::{Failure, RuntimeOptions},
    runner::{Finished, Guest, Program, ToolDoor},
};
use drydock_contract::{
    Artifact, BoxFuture, Cap, CapSet, Entropy, FailureCode, Fault, GuestTime, Limits, Preparing, RunReport,
    RunRequest, Sink, Source, SteppedClock, Streams, Switch, Tools, WorkingDir,
    port::{FileRules, Runner as _},
};
use drydock_engine::Engine;
use drydock_store::{Contexts, WorkspaceName};
use parking_lot::Mutex;

use super::{
    answer::{self, Remarks},
    blocking::off_thread,
    log::Log,
    start::Bearings,
    types::{NotStripped, TypeStripper, WithStripper},
};

/// A result that is longer ends as `serialization_error`.
const RESULT_BYTES_MAX: u64 = 64 << 20;

/// What a guest may always write to its console.
const LOG_BYTES_MIN: usize = 1 << 20;

/// The first byte of a packed request.
const PACKED: u8 = 1;

/// Runs programs, each in an instance that did not exist before. With a context its memory is what the
/// last program of that context left, instead of the image that all others start from.
#[derive(Clone)]
pub struct JsGuest {
    engine: Arc<Engine>,
    context: Option<(Contexts, WorkspaceName)>,
    module: Artifact,
    time: GuestTime,
    clock: Option<Arc<SteppedClock>>,
    entropy: Entropy,
    preparing: Option<Arc<Preparing>>,
    /// Of every program.
    env: Arc<[Vec<u8>]>,
}

/// The same for one program that was let through, with remarks of its own.
pub(super) struct OneProgram<'a> {
    guest: &'a JsGuest,
    bearings: Bearings,
    remarks: Mutex<Remarks>,
}

impl OneProgram<'_> {
    /// What was said of the program's failure, if it failed.
    pub(super) fn remarks(&self) -> Remarks {
        std::mem::take(&mut *self.remarks.lock())
    }

    /// What makes JavaScript of TypeScript.
    pub(super) fn stripper(&self) -> TypeStripper {
        self.guest.stripper()
    }

    /// Notes where a program was wrong that did not even begin.
    pub(super) fn refuse(&self, error: &NotStripped) {
        *self.remarks.lock() = Remarks { position: error.position, hint: None };
    }
}

impl Guest for OneProgram<'_> {
    fn run(&self, program: Program, tools: Arc<dyn Tools>, cancel: Arc<Switch>) -> BoxFuture<'_, Finished> {
        Box::pin(async move {
            let (finished, remarks) = self.guest.run_fresh(program, tools, cancel, &self.bearings).await;
            *self.remarks.lock() = remarks;
            finished
        })
    }
}

impl JsGuest {
    pub(crate) fn new(engine: Arc<Engine>, module: Artifact, time: GuestTime, entropy: Entropy) -> Self {
        let (context, clock, preparing) = Default::default();
        Self { engine, context, module, time, clock, entropy, preparing, env: Arc::new([]) }
    }

    pub(super) fn for_program(&self, bearings: Bearings) -> OneProgram<'_> {
        OneProgram { guest: self, bearings, remarks: Mutex::default() }
    }

    /// Programs that start when the session's clock says so, and move it.
    #[must_use]
    pub(crate) fn on_clock(self, clock: Option<Arc<SteppedClock>>) -> Self {
        Self { clock, ..self }
    }

    /// Programs whose time stands still while others of their session, such as their tools, wait for code to be
    /// compiled.
    #[must_use]
    pub(crate) fn waiting_with(self, preparing: Option<Arc<Preparing>>) -> Self {
        Self { preparing, ..self }
    }

    /// Programs that leave their globals to the next one of this name.
    #[must_use]
    pub(crate) fn staying(self, contexts: Contexts, name: WorkspaceName) -> Self {
        Self { context: Some((contexts, name)), ..self }
    }

    fn stripper(&self) -> TypeStripper {
        TypeStripper::new(Arc::clone(&self.engine), self.preparing.clone())
    }

    async fn run_fresh(
        &self,
        program: Program,
        tools: Arc<dyn Tools>,
        cancel: Arc<Switch>,
        bearings: &Bearings,
    ) -> (Finished, Remarks) {
        let log = Log::new(&program.options, program.console.clone());
        let Some(request) = self.request(&program, tools, cancel, &log, bearings) else {
            let failure = Failure::new(FailureCode::RuntimeError, "the program is too large");
            return (Finished::without_logs(Err(failure)), Remarks::default());
        };
        // Fuel is no limit of code mode; time and memory are. Few programs have a context: what that takes is no part of
        // the others.
        let ran = match &self.context {
            Some(context) => Box::pin(self.run_staying(request, context)).await,
            None => match self.engine.timed() {
                Ok(lane) => lane.run(request).await.map(|(report, streams)| (report, streams, None)),
                Err(fault) => Err(fault),
            },
        };
        let ended = match ran {
            Ok((report, streams, after)) => {
                let mut ended = answer::end(&report.outcome, streams.stdout.into_captured());
                if let Some(memory) = after
                    && let Err(error) = Box::pin(self.keep(&ended, memory)).await
                {
                    let text = format!("the context could not be kept: {error}");
                    ended.outcome = Err(Failure::new(FailureCode::InternalError, text));
                }
                ended
            }
            Err(fault) => {
                tracing::warn!("a program could not be run: {fault}");
                let text = match &self.context {
                    Some(_) => format!("the program could not be run: {fault}"),
                    None => format!("the program could not be run: {}", fault.code()),
                };
                answer::End::failed(FailureCode::InternalError, text)
            }
        };
        let logs = log.into_lines();
        let finished = Finished { outcome: ended.outcome, logs_cut: logs.is_cut(), logs: logs.into_lines() };
        (finished, ended.remarks)
    }

    /// What the engine is asked for; nothing if the program is too large.
    pub(super) fn request(
        &self,
        program: &Program,
        tools: Arc<dyn Tools>,
        cancel: Arc<Switch>,
        log: &Log,
        bearings: &Bearings,
    ) -> Option<RunRequest> {
        let stdin = request_of(program).ok()?;
        let limits = Limits {
            memory_bytes_max: program.options.memory_bytes_max(),
            wall_max: program.options.timeout(),
            stdin_bytes_max: u64::MAX,
            stdout_bytes_max: RESULT_BYTES_MAX,
            stderr_bytes_max: u64::MAX,
            ..Limits::default()
        };
        let tools = match &program.file {
            None => tools,
            Some(_) => {
                let (stripper, cancel) = (self.stripper(), Arc::clone(&cancel));
                Arc::new(WithStripper { tools, stripper, cancel, door: bearings.door.clone() })
            }
        };
        Some(RunRequest {
            artifact: self.module.clone(),
            argv: vec![b"js".to_vec()],
            env: Arc::clone(&self.env),
            streams: Streams {
                stdin: Source::from(stdin),
                stdout: Sink::capture(),
                stderr: Sink::Stream(log.sink()),
                ..Streams::default()
            },
            files: None,
            trees: Vec::new(),
            working_dir: WorkingDir::Own,
            lane: None,
            compile: None,
            file_rules: FileRules::USUAL,
            limits,
            memory: None,
            caps: CapSet::of(&[Cap::Tool]),
            time: self.clock.as_ref().map_or(self.time, |clock| GuestTime::Fixed(clock.stands_at())),
            clock: self.clock.clone(),
            entropy: bearings.entropy,
            door: Arc::new(ToolDoor::new(tools)),
            switches: [Arc::clone(&cancel), cancel],
            budget: bearings.budget.clone(),
            preparing: self.preparing.clone(),
            depth: bearings.depth,
            tenant: bearings.tenant.clone(),
            pays_for_code: false,
        })
    }

    async fn run_staying(
        &self,
        request: RunRequest,
        (contexts, name): &(Contexts, WorkspaceName),
    ) -> Result<(RunReport, Streams, Option<Vec<u8>>), Fault> {
        let broken = |error: std::io::Error| Fault::Internal(format!("context `{name}`: {error}"));
        let (contexts, whose, module) = (contexts.clone(), name.clone(), self.module.digest());
        let before = off_thread(move || contexts.load(&whose, module)).await.map_err(broken)?;
        // The memory that is put into it, or left in it, stays with no slot of the pool.
        self.engine.timed_on_demand()?.run_again(request, before).await
    }

    /// A program that was ended, or ran out of memory, leaves its context as it found it.
    async fn keep(&self, ended: &answer::End, memory: Vec<u8>) -> std::io::Result<()> {
        let Some((contexts, name)) = self.context.clone() else { return Ok(()) };
        let module = self.module.digest();
        match &ended.outcome {
            Err(failure) if failure.code == FailureCode::MemoryLimit => Ok(()),
            _ => off_thread(move || contexts.save(&name, module, &memory)).await,
        }
    }
}

/// What the guest reads: the program, and the names it may call, packed (docs/specs/tool-wire.md).
fn request_of(program: &Program) -> Result<Vec<u8>, TryFromIntError> {
    let mut request = Vec::with_capacity(256 + program.code.len());
    request.extend_from_slice(&[PACKED, 0, 0, 0, 0]);
    push(&mut request, program.code.as_bytes())?;
    match &program.args {
        None => push_count(&mut request, 0)?,
        Some(args) => {
            push_count(&mut request, 1)?;
            push(&mut request, args.bytes())?;
        }
    }
    push_count(&mut request, program.providers.len())?;
    for provider in &*program.providers {
        push(&mut request, provider.name.as_bytes())?;
        push_count(&mut request, provider.tools.len())?;
        for (name, _) in &provider.tools {
            push(&mut request, name.as_bytes())?;
        }
    }
    push_count(&mut request, log_bytes_max(&program.options))?;
    if let Some(file) = &program.file {
        push(&mut request, file.as_bytes())?;
    }
    let length = u32::try_from(request.len() - 5)?;
    request[1..5].copy_from_slice(&length.to_le_bytes());
    Ok(request)
}

/// What the guest may write to its console: more than is kept, so that what was cut is known here.
fn log_bytes_max(options: &RuntimeOptions) -> usize {
    let bytes = options.log_units_max().saturating_mul(3);
    let all = bytes.saturating_add(options.log_lines_max().saturating_mul(4)).saturating_mul(2);
    all.clamp(LOG_BYTES_MIN, u32::MAX as usize)
}

fn push(request: &mut Vec<u8>, bytes: &[u8]) -> Result<(), TryFromIntError> {
    push_count(request, bytes.len())?;
    request.extend_from_slice(bytes);
    Ok(())
}

fn push_count(request: &mut Vec<u8>, count: usize) -> Result<(), TryFromIntError> {
    request.extend_from_slice(&u32::try_from(count)?.to_le_bytes());
    Ok(())
}

impl Guest for JsGuest {
    fn run(&self, program: Program, tools: Arc<dyn Tools>, cancel: Arc<Switch>) -> BoxFuture<'_, Finished> {
        Box::pin(async move {
            let bearings = Bearings { entropy: self.entropy, ..Bearings::default() };
            self.run_fresh(program, tools, cancel, &bearings).await.0
        })
    }
}

#[cfg(test)]
mod tests {
    use drydock_codemode::protocol::{Json, Manifest, ManifestTool};

    use super::*;

    #[test]
    fn a_request_is_lengths_and_texts() {
        let tool = ManifestTool { safe_name: "go".into(), original_name: "go!".into(), description: None };
        let provider = Manifest { name: "t".into(), types: "".into(), tools: vec![("go".into(), tool)] };
        let program = Program {
            code: "1+é".into(),
            providers: vec![provider].into(),
            options: RuntimeOptions::default(),
            args: Some(Json::null()),
            console: None,
            file: Some("/w/x.js".into()),
        };
        let want = b"\x01\x36\0\0\0\x04\0\0\x001+\xc3\xa9\x01\0\0\0\x04\0\0\0null\x01\0\0\0\x01\0\0\0t\x01\0\0\0\x02\0\0\0go\0\0\x10\0\x07\0\0\0/w/x.js";
        assert_eq!(request_of(&program).unwrap(), want);
        let bare = Program { args: None, providers: Arc::default(), file: None, ..program };
        let want = b"\x01\x14\0\0\0\x04\0\0\x001+\xc3\xa9\0\0\0\0\0\0\0\0\0\0\x10\0";
        assert_eq!(request_of(&bare).unwrap(), want);
    }
}
