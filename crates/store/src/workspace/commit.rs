//! Writing what changed into the mounted directory.
//!
//! Nothing is written unless the directory still has, under every path that is to change, what it
//! had when the workspace first changed it; otherwise the paths are named and the caller may insist.
//! Each file is the old one or the new one at every moment.
//!
//! Committing needs no undoing: changes are told by comparing content, so what was written before a
//! kill is no change any more, and what was not is one still. The journal only remembers which paths
//! were begun, and the temporary files that may lie about.

use std::{
    collections::{HashMap, HashSet},
    io,
};

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileResult, Files as _, Follow, OpenHow, TreePath},
};
use rusqlite::{OptionalExtension as _, params};

use super::Mounted;
use crate::{
    Change, ChangeKind, Links,
    home::Lock,
    host::{Installed, stays_inside},
    overlay::{Notes as _, Seen},
    sqlite::Sql as _,
};

const READ: OpenHow = OpenHow { read: true, nofollow: true, ..OpenHow::NONE };

/// How many conflicts a message names.
const NAMED_MAX: usize = 8;

/// What to do about a path that somebody else changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfChanged {
    /// Write nothing at all, and say which they are.
    Refuse,
    /// Write ours over theirs.
    Overwrite,
}

/// What somebody else did to a path since it was changed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// It is not what it was.
    Changed,
    /// It was not there.
    Appeared,
    /// It is not there any more.
    Vanished,
}

/// A path that changed here and in the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Without a leading slash.
    pub path: String,
    /// What happened in the directory.
    pub kind: ConflictKind,
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.kind {
            ConflictKind::Changed => "changed",
            ConflictKind::Appeared => "appeared",
            ConflictKind::Vanished => "was removed",
        };
        write!(f, "`{}` {what}", self.path.escape_debug())
    }
}

/// Why a commit was not done, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Somebody else changed the directory meanwhile.
    #[error("{}", told(.0))]
    Conflicts(Vec<Conflict>),
    /// A path could not be written. What was written before it is written.
    #[error("could not write `{path}`")]
    Write {
        /// Without a leading slash.
        path: String,
        /// What the directory said.
        #[source]
        cause: FileError,
    },
    /// Somebody else commits the same workspace at this moment.
    #[error(
        "another commit of this workspace is in progress; nothing was written by this one. \
             Wait until it has ended, look with `ws diff`, and commit again if anything is left"
    )]
    InProgress,
    /// The workspace or the directory could not be read.
    #[error("could not tell what changed")]
    Read(#[from] FileError),
}

fn told(all: &[Conflict]) -> String {
    let named: Vec<String> = all.iter().take(NAMED_MAX).map(Conflict::to_string).collect();
    let more = match all.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!(
        "{}{more} in the directory since it was changed here; nothing was written there over it. \
         Look with `ws diff`, then --force to overwrite or `ws discard`",
        named.join(", ")
    )
}

/// What was begun by a commit that did not end.
#[derive(Default)]
struct Begun {
    temporary: String,
    paths: HashSet<String>,
}

/// What a commit did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Committed {
    /// What it wrote.
    pub written: Vec<Change>,
    /// Links that lead out of the directory. They stay in the workspace.
    pub left_out: Vec<LeftOut>,
}

/// A link that a commit did not write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Without a leading slash.
    pub path: String,
    /// What it says.
    pub target: String,
}

impl Mounted {
    /// Writes what is different to the host directory, and then forgets it here. Links that lead out of
    /// the directory are left out unless `links` lets them. After a kill, call it again.
    pub fn commit(
        &self,
        if_changed: IfChanged,
        links: Links,
        now: Timestamp,
    ) -> Result<Committed, CommitError> {
        let _alone = self.commits_alone()?;
        let begun = self.tidy()?;
        let mut changes = self.diff()?;
        let left_out = if links == Links::Any { Vec::new() } else { self.leading_out(&changes)? };
        let out: HashSet<&str> = left_out.iter().map(|it| it.path.as_str()).collect();
        changes.retain(|it| !out.contains(it.path.as_str()) && !lies_below(&it.path, &out));
        if if_changed == IfChanged::Refuse {
            let conflicts = self.conflicts_of(&changes, &begun)?;
            if !conflicts.is_empty() {
                return Err(CommitError::Conflicts(conflicts));
            }
        }
        let nonce = getrandom::u64().map_err(|_| FileError::Io)?;
        let temporary = format!(".drydock-{nonce:016x}");
        self.begin(&temporary, &changes)?;
        // What takes a name from another kind of thing makes room first.
        let gives_way = |it: &Change| it.was.is_some() && it.is.is_some() && it.was != it.is;
        let in_the_way = ways(&changes, gives_way);
        for change in changes.iter().rev() {
            let dir = change.was == Some(FileKind::Directory) || change.is == Some(FileKind::Directory);
            let below = change.kind == ChangeKind::Removed && lies_below(&change.path, &in_the_way);
            if below || (gives_way(change) && dir) {
                self.step(change, |path| self.remove(change, path, now))?;
            }
        }
        let bases = if if_changed == IfChanged::Refuse { Some(self.bases.all()?) } else { None };
        for change in changes.iter().filter(|it| it.kind != ChangeKind::Removed) {
            // Looked at again just before it is replaced: writing all of them takes a while.
            // What gave way to another kind of thing is gone already, by our own hand.
            if let Some(bases) = bases.as_ref().filter(|_| !gives_way(change))
                && let Some(conflict) = self.conflict(change, bases, &begun)?
            {
                return Err(CommitError::Conflicts(vec![conflict]));
            }
            self.step(change, |path| self.write(change, path, &temporary, now))?;
        }
        // Deepest first: the list is sorted.
        for change in changes.iter().rev().filter(|it| it.kind == ChangeKind::Removed) {
            self.step(change, |path| self.remove(change, path, now))?;
        }
        // Whatever a run changed meanwhile is kept, and shown by the next diff.
        if self.diff()?.is_empty() {
            self.forget(now)?;
        } else {
            self.end()?;
        }
        Ok(Committed { written: changes, left_out })
    }

    /// The changed links that would lead other programs out of the directory.
    pub fn leading_out(&self, changes: &[Change]) -> FileResult<Vec<LeftOut>> {
        let mut out = Vec::new();
        for change in changes.iter().filter(|it| it.is == Some(FileKind::Symlink)) {
            let target = self.overlay.read_link(&TreePath::new(&change.path)?)?;
            if !stays_inside(&target, change.path.matches('/').count()) {
                out.push(LeftOut { path: change.path.clone(), target });
            }
        }
        Ok(out)
    }

    /// Keeps other commits away until it is dropped: two at once would each take what the other wrote
    /// for the work of a stranger.
    fn commits_alone(&self) -> Result<Lock, CommitError> {
        let path = self.workspace.db.path().with_extension("commit");
        match Lock::try_take(&path) {
            Ok(Some(lock)) => Ok(lock),
            Ok(None) => Err(CommitError::InProgress),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(FileError::NoSpace.into()),
            Err(_) => Err(FileError::Io.into()),
        }
    }

    /// The paths that changed here and, since, in the directory.
    pub fn conflicts(&self) -> FileResult<Vec<Conflict>> {
        self.conflicts_of(&self.diff()?, &self.begun()?.unwrap_or_default())
    }

    /// Forgets what is different.
    pub fn discard(&self, now: Timestamp) -> FileResult<()> {
        self.tidy()?;
        self.forget(now)
    }

    fn conflicts_of(&self, changes: &[Change], begun: &Begun) -> FileResult<Vec<Conflict>> {
        let bases = self.bases.all()?;
        let mut found = Vec::new();
        for change in changes {
            found.extend(self.conflict(change, &bases, begun)?);
        }
        Ok(found)
    }

    fn conflict(
        &self,
        change: &Change,
        bases: &HashMap<String, Seen>,
        begun: &Begun,
    ) -> FileResult<Option<Conflict>> {
        let path = TreePath::new(&change.path)?;
        let there = match self.host.stat(&path, Follow::No) {
            Ok(_) => true,
            Err(FileError::NotFound | FileError::NotADirectory) => false,
            Err(error) => return Err(error),
        };
        let kind = match bases.get(&change.path) {
            None if there => ConflictKind::Appeared,
            None => return Ok(None),
            Some(seen) if there => match seen.is_still(&*self.host, &path) {
                Ok(true) if Self::is_of_two_modes(change, seen) => ConflictKind::Changed,
                Ok(true) => return Ok(None),
                Ok(false) => ConflictKind::Changed,
                Err(FileError::NotFound) => ConflictKind::Vanished,
                Err(error) => return Err(error),
            },
            // Gone on both sides, or a commit that was killed took it away itself.
            Some(_) if change.is.is_none() || begun.paths.contains(&change.path) => return Ok(None),
            Some(_) => ConflictKind::Vanished,
        };
        Ok(Some(Conflict { path: change.path.clone(), kind }))
    }

    /// Whether permissions were changed here, and by somebody else to something different.
    fn is_of_two_modes(change: &Change, seen: &Seen) -> bool {
        let there = change.was_mode.filter(|_| change.was == change.is && change.was_mode != change.is_mode);
        there.is_some_and(|it| it != seen.facts.mode.plain())
    }

    fn step(
        &self,
        change: &Change,
        act: impl FnOnce(&TreePath) -> FileResult<()>,
    ) -> Result<(), CommitError> {
        let done = TreePath::new(&change.path).and_then(|path| act(&path));
        done.map_err(|cause| CommitError::Write { path: change.path.clone(), cause })
    }

    fn write(&self, change: &Change, path: &TreePath, temporary: &str, now: Timestamp) -> FileResult<()> {
        let facts = self.overlay.stat(path, Follow::No)?;
        // The host's own permissions stay where only content changed.
        let mode = change.is_mode.filter(|it| change.was != change.is || Some(*it) != change.was_mode);
        match change.is {
            None => return Ok(()),
            Some(FileKind::Directory) => match self.host.create_dir(path, facts.mode.plain(), now) {
                Err(FileError::Exists) if mode.is_some() => {
                    self.host.set_mode(path, Follow::No, facts.mode, now)?;
                }
                Err(FileError::Exists) => {}
                done => done?,
            },
            Some(FileKind::File) if change.only_mode => {
                self.host.set_mode(path, Follow::No, facts.mode, now)?;
            }
            Some(FileKind::Symlink) => {
                let target = self.overlay.read_link(path)?;
                self.host.install(path, &Installed::Link { target: &target }, temporary)?;
            }
            Some(FileKind::File) => {
                let source = self.overlay.open(path, READ, now)?;
                self.host.install(
                    path,
                    &Installed::File { source: &*source, modified: facts.modified, mode },
                    temporary,
                )?;
            }
        }
        // What stands there now is ours: a run that changes it again has seen it.
        self.bases.note(path, &Seen { facts: self.host.stat(path, Follow::No)?, hash: None })
    }

    fn remove(&self, change: &Change, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let done = match change.was {
            None => return Ok(()),
            Some(FileKind::Directory) => self.host.remove_dir(path, now),
            Some(FileKind::File | FileKind::Symlink) => self.host.unlink(path, now),
        };
        match done {
            // Removed already, by the first round or before a kill.
            Err(FileError::NotFound | FileError::NotADirectory) => Ok(()),
            done => done,
        }?;
        self.bases.remove(path)
    }

    fn begin(&self, temporary: &str, changes: &[Change]) -> FileResult<()> {
        let paths: Vec<&str> =
            changes.iter().filter(|it| it.is.is_some()).map(|it| it.path.as_str()).collect();
        let paths = serde_json::to_string(&paths).map_err(|_| FileError::Io)?;
        self.workspace.db.with_connection(|conn| {
            let text = "INSERT OR REPLACE INTO pending(mount, nonce, paths) VALUES (?1, ?2, ?3)";
            conn.execute(text, params![self.name.as_str(), temporary, paths]).sql().map(|_| ())
        })
    }

    fn begun(&self) -> FileResult<Option<Begun>> {
        let found: Option<(String, String)> = self.workspace.db.with_connection(|conn| {
            let text = "SELECT nonce, paths FROM pending WHERE mount = ?1";
            conn.query_row(text, params![self.name.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
                .sql()
        })?;
        let Some((temporary, paths)) = found else { return Ok(None) };
        let paths = serde_json::from_str(&paths).map_err(|_| FileError::Io)?;
        Ok(Some(Begun { temporary, paths }))
    }

    /// Removes the temporary file a killed commit may have left.
    fn tidy(&self) -> FileResult<Begun> {
        let Some(begun) = self.begun()? else { return Ok(Begun::default()) };
        for path in &begun.paths {
            self.host.tidy(&TreePath::new(path)?, &begun.temporary)?;
        }
        Ok(begun)
    }

    fn end(&self) -> FileResult<()> {
        self.workspace.db.with_connection(|conn| {
            let text = "DELETE FROM pending WHERE mount = ?1";
            conn.execute(text, params![self.name.as_str()]).sql().map(|_| ())
        })
    }

    /// Forgets the changes, then what they were made to: never the other way round.
    fn forget(&self, now: Timestamp) -> FileResult<()> {
        self.upper.clear(now)?;
        self.workspace.db.with_connection(|conn| {
            conn.execute("DELETE FROM base WHERE mount = ?1", params![self.name.as_str()]).sql()
        })?;
        self.end()
    }
}

fn ways(changes: &[Change], gives_way: impl Fn(&Change) -> bool) -> HashSet<&str> {
    changes.iter().filter(|it| gives_way(it)).map(|it| it.path.as_str()).collect()
}

fn lies_below(path: &str, above: &HashSet<&str>) -> bool {
    path.match_indices('/').any(|(at, _)| above.contains(&path[..at]))
}
