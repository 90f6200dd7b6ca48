//! `drydock audit`.

use std::process::ExitCode;

use clap::Args;
use drydock_embed::{
    contract::Tenant,
    store::{Filter, ReadAttempt, ReadDecision, ReadRecord, TenantHome, count_audit, read_audit},
};
use serde_json::{Value, json};

use crate::{exit, home, show};

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Only refusals
    #[arg(long)]
    denied: bool,
    /// The newest N records
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// How often each decision was made, instead of the records
    #[arg(long, conflicts_with_all = ["denied", "limit"])]
    counts: bool,
    /// Whose records
    #[arg(long, value_name = "T", default_value_t = Tenant::default())]
    tenant: Tenant,
    /// Print JSON, one record a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(audit: Audit) -> anyhow::Result<ExitCode> {
    let home = home::open()?.tenant(&audit.tenant);
    if audit.counts {
        return counts(&home, audit.json);
    }
    let mut reader = read_audit(&home, Filter { denied_only: audit.denied, limit: Some(audit.limit) })?;
    let mut rows = Vec::new();
    for record in reader.by_ref() {
        let record = record?;
        let (decision, reason) = told(&record.decision);
        if audit.json {
            show::line(&as_json(&record, decision, reason).to_string())?;
            continue;
        }
        let ended = record.outcome.as_ref().map(|outcome| match record.status {
            Some(status) => format!("{outcome} {status}"),
            None => outcome.clone(),
        });
        let ended = ended.or_else(|| record.attempts.last().map(reached));
        let reason = reason.map(|it| it.to_owned() + &times(&record)).or(ended);
        rows.push([
            record.at_text(),
            record.principal.to_string(),
            record.operation.to_string(),
            record.subject.to_string(),
            decision.to_owned(),
            reason.unwrap_or_default(),
        ]);
    }
    if reader.torn() > 0 {
        exit::warn(&format!("{} lines of the journal are damaged and were left out", reader.torn()));
    }
    if !audit.json {
        match rows.is_empty() {
            true => show::line("no records")?,
            false => show::table(["WHEN", "WHO", "OPERATION", "ON", "DECISION", "REASON"], rows)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A decision and its reason, in words.
fn told(decision: &ReadDecision) -> (&'static str, Option<&str>) {
    match decision {
        ReadDecision::Allowed => ("allowed", None),
        ReadDecision::Denied(reason) => ("denied", Some(reason)),
        ReadDecision::Ended(reason) => ("ended", reason.as_deref()),
        ReadDecision::Failed(reason) => ("failed", Some(reason)),
    }
}

fn as_json(record: &ReadRecord, decision: &str, reason: Option<&str>) -> Value {
    let mut row = json!({
        "at": record.at_text(), "tenant": record.tenant, "principal": record.principal,
        "trace": record.trace, "call": record.call, "parent": record.parent,
        "operation": record.operation, "subject": record.subject, "decision": decision, "reason": reason,
        "count": record.count, "first": record.first_text(),
    });
    let more = [
        ("subjects", (!record.more_subjects.is_empty()).then(|| json!(record.more_subjects))),
        ("grant", record.grant.as_ref().map(|it| json!(it))),
        ("outcome", record.outcome.as_ref().map(|it| json!(it))),
        ("status", record.status.map(|it| json!(it))),
        ("attempts", (!record.attempts.is_empty()).then(|| json!(record.attempts))),
    ];
    for (name, value) in more {
        if let Some(value) = value {
            row[name] = value;
        }
    }
    row
}

/// Whom a connection was made to, and what came of it.
fn reached(attempt: &ReadAttempt) -> String {
    let ReadAttempt { address, code, status, bytes_sent, bytes_received } = attempt;
    let came = status.map_or_else(|| code.clone(), |status| format!("{status} {code}"));
    format!("{address}: {came}, {bytes_sent} bytes out, {bytes_received} in")
}

/// How often it happened, where that is more than once.
fn times(record: &ReadRecord) -> String {
    match record.count {
        1 => String::new(),
        count => format!(", {count} times since {}", record.first_text()),
    }
}

fn counts(home: &TenantHome, as_json: bool) -> anyhow::Result<ExitCode> {
    let counts = count_audit(home)?;
    let rows = counts.decisions.iter().map(|((operation, decision), count)| {
        let (decision, reason) = told(decision);
        (operation.to_string(), decision, reason.unwrap_or_default().to_owned(), *count)
    });
    if as_json {
        let rows: Vec<_> = rows
            .map(|(operation, decision, reason, count)| {
                json!({ "operation": operation, "decision": decision, "reason": reason, "count": count })
            })
            .collect();
        show::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = rows
        .map(|(operation, decision, reason, count)| [operation, decision.into(), reason, count.to_string()]);
    show::table(["OPERATION", "DECISION", "REASON", "COUNT"], rows)?;
    Ok(ExitCode::SUCCESS)
}
