//! The record of one run, as `--json` prints it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_embed::{
    catalog,
    contract::{CallError, Cap, Denial, DenialDetails, GrantSpec, RunReport, Streams},
};
use serde::Serialize;

use crate::taped::Taped;

/// A run that began.
#[derive(Serialize)]
pub(super) struct Ended {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_b64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_b64: Option<String>,
    duration_us: u64,
    fuel: u64,
    memory_bytes: u64,
    /// The limit of its files that the command met first.
    #[serde(skip_serializing_if = "Option::is_none")]
    quota_exceeded: Option<&'static str>,
    /// What was refused to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    denials: Vec<DenialDetails>,
    /// The tape that it was recorded on.
    #[serde(skip_serializing_if = "Option::is_none")]
    tape: Option<String>,
}

impl Ended {
    /// The record without what depends on the machine.
    pub(super) fn but_for_times(&self) -> Vec<u8> {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            object.remove("duration_us");
        }
        value.to_string().into_bytes()
    }

    /// The record of a run that was recorded.
    pub(super) fn on(self, taped: &Taped) -> Self {
        Self { tape: taped.id(), ..self }
    }
}

/// A run that did not begin.
#[derive(Serialize)]
pub(super) struct NotBegun {
    error: ErrorRecord,
}

#[derive(Serialize)]
struct ErrorRecord {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power: Option<Cap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<std::sync::Arc<str>>,
    /// The smallest grant that would have allowed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<GrantSpec>,
}

pub(super) fn ended(report: &RunReport, streams: Streams, denials: Vec<DenialDetails>) -> Ended {
    let (stdout, stdout_b64) = text_or_base64(streams.stdout.into_captured());
    let (stderr, stderr_b64) = text_or_base64(streams.stderr.into_captured());
    let reason = match &report.outcome {
        drydock_embed::contract::Outcome::Trapped(reason) => Some(reason.clone()),
        _ => None,
    };
    Ended {
        outcome: report.outcome.code(),
        code: report.outcome.status(),
        reason,
        stdout,
        stdout_b64,
        stderr,
        stderr_b64,
        duration_us: u64::try_from(report.duration.as_micros()).unwrap_or(u64::MAX),
        fuel: report.fuel,
        memory_bytes: report.memory_bytes,
        quota_exceeded: report.quota.map(|it| it.code()),
        denials,
        tape: None,
    }
}

pub(super) fn refused(error: &CallError, names: &[String], absent: Option<String>) -> NotBegun {
    let hint = hint(error, names, absent);
    let (power, subject, grant) = match error {
        CallError::Denied(denial) => {
            let told = denial.details();
            (told.power, told.subject, told.grant)
        }
        CallError::Failed(_) => (None, None, None),
    };
    let (code, message) = (error.code(), error.to_string());
    NotBegun { error: ErrorRecord { code, message, hint, power, subject, grant } }
}

/// What a person could do about it; `absent` is what the catalog says of the name.
pub(super) fn hint(error: &CallError, names: &[String], absent: Option<String>) -> Option<String> {
    match error {
        CallError::Denied(Denial::NotGranted { .. }) => {
            Some("--allow NAME grants one command; --profile minimal grants all of them".into())
        }
        CallError::Denied(Denial::CommandNotGranted { command, .. }) => {
            Some(format!("add `{command}` to --allow, or the grant to the file of --grants"))
        }
        CallError::Denied(Denial::UnknownCommand(_)) if absent.is_some() => absent,
        CallError::Denied(Denial::UnknownCommand(name)) => {
            let remedy = catalog::remedy(name, names.iter().map(String::as_str));
            let list = "`drydock commands list` shows what there is";
            Some(remedy.map_or_else(|| list.to_owned(), |it| format!("{it}; {list}")))
        }
        CallError::Failed(fault)
            if fault.code() == "artifact_integrity" && fault.to_string().contains("<built-in") =>
        {
            Some("this build of drydock contradicts itself; install it again".into())
        }
        CallError::Failed(fault) if fault.code() == "artifact_integrity" => Some(
            "the file was changed on disk; `drydock commands add` it again from a source you trust".into(),
        ),
        _ => None,
    }
}

pub(in crate::cli) fn text_or_base64(bytes: Vec<u8>) -> (Option<String>, Option<String>) {
    match String::from_utf8(bytes) {
        Ok(text) => (Some(text), None),
        Err(not_text) => (None, Some(STANDARD.encode(not_text.as_bytes()))),
    }
}
