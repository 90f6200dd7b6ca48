//! Making a tree from the members of an archive, which anyone may have written.
//!
//! Every path is checked before anything is made: plain names below the tree, none twice, nothing beneath a file or
//! a link, so that no write goes through a link. Links are kept if they stay inside, and refused by name otherwise.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, symlink},
    path::{Path, PathBuf},
};

use drydock_contract::{Digest, port::TreePath};

use super::{TREE_BYTES_MAX, TREE_FILES_MAX, TreeStore, list};
use crate::{
    DEPTH_MAX,
    home::{Durability, sync_dir, temporary_path, write_atomic},
    host::stays_inside,
};

/// Up to so many files are made to survive one by one; with more, the whole disk is asked at once.
const SYNCED_ALONE_MAX: u64 = 16;

/// What one tree may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeBounds {
    /// Files, directories and links.
    pub files_max: u64,
    /// Bytes of all files.
    pub bytes_max: u64,
}

impl Default for TreeBounds {
    fn default() -> Self {
        Self { files_max: 20_000, bytes_max: 1 << 30 }
    }
}

/// Why a tree was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PutTreeError {
    /// A member's path leads out of the tree, or is none.
    #[error("`{0}` is no path of plain names inside the directory")]
    Path(String),
    /// A member's path is taken, or lies beneath something that is no directory.
    #[error("`{0}` is there twice, or lies beneath something that is no directory")]
    Taken(String),
    /// A link leads out of the tree.
    #[error("the link `{path}` leads to `{target}`, out of the directory")]
    Link {
        /// The link.
        path: String,
        /// What it says.
        target: String,
    },
    /// There is too much.
    #[error("more than {max} {what}")]
    TooMuch {
        /// Files or bytes.
        what: &'static str,
        /// The limit.
        max: u64,
    },
    /// The disk did not take it.
    #[error("could not write `{path}`")]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
}

impl PutTreeError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Path(_) | Self::Taken(_) | Self::Link { .. } => "bad_tree",
            Self::TooMuch { .. } => "tree_too_large",
            Self::Write { .. } => "write_failed",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dir,
    Leaf,
}

/// A tree that is being made.
#[derive(Debug)]
pub struct NewTree {
    store: TreeStore,
    digest: Digest,
    bounds: TreeBounds,
    root: PathBuf,
    names: BTreeMap<String, Kind>,
    hashes: BTreeMap<String, Digest>,
    bytes: u64,
    done: bool,
}

impl NewTree {
    pub(super) fn begin(store: TreeStore, digest: Digest, bounds: TreeBounds) -> Result<Self, PutTreeError> {
        let bounds = TreeBounds {
            files_max: bounds.files_max.min(TREE_FILES_MAX),
            bytes_max: bounds.bytes_max.min(TREE_BYTES_MAX),
        };
        let named = store.path_of(digest);
        let failed = |cause| PutTreeError::Write { path: named.clone(), cause };
        let root = temporary_path(&named).map_err(failed)?;
        make_dir(&root).map_err(failed)?;
        let (names, hashes) = Default::default();
        Ok(Self { store, digest, bounds, root, names, hashes, bytes: 0, done: false })
    }

    /// Puts a file. Of its mode only whether it may be executed counts: nobody can write to it.
    pub fn file(&mut self, path: &str, bytes: &[u8], mode: u32) -> Result<(), PutTreeError> {
        let path = normal(path)?;
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > self.bounds.bytes_max {
            return Err(PutTreeError::TooMuch { what: "bytes", max: self.bounds.bytes_max });
        }
        self.claim(&path, Kind::Leaf)?;
        let mode = if mode & 0o111 == 0 { 0o444 } else { 0o555 };
        self.hashes.insert(path.clone(), Digest::of(bytes));
        let alone = self.hashes.len() as u64 <= SYNCED_ALONE_MAX;
        self.write(&path, |place| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(place)?;
            file.write_all(bytes)?;
            if alone { file.sync_all() } else { Ok(()) }
        })
    }

    /// Puts a directory, which may be there already.
    pub fn dir(&mut self, path: &str) -> Result<(), PutTreeError> {
        // Archives name their own root.
        if matches!(path.trim_end_matches('/'), "" | ".") && !path.starts_with('/') {
            return Ok(());
        }
        let path = normal(path.trim_end_matches('/'))?;
        if self.names.get(&path) == Some(&Kind::Dir) {
            return Ok(());
        }
        self.claim(&path, Kind::Dir)?;
        self.write(&path, make_dir)
    }

    /// Puts a symbolic link that stays inside the tree.
    pub fn link(&mut self, path: &str, target: &str) -> Result<(), PutTreeError> {
        let path = normal(path)?;
        let depth = path.split('/').count() - 1;
        if target.is_empty() || target.contains('\0') || !stays_inside(target, depth) {
            return Err(PutTreeError::Link { path: shown(&path), target: shown(target) });
        }
        self.claim(&path, Kind::Leaf)?;
        self.write(&path, |place| symlink(target, place))
    }

    /// Gives the tree its name; answers how many files, directories and links it has. A tree of that name that was
    /// made meanwhile stays, because it was made from the same bytes.
    pub fn finish(mut self) -> Result<u64, PutTreeError> {
        let named = self.store.path_of(self.digest);
        let failed = |cause| PutTreeError::Write { path: named.clone(), cause };
        if self.hashes.len() as u64 > SYNCED_ALONE_MAX {
            let opened = fs::File::open(&self.root).map_err(failed)?;
            rustix::fs::syncfs(&opened).map_err(|errno| failed(errno.into()))?;
        }
        let list = list::print(&self.hashes);
        write_atomic(&self.store.list_of(self.digest), &[list.as_bytes()], Durability::Power)
            .map_err(failed)?;
        match fs::rename(&self.root, &named) {
            Ok(()) => self.done = true,
            Err(_) if named.is_dir() => {}
            Err(error) => return Err(failed(error)),
        }
        named.parent().map_or(Ok(()), sync_dir).map_err(failed)?;
        Ok(self.names.len() as u64)
    }

    /// Takes a name, and the directories above it, in the list.
    fn claim(&mut self, path: &str, kind: Kind) -> Result<(), PutTreeError> {
        let ends = path.match_indices('/').map(|(at, _)| at);
        for parent in ends.map(|at| &path[..at]) {
            match self.names.get(parent) {
                Some(Kind::Dir) => {}
                Some(Kind::Leaf) => return Err(PutTreeError::Taken(shown(path))),
                None => {
                    self.take(parent, Kind::Dir)?;
                    self.write(parent, make_dir)?;
                }
            }
        }
        match self.names.contains_key(path) {
            true => Err(PutTreeError::Taken(shown(path))),
            false => self.take(path, kind),
        }
    }

    fn take(&mut self, path: &str, kind: Kind) -> Result<(), PutTreeError> {
        if self.names.len() as u64 >= self.bounds.files_max {
            return Err(PutTreeError::TooMuch { what: "files", max: self.bounds.files_max });
        }
        self.names.insert(path.to_owned(), kind);
        Ok(())
    }

    fn write(&self, path: &str, act: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), PutTreeError> {
        let place = self.root.join(path);
        act(&place).map_err(|cause| PutTreeError::Write { path: place, cause })
    }
}

impl Drop for NewTree {
    fn drop(&mut self) {
        if !self.done {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

fn make_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o755).create(path)
}

/// The path without a `./` in front, if it is one of plain names.
fn normal(path: &str) -> Result<String, PutTreeError> {
    let path = path.strip_prefix("./").unwrap_or(path);
    if is_plain(path) { Ok(path.to_owned()) } else { Err(PutTreeError::Path(shown(path))) }
}

/// Whether a path consists of names that can be made, and nothing else.
pub(super) fn is_plain(path: &str) -> bool {
    let plain = |name: &str| {
        !name.is_empty() && name != "." && name != ".." && !name.chars().any(|it| it.is_control())
    };
    TreePath::new(path).is_ok() && path.split('/').all(plain) && path.split('/').count() <= DEPTH_MAX
}

fn shown(text: &str) -> String {
    text.chars().take(120).collect::<String>().escape_default().to_string()
}
