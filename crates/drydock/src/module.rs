//! A module from a file that the user named. Text is assembled first.

use std::{io::Read as _, path::Path};

use anyhow::Context as _;
use drydock_embed::store::ArtifactStore;

/// Reads a module, or what `-` stands for: standard input.
pub(crate) fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = file.display();
    let bytes = match file.as_os_str() == "-" {
        true => ArtifactStore::read_new(std::io::stdin().lock())?,
        false => {
            // Looked at before it is opened: opening a pipe would wait for a writer.
            let found = std::fs::metadata(file).with_context(|| format!("could not open `{shown}`"))?;
            if !found.is_file() {
                anyhow::bail!("`{shown}` is not a regular file");
            }
            let opened = std::fs::File::open(file).with_context(|| format!("could not open `{shown}`"))?;
            ArtifactStore::read_new(opened.take(u64::MAX))?
        }
    };
    let text =
        file.extension().is_some_and(|it| it == "wat") || bytes.trim_ascii_start().starts_with(b"(module");
    if !text {
        return Ok(bytes.into());
    }
    let source = std::str::from_utf8(&bytes).with_context(|| format!("`{shown}` is not UTF-8"))?;
    wat::parse_str(source).with_context(|| format!("`{shown}` does not assemble"))
}

/// Reads a file of data, or standard input for `-`, and one byte more than `bytes_max` where there is more: whoever gets
/// it says that it is too much.
pub(crate) fn read_data(file: &Path, bytes_max: u64) -> anyhow::Result<Vec<u8>> {
    let one_too_many = bytes_max.saturating_add(1);
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        std::io::stdin().lock().take(one_too_many).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    let shown = file.display();
    let opened = std::fs::File::open(file).with_context(|| format!("could not open `{shown}`"))?;
    opened.take(one_too_many).read_to_end(&mut bytes).with_context(|| format!("could not read `{shown}`"))?;
    Ok(bytes)
}
