//! A workspace against a snapshot of it.

use std::{collections::BTreeMap, sync::Arc};

use drydock_contract::port::{FileKind, FileResult, Files, Follow, TreePath};

use super::{Volume, Workspace, WorkspaceName, Workspaces, copy::of_this_layout};
use crate::{Change, OpenWorkspaceError, SqliteFiles, overlay::same_bytes, sqlite::Db};

impl Workspaces {
    /// What is different in one of the trees from a snapshot, sorted by path.
    pub fn diff_snapshot(
        &self,
        workspace: &Workspace,
        snapshot: &WorkspaceName,
        volume: Volume,
    ) -> Result<Vec<Change>, OpenWorkspaceError> {
        let changes = match self.snapshot_files(workspace.name(), snapshot, volume)? {
            Some(old) => differences(workspace.files(volume), &old),
            None => Ok(Vec::new()),
        };
        let path = self.snapshot_file(workspace.name(), snapshot);
        changes.map_err(|_| OpenWorkspaceError::Damaged { path })
    }

    /// One of the trees as a snapshot has it, to look at.
    pub fn snapshot_files(
        &self,
        of: &WorkspaceName,
        snapshot: &WorkspaceName,
        volume: Volume,
    ) -> Result<Option<SqliteFiles>, OpenWorkspaceError> {
        let path = self.snapshot_file(of, snapshot);
        if !path.is_file() {
            return Err(OpenWorkspaceError::Missing(format!("{of}@{snapshot}")));
        }
        of_this_layout(&path)?;
        let db = Db::open_frozen(&path).map_err(|cause| OpenWorkspaceError::of_sql(&path, cause))?;
        SqliteFiles::frozen(&Arc::new(db), volume.name()).map_err(|_| OpenWorkspaceError::Damaged { path })
    }
}

type Pair = (Option<FileKind>, Option<FileKind>);

/// What is different in `new`, told by content and permissions.
fn differences(new: &dyn Files, old: &dyn Files) -> FileResult<Vec<Change>> {
    let mut changes = Vec::new();
    let mut dirs = vec![(TreePath::root(), true, true)];
    while let Some((dir, was_dir, is_dir)) = dirs.pop() {
        let mut names: BTreeMap<String, Pair> = BTreeMap::new();
        for entry in if was_dir { old.read_dir(&dir)? } else { Vec::new() } {
            names.entry(entry.name).or_default().0 = Some(entry.kind);
        }
        for entry in if is_dir { new.read_dir(&dir)? } else { Vec::new() } {
            names.entry(entry.name).or_default().1 = Some(entry.kind);
        }
        for (name, (was, is)) in names {
            let path = dir.join(&name)?;
            let facts = |files: &dyn Files, has: Option<FileKind>| match has {
                Some(_) => files.stat(&path, Follow::No).map(Some),
                None => Ok(None),
            };
            let (before, now) = (facts(old, was)?, facts(new, is)?);
            changes.extend(Change::between(&path, (before.as_ref(), now.as_ref()), || match is {
                Some(FileKind::File) => same_bytes(new, old, &path),
                Some(FileKind::Symlink) => Ok(new.read_link(&path)? == old.read_link(&path)?),
                _ => Ok(true),
            })?);
            let (was_dir, is_dir) = (was == Some(FileKind::Directory), is == Some(FileKind::Directory));
            if was_dir || is_dir {
                dirs.push((path, was_dir, is_dir));
            }
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}
