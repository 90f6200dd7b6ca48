//! What an agent changed in a directory, and writing it there.

use std::sync::Arc;

use drydock_contract::{
    Timestamp,
    port::{FileKind, Files, TreePath},
};
use drydock_store::{Change, ChangeKind, CommitError, IfChanged, Links, Mounted, Overlay};
use serde::Deserialize;
use serde_json::{Value, json};
use similar::TextDiff;

use super::SandboxError;
use crate::tree::read_whole;

/// The longest file of which lines are compared.
const COMPARED_BYTES_MAX: u64 = 1 << 20;
/// The longest text of differences.
const DIFF_BYTES_MAX: usize = 1 << 20;
/// How many changes are told.
const CHANGES_MAX: usize = 10_000;
/// Looking for the smallest difference of two texts takes no longer.
const COMPARE_MAX: std::time::Duration = std::time::Duration::from_millis(500);

/// A directory under copy-on-write: what is there now, what was there, and how to write it back.
pub struct Base {
    /// Where the agent sees it, without a leading slash.
    pub place: String,
    /// What is there now.
    pub now: Overlay,
    /// What is beneath, and was there.
    pub before: Arc<dyn Files>,
    /// The same as a workspace keeps it; without it nothing can be committed.
    pub mounted: Option<Mounted>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Diff {
    #[serde(default)]
    names_only: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Commit {
    #[serde(default)]
    force: bool,
}

pub(super) fn diff(bases: &[Base], Diff { names_only }: Diff) -> Result<Value, SandboxError> {
    if bases.is_empty() {
        return Err(SandboxError::new(
            "no_directory",
            "no directory is mounted copy-on-write, so there is nothing to compare with (--dir)",
        ));
    }
    let (mut rows, mut text, mut truncated) = (Vec::new(), String::new(), false);
    for base in bases {
        let changes = base.now.changes().map_err(|error| super::files::failed(&base.place, error))?;
        for change in changes {
            if rows.len() >= CHANGES_MAX || text.len() >= DIFF_BYTES_MAX {
                truncated = true;
                break;
            }
            if !names_only {
                text.push_str(&unified(base, &change));
            }
            rows.push(row(&base.place, &change));
        }
    }
    if text.len() > DIFF_BYTES_MAX {
        text.truncate(text.floor_char_boundary(DIFF_BYTES_MAX));
        truncated = true;
    }
    Ok(json!({ "changes": rows, "diff": text, "truncated": truncated }))
}

pub(super) fn commit(
    bases: &[Base],
    Commit { force }: Commit,
    now: Timestamp,
) -> Result<Value, SandboxError> {
    let if_changed = if force { IfChanged::Overwrite } else { IfChanged::Refuse };
    let (mut written, mut left_out) = (Vec::new(), Vec::new());
    let mut any = false;
    for base in bases {
        let Some(mounted) = &base.mounted else { continue };
        any = true;
        let done = mounted.commit(if_changed, Links::Inside, now).map_err(|error| {
            let code = if matches!(error, CommitError::Conflicts(_)) { "conflict" } else { "commit_failed" };
            SandboxError::new(code, format!("/{}: {error}", base.place))
        })?;
        written.extend(done.written.iter().map(|change| row(&base.place, change)));
        left_out.extend(done.left_out.iter().map(|link| format!("/{}/{}", base.place, link.path)));
    }
    if !any {
        return Err(SandboxError::new(
            "no_directory",
            "no directory of a workspace is mounted copy-on-write, so there is nowhere to commit to",
        ));
    }
    Ok(json!({ "written": written, "left_out": left_out }))
}

fn row(place: &str, change: &Change) -> Value {
    json!({ "path": format!("/{place}/{}", change.path), "kind": change.kind, "size": change.size })
}

/// One file's differences, as `diff -u` and git show them.
fn unified(base: &Base, change: &Change) -> String {
    let path = format!("{}/{}", base.place, change.path);
    let (old, new) = (side(&*base.before, change, change.was), side(&base.now, change, change.is));
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        _ => {
            let what = match change.kind {
                ChangeKind::Added => "added",
                ChangeKind::Modified => "changed",
                ChangeKind::Removed => "removed",
            };
            return format!("{path}: {what}, not shown as text\n");
        }
    };
    let name = |there: Option<FileKind>, side: &str| match there {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    TextDiff::configure()
        .timeout(COMPARE_MAX)
        .diff_lines(&old, &new)
        .unified_diff()
        .header(&name(change.was, "a"), &name(change.is, "b"))
        .to_string()
}

/// The text on one side; nothing there is an empty one, and what is no short text is none.
fn side(files: &dyn Files, change: &Change, kind: Option<FileKind>) -> Option<String> {
    match kind {
        None => Some(String::new()),
        Some(FileKind::File) => {
            let path = TreePath::new(&change.path).ok()?;
            String::from_utf8(read_whole(files, &path, COMPARED_BYTES_MAX).ok()?).ok()
        }
        Some(FileKind::Directory | FileKind::Symlink) => None,
    }
}
