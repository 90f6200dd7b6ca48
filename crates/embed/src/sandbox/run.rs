//! Lines, commands and programs of a sandbox.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_codemode::{executor::ExecuteOptions, protocol::Json};
use drydock_contract::{Budget, CallId, Limits, Outcome, Sink, Source, Streams, Unit};
use drydock_gate::DenialLog;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Sandbox, SandboxError, Watch, cancelled, typed, with_denials};
use crate::{
    CodeInput, DockCode, ExecError, OutputStream, Setup, exec::tripped, output::Overheard, program_tools,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sh {
    script: String,
    #[serde(default)]
    stdin: String,
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    name: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    stdin: String,
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Js {
    code: String,
    args: Option<Value>,
    timeout_ms: Option<u64>,
}

impl Sandbox {
    /// The setup of one call: its time can only be less than the sandbox's.
    fn setup_within(&self, timeout_ms: Option<u64>) -> (Setup, Limits) {
        // A log of its own for each call: others run side by side.
        let mut setup = Setup { denials: Some(Arc::default()), ..self.setup.clone() };
        // Each operation of a seeded sandbox has randomness of its own, as calls of one session have.
        setup.entropy = setup.entropy.for_call(CallId(self.begun.fetch_add(1, Ordering::Relaxed)));
        let limits = setup.change_limits(|limits| limits.wall_max = shorter(limits.wall_max, timeout_ms));
        if let (Some(_), Some(defaults)) = (timeout_ms, &mut setup.default_limits) {
            defaults.wall = false;
        }
        let own = Budget::of([(Unit::Fuel, limits.fuel_max)]);
        setup.budget = Some(Arc::new(own.within(setup.budget.take())));
        (setup, limits)
    }

    pub(super) async fn sh(&self, input: Value, watch: &Watch) -> Result<Value, SandboxError> {
        let Sh { script, stdin, timeout_ms } = typed(input)?;
        let (setup, limits) = self.setup_within(timeout_ms);
        let denials = setup.denials.clone().unwrap_or_default();
        let mut line = self
            .dock
            .exec(script)
            .with(&self.principal, setup)
            .shell(self.shell.clone())
            .stdin(stdin)
            .until(Arc::clone(&watch.cancel));
        if let Some(listener) = &watch.output {
            line = line.overheard_by(Arc::clone(listener));
        }
        let done = line.await.map_err(|error| match error {
            ExecError::Setup(error) => error.into(),
            ExecError::Refused(refused) => SandboxError::new(refused.code(), refused.to_string()),
        })?;
        if done.limit.as_deref() == Some("cancelled") {
            return Err(cancelled());
        }
        let mut answer = ended(done.status, done.stdout, done.stderr);
        if let Some(limit) = &done.limit {
            answer.insert("limit".into(), json!(limit));
            let remark = remark(limit, &limits);
            answer.insert("remark".into(), json!(remark));
        }
        answer.insert("duration_ms".into(), json!(done.report.micros as f64 / 1e3));
        Ok(with_denials(answer.into(), &denials))
    }

    pub(super) async fn run(&self, input: Value, watch: &Watch) -> Result<Value, SandboxError> {
        let Run { name, args, stdin, timeout_ms } = typed(input)?;
        let (setup, limits) = self.setup_within(timeout_ms);
        let denials = setup.denials.clone().unwrap_or_default();
        let done = self.command(setup, limits, &name, &args, stdin, watch).await?;
        Ok(with_denials(done.into(), &denials))
    }

    /// One command over bytes, in a session of its own.
    pub(super) async fn command(
        &self,
        mut setup: Setup,
        limits: Limits,
        name: &str,
        args: &[String],
        stdin: String,
        watch: &Watch,
    ) -> Result<Map<String, Value>, SandboxError> {
        setup.env.retain(|(name, _)| name != "PWD");
        setup.env.push(("PWD".into(), self.shell.cwd.clone()));
        let session = self.dock.session(&self.principal, setup)?;
        let kept = [Arc::default(), Arc::default()];
        let sink = |kept: &Arc<_>, stream| match &watch.output {
            None => Sink::capture(),
            Some(listener) => {
                let listener = Arc::clone(listener);
                Sink::Stream(Box::new(Overheard { kept: Arc::clone(kept), stream, listener }))
            }
        };
        let streams = Streams {
            stdin: Source::from(stdin),
            stdout: sink(&kept[0], OutputStream::Stdout),
            stderr: sink(&kept[1], OutputStream::Stderr),
            ..Streams::default()
        };
        let mut running = std::pin::pin!(session.run_with(name, args, streams));
        let done = tokio::select! {
            biased;
            done = &mut running => done,
            () = tripped(&watch.cancel) => {
                session.cancel();
                running.await
            }
        };
        let (report, streams) = done?;
        let [mut stdout, mut stderr] = kept.map(|it| std::mem::take(&mut *it.lock()));
        stdout.extend(streams.stdout.into_captured());
        stderr.extend(streams.stderr.into_captured());
        if report.outcome == Outcome::Cancelled {
            return Err(cancelled());
        }
        let mut answer = ended(i32::from(report.outcome.exit_status()), stdout, stderr);
        if report.outcome.status().is_none() {
            let code = report.outcome.code();
            answer.insert("limit".into(), json!(code));
            answer.insert("remark".into(), json!(remark(code, &limits)));
        }
        answer.insert("duration_ms".into(), json!(report.duration.as_secs_f64() * 1e3));
        Ok(answer)
    }

    pub(super) async fn js(&self, input: Value, watch: &Watch) -> Result<Value, SandboxError> {
        let Js { code, args, timeout_ms } = typed(input)?;
        let args = args.map(|it| Json::parse(it.to_string())).transpose();
        let args = args.map_err(|error| SandboxError::bad_input(format!("args: {error}")))?;
        let programs = self.programs()?;
        let broken = |fault: drydock_contract::Fault| SandboxError::new(fault.code(), fault.to_string());
        self.dock.warm_js().await.map_err(broken)?;
        let wall = shorter(self.program.wall_max, timeout_ms);
        let options = ExecuteOptions {
            timeout_ms: Some(wall.as_secs_f64() * 1e3),
            memory_limit_bytes: Some(self.program.memory_bytes_max as f64),
            ..ExecuteOptions::default()
        };
        let denials = Arc::<DenialLog>::default();
        let (signal, log) = (Some(Arc::clone(&watch.cancel)), Some(Arc::clone(&denials)));
        let input = CodeInput { options, args, signal, denials: log, ..CodeInput::default() };
        let done = programs.execute(&code, input).await;
        if watch.cancel.is_tripped() {
            return Err(cancelled());
        }
        let broken =
            |error| SandboxError::new("internal_error", format!("the program's answer is broken: {error}"));
        let answer = serde_json::from_str(&done.to_json()).map_err(broken)?;
        Ok(with_denials(answer, &denials))
    }

    /// Code mode with this sandbox's commands and files. Made when the first program comes.
    fn programs(&self) -> Result<Arc<DockCode>, SandboxError> {
        let mut code = self.code.lock();
        if let Some(code) = &*code {
            return Ok(Arc::clone(code));
        }
        let failed = |error: &dyn std::fmt::Display| SandboxError::new("internal_error", error.to_string());
        let providers = program_tools(&self.dock, &self.principal, &self.setup, &self.shell)
            .map_err(|error| failed(&error))?;
        let made = Arc::new(self.dock.code(&self.principal, self.setup.clone(), providers)?);
        *code = Some(Arc::clone(&made));
        Ok(made)
    }
}

pub(super) fn shorter(wall_max: Duration, timeout_ms: Option<u64>) -> Duration {
    timeout_ms.map_or(wall_max, |wanted| wall_max.min(Duration::from_millis(wanted)))
}

/// What ended it, and how much there was.
fn remark(limit: &str, limits: &Limits) -> String {
    match limit {
        "timed_out" => format!("it took {} s, which is all it may", limits.wall_max.as_secs_f64()),
        "output_limit" => {
            format!(
                "its output was cut off after {} bytes; write to a file, or less",
                limits.stdout_bytes_max
            )
        }
        "out_of_memory" => format!("it wanted more than {} bytes of memory", limits.memory_bytes_max),
        "out_of_fuel" => format!("it executed {} instructions, which is all it may", limits.fuel_max),
        other => format!("ended by `{other}`"),
    }
}

/// Status and outputs; an output that is no UTF-8 is there twice, exactly as base64 and roughly as text.
fn ended(status: i32, stdout: Vec<u8>, stderr: Vec<u8>) -> Map<String, Value> {
    let mut answer = Map::new();
    answer.insert("status".into(), json!(status));
    for (name, bytes) in [("stdout", stdout), ("stderr", stderr)] {
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(binary) => {
                let bytes = binary.into_bytes();
                answer.insert(format!("{name}_base64"), json!(STANDARD.encode(&bytes)));
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        answer.insert(name.into(), json!(text));
    }
    answer
}
