//! What differs between two sets of files, and the ways to show it.

pub mod lines;
pub mod options;
pub mod patch;
pub mod rename;
pub mod stat;
pub mod summary;

use bstr::BString;

use crate::Oid;
use crate::fail::Done;
use crate::object::{Files, Item, MODULE};
use crate::repo::Repo;

/// One side of a change; mode 0 where there is nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    pub path: BString,
    pub mode: u32,
    pub id: Oid,
}

impl Side {
    fn new(path: &BString, item: Option<&Item>) -> Self {
        let item = item.copied().unwrap_or(Item { mode: 0, id: crate::null() });
        Self { path: path.clone(), mode: item.mode, id: item.id }
    }

    /// Its bytes.
    pub fn bytes(&self, repo: &Repo) -> Done<Vec<u8>> {
        match self.mode {
            0 => Ok(Vec::new()),
            MODULE => Ok(format!("Subproject commit {}\n", self.id).into_bytes()),
            _ => repo.odb.blob(self.id),
        }
    }
}

/// What happened to a path, by git's letter: A, D, M, T, R, C or U.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub letter: u8,
    /// How much of a renamed file stayed the same, of 100.
    pub score: u32,
    pub old: Side,
    pub new: Side,
}

impl Change {
    /// A path in conflict.
    pub fn unmerged(path: &BString) -> Self {
        let side = Side::new(path, None);
        Self { letter: b'U', score: 0, old: side.clone(), new: side }
    }

    /// The path it is listed under.
    pub fn path(&self) -> &BString {
        if self.letter == b'D' { &self.old.path } else { &self.new.path }
    }
}

/// The changes that make `new` of `old`, by path.
pub fn compare(old: &Files, new: &Files) -> Vec<Change> {
    let paths: std::collections::BTreeSet<&BString> = old.keys().chain(new.keys()).collect();
    let mut changes = Vec::new();
    for path in paths {
        let (before, after) = (old.get(path), new.get(path));
        let letter = match (before, after) {
            (Some(a), Some(b)) if a == b => continue,
            (Some(a), Some(b)) if a.mode & 0o170_000 != b.mode & 0o170_000 => b'T',
            (Some(_), Some(_)) => b'M',
            (Some(_), None) => b'D',
            _ => b'A',
        };
        changes.push(Change { letter, score: 0, old: Side::new(path, before), new: Side::new(path, after) });
    }
    changes
}

/// The changes between two trees.
pub fn trees(repo: &Repo, old: Oid, new: Oid) -> Done<Vec<Change>> {
    let (before, after) = repo.differing(old, new)?;
    Ok(compare(&before, &after))
}

/// Whether bytes are no text: a zero among the first of them.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(8000)].contains(&0)
}
