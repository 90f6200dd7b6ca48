//! The names as one moment had them: built once, read many times, replaced whole.

use std::{collections::HashMap, fs, os::unix::fs::MetadataExt as _, path::Path, sync::Arc};

use drydock_contract::{CommandName, port::Entry};

use super::{builtin::Builtins, document::Document};

#[derive(Debug)]
pub(super) struct View {
    pub(super) slots: HashMap<CommandName, Slot>,
    /// What was registered, without the built-ins over it.
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
    pub(super) fn empty(builtins: &Builtins) -> Self {
        Self::new(Document::default(), builtins, None)
    }

    pub(super) fn new(document: Document, builtins: &Builtins, stamp: Option<Stamp>) -> Self {
        let registered = document.commands.iter().map(|(name, bound)| {
            let entry = bound.entry(name.clone());
            (name.clone(), Slot { entry, applets: None, applet_of: None })
        });
        let mut slots: HashMap<_, _> = registered.collect();
        // Built-ins go in last: whatever the file says, a trusted name stands for trusted bytes.
        // The order is the defence; do not sort it away.
        slots.extend(builtins.slots.iter().map(|(name, slot)| (name.clone(), slot.clone())));
        Self { slots, document, stamp, damage: None }
    }

    pub(super) fn find(&self, name: &str, first_argument: Option<&[u8]>) -> Option<Entry> {
        let slot = self.slots.get(name)?;
        let applet = match (&slot.applets, first_argument) {
            (Some(applets), Some(argument)) => applets.get(argument),
            _ => None,
        };
        Some(applet.unwrap_or(&slot.entry).clone())
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
