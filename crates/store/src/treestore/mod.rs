//! Directories that commands are started with: whole, read-only, and named by the hash of what they were made from.
//!
//! A tree is made file by file in a temporary directory and gets its name when it is complete, so that it is there
//! whole or not at all. Beside it lies a list with the hash of each file, by which it can be checked later. Opening
//! a tree looks at nothing in it: whoever can write to the data directory can alter a tree between two checks,
//! as they can alter the names.

mod list;
mod make;
#[cfg(test)]
mod tests;

use std::{fs, io, path::PathBuf};

use drydock_contract::{Digest, port::LoadError};

use crate::{Access, Home, HostDir};
pub use make::{NewTree, PutTreeError, TreeBounds};

/// The most files, directories and links of one tree.
pub const TREE_FILES_MAX: u64 = 100_000;
/// The most bytes of all files of one tree.
pub const TREE_BYTES_MAX: u64 = 4 << 30;

/// The trees of one home.
#[derive(Debug, Clone)]
pub struct TreeStore {
    home: Home,
}

impl TreeStore {
    /// The trees of this home.
    pub fn new(home: &Home) -> Self {
        Self { home: home.clone() }
    }

    /// Where the tree of that hash lies, if it does.
    pub fn path_of(&self, digest: Digest) -> PathBuf {
        self.home.trees().join(digest.to_string())
    }

    /// Whether there is a tree of that hash.
    pub fn contains(&self, digest: Digest) -> bool {
        self.path_of(digest).is_dir() && self.list_of(digest).is_file()
    }

    /// Begins a tree. What is put into it is seen under its name once it is finished; dropped before that, it leaves
    /// nothing behind.
    pub fn begin(&self, digest: Digest, bounds: TreeBounds) -> Result<NewTree, PutTreeError> {
        NewTree::begin(self.clone(), digest, bounds)
    }

    /// The tree as files that nobody can write to.
    pub fn open(&self, digest: Digest) -> Result<HostDir, LoadError> {
        let path = self.path_of(digest);
        HostDir::open(&path, Access::ReadOnly).map_err(|cause| LoadError::Read { path, cause })
    }

    /// Hashes every file of a tree and compares; answers how many bytes were hashed.
    pub fn verify(&self, digest: Digest) -> Result<u64, LoadError> {
        list::verify(&self.path_of(digest), &self.list_of(digest))
    }

    /// Every tree there is.
    pub fn all(&self) -> Vec<Digest> {
        let names = fs::read_dir(self.home.trees()).into_iter().flatten().flatten();
        let mut all: Vec<Digest> =
            names.filter_map(|it| it.file_name().to_str().and_then(|it| it.parse().ok())).collect();
        all.sort();
        all
    }

    /// Removes a tree. Runs that have it open see it empty itself.
    pub fn remove(&self, digest: Digest) -> io::Result<()> {
        let _ = fs::remove_file(self.list_of(digest));
        match fs::remove_dir_all(self.path_of(digest)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn list_of(&self, digest: Digest) -> PathBuf {
        self.home.trees().join(format!("{digest}.list"))
    }
}
