//! Who a shell is among the shells of its line.

use std::sync::{Arc, atomic::Ordering};

use drydock_abi::shell::TextFrom;

use super::Shared;
use crate::origin::Origin;

#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// `BASHPID`.
    pub(crate) id: u32,
    /// `$$`: the number of the shell that this is, or is a subshell of.
    pub(crate) pid: u32,
    /// Subshells around this one, in all.
    pub(crate) subshell: u32,
    /// Subshells around the shell this belongs to: above 0 for `bash -c` inside a script.
    pub(crate) shell_level: u32,
    /// Which calls and random numbers are its own.
    pub(crate) origin: Origin,
    /// `$0`.
    pub(crate) name: Arc<str>,
    /// Where its text comes from.
    pub(crate) text_from: TextFrom,
    pub(crate) interactive: bool,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            id: 0,
            pid: 1,
            subshell: 0,
            shell_level: 0,
            origin: Origin::default(),
            name: "bash".into(),
            text_from: TextFrom::default(),
            interactive: false,
        }
    }
}

impl Identity {
    pub(super) fn fork(&self, shared: &Shared) -> Self {
        Self {
            id: shared.next_id.fetch_add(1, Ordering::Relaxed),
            subshell: self.subshell + 1,
            origin: self.origin.child(),
            name: Arc::clone(&self.name),
            ..*self
        }
    }

    /// The text the shell began with, as `BASH_SOURCE` names it.
    pub(crate) fn base_name(&self) -> Arc<str> {
        match self.text_from {
            TextFrom::File => Arc::clone(&self.name),
            TextFrom::Stdin => "main".into(),
            TextFrom::Argument => "environment".into(),
        }
    }

    /// Whether the text is a file, which stack traces then name.
    pub(crate) fn is_script_file(&self) -> bool {
        self.text_from == TextFrom::File
    }

    /// Whether this is a subshell, and not the shell itself.
    pub(crate) fn is_subshell(&self) -> bool {
        self.subshell > self.shell_level
    }
}
