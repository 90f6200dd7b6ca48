//! `drydock ws`: what workspaces hold, and what runs have changed.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use drydock_embed::{
    Mount, SystemClock,
    contract::port::{Clock as _, FileKind},
    store::{IfChanged, Links, QueryLimits, Quota, SqlValue, WorkspaceName, Workspaces},
};
use serde_json::{Value, json};

use crate::{exit, home, show};

mod changes;
mod copy;

#[derive(Debug, Args)]
pub(crate) struct Ws {
    #[command(subcommand)]
    act: Act,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List workspaces and their snapshots
    List,
    /// Show how much a workspace holds
    Show { name: WorkspaceName },
    /// List a folder of a workspace
    Ls {
        name: WorkspaceName,
        #[arg(default_value = "/workspace")]
        path: String,
    },
    /// Print a file of a workspace
    Cat { name: WorkspaceName, path: String },
    /// Put a host file, or - for stdin, into a workspace
    Put { name: WorkspaceName, file: PathBuf, path: String },
    /// Take a file out of a workspace, into a host file, or - for stdout
    Get { name: WorkspaceName, path: String, file: PathBuf },
    /// Remove a file or folder, or without a path the whole workspace
    Rm { name: WorkspaceName, path: Option<String> },
    /// Show what changed in the directories it was mounted over, or since a snapshot
    Diff {
        name: WorkspaceName,
        /// The directory, where it is not one that the workspace remembers
        #[arg(long, value_name = "HOST[:GUEST]")]
        dir: Option<Mount>,
        /// The snapshot to compare with
        #[arg(long, conflicts_with = "dir")]
        snapshot: Option<WorkspaceName>,
        #[command(flatten)]
        shown: changes::Shown,
    },
    /// Write what changed into the directories it was mounted over: all of it, or nothing if somebody
    /// else changed one of those files there since
    Commit {
        name: WorkspaceName,
        /// The directory, where it is not one that the workspace remembers
        #[arg(long, value_name = "HOST[:GUEST]")]
        dir: Option<Mount>,
        /// Overwrite what somebody else changed
        #[arg(long)]
        force: bool,
        /// Write symbolic links that lead out of the directory, too
        #[arg(long)]
        links: bool,
    },
    /// Forget what changed in the directories it was mounted over
    Discard {
        name: WorkspaceName,
        /// The directory, where it is not one that the workspace remembers
        #[arg(long, value_name = "HOST[:GUEST]")]
        dir: Option<Mount>,
    },
    /// Keep a workspace as it is now, under a name
    Snapshot { name: WorkspaceName, snapshot: WorkspaceName },
    /// Bring a snapshot back
    Restore { name: WorkspaceName, snapshot: WorkspaceName },
    /// Copy a workspace under a new name
    Fork { name: WorkspaceName, new: WorkspaceName },
    /// Ask one SQL question about the files: `vfs(volume, path, content, mtime, size, …)`
    Query { name: WorkspaceName, sql: String },
}

pub(crate) fn run(ws: Ws) -> anyhow::Result<ExitCode> {
    let all = Workspaces::of(&home::tenant()?, Quota::default());
    let now = SystemClock.now();
    let json = ws.json;
    match ws.act {
        Act::List => list(&all, json)?,
        Act::Show { name } => facts(&all, &name, json)?,
        Act::Ls { name, path } => ls(&all, &name, &path, json)?,
        Act::Cat { name, path } => copy::to_stdout(&all.look(&name)?, &path)?,
        Act::Put { name, file, path } => copy::put(&all.open_or_create(&name)?, &file, &path, now)?,
        Act::Get { name, path, file } => copy::get(&all.look(&name)?, &path, &file)?,
        Act::Rm { name, path: Some(path) } => all.open(&name)?.rm(&path, now).with_context(|| path)?,
        Act::Rm { name, path: None } => all.remove(&name)?,
        Act::Diff { name, snapshot: Some(snapshot), shown, .. } => {
            changes::diff_snapshot(&all, &all.look(&name)?, &snapshot, shown, json)?;
        }
        Act::Diff { name, dir, shown, .. } => changes::diff(&all.look(&name)?, dir.as_ref(), shown, json)?,
        Act::Commit { name, dir, force, links } => {
            let if_changed = if force { IfChanged::Overwrite } else { IfChanged::Refuse };
            let links = if links { Links::Any } else { Links::Inside };
            changes::commit(&all.open(&name)?, dir.as_ref(), if_changed, links, now, json)?;
        }
        Act::Discard { name, dir } => changes::discard(&all.open(&name)?, dir.as_ref(), now)?,
        Act::Snapshot { name, snapshot } => all.snapshot(&name, &snapshot)?,
        Act::Restore { name, snapshot } => {
            if let Some(aside) = all.restore_named(&name, &snapshot)? {
                exit::warn(&format!("the workspace was damaged; its file is kept as `{}`", aside.display()));
            }
        }
        Act::Fork { name, new } => all.fork(&name, &new)?,
        Act::Query { name, sql } => query(&all, &name, &sql, json)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(all: &Workspaces, json: bool) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for name in all.list()? {
        let snapshots = all.snapshots(&name)?.iter().map(|it| it.as_str().to_owned()).collect::<Vec<_>>();
        rows.push((name.as_str().to_owned(), snapshots));
    }
    if json {
        let rows: Vec<_> =
            rows.iter().map(|(name, snapshots)| json!({ "name": name, "snapshots": snapshots })).collect();
        return Ok(show::json(&rows)?);
    }
    Ok(show::table(["WORKSPACE", "SNAPSHOTS"], rows.into_iter().map(|(name, it)| [name, it.join(" ")]))?)
}

fn facts(all: &Workspaces, name: &WorkspaceName, json: bool) -> anyhow::Result<()> {
    let facts = all.look(name)?.show()?;
    if json {
        let volumes: Vec<_> = facts
            .volumes
            .iter()
            .map(|it| json!({ "name": it.name, "files": it.files, "directories": it.directories, "bytes": it.bytes }))
            .collect();
        return Ok(show::json(&json!({ "volumes": volumes, "stored_bytes": facts.stored_bytes,
                                      "database_bytes": facts.database_bytes, "pending": facts.pending }))?);
    }
    let rows = facts
        .volumes
        .iter()
        .map(|it| [it.name.clone(), it.files.to_string(), it.directories.to_string(), show::size(it.bytes)]);
    show::table(["VOLUME", "FILES", "FOLDERS", "SIZE"], rows)?;
    show::line(&format!("on disk: {}", show::size(facts.database_bytes)))?;
    for mount in &facts.pending {
        exit::warn(&format!("a commit of `{mount}` was begun and not finished; run it again"));
    }
    Ok(())
}

fn ls(all: &Workspaces, name: &WorkspaceName, path: &str, json: bool) -> anyhow::Result<()> {
    let entries = all.look(name)?.ls(path).with_context(|| path.to_owned())?;
    let kind = |kind| match kind {
        FileKind::File => "file",
        FileKind::Directory => "folder",
        FileKind::Symlink => "link",
    };
    if json {
        let rows: Vec<_> = entries
            .iter()
            .map(|it| json!({ "name": it.name, "kind": kind(it.kind), "size": it.size, "modified_ms": it.modified.as_millis() }))
            .collect();
        return Ok(show::json(&rows)?);
    }
    Ok(show::table(
        ["NAME", "KIND", "SIZE"],
        entries.iter().map(|it| [it.name.clone(), kind(it.kind).into(), it.size.to_string()]),
    )?)
}

fn query(all: &Workspaces, name: &WorkspaceName, sql: &str, json: bool) -> anyhow::Result<()> {
    let answer = all.look(name)?.query(sql, QueryLimits::default())?;
    let value = |value: &SqlValue| match value {
        SqlValue::Null => Value::Null,
        SqlValue::Integer(number) => json!(number),
        SqlValue::Real(number) => json!(number),
        SqlValue::Text(text) => json!(text),
        SqlValue::Blob(bytes) => json!(String::from_utf8_lossy(bytes)),
    };
    let rows: Vec<Vec<Value>> = answer.rows.iter().map(|row| row.iter().map(value).collect()).collect();
    if json {
        show::json(&json!({ "columns": answer.columns, "rows": rows, "cut": answer.cut }))?;
    } else {
        let cell = |value: &Value| value.as_str().map_or_else(|| value.to_string(), show::plain);
        show::line(&show::plain(&answer.columns.join(" | ")))?;
        for row in rows {
            show::line(&row.iter().map(cell).collect::<Vec<_>>().join(" | "))?;
        }
    }
    if answer.cut {
        exit::warn("there is more; narrow the question down");
    }
    Ok(())
}
