//! The record of one line, as `--json` prints it.

use drydock_embed::{
    contract::{DenialDetails, Streams},
    shell::{LineReport, StageRecord},
};
use serde::Serialize;

use crate::{cli::run::record::text_or_base64, taped::Taped};

/// A limit of the shell itself ended it.
const SHELL_LIMIT: &str = "shell_limit";

#[derive(Serialize)]
pub(super) struct Ended {
    status: i32,
    /// What ended it, if it was not itself: a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    /// What the shell says of a limit of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    syntax: Option<Syntax>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_b64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_b64: Option<String>,
    /// What was refused to its commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    denials: Vec<DenialDetails>,
    stages: Vec<Stage>,
    stages_total: u64,
    steps: u64,
    duration_us: u64,
    /// The shell goes on from before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    was_reset: bool,
    /// What of its session is not there any more, or could not be kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lost: Vec<String>,
    /// The tape that it was recorded on.
    #[serde(skip_serializing_if = "Option::is_none")]
    tape: Option<String>,
}

impl Ended {
    /// The record without what depends on the machine.
    pub(super) fn but_for_times(&self) -> Vec<u8> {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        let stages = value.get_mut("stages").and_then(serde_json::Value::as_array_mut);
        for stage in stages.into_iter().flatten() {
            stage.as_object_mut().map(|it| it.remove("duration_us"));
        }
        value.as_object_mut().map(|it| it.remove("duration_us"));
        value.to_string().into_bytes()
    }

    /// The record of a line that was recorded.
    pub(super) fn on(self, taped: &Taped) -> Self {
        Self { tape: taped.id(), ..self }
    }
}

#[derive(Serialize)]
struct Syntax {
    message: String,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct Stage {
    command: String,
    /// It is one of the shell's own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    builtin: bool,
    status: i32,
    outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    quota_exceeded: Option<String>,
    stdin_bytes: u64,
    stdout_bytes: u64,
    stderr_bytes: u64,
    fuel: u64,
    duration_us: u64,
}

pub(super) fn ended(report: &LineReport, streams: Streams, denials: Vec<DenialDetails>) -> Ended {
    let (stdout, stdout_b64) = text_or_base64(streams.stdout.into_captured());
    let (stderr, stderr_b64) = text_or_base64(streams.stderr.into_captured());
    let syntax = report.syntax.as_ref().map(|it| Syntax {
        message: it.message.clone(),
        line: it.line,
        column: it.column,
    });
    // The codes of ours are single words; what the shell says of its own limits is a sentence.
    let (limit, limit_message) = match report.limit.clone() {
        Some(text) if text.contains(' ') => (Some(SHELL_LIMIT.to_owned()), Some(text)),
        code => (code, None),
    };
    Ended {
        denials,
        status: report.status,
        limit,
        limit_message,
        syntax,
        stdout,
        stdout_b64,
        stderr,
        stderr_b64,
        stages: report.stages.iter().map(stage).collect(),
        stages_total: report.stages_total,
        steps: report.steps,
        duration_us: report.micros,
        was_reset: report.was_reset,
        lost: report.lost.clone(),
        tape: None,
    }
}

fn stage(it: &StageRecord) -> Stage {
    Stage {
        command: it.command.clone(),
        builtin: it.builtin,
        status: it.status,
        outcome: it.outcome.clone(),
        quota_exceeded: it.quota.clone(),
        stdin_bytes: it.stdin_bytes,
        stdout_bytes: it.stdout_bytes,
        stderr_bytes: it.stderr_bytes,
        fuel: it.fuel,
        duration_us: it.micros,
    }
}
