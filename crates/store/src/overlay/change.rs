//! What is different from the lower tree. Content and permissions decide, not times: a file that was
//! rewritten with what was in it before has not changed, and what was committed is no change.

use std::collections::BTreeMap;

use drydock_contract::{
    Timestamp,
    port::{FileKind, FileResult, Files, Follow, Mode, OpenHow, Stat, TreePath},
};

use super::branch::{Dir, Layers, Leaf, OURS, kind};
use crate::tree::{Branches as _, Node};

const COMPARE_BYTES: usize = 1 << 16;

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum ChangeKind {
    Added,
    Modified,
    Removed,
}

/// One path that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Without a leading slash.
    pub path: String,
    /// What happened.
    pub kind: ChangeKind,
    /// What it was in the lower tree.
    pub was: Option<FileKind>,
    /// What it is.
    pub is: Option<FileKind>,
    /// How long it is now.
    pub size: u64,
    /// Its permissions before, setuid, setgid and sticky left out.
    pub was_mode: Option<Mode>,
    /// Its permissions now, the same left out.
    pub is_mode: Option<Mode>,
    /// Only the permissions are different.
    pub only_mode: bool,
}

impl Change {
    /// What two trees have under a path, where that differs.
    pub(crate) fn between(
        path: &TreePath,
        (was, is): (Option<&Stat>, Option<&Stat>),
        same_content: impl FnOnce() -> FileResult<bool>,
    ) -> FileResult<Option<Self>> {
        // A link has no permissions of its own to speak of.
        let mode = |it: &Stat| if it.kind == FileKind::Symlink { Mode::LINK } else { it.mode.plain() };
        let (was_mode, is_mode) = (was.map(mode), is.map(mode));
        let (kind, only_mode) = match (was, is) {
            (None, None) => return Ok(None),
            (None, Some(_)) => (ChangeKind::Added, false),
            (Some(_), None) => (ChangeKind::Removed, false),
            (Some(was), Some(is)) if was.kind != is.kind || !same_content()? => (ChangeKind::Modified, false),
            _ if was_mode != is_mode => (ChangeKind::Modified, true),
            _ => return Ok(None),
        };
        let size = is.filter(|it| it.kind == FileKind::File).map_or(0, |it| it.size);
        let (was, is) = (was.map(|it| it.kind), is.map(|it| it.kind));
        let path = path.as_str().to_owned();
        Ok(Some(Self { path, kind, was, is, size, was_mode, is_mode, only_mode }))
    }
}

impl Layers {
    pub(super) fn changes(&self) -> FileResult<Vec<Change>> {
        let mut changes = Vec::new();
        let mut pairs = vec![(Some(self.root()?), TreePath::root(), true)];
        while let Some((dir, path, was_dir)) = pairs.pop() {
            self.compare(dir.as_ref(), &path, was_dir, &mut pairs, &mut changes)?;
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    /// One directory as it is against what the lower tree has under its path.
    fn compare(
        &self,
        dir: Option<&std::sync::Arc<Dir>>,
        path: &TreePath,
        was_dir: bool,
        pairs: &mut Vec<(Option<std::sync::Arc<Dir>>, TreePath, bool)>,
        changes: &mut Vec<Change>,
    ) -> FileResult<()> {
        if dir.is_some_and(|it| it.lower && !it.upper) {
            return Ok(());
        }
        let mut names: BTreeMap<String, Option<FileKind>> = BTreeMap::new();
        if was_dir {
            let lower = self.lower.read_dir(path)?;
            names.extend(lower.into_iter().map(|it| (it.name, Some(it.kind))));
        }
        if let Some(dir) = dir.filter(|it| it.upper) {
            for entry in self.upper.read_dir(&dir.path)? {
                names.entry(entry.name).or_insert(None);
            }
        }
        names.retain(|name, _| !name.starts_with(OURS));
        for (name, was) in names {
            let path = path.join(&name)?;
            let is = match dir {
                Some(dir) => self.look(dir, &name)?,
                None => None,
            };
            let facts = match &is {
                None => None,
                Some(Node::Dir(dir)) => Some(self.stat_dir(dir)?),
                Some(Node::File(leaf) | Node::Link(leaf)) => {
                    let files = if leaf.upper { &self.upper } else { &self.lower };
                    Some(files.stat(&leaf.path, Follow::No)?)
                }
            };
            let before = match was {
                Some(_) => Some(self.lower.stat(&path, Follow::No)?),
                None => None,
            };
            changes.extend(Change::between(&path, (before.as_ref(), facts.as_ref()), || match &is {
                Some(Node::File(leaf) | Node::Link(leaf)) => Ok(!self.differs(leaf)?),
                _ => Ok(true),
            })?);
            let was_dir = was == Some(FileKind::Directory);
            match is {
                Some(Node::Dir(below)) => pairs.push((Some(below), path, was_dir)),
                _ if was_dir => pairs.push((None, path, true)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a leaf differs from the lower tree's of the same kind and path.
    fn differs(&self, leaf: &Leaf) -> FileResult<bool> {
        if !leaf.upper {
            return Ok(false);
        }
        if kind(&*self.upper, &leaf.path)? == Some(FileKind::Symlink) {
            return Ok(self.upper.read_link(&leaf.path)? != self.lower.read_link(&leaf.path)?);
        }
        Ok(!same_bytes(&*self.upper, &*self.lower, &leaf.path)?)
    }
}

/// Whether two trees have the same bytes under one path.
pub(crate) fn same_bytes(one: &dyn Files, other: &dyn Files, path: &TreePath) -> FileResult<bool> {
    if one.stat(path, Follow::No)?.size != other.stat(path, Follow::No)?.size {
        return Ok(false);
    }
    let how = OpenHow { read: true, nofollow: true, ..OpenHow::default() };
    let (one, other) =
        (one.open(path, how, Timestamp::default())?, other.open(path, how, Timestamp::default())?);
    let (mut a, mut b) = (vec![0; COMPARE_BYTES], vec![0; COMPARE_BYTES]);
    let mut at = 0;
    loop {
        // A read may stop early only at the end, as long as nobody writes.
        let (m, n) = (one.read_at(at, &mut a)?, other.read_at(at, &mut b)?);
        if m != n || a[..m] != b[..n] {
            return Ok(false);
        }
        if m == 0 {
            return Ok(true);
        }
        at += m as u64;
    }
}
