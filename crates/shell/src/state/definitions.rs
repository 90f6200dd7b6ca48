//! What names mean to a shell besides variables and commands: functions and aliases, and what `hash` and `complete` were
//! told. A line changes little of it and its subshells less, so all of it is shared until written to.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::syntax::{Aliases, ast::Function};

#[derive(Clone, Default)]
pub(crate) struct Definitions {
    pub(crate) functions: Arc<HashMap<String, Arc<Function>>>,
    /// Where each function was defined.
    pub(crate) defined_in: Arc<HashMap<String, Arc<str>>>,
    /// Functions that a shell inside this one has too.
    pub(crate) exported_functions: Arc<BTreeSet<String>>,
    pub(crate) aliases: Arc<Aliases>,
    /// Their expansion was asked for, and refused.
    pub(crate) aliases_refused: bool,
    /// Where commands were found, or `hash` was told they are, and how often they ran.
    pub(crate) hashed: Arc<BTreeMap<String, Hashed>>,
    /// What `complete` was told.
    pub(crate) completions: Arc<BTreeMap<String, String>>,
}

/// Where a command is, and how often it ran. Running one is no change of the table: all that share it count together.
#[derive(Debug, Default)]
pub(crate) struct Hashed {
    pub(crate) path: String,
    hits: AtomicU32,
}

impl Hashed {
    pub(crate) fn new(path: String, hits: u32) -> Self {
        Self { path, hits: AtomicU32::new(hits) }
    }

    pub(crate) fn hits(&self) -> u32 {
        self.hits.load(Ordering::Relaxed)
    }

    pub(crate) fn hit(&self, runs: u32) {
        self.hits.store(self.hits().saturating_add(runs), Ordering::Relaxed);
    }
}

impl Clone for Hashed {
    fn clone(&self) -> Self {
        Self::new(self.path.clone(), self.hits())
    }
}
