//! What is known of each row: docs/catalog.json, written by a run that tried them.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

const PATH: &str = "docs/catalog.json";

/// The last trial of a row.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Proof {
    /// `proven`, `unproven` or `unavailable`.
    pub(super) state: String,
    /// The day it was tried.
    pub(super) date: String,
    /// Why it is not proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    /// Bytes of the module.
    #[serde(default)]
    pub(super) size: u64,
    /// Adding it, with fetching and compiling.
    #[serde(default)]
    pub(super) add_ms: u64,
    /// Of that, compiling the module for the machine, and making and compiling its snapshot.
    #[serde(default)]
    pub(super) compile_ms: u64,
    /// Its checks.
    #[serde(default)]
    pub(super) check_ms: u64,
}

impl Proof {
    pub(super) fn proven(size: u64, add_ms: u64, check_ms: u64) -> Self {
        Self { state: "proven".into(), date: today(), why: None, size, add_ms, compile_ms: 0, check_ms }
    }

    pub(super) fn failed(why: &str) -> Self {
        // A page is read by people: the first line of what was said, and not too much of it.
        let why: String = why.lines().next().unwrap_or_default().chars().take(160).collect();
        Self { state: "unproven".into(), why: Some(why), ..Self::proven(0, 0, 0) }
    }

    pub(super) fn unavailable(why: &str) -> Self {
        Self { state: "unavailable".into(), why: Some(why.to_owned()), ..Self::proven(0, 0, 0) }
    }

    pub(super) fn is_proven(&self) -> bool {
        self.state == "proven"
    }

    pub(super) fn summary(&self) -> String {
        match &self.why {
            Some(why) => format!("{}: {why}", self.state),
            None => self.state.clone(),
        }
    }
}

/// The trials of all rows.
#[derive(Debug, Clone, Default)]
pub(super) struct States(BTreeMap<String, Proof>);

impl States {
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        match fs::read_to_string(root.join(PATH)) {
            Ok(text) => {
                Ok(Self(serde_json::from_str(&text).with_context(|| format!("{PATH} cannot be read"))?))
            }
            Err(_) => Ok(Self::default()),
        }
    }

    pub(super) fn write(&self, root: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(&self.0)?;
        Ok(fs::write(root.join(PATH), format!("{text}\n"))?)
    }

    pub(super) fn set(&mut self, row: &str, proof: Proof) {
        self.0.insert(row.to_owned(), proof);
    }

    pub(super) fn of(&self, row: &str) -> Option<&Proof> {
        self.0.get(row)
    }
}

fn today() -> String {
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    date.map_or_else(|_| "unknown".into(), |it| String::from_utf8_lossy(&it.stdout).trim().to_owned())
}
