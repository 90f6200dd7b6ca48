//! `ws diff`, `ws commit`, `ws discard`: what runs changed in the directories a workspace was mounted
//! over. Without `--dir` the workspace remembers them.

use std::{io::IsTerminal as _, path::PathBuf, sync::Arc};

use drydock_embed::{
    Mount,
    contract::{Timestamp, port::Files},
    store::{
        COMPARE_MAX, Change, ChangeKind, CommitError, Conflict, DirectoryError, FileDiff, IfChanged, Links,
        Mounted, Mounting, Quota, Volume, Workspace, WorkspaceName, Workspaces, file_diff,
    },
};
use serde_json::json;

use crate::{exit, show};

/// The widest bar of `--stat`.
const BAR_MAX: usize = 40;

/// How a difference is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
pub(super) struct Shown {
    /// Only count lines, file by file
    #[arg(long, conflicts_with = "name_only")]
    stat: bool,
    /// Only name what changed
    #[arg(long)]
    name_only: bool,
}

/// A directory of the host with what a workspace changed of it.
struct Over {
    host: PathBuf,
    mounted: Mounted,
}

pub(super) fn diff(
    workspace: &Workspace,
    dir: Option<&Mount>,
    shown: Shown,
    json: bool,
) -> anyhow::Result<()> {
    let all = directories(workspace, dir)?;
    let mut rows = Vec::new();
    let several = all.len() > 1;
    let mut any = false;
    for Over { host, mounted } in &all {
        let (changes, conflicts) = (mounted.diff()?, mounted.conflicts()?);
        any |= !changes.is_empty();
        if json {
            rows.extend(changes.iter().map(|it| row(it, &conflicts)));
            continue;
        }
        if several && !changes.is_empty() {
            show::line(&show::plain(&format!("# {}", host.display())))?;
        }
        print(&changes, mounted.host(), &mounted.files(), shown)?;
        for it in &conflicts {
            exit::warn(&format!("{it} in the directory, too, since it was changed here"));
        }
    }
    end(any, &rows, json)
}

/// The same against a snapshot.
pub(super) fn diff_snapshot(
    all: &Workspaces,
    workspace: &Workspace,
    snapshot: &WorkspaceName,
    shown: Shown,
    json: bool,
) -> anyhow::Result<()> {
    let volume = Volume::Workspace;
    let changes = all.diff_snapshot(workspace, snapshot, volume)?;
    let rows: Vec<_> = changes.iter().map(|it| row(it, &[])).collect();
    if !json && let Some(old) = all.snapshot_files(workspace.name(), snapshot, volume)? {
        print(&changes, &old, workspace.files(volume), shown)?;
    }
    end(!changes.is_empty(), &rows, json)
}

pub(super) fn commit(
    workspace: &Workspace,
    dir: Option<&Mount>,
    if_changed: IfChanged,
    links: Links,
    now: Timestamp,
    json: bool,
) -> anyhow::Result<()> {
    let all = directories(workspace, dir)?;
    // Of several directories none is written if one cannot be.
    if if_changed == IfChanged::Refuse && all.len() > 1 {
        for over in &all {
            let conflicts = over.mounted.conflicts()?;
            if !conflicts.is_empty() {
                return Err(CommitError::Conflicts(conflicts).into());
            }
        }
    }
    let (mut rows, mut any) = (Vec::new(), false);
    for Over { host, mounted } in &all {
        let done = mounted.commit(if_changed, links, now)?;
        any |= !done.written.is_empty() || !done.left_out.is_empty();
        for it in &done.written {
            rows.push(row(it, &[]));
            if !json {
                show::line(&show::plain(&format!("{} {}", letter(it.kind), it.path)))?;
            }
        }
        for it in &done.left_out {
            exit::warn(&format!(
                "left out `{}`: it links to `{}`, out of `{}`; --links writes it all the same",
                it.path.escape_debug(),
                it.target.escape_debug(),
                host.display()
            ));
        }
    }
    end(any, &rows, json)
}

pub(super) fn discard(workspace: &Workspace, dir: Option<&Mount>, now: Timestamp) -> anyhow::Result<()> {
    for over in directories(workspace, dir)? {
        over.mounted.discard(now)?;
    }
    Ok(())
}

/// The directory that is named, or those that the workspace remembers.
fn directories(workspace: &Workspace, dir: Option<&Mount>) -> anyhow::Result<Vec<Over>> {
    if let Some(dir) = dir {
        return Ok(vec![Over { host: dir.host().to_owned(), mounted: dir.mounted(workspace)? }]);
    }
    let mut all = Vec::new();
    for it in workspace.directories()?.into_iter().filter(|it| it.access == Mounting::CopyOnWrite) {
        let opened = Arc::new(it.open(Quota::default())?);
        all.push(Over { mounted: workspace.mount(&it.mount, opened)?, host: it.host });
    }
    if all.is_empty() {
        return Err(DirectoryError::None(workspace.name().to_string()).into());
    }
    Ok(all)
}

fn row(it: &Change, conflicts: &[Conflict]) -> serde_json::Value {
    let conflict = conflicts.iter().any(|one| one.path == it.path);
    let mode = |mode: Option<_>| mode.map(|it: drydock_embed::contract::port::Mode| it.to_string());
    json!({
        "path": it.path, "kind": it.kind, "size": it.size, "conflict": conflict,
        "mode": mode(it.is_mode), "mode_before": mode(it.was_mode),
    })
}

fn end(any: bool, rows: &[serde_json::Value], json: bool) -> anyhow::Result<()> {
    match (json, any) {
        (true, _) => Ok(show::json(&rows)?),
        (false, false) => Ok(show::line("nothing changed")?),
        (false, true) => Ok(()),
    }
}

fn letter(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Removed => 'D',
    }
}

fn print(changes: &[Change], old: &dyn Files, new: &dyn Files, shown: Shown) -> anyhow::Result<()> {
    if shown.name_only {
        for it in changes {
            show::line(&show::plain(&it.path))?;
        }
        return Ok(());
    }
    let mut counted = Vec::new();
    let terminal = std::io::stdout().is_terminal();
    for change in changes {
        let diff = file_diff(old, new, change, &change.path, COMPARE_MAX)?;
        if shown.stat {
            counted.push(FileDiff { text: String::new(), ..diff });
        } else if terminal {
            show::bytes(coloured(&diff.text).as_bytes())?;
        } else {
            show::bytes(diff.text.as_bytes())?;
        }
    }
    if shown.stat && !counted.is_empty() { stat(&counted) } else { Ok(()) }
}

fn stat(all: &[FileDiff]) -> anyhow::Result<()> {
    let width = all.iter().map(|it| show::plain(&it.path).chars().count()).max().unwrap_or(0);
    let most = all.iter().map(|it| it.added + it.removed).max().unwrap_or(0).max(BAR_MAX);
    for it in all {
        let bar = |lines: usize| lines * BAR_MAX / most + usize::from(lines > 0 && lines * BAR_MAX < most);
        let said = match it.opaque {
            true => "Bin".to_owned(),
            false => format!(
                "{} {}{}",
                it.added + it.removed,
                "+".repeat(bar(it.added)),
                "-".repeat(bar(it.removed))
            ),
        };
        show::line(format!(" {:<width$} | {said}", show::plain(&it.path)).trim_end())?;
    }
    let (added, removed) = all.iter().fold((0, 0), |sum, it| (sum.0 + it.added, sum.1 + it.removed));
    let plural = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let line = format!(
        " {} changed, {}(+), {}(-)",
        plural(all.len(), "file"),
        plural(added, "insertion"),
        plural(removed, "deletion")
    );
    Ok(show::line(&line)?)
}

/// For a terminal: colours where they are wanted, and nothing of a file that the terminal would obey.
fn coloured(text: &str) -> String {
    let colours = std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    let mut out = String::new();
    let mut in_hunk = false;
    for line in text.lines() {
        let line: String = line.split('\t').map(show::plain).collect::<Vec<_>>().join("\t");
        in_hunk = (in_hunk || line.starts_with("@@")) && !line.starts_with("diff ");
        let colour = match line.as_bytes().first() {
            _ if !colours => "",
            Some(b'@') => "36",
            Some(b'+') if in_hunk => "32",
            Some(b'-') if in_hunk => "31",
            _ if !in_hunk => "1",
            _ => "",
        };
        match colour {
            "" => out.push_str(&line),
            colour => out.push_str(&format!("\u{1b}[{colour}m{line}\u{1b}[0m")),
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_cannot_speak_to_the_terminal_through_a_diff() {
        let text = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+\u{1b}[2Jnew\tx\n";
        let shown = coloured(text);
        assert!(!shown.contains("\u{1b}[2J") && shown.contains("\\u{1b}[2Jnew\tx"), "{shown:?}");
    }
}
