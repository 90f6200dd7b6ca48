//! What an agent changed in a directory, and writing it there.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_contract::{Timestamp, port::Files};
use drydock_store::{COMPARE_MAX, Change, CommitError, IfChanged, Links, Mounted, Overlay, file_diff};
use serde::Deserialize;
use serde_json::{Value, json};

use super::SandboxError;
/// The longest text of differences.
const DIFF_BYTES_MAX: usize = 1 << 20;
/// How many changes are told.
const CHANGES_MAX: usize = 10_000;
/// Comparing takes no longer, however many files there are and whatever stands in them: the texts are a
/// guest's, and whoever waits cannot interrupt it.
const COMPARE_ALL_MAX: Duration = Duration::from_secs(2);

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
    let began = Instant::now();
    for base in bases {
        let changes = base.now.changes().map_err(|error| super::files::failed(&base.place, error))?;
        for change in changes {
            if rows.len() >= CHANGES_MAX || text.len() >= DIFF_BYTES_MAX {
                truncated = true;
                break;
            }
            let left = COMPARE_ALL_MAX.saturating_sub(began.elapsed());
            if !names_only && !left.is_zero() {
                let name = format!("{}/{}", base.place, change.path);
                let shown = file_diff(&*base.before, &base.now, &change, &name, left.min(COMPARE_MAX));
                text.push_str(&shown.map_err(|error| super::files::failed(&name, error))?.text);
            }
            // The list stays whole; what is left out is text.
            truncated |= !names_only && left.is_zero();
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
