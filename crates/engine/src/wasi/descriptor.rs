//! What a descriptor stands for, whatever number or handle a guest knows it by.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use drydock_contract::{
    Numbered,
    port::{OpenFile, TreePath},
};

use super::{Door, Listing, Web};

/// Something that is open.
pub(crate) enum Descriptor {
    Stdin,
    Stdout,
    Stderr,
    File(OpenedFile),
    Directory(OpenedDirectory),
    /// `/dev/drydock`.
    Door(Door),
    /// `/dev/http`, opened for one request.
    Web(Web),
    /// `/dev/fd/N`, a stream that the run was given under that number.
    Numbered(u32, Numbered),
}

/// A file, and where in it the guest is.
pub(crate) struct OpenedFile {
    pub(crate) file: Arc<dyn OpenFile>,
    pub(crate) position: Arc<Position>,
    /// What is written goes to the end, wherever the position is.
    pub(crate) append: bool,
    /// How long it may get by what this run writes; who writes more is ended.
    pub(crate) bytes_max: Option<u64>,
    /// What is written is on its way to the disk before the call returns.
    pub(crate) synced: bool,
}

impl OpenedFile {
    /// At its beginning.
    pub(crate) fn new(file: Arc<dyn OpenFile>) -> Self {
        Self { file, position: Arc::default(), append: false, bytes_max: None, synced: false }
    }
}

/// Where in a file somebody is: the guest, and the commands that it hands the file to.
#[derive(Debug, Default)]
pub(crate) struct Position(AtomicU64);

impl Position {
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, position: u64) {
        self.0.store(position, Ordering::Relaxed);
    }
}

/// A directory that paths are named from.
pub(crate) struct OpenedDirectory {
    /// Plain names, no link among them: what is named through it stays beneath it.
    pub(crate) path: TreePath,
    /// It is the working directory of a program that knows none: what is named through it may lie anywhere in the
    /// tree (see [`here`](super::here)).
    pub(crate) here: bool,
    /// The listing a reader is walking through, so that its cookies stay good.
    pub(crate) listing: Option<Listing>,
}

impl OpenedDirectory {
    /// The directory at this path, of plain names.
    pub(crate) fn new(path: TreePath) -> Self {
        Self { path, here: false, listing: None }
    }

    /// A program that went to its working directory itself (libc then names everything from the root) says so by a sync of
    /// the directory that it was given for it, which means nothing otherwise: closing it is what libraries between libc
    /// and us do not survive.
    pub(crate) fn stand_for_the_root(&mut self) {
        *self = Self::new(TreePath::root());
    }
}
