//! `files.list.v1` and `files.open.v1` over the session's files: the names of the root, read only.

use std::sync::Arc;

use drydock_abi::lembeh::{
    HFLAG_READABLE, Opened, Trace,
    files::{ENTRY_DIRECTORY, ENTRY_READABLE},
};
use drydock_contract::{
    Timestamp,
    port::{FileKind, Files, Follow, OpenHow, TreePath},
    text,
};

use super::{desk::Desk, handle::Handle};
use crate::policy::files::{FilesPolicy, Seen};

impl Desk {
    /// A handle of a file that may be opened.
    pub(super) fn open_file(&mut self, seen: &Seen) -> Result<Vec<u8>, Trace> {
        let files = self.files.as_ref().ok_or(Trace::FileNotFound)?;
        let name = String::from_utf8(seen.id.clone()).map_err(|_| Trace::FileNotFound)?;
        let path = TreePath::new(&name).map_err(|_| Trace::FileNotFound)?;
        let how = OpenHow { read: true, ..OpenHow::NONE };
        let file = files.open(&path, how, Timestamp(0)).map_err(|_| Trace::FileNotReadable)?;
        let left = match self.policy.files.as_ref().map_or(0, |it| it.read_bytes_max) {
            0 => u64::MAX,
            bytes => bytes,
        };
        let handle = Handle::File { file: Some(file), at: 0, left };
        let handle = self.handles.add(handle, &self.meter).ok_or(Trace::AsyncOverflow)?;
        let mut value = Vec::new();
        let opened = Opened { handle, hflags: HFLAG_READABLE, meta: &[] };
        opened.put(&mut value).map_err(|_| Trace::AsyncOverflow)?;
        Ok(value)
    }

    /// What the root holds now.
    pub(super) fn seen(&self, policy: &FilesPolicy) -> Vec<Seen> {
        self.files.as_ref().map_or_else(Vec::new, |it| seen(it, policy))
    }
}

/// What the root holds: its names as they are in the tree, and what a person reads of them.
fn seen(files: &Arc<dyn Files>, policy: &FilesPolicy) -> Vec<Seen> {
    let entries = files.read_dir(&TreePath::root()).unwrap_or_default();
    let wanted = |name: &str| {
        policy.extensions.is_empty() || policy.extensions.iter().any(|end| name.ends_with(end.as_str()))
    };
    let seen = |name: String| {
        // A link is what it leads to; one that leads nowhere is not there.
        let kind = files.stat(&TreePath::new(&name).ok()?, Follow::Yes).ok()?.kind;
        let flags = match kind {
            FileKind::File => ENTRY_READABLE,
            FileKind::Directory => ENTRY_DIRECTORY,
            FileKind::Symlink => return None,
        };
        let display = text::printable(&name).to_string();
        Some(Seen { id: name.into_bytes(), display, flags })
    };
    entries.into_iter().map(|it| it.name).filter(|it| wanted(it)).filter_map(seen).collect()
}
