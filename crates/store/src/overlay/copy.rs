//! From the lower tree into the upper one, and whiteouts. A copy is whole before it has its name:
//! whatever kills us, the name stands for the old file or the new. A copy is made in slices between
//! which the clock is looked at; one that is given up leaves nothing.

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileResult, FileTimes, Follow, OpenFile, OpenHow, Stat, TreePath},
};

use std::sync::Arc;

use crate::tree::Node;

use super::{
    branch::{Dir, Layers, Leaf, OURS, kind, told},
    handle::Known,
};

/// How much is copied at once.
const COPY_BYTES: usize = 1 << 16;
/// How much of a hole is passed at once.
const HOLE_BYTES: u64 = 16 << 20;

const MAKE: OpenHow =
    OpenHow { read: true, write: true, create: true, exclusive: true, nofollow: true, ..OpenHow::NONE };
const READ: OpenHow = OpenHow { read: true, nofollow: true, ..OpenHow::NONE };

impl Layers {
    /// Makes the directory in the upper tree, if that has it not, and those above it.
    pub(super) fn raise(&self, dir: &Dir, now: Timestamp) -> FileResult<()> {
        if dir.upper {
            return Ok(());
        }
        let text = dir.path.as_str();
        let ends = text.match_indices('/').map(|(at, _)| at).chain([text.len()]);
        for end in ends {
            let path = TreePath::new(&text[..end])?;
            if kind(&*self.upper, &path)?.is_some() {
                continue;
            }
            let facts = self.lower.stat(&path, Follow::No)?;
            self.note(&path)?;
            self.unnoticed(&path, now, || {
                self.upper.create_dir(&path, facts.mode, now)?;
                self.upper.set_times(&path, Follow::No, as_before(&facts), now)
            })?;
        }
        Ok(())
    }

    /// Copies a file or a link up, the first `bytes_max` bytes of it.
    pub(super) fn copy_up(
        &self,
        known: &mut Known,
        leaf: &Leaf,
        bytes_max: Option<u64>,
        now: Timestamp,
    ) -> FileResult<()> {
        let parent = leaf.path.as_str().rsplit_once('/').map_or("", |it| it.0);
        self.raise_path(parent, now)?;
        let facts = self.lower.stat(&leaf.path, Follow::No)?;
        let temporary = TreePath::new(&format!("{OURS}.copy"))?;
        self.drop_leftover(&temporary, now)?;
        if facts.kind == FileKind::Symlink {
            let target = self.lower.read_link(&leaf.path)?;
            self.note_as(&leaf.path, &facts, Some(*blake3::hash(target.as_bytes()).as_bytes()))?;
            self.upper.symlink(&target, &temporary, now)?;
        } else {
            let source = self.lower.open(&leaf.path, READ, now)?;
            let copy = self.upper.open(&temporary, OpenHow { mode: facts.mode, ..MAKE }, now)?;
            let copied = copy_bytes(known, &*source, &*copy, bytes_max.unwrap_or(facts.size), now);
            // The facts are from before it was read: a change in the middle does not go unnoticed.
            let noted = copied.and_then(|hash| {
                let hash = if bytes_max.is_none() { Some(hash) } else { None };
                self.note_as(&leaf.path, &facts, hash)
            });
            if let Err(error) = noted {
                drop(copy);
                self.drop_leftover(&temporary, now)?;
                return Err(error);
            }
            known.copied(leaf.path.as_str(), copy);
        }
        self.upper.set_times(&temporary, Follow::No, as_before(&facts), now)?;
        self.unnoticed(&leaf.path, now, || self.upper.rename(&temporary, &leaf.path, now))?;
        let inode = self.upper.stat(&leaf.path, Follow::No)?.inode;
        known.inodes.insert(inode, told(facts.inode, false));
        Ok(())
    }

    /// Brings a node into the upper tree, and tells where it is there.
    pub(super) fn raise_node(
        &self,
        known: &mut Known,
        node: Node<Arc<Dir>, Leaf>,
        now: Timestamp,
    ) -> FileResult<TreePath> {
        match node {
            Node::Dir(dir) => {
                self.raise(&dir, now)?;
                Ok(dir.path.clone())
            }
            Node::File(leaf) | Node::Link(leaf) => {
                if !leaf.upper {
                    self.copy_up(known, &leaf, None, now)?;
                }
                Ok(leaf.path)
            }
        }
    }

    /// A copy of an open file that has no name any more.
    pub(super) fn copy_nameless(
        &self,
        known: &Known,
        source: &dyn OpenFile,
        now: Timestamp,
    ) -> FileResult<Arc<dyn OpenFile>> {
        let temporary = TreePath::new(&format!("{OURS}.copy"))?;
        self.drop_leftover(&temporary, now)?;
        let copy = self.upper.open(&temporary, MAKE, now)?;
        self.upper.unlink(&temporary, now)?;
        let facts = source.stat()?;
        copy.set_mode(facts.mode, now)?;
        copy_bytes(known, source, &*copy, facts.size, now)?;
        Ok(copy)
    }

    /// Hides what the lower tree shows under a name.
    pub(super) fn hide(&self, dir: &Dir, name: &str, now: Timestamp) -> FileResult<()> {
        if !self.lower_shows(dir, name)? {
            return Ok(());
        }
        let path = dir.below(name)?;
        if !dir.upper || kind(&*self.upper, &path)?.is_none() {
            self.note(&path)?;
        }
        self.raise(dir, now)?;
        match self.upper.open(&dir.whiteout(name)?, MAKE, now) {
            Ok(_) | Err(FileError::Exists) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes a directory that shows nothing.
    pub(super) fn remove_dir(&self, parent: &Dir, name: &str, dir: &Dir, now: Timestamp) -> FileResult<()> {
        self.hide(parent, name, now)?;
        if !dir.upper {
            return Ok(());
        }
        self.clear_whiteouts(dir, now)?;
        self.upper.remove_dir(&dir.path, now)
    }

    /// Only for a directory that is hidden itself, or has no lower one.
    pub(super) fn clear_whiteouts(&self, dir: &Dir, now: Timestamp) -> FileResult<()> {
        for entry in self.upper.read_dir(&dir.path)? {
            if entry.name.starts_with(OURS) {
                self.upper.unlink(&dir.below(&entry.name)?, now)?;
            }
        }
        Ok(())
    }

    fn raise_path(&self, text: &str, now: Timestamp) -> FileResult<()> {
        use crate::tree::Branches as _;
        let mut dir = self.root()?;
        for name in text.split('/').filter(|it| !it.is_empty()) {
            match self.look(&dir, name)? {
                Some(Node::Dir(below)) => dir = below,
                _ => return Err(FileError::NotFound),
            }
        }
        self.raise(&dir, now)
    }

    fn drop_leftover(&self, temporary: &TreePath, now: Timestamp) -> FileResult<()> {
        match self.upper.unlink(temporary, now) {
            Err(FileError::NotFound) => Ok(()),
            done => done,
        }
    }

    /// Changes a name in the upper tree without the directory's times telling.
    fn unnoticed(
        &self,
        path: &TreePath,
        now: Timestamp,
        act: impl FnOnce() -> FileResult<()>,
    ) -> FileResult<()> {
        let parent = TreePath::new(path.as_str().rsplit_once('/').map_or("", |it| it.0))?;
        let before = self.upper.stat(&parent, Follow::No)?;
        act()?;
        self.upper.set_times(&parent, Follow::No, as_before(&before), now)
    }
}

fn as_before(facts: &Stat) -> FileTimes {
    FileTimes { accessed: Some(facts.accessed), modified: Some(facts.modified) }
}

/// Copies the first `len` bytes, holes as holes, and answers the hash of what was copied. The copy has
/// its length first, so that one that has no room is refused before a byte is read.
fn copy_bytes(
    known: &Known,
    source: &dyn OpenFile,
    copy: &dyn OpenFile,
    len: u64,
    now: Timestamp,
) -> FileResult<[u8; 32]> {
    copy.set_len(len, now)?;
    let (mut at, mut buffer, mut hasher) = (0, vec![0; COPY_BYTES], blake3::Hasher::new());
    while at < len {
        known.check_time()?;
        let data = source.next_data(at)?.clamp(at, len);
        if data > at {
            // A slice of the hole; what it reads as belongs to the hash.
            let slice = (data - at).min(HOLE_BYTES);
            hash_zeros(&mut hasher, slice);
            at += slice;
            continue;
        }
        let rest = usize::try_from(len - at).unwrap_or(usize::MAX).min(COPY_BYTES);
        let count = source.read_at(at, &mut buffer[..rest])?;
        if count == 0 {
            // Somebody cut it meanwhile.
            copy.set_len(at, now)?;
            break;
        }
        hasher.update(&buffer[..count]);
        copy.write_at(at, &buffer[..count], now)?;
        at += count as u64;
    }
    Ok(*hasher.finalize().as_bytes())
}

fn hash_zeros(hasher: &mut blake3::Hasher, mut count: u64) {
    static ZEROS: [u8; COPY_BYTES] = [0; COPY_BYTES];
    while count > 0 {
        let part = usize::try_from(count).unwrap_or(usize::MAX).min(COPY_BYTES);
        hasher.update(&ZEROS[..part]);
        count -= part as u64;
    }
}
