//! A tenant's names as one moment had them: read many times, replaced whole.

use std::{collections::HashMap, fs, os::unix::fs::MetadataExt as _, path::Path, sync::Arc};

use drydock_contract::{CommandName, port::Entry};

use super::document::Document;

#[derive(Debug, Default)]
pub(super) struct View {
    /// What was registered. No name of a built-in is among it.
    pub(super) document: Document,
    /// The file this was read from.
    pub(super) stamp: Option<Stamp>,
    /// Why that file could not be read, if so.
    pub(super) damage: Option<String>,
}

/// What one name stands for.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) entry: Entry,
    /// For a multicall command: which module holds which applet.
    pub(super) applets: Option<Arc<HashMap<&'static [u8], Entry>>>,
    /// For an applet: the command it belongs to.
    pub(super) applet_of: Option<CommandName>,
}

impl View {
    pub(super) fn find(&self, name: &str) -> Option<Entry> {
        let (name, bound) = self.document.commands.get_key_value(name)?;
        Some(bound.entry(name.clone()))
    }
}

/// Tells one generation of a file from the next without reading it. Each is a new file under an
/// old name, so the inode differs even when the clock and the length do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: (i64, i64),
    len: u64,
    inode: u64,
}

impl Stamp {
    /// `None` if there is no such file, or none we can see.
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|facts| Self::from(&facts))
    }
}

impl From<&fs::Metadata> for Stamp {
    fn from(facts: &fs::Metadata) -> Self {
        Self { modified: (facts.mtime(), facts.mtime_nsec()), len: facts.len(), inode: facts.ino() }
    }
}
