//! Traps, and the signals they wait for.

use std::{collections::HashMap, sync::Arc};

use crate::{inbox::Inbox, options::Options, syntax::Script};

/// What a trap does.
#[derive(Clone)]
pub(crate) struct Trap {
    pub(crate) text: String,
    pub(crate) script: Option<Arc<Script>>,
    /// The trap of the shell around this one: it is listed, and does not run.
    pub(crate) inert: bool,
}

pub(crate) struct Traps {
    pub(crate) set: Arc<HashMap<String, Trap>>,
    /// Where signals to the shell arrive.
    pub(crate) inbox: Arc<Inbox>,
    /// Whether this is the shell or job the inbox belongs to, and no subshell of it.
    pub(crate) owns_inbox: bool,
    /// Whether a trap runs just now.
    pub(crate) is_running: bool,
    /// The status an EXIT trap began with: what `exit` alone means in it.
    pub(crate) exit_status: Option<i32>,
}

impl Default for Traps {
    fn default() -> Self {
        Self {
            set: Arc::default(),
            inbox: Arc::default(),
            owns_inbox: true,
            is_running: false,
            exit_status: None,
        }
    }
}

impl Traps {
    /// A subshell lists its parent's traps and runs none, save what `-E` and `-T` hand on and what is ignored.
    pub(super) fn fork(&self, options: &Options) -> Self {
        let is_kept = |name: &str, trap: &Trap| match name {
            "ERR" => options.errtrace,
            "DEBUG" | "RETURN" => options.functrace,
            _ => trap.text.is_empty(),
        };
        let mut set = Arc::clone(&self.set);
        if set.iter().any(|(name, trap)| !trap.inert && !is_kept(name, trap)) {
            for (name, trap) in Arc::make_mut(&mut set) {
                trap.inert |= !is_kept(name, trap);
            }
        }
        let (inbox, exit_status) = (Arc::clone(&self.inbox), self.exit_status);
        Self { set, inbox, owns_inbox: false, is_running: false, exit_status }
    }

    /// The same shell's, with nothing set.
    pub(super) fn hollow(&self) -> Self {
        Self { inbox: Arc::clone(&self.inbox), owns_inbox: self.owns_inbox, ..Self::default() }
    }

    /// Listens for signals of its own, as a job and a shell inside the shell do.
    pub(crate) fn own_inbox(&mut self, inbox: Arc<Inbox>) {
        self.inbox = inbox;
        self.owns_inbox = true;
    }

    /// Whether a trap is there to run.
    pub(crate) fn has(&self, name: &str) -> bool {
        !self.set.is_empty() && self.set.get(name).is_some_and(|trap| !trap.inert)
    }

    pub(crate) fn set_mut(&mut self) -> &mut HashMap<String, Trap> {
        Arc::make_mut(&mut self.set)
    }
}

#[test]
fn a_subshell_lists_its_parents_traps_and_runs_only_what_is_handed_on() {
    let trap = |text: &str| Trap { text: text.into(), script: None, inert: false };
    let mut traps = Traps::default();
    for (name, text) in [("EXIT", "echo"), ("INT", ""), ("ERR", "echo")] {
        traps.set_mut().insert(name.into(), trap(text));
    }
    let mut options = Options::default();
    options.errtrace = true;
    let inner = traps.fork(&options);
    let runs = |name: &str| inner.has(name);
    assert!(!runs("EXIT") && runs("INT") && runs("ERR") && inner.set.contains_key("EXIT"));
    // Nothing is left to switch off, so the next one shares the list.
    assert!(Arc::ptr_eq(&inner.set, &inner.fork(&options).set) && traps.has("EXIT"));
}
