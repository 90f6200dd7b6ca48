//! Shells that stay: their sessions are listed, forked and forgotten by name.

use std::process::ExitCode;

use drydock_embed::{Dock, contract::port::Clock as _, shell::LineReport};
use serde::Serialize;

use super::Sh;
use crate::{cli::run, exit, show};

/// What is left to do once sessions are as they should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Line,
    Nothing,
}

/// Forgets or forks what was asked for.
pub(super) fn prepare(dock: &Dock, sh: &Sh) -> anyhow::Result<Next> {
    let Some(name) = &sh.session else { return Ok(Next::Line) };
    let has_text = sh.line.is_some() || !sh.rest.is_empty();
    if sh.forget {
        let was_there = dock.shell_sessions(run::PRINCIPAL)?.forget(name)?;
        if !has_text {
            show::line(&match was_there {
                true => format!("forgot `{name}`"),
                false => format!("there was no session `{name}`"),
            })?;
            return Ok(Next::Nothing);
        }
    }
    if let Some(from) = &sh.fork {
        dock.shell_sessions(run::PRINCIPAL)?.fork(from, name, drydock_embed::SystemClock.now())?;
        if !has_text {
            show::line(&format!("`{name}` goes on where `{from}` is"))?;
            return Ok(Next::Nothing);
        }
    }
    Ok(Next::Line)
}

#[derive(Serialize)]
struct Listed {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    used_ns: Option<u64>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) fn list(dock: &Dock, json: bool) -> anyhow::Result<ExitCode> {
    let all = dock.shell_sessions(run::PRINCIPAL)?.list()?;
    let rows: Vec<Listed> = all
        .into_iter()
        .map(|it| {
            let name = it.name.to_string();
            let error = it.facts.as_ref().err().map(ToString::to_string);
            let facts = it.facts.ok();
            Listed {
                name,
                cwd: facts.as_ref().map(|it| it.cwd.clone()),
                lines: facts.as_ref().map(|it| it.lines),
                bytes: facts.as_ref().map(|it| it.state_bytes),
                created_ns: facts.as_ref().map(|it| it.created.0),
                used_ns: facts.as_ref().map(|it| it.used.0),
                error,
            }
        })
        .collect();
    if json {
        show::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        show::line("no sessions; `drydock sh --session NAME` begins one")?;
    }
    for row in rows {
        show::line(&match row.error {
            Some(error) => format!("{}  cannot be used: {error}", row.name),
            None => format!(
                "{}  {} lines  {}  {}",
                row.name,
                row.lines.unwrap_or_default(),
                show::size(row.bytes.unwrap_or_default()),
                show::plain(row.cwd.as_deref().unwrap_or_default()),
            ),
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what a line took along, and what of its session is not there.
pub(super) fn tell(report: &LineReport) {
    for lost in &report.lost {
        exit::warn(&format!("lost: {lost}"));
    }
    if report.was_reset {
        exit::warn("the line did not end by itself: the shell goes on from before it");
    }
}
