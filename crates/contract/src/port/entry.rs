//! How a registered module is started, where that is more than its name and its arguments.
//!
//! Data only: who registers it checks it, who starts it honours it. Nothing in it gives a power: directories are
//! shown read-only, and limits stand in for defaults that the caller did not choose himself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CompileLimits, EntryImage, Interruption, LaneChoice, WasmFeatures};
use crate::Digest;

/// Everything about a registered entry besides its name, its hash and its argument mode.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EntryOptions {
    /// What the program sees as its own name, which decides what a multicall binary does. Otherwise the
    /// entry's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv0: Option<String>,
    /// Arguments that come before the caller's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// `NAME=value` entries for names that the caller's environment does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Directories that it sees besides its caller's files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dirs: Vec<EntryDir>,
    /// It goes to the directory that `PWD` names by itself, so it is not given one under the name `.`.
    #[serde(skip_serializing_if = "is_default")]
    pub starts_in_pwd: bool,
    /// Limits in the place of the caller's defaults.
    #[serde(skip_serializing_if = "is_default")]
    pub limits: EntryLimits,
    /// What compiling it may take, where that is more than usual.
    #[serde(skip_serializing_if = "is_default")]
    pub compile: EntryCompile,
    /// How it is brought back to the host.
    #[serde(skip_serializing_if = "is_default")]
    pub lane: Interruption,
    /// What its module needs beyond the common core.
    #[serde(skip_serializing_if = "is_default")]
    pub features: WasmFeatures,
    /// Its snapshot after initialisation, which most of its runs start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<EntryImage>,
}

impl EntryOptions {
    /// The lane that it runs in.
    pub const fn lane(&self) -> LaneChoice {
        LaneChoice { interrupt: self.lane, features: self.features, ..LaneChoice::USUAL }
    }

    /// What compiling it may take, if that was said.
    pub fn compile_limits(&self) -> Option<CompileLimits> {
        let EntryCompile { memory_bytes_max, wall_ms_max } = self.compile;
        let usual = CompileLimits::default();
        (self.compile != EntryCompile::default()).then(|| CompileLimits {
            wall_max: wall_ms_max.map_or(usual.wall_max, Duration::from_millis),
            memory_bytes_max: memory_bytes_max.unwrap_or(usual.memory_bytes_max),
        })
    }
}

/// A directory of an entry: a tree of the store, by its hash, and where the program sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryDir {
    /// The hash of what the tree was made from.
    pub tree: Digest,
    /// Where it is seen: an absolute path of plain names.
    pub path: String,
}

/// Limits of a run that count where the caller left the default. What is not said stays the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EntryLimits {
    /// Memory of one run, host buffers included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes_max: Option<u64>,
    /// Wall clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ms_max: Option<u64>,
    /// Instructions, roughly; nothing where they are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel_max: Option<u64>,
}

/// What compiling the module may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EntryCompile {
    /// Memory of the compile worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes_max: Option<u64>,
    /// Its wall clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ms_max: Option<u64>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
