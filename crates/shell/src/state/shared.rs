//! What all shells of one line share: the door, the bounds, and what the line has done so far.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64},
    },
};

use drydock_contract::{Limits, port::Clock};
use parking_lot::Mutex;

use crate::{
    Mode, StageRecord,
    door::{Door, Tree},
    inbox::Directory,
    limits::ShellLimits,
    syntax::ast::Function,
    tasks::Tasks,
};

pub(crate) struct Shared {
    pub(crate) door: Arc<dyn Door>,
    /// The door's.
    pub(crate) files: Arc<dyn Tree>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) roots: Vec<String>,
    pub(crate) mode: Mode,
    pub(crate) limits: ShellLimits,
    /// The limits of a command, and of all memory of a line, to name them by.
    pub(crate) stage_limits: Limits,
    pub(crate) line_memory_bytes_max: u64,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) steps: AtomicU64,
    pub(crate) aborted: AtomicBool,
    pub(crate) abort: Mutex<Option<String>>,
    pub(crate) records: Mutex<Vec<StageRecord>>,
    pub(crate) stages: AtomicU64,
    pub(crate) next_id: AtomicU32,
    pub(crate) directory: Directory,
    /// What `export -f` named: the functions of shells that commands start.
    pub(crate) handed: Mutex<HashMap<String, Arc<Function>>>,
}
