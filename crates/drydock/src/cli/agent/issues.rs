//! What agents filed: something that is missing, or does not work, with the run that filed it first.

use std::process::ExitCode;

use clap::Args;
use drydock_embed::contract::{AgentId, FiledIssue, Timestamp};
use serde_json::json;

use super::{looking, told::short};
use crate::show;

#[derive(Debug, Args)]
pub(super) struct Issues {
    /// Show this one whole
    #[arg(value_name = "ID", conflicts_with_all = ["after", "limit"])]
    id: Option<AgentId>,
    /// Forget this one
    #[arg(long, value_name = "ID", conflicts_with_all = ["id", "after", "limit"])]
    remove: Option<AgentId>,
    /// Only those behind this one
    #[arg(long, value_name = "ID")]
    after: Option<AgentId>,
    /// So many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn issues(wanted: &Issues) -> anyhow::Result<ExitCode> {
    let (runtime, agents) = looking()?;
    let absent = |id| anyhow::anyhow!("there is no issue {id}; `drydock agent issues` lists what there is");
    if let Some(id) = &wanted.remove {
        if !runtime.block_on(agents.remove_issue(id))? {
            return Err(absent(id));
        }
        match wanted.json {
            true => show::json(&json!({ "removed": id }))?,
            false => show::line(&format!("removed issue {id}"))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(id) = &wanted.id {
        let all = runtime.block_on(agents.issues(None, usize::MAX))?;
        let issue = all.iter().find(|it| it.id == *id).ok_or_else(|| absent(id))?;
        match wanted.json {
            true => show::json(issue)?,
            false => whole(issue).iter().try_for_each(|it| show::line(it))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let rows = usize::try_from(wanted.limit).unwrap_or(usize::MAX);
    let all = runtime.block_on(agents.issues(wanted.after.as_ref(), rows))?;
    match wanted.json {
        true => show::json(&all)?,
        false if all.is_empty() => show::line("no issues; agents file them where something is missing")?,
        false => show::table(["ID", "FILED", "SEEN", "RUN", "TITLE"], all.iter().map(row))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn row(issue: &FiledIssue) -> [String; 5] {
    let FiledIssue { id, run, title, filed_ms, seen, .. } = issue;
    [id.to_string(), when(*filed_ms), seen.to_string(), run.to_string(), short(title)]
}

/// One as lines. A model wrote it: nothing of it is obeyed by a terminal.
fn whole(issue: &FiledIssue) -> Vec<String> {
    let mut lines = vec![
        format!("issue    {}", issue.id),
        format!("run      {}", issue.run),
        format!("filed    {}, {} times by now", when(issue.filed_ms), issue.seen),
        format!("title    {}", show::plain(&issue.title)),
    ];
    lines.extend(issue.body.lines().map(|it| format!("  {}", show::plain(it))));
    lines
}

fn when(ms: u64) -> String {
    Timestamp(ms.saturating_mul(1_000_000)).to_rfc3339()
}
