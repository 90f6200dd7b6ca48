//! Rows and their states, as tables and as JSON.

use std::{process::ExitCode, time::Duration};

use drydock_catalog::{Catalog, Row, State};
use drydock_embed::{Dock, contract::port::Registry as _};
use serde_json::{Value, json};

use crate::show as out;

pub(super) fn list(
    dock: &Dock,
    rows: &Catalog,
    wanted: impl Fn(&Row) -> bool,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let found: Vec<&Row> = rows.table.rows().iter().filter(|it| wanted(it)).collect();
    if json {
        out::json(&found.iter().map(|row| described(dock, rows, row)).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let table = found.iter().map(|row| {
        [
            row.name.to_string(),
            row.version.clone(),
            row.lane.as_str().into(),
            state(dock, rows, row).into(),
            row.licence.clone(),
            row.summary.clone(),
        ]
    });
    out::table(["NAME", "VERSION", "LANE", "STATE", "LICENCE", "SUMMARY"], table)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn show(dock: &Dock, rows: &Catalog, row: &Row, json: bool) -> anyhow::Result<ExitCode> {
    let described = described(dock, rows, row);
    if json {
        out::json(&described)?;
        return Ok(ExitCode::SUCCESS);
    }
    for (key, value) in described.as_object().into_iter().flatten() {
        let text = match value {
            Value::Null => continue,
            Value::Array(all) if all.is_empty() => continue,
            Value::Array(all) => all
                .iter()
                .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned))
                .collect::<Vec<_>>()
                .join(", "),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        out::line(&format!("{key:<12}{}", out::plain(&text)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a row has that text, which is in lower case, somewhere a person would look for it.
pub(super) fn mentions(row: &Row, text: &str) -> bool {
    let names = row.commands.iter().map(|it| it.name.as_str()).chain([row.name.as_str(), &row.summary]);
    names.into_iter().any(|it| it.to_lowercase().contains(text))
}

fn state(dock: &Dock, rows: &Catalog, row: &Row) -> &'static str {
    let shadowed = || row.commands.iter().any(|it| dock.registry().lookup(it.name.as_str(), None).is_some());
    match rows.installed(dock, row) {
        Some(_) => "installed",
        None if row.unavailable.is_some() => "unavailable",
        // Somebody gave one of its names to another module.
        None if shadowed() => "name taken",
        None => "-",
    }
}

fn described(dock: &Dock, rows: &Catalog, row: &Row) -> Value {
    let installed = rows.installed(dock, row);
    json!({
        "name": row.name,
        "version": row.version,
        "summary": row.summary,
        "licence": row.licence,
        "copyleft": row.is_copyleft(),
        "lane": row.lane.as_str(),
        "state": state(dock, rows, row),
        "unavailable": row.unavailable,
        "commands": row.commands.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
        "needs": row.needs,
        "features": row.features,
        "sources": row.sources.iter().map(|it| it.from.to_string()).collect::<Vec<_>>(),
        "archive": row.sources.iter().filter_map(|it| it.sha256).collect::<Vec<_>>(),
        "sha256": installed.map(|it| it.sha256).or(row.sha256),
        "checks": row.checks.len(),
    })
}

pub(super) fn states(states: &[(&Row, State, Duration)], json: bool) -> anyhow::Result<()> {
    let why = |state: &State| match state {
        State::Failed(why) => Some(why.clone()),
        _ => None,
    };
    if json {
        let all: Vec<Value> = states
            .iter()
            .map(|(row, state, took)| {
                let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                json!({ "name": row.name, "version": row.version, "state": state.as_str(), "why": why(state), "ms": ms })
            })
            .collect();
        out::json(&all)?;
        return Ok(());
    }
    let table = states.iter().map(|(row, state, _)| {
        [row.name.to_string(), row.version.clone(), state.as_str().into(), why(state).unwrap_or_default()]
    });
    out::table(["NAME", "VERSION", "STATE", "WHY"], table)?;
    Ok(())
}
