//! The work tree: what lies in it, what changed, and how files are put there.

pub mod checkout;
pub mod ignore;
pub mod walk;

use std::path::Path;

use facts::{Follow, Kind};

use crate::Oid;
use crate::fail::{Done, fatal};
use crate::index::{Entry, Index, Seen};
use crate::object::{FILE, Files, Item, LINK, MODULE, PROGRAM};
use crate::repo::Repo;

/// What became of a file since the index was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Same,
    Gone,
    Changed(Item),
}

impl Repo {
    /// A file's bytes as a blob has them: of a link, where it leads.
    pub fn file_bytes(&self, path: &Path, kind: Kind) -> Done<Vec<u8>> {
        let cannot = |cause: std::io::Error| {
            fatal(format!("could not read '{}': {}", path.display(), place::reason(&cause)))
        };
        if kind == Kind::Symlink {
            let target = std::fs::read_link(path).map_err(cannot)?;
            return Ok(target.as_os_str().as_encoded_bytes().to_vec());
        }
        std::fs::read(path).map_err(cannot)
    }

    /// The mode a file has in the index.
    pub fn mode_of(&self, facts: &facts::Facts, known: Option<u32>) -> u32 {
        match facts.kind {
            Kind::Symlink => LINK,
            Kind::Directory => MODULE,
            _ if self.config.truth("core.filemode") == Some(false) => {
                known.filter(|it| *it == PROGRAM).unwrap_or(FILE)
            }
            _ if facts.mode & 0o100 != 0 => PROGRAM,
            _ => FILE,
        }
    }

    /// What became of an entry's file. The bytes of a changed one are lent to the objects.
    pub fn state(&self, entry: &Entry, index: &Index) -> Done<State> {
        if entry.assume_valid || entry.skip_worktree {
            return Ok(State::Same);
        }
        let path = self.path(&entry.path)?;
        let Ok(facts) = facts::of(&path, Follow::No) else { return Ok(State::Gone) };
        if self.is_behind_link(&entry.path)? {
            return Ok(State::Gone);
        }
        if entry.mode == MODULE {
            return Ok(if facts.kind == Kind::Directory { State::Same } else { State::Gone });
        }
        if facts.kind == Kind::Directory {
            return Ok(State::Gone);
        }
        let mode = self.mode_of(&facts, Some(entry.mode));
        let (seen, now) = (&entry.seen, Seen::of(&facts));
        let same = seen.modified == now.modified && seen.size == now.size && seen.inode == now.inode;
        // A file that changed in the very moment the index was written has its old time and size.
        if same && mode == entry.mode && seen.modified < index.written && !entry.intent_to_add {
            return Ok(State::Same);
        }
        let id = self.odb.lend(gix_object::Kind::Blob, self.file_bytes(&path, facts.kind)?)?;
        let item = Item { mode, id };
        Ok(if item == entry.item() && !entry.intent_to_add { State::Same } else { State::Changed(item) })
    }

    /// Whether a directory on the way to a path is a link: then what lies behind it is not ours.
    pub fn is_behind_link(&self, path: &[u8]) -> Done<bool> {
        use bstr::ByteSlice as _;
        for at in path.find_iter(b"/") {
            let folder = self.path(&path[..at])?;
            if std::fs::symlink_metadata(&folder).is_ok_and(|it| it.is_symlink()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The files of the work tree that the index has, as they are now.
    pub fn tracked(&self, index: &Index) -> Done<Files> {
        let mut all = Files::new();
        for entry in index.entries.iter().filter(|it| it.stage == 0) {
            match self.state(entry, index)? {
                State::Same if entry.intent_to_add => {}
                State::Same => drop(all.insert(entry.path.clone(), entry.item())),
                State::Changed(item) => drop(all.insert(entry.path.clone(), item)),
                State::Gone => {}
            }
        }
        Ok(all)
    }

    /// Keeps a file's bytes and answers the entry of it.
    pub fn take_in(&self, path: &[u8], known: Option<&Entry>) -> Done<Entry> {
        let place = self.path(path)?;
        let facts = facts::of(&place, Follow::No).map_err(|cause| {
            fatal(format!("unable to stat '{}': {}", bstr::BStr::new(path), place::reason(&cause)))
        })?;
        let mode = self.mode_of(&facts, known.map(|it| it.mode));
        let id: Oid = if facts.kind == Kind::Directory {
            nested_head(&place).ok_or_else(|| {
                fatal(format!("'{}/' does not have a commit checked out", bstr::BStr::new(path)))
            })?
        } else {
            self.odb.write(gix_object::Kind::Blob, &self.file_bytes(&place, facts.kind)?)?
        };
        let mut entry = Entry::new(path, 0, Item { mode, id });
        entry.seen = Seen::of(&facts);
        Ok(entry)
    }
}

/// The commit a repository inside this one is at.
fn nested_head(folder: &Path) -> Option<Oid> {
    let git = folder.join(".git");
    let text = std::fs::read_to_string(git.join("HEAD")).ok()?;
    let text = match text.trim_end().strip_prefix("ref: ") {
        Some(name) if crate::repo::refs::is_legal(name) => std::fs::read_to_string(git.join(name)).ok()?,
        Some(_) => return None,
        None => text,
    };
    Oid::from_hex(text.trim_end().as_bytes()).ok()
}
