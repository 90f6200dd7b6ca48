//! What every shell is given: a script, its input, and the answer that counts as one.

use std::path::Path;

use anyhow::Context as _;
use serde_json::json;

/// One script.
pub(crate) struct Scenario {
    pub(crate) script: String,
    pub(crate) stdin: Vec<u8>,
    pub(crate) wanted: Vec<u8>,
}

impl Scenario {
    pub(crate) fn of(script: &str, stdin: &[u8], wanted: Vec<u8>) -> Self {
        Self { script: script.into(), stdin: stdin.into(), wanted }
    }
}

/// A file of them, for the programs that are asked by name.
pub(crate) struct Scenarios(tempfile::NamedTempFile);

impl Scenarios {
    pub(crate) fn write(all: &[(&str, Scenario)]) -> anyhow::Result<Self> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let entry = |(name, it): &(&str, Scenario)| {
            let value = json!({ "script": it.script, "stdin": text(&it.stdin), "wanted": text(&it.wanted) });
            ((*name).to_owned(), value)
        };
        let object: serde_json::Map<_, _> = all.iter().map(entry).collect();
        let file = tempfile::NamedTempFile::new().context("no temporary file")?;
        std::fs::write(file.path(), serde_json::to_vec(&object)?)?;
        Ok(Self(file))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}
