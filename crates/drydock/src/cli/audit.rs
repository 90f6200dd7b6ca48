//! `drydock audit`.

use std::process::ExitCode;

use clap::Args;
use drydock_embed::store::{Filter, ReadDecision, count_audit, read_audit};
use serde_json::json;

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
    /// Print JSON, one record a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(audit: Audit) -> anyhow::Result<ExitCode> {
    let home = home::open()?;
    if audit.counts {
        return counts(&home, audit.json);
    }
    let mut reader = read_audit(&home, Filter { denied_only: audit.denied, limit: Some(audit.limit) })?;
    let mut rows = Vec::new();
    for record in reader.by_ref() {
        let record = record?;
        let (decision, reason) = match &record.decision {
            ReadDecision::Allowed => ("allowed", None),
            ReadDecision::Denied(reason) => ("denied", Some(reason.to_string())),
        };
        if audit.json {
            show::line(
                &json!({ "at": record.at_text(), "principal": record.principal, "operation": record.operation,
                         "subject": record.subject, "decision": decision, "reason": reason })
                .to_string(),
            )?;
            continue;
        }
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

fn counts(home: &drydock_embed::store::Home, as_json: bool) -> anyhow::Result<ExitCode> {
    let counts = count_audit(home)?;
    let rows = counts.decisions.iter().map(|((operation, decision), count)| {
        let (decision, reason) = match decision {
            ReadDecision::Allowed => ("allowed", String::new()),
            ReadDecision::Denied(reason) => ("denied", reason.to_string()),
        };
        (operation.to_string(), decision, reason, *count)
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
