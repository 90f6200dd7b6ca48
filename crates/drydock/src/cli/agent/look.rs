//! Looking at runs, and ending and forgetting them: whoever drives one may be another process.

use std::process::ExitCode;

use clap::Args;
use drydock_embed::contract::{AgentHead, AgentId, AgentStatus, Timestamp};
use serde_json::json;

use super::{Which, drive, looking, told, told::short};
use crate::{exit, show};

/// Runs that are listed at once.
const ROWS: u64 = 100;

#[derive(Debug, Args)]
pub(super) struct Sessions {
    /// Only those behind this one
    #[arg(long, value_name = "RUN")]
    after: Option<AgentId>,
    /// So many at most
    #[arg(long, value_name = "N", default_value_t = ROWS, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    pub(super) which: Which,
}

#[derive(Debug, Args)]
pub(super) struct Follow {
    #[command(flatten)]
    pub(super) which: Which,
    /// Begin at the event of this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
}

#[derive(Debug, Args)]
pub(super) struct Cancel {
    #[command(flatten)]
    pub(super) which: Which,
}

#[derive(Debug, Args)]
pub(super) struct Remove {
    #[command(flatten)]
    pub(super) which: Which,
}

pub(super) fn sessions(wanted: &Sessions) -> anyhow::Result<ExitCode> {
    let (runtime, agents) = looking()?;
    let rows = usize::try_from(wanted.limit).unwrap_or(usize::MAX);
    let all = runtime.block_on(agents.list(wanted.after.as_ref(), rows))?;
    match wanted.json {
        true => show::json(&all)?,
        false if all.is_empty() => show::line("no runs; `drydock agent run` opens one")?,
        false => {
            show::table(["ID", "STATUS", "STEPS", "STARTED", "MODEL", "TASK"], all.iter().map(row))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn row(head: &AgentHead) -> [String; 6] {
    [
        head.id.to_string(),
        head.status.as_str().into(),
        head.steps.to_string(),
        when(head.started_ms),
        short(&head.model),
        short(&head.task),
    ]
}

fn when(ms: u64) -> String {
    Timestamp(ms.saturating_mul(1_000_000)).to_rfc3339()
}

pub(super) fn show(wanted: &Show) -> anyhow::Result<ExitCode> {
    let (runtime, agents) = looking()?;
    let run = &wanted.which.run;
    if wanted.which.json {
        show::json(&runtime.block_on(agents.record(run))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let head = runtime.block_on(agents.show(run))?;
    let record = runtime.block_on(agents.record(run))?;
    for (name, value) in facts(&head) {
        show::line(&format!("{name:<10}{}", short(&value)))?;
    }
    for line in record.events.iter().flat_map(told::lines) {
        show::line(&line)?;
    }
    if let Some(result) = &record.result {
        show::line("")?;
        for line in result.lines() {
            show::line(&show::plain(line))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is known of a run, by name.
fn facts(head: &AgentHead) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("run", head.id.to_string()),
        ("status", head.status.as_str().to_owned()),
        ("model", head.model.clone()),
        ("principal", head.principal.clone()),
    ];
    let mut add = |name, value: Option<String>| facts.extend(value.map(|it| (name, it)));
    add("reason", head.reason.clone());
    add("agent", head.agent.clone());
    add("workspace", head.workspace.clone());
    add("parent", head.parent.as_ref().map(ToString::to_string));
    add("steps", Some(head.steps.to_string()));
    add("spent", Some(told::cost(&head.usage)));
    add("started", Some(when(head.started_ms)));
    add("updated", Some(when(head.updated_ms)));
    facts
}

pub(super) fn follow(wanted: &Follow) -> anyhow::Result<ExitCode> {
    let (runtime, agents) = looking()?;
    let (run, json) = (&wanted.which.run, wanted.which.json);
    let mut from = wanted.from;
    let head = runtime.block_on(async {
        loop {
            // The head first: what was written before it is read then.
            let head = agents.show(run).await?;
            let events = agents.events(run, from).await?;
            for event in &events {
                match json {
                    true => show::json(&json!({ "number": from, "event": event }))?,
                    false => told::lines(event).iter().try_for_each(|it| show::line(it))?,
                }
                from += 1;
            }
            if events.is_empty() && head.status != AgentStatus::Running {
                return anyhow::Ok(head);
            }
            agents.changed(run, from).await;
        }
    })?;
    if !json {
        exit::warn(&format!("run {} is {}", head.id, told::ended(&head)));
        drive::hint(&head);
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn cancel(wanted: &Cancel) -> anyhow::Result<ExitCode> {
    let (runtime, agents) = looking()?;
    let run = &wanted.which.run;
    let cancelled = runtime.block_on(agents.cancel(run))?;
    match (wanted.which.json, cancelled) {
        (true, _) => show::json(&json!({ "id": run, "cancelled": cancelled }))?,
        (false, true) => show::line(&format!("run {run} is ended; `drydock agent resume {run}` goes on"))?,
        (false, false) => show::line(&format!("run {run} was over already"))?,
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn remove(wanted: &Remove) -> anyhow::Result<ExitCode> {
    let (runtime, agents) = looking()?;
    let run = &wanted.which.run;
    // Of what is not there the library says so.
    runtime.block_on(agents.show(run))?;
    runtime.block_on(agents.remove(run))?;
    match wanted.which.json {
        true => show::json(&json!({ "removed": run }))?,
        false => show::line(&format!("removed run {run}"))?,
    }
    Ok(ExitCode::SUCCESS)
}
