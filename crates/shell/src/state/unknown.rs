//! Names that were never given a value: in the mode `literal_unknown` they stay as they were typed.

use std::{collections::HashSet, sync::Arc};

use crate::syntax::Script;

#[derive(Debug, Clone, Default)]
pub(crate) struct UnknownNames {
    /// Names the texts so far gave values to: theirs, however unset.
    pub(crate) known: Arc<HashSet<String>>,
    /// Whether unknown names of the word being expanded stay as typed.
    pub(crate) keep: bool,
}

impl UnknownNames {
    /// Remembers the names of a text that is about to run.
    pub(crate) fn learn(&mut self, script: &Script) {
        // Most lines name what was named before, and then the set is left as it is: what did not change is not saved anew.
        if script.names.iter().any(|it| !self.known.contains(it)) {
            Arc::make_mut(&mut self.known).extend(script.names.iter().cloned());
        }
    }

    /// The same shell's, expanding nothing just now.
    pub(super) fn hollow(&self) -> Self {
        Self { known: Arc::clone(&self.known), keep: false }
    }
}
