//! `guests.lock.json`: what each committed module is, and what it was made of.

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// One module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    pub file: String,
    pub sha256: String,
    pub size: u64,
    /// Only for the parts of `wbox`.
    #[serde(default)]
    pub applets: Vec<String>,
    /// `command`, or `runtime` for a module that only a front end starts.
    #[serde(default = "command")]
    pub kind: String,
    /// Over the guest's own files and `guests/Cargo.lock`.
    pub sources_sha256: String,
    pub toolchain: String,
    pub crates: BTreeMap<String, String>,
}

fn command() -> String {
    "command".to_owned()
}

/// All modules, by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lock(Vec<Entry>);

impl Lock {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
        Ok(Self(serde_json::from_str(&text)?))
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.0)? + "\n";
        std::fs::write(path, text).with_context(|| format!("could not write {}", path.display()))
    }

    /// With `entries` in the place of older ones of the same names.
    pub fn with(self, entries: Vec<Entry>) -> Self {
        let mut all = self.0;
        all.retain(|old| entries.iter().all(|new| new.name != old.name));
        all.extend(entries);
        all.sort_by(|left, right| left.name.cmp(&right.name));
        Self(all)
    }

    /// Every entry.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// The entry of that name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, size: u64) -> Entry {
        Entry {
            name: name.to_owned(),
            file: format!("{name}.wasm"),
            sha256: String::new(),
            size,
            applets: Vec::new(),
            kind: command(),
            sources_sha256: String::new(),
            toolchain: String::new(),
            crates: BTreeMap::new(),
        }
    }

    #[test]
    fn a_rebuilt_guest_replaces_its_entry_and_leaves_the_others() {
        let lock = Lock::default().with(vec![entry("jq", 1), entry("grep", 1)]).with(vec![entry("jq", 2)]);
        let sizes: Vec<(&str, u64)> = lock.entries().iter().map(|it| (it.name.as_str(), it.size)).collect();
        assert_eq!(sizes, [("grep", 1), ("jq", 2)]);
    }
}
