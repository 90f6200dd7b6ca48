//! What the lower tree was when something of it was first changed: whoever writes the changes there
//! later can tell whether somebody else was faster.

use drydock_contract::{
    Timestamp,
    port::{FileKind, FileResult, Files, Follow, OpenHow, Stat, TreePath},
};

use super::branch::Layers;

const READ_BYTES: usize = 1 << 16;

/// A path of the lower tree as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) facts: Stat,
    /// Of a file's bytes or a link's target, where they were read anyway.
    pub(crate) hash: Option<[u8; 32]>,
}

/// Keeps what was seen.
pub(crate) trait Notes: Send + Sync {
    /// Remembers the path as it was seen now.
    fn note(&self, path: &TreePath, seen: &Seen) -> FileResult<()>;
}

impl Layers {
    /// Notes the path as the lower tree has it. Only for what a guest sees of that tree now: what was
    /// copied up was noted then, and what happened below since is what the note is there to tell.
    pub(super) fn note(&self, path: &TreePath) -> FileResult<()> {
        if self.notes.is_none() {
            return Ok(());
        }
        self.note_as(path, &self.lower.stat(path, Follow::No)?, None)
    }

    /// The same, with what is known of it already.
    pub(super) fn note_as(&self, path: &TreePath, facts: &Stat, hash: Option<[u8; 32]>) -> FileResult<()> {
        let Some(notes) = &self.notes else { return Ok(()) };
        notes.note(path, &Seen { facts: *facts, hash })
    }
}

impl Seen {
    /// Whether the tree still has there what was seen.
    pub(crate) fn is_still(&self, files: &dyn Files, path: &TreePath) -> FileResult<bool> {
        let now = files.stat(path, Follow::No)?;
        let before = self.facts;
        if now.kind != before.kind || now.kind == FileKind::Directory {
            return Ok(now.kind == before.kind);
        }
        let told = |it: &Stat| (it.size, it.modified, it.changed, it.inode);
        if told(&now) == told(&before) {
            return Ok(true);
        }
        // Touched, moved away and back, given other rights: what counts is what is in it.
        match self.hash {
            Some(hash) if now.size == before.size => Ok(hash_of(files, path, now.kind)? == hash),
            // Nobody read it. Other permissions explain that something changed, if nothing else did.
            None if now.mode != before.mode => {
                let content = |it: &Stat| (it.size, it.modified, it.inode);
                Ok(content(&now) == content(&before))
            }
            _ => Ok(false),
        }
    }
}

/// The hash of a file's bytes or a link's target.
pub(crate) fn hash_of(files: &dyn Files, path: &TreePath, kind: FileKind) -> FileResult<[u8; 32]> {
    if kind == FileKind::Symlink {
        return Ok(*blake3::hash(files.read_link(path)?.as_bytes()).as_bytes());
    }
    let how = OpenHow { read: true, nofollow: true, ..OpenHow::default() };
    let file = files.open(path, how, Timestamp::default())?;
    let (mut hasher, mut at, mut buffer) = (blake3::Hasher::new(), 0, vec![0; READ_BYTES]);
    loop {
        let count = file.read_at(at, &mut buffer)?;
        if count == 0 {
            return Ok(*hasher.finalize().as_bytes());
        }
        hasher.update(&buffer[..count]);
        at += count as u64;
    }
}
