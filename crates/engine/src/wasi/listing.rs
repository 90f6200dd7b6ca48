//! What is in a directory, as it was when somebody began to read it: names made or removed meanwhile neither repeat nor
//! hide others.

use std::sync::Arc;

use drydock_contract::{
    Meter,
    port::{DirEntry, FileKind, Follow, TreePath},
};

use super::Errno;
use crate::guest::{Guest, Held};

/// A listing, on the run's bill for as long as it is kept.
pub(crate) struct Listing {
    entries: Vec<DirEntry>,
    _held: Held,
}

impl Listing {
    /// The names in the directory now, `.` and `..` first; not on the bill yet.
    pub(crate) fn look(guest: &mut Guest, path: &TreePath) -> Result<Vec<DirEntry>, Errno> {
        let files = guest.files();
        let inode = files.stat(path, Follow::Yes)?.inode;
        let dots = [".", ".."].map(|name| DirEntry { name: name.into(), kind: FileKind::Directory, inode });
        let mut entries = Vec::from(dots);
        entries.extend(files.read_dir(path)?);
        Ok(entries)
    }

    /// Takes the names on the bill, if there is room.
    pub(crate) fn new(entries: Vec<DirEntry>, meter: &Arc<Meter>) -> Result<Self, Errno> {
        let bytes = entries.iter().map(|it| (size_of::<DirEntry>() + it.name.capacity()) as u64).sum();
        let held = Held::take(meter, bytes).ok_or(Errno::FullBytes)?;
        Ok(Self { entries, _held: held })
    }

    pub(crate) fn entries(&self) -> &[DirEntry] {
        &self.entries
    }
}
