//! A module or a script from a file that the user named. Text of WebAssembly is assembled first.

use std::{io::Read as _, path::Path};

use anyhow::Context as _;
use bytes::Bytes;
use drydock_embed::{ExtensionCode, store::ArtifactStore};

/// Reads an extension.
pub(crate) fn read_extension(file: &Path) -> anyhow::Result<ExtensionCode> {
    extension_of(file, read_extension_bytes(file)?)
}

/// Reads what an extension is made of: text where the file is called JavaScript, and else a module.
pub(crate) fn read_extension_bytes(file: &Path) -> anyhow::Result<Vec<u8>> {
    if is_script(file) { Ok(read_bytes(file)?.into()) } else { read(file) }
}

/// The extension that a file of this name with these bytes is.
pub(crate) fn extension_of(file: &Path, bytes: Vec<u8>) -> anyhow::Result<ExtensionCode> {
    if !is_script(file) {
        return Ok(Bytes::from(bytes).into());
    }
    let text = String::from_utf8(bytes);
    Ok(ExtensionCode::Script(text.with_context(|| format!("`{}` is not UTF-8", file.display()))?))
}

fn is_script(file: &Path) -> bool {
    file.extension().is_some_and(|it| it == "js")
}

/// Reads a module, or what `-` stands for: standard input.
pub(crate) fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let (shown, bytes) = (file.display(), read_bytes(file)?);
    let text =
        file.extension().is_some_and(|it| it == "wat") || bytes.trim_ascii_start().starts_with(b"(module");
    if !text {
        return Ok(bytes.into());
    }
    let source = std::str::from_utf8(&bytes).with_context(|| format!("`{shown}` is not UTF-8"))?;
    wat::parse_str(source).with_context(|| format!("`{shown}` does not assemble"))
}

fn read_bytes(file: &Path) -> anyhow::Result<Bytes> {
    let shown = file.display();
    Ok(match file.as_os_str() == "-" {
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
    })
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
