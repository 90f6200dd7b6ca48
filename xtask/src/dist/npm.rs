//! An npm package: the client of `clients/npm` and the binary with what lies beside it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use super::files_below;

/// Writes the package of `prefix` (`bin/drydock`, `lib/drydock/…`) into `out` and answers its path.
pub(crate) fn npm(root: &Path, prefix: &Path, out: &Path) -> anyhow::Result<PathBuf> {
    let client = root.join("clients/npm");
    let manifest: Value = serde_json::from_slice(&fs::read(client.join("package.json"))?)?;
    let version = manifest["version"].as_str().context("clients/npm/package.json says no version")?;
    if version != env!("CARGO_PKG_VERSION") {
        bail!("the npm client is {version}, the binary {}", env!("CARGO_PKG_VERSION"));
    }
    let path = out.join(format!("drydock-{version}.tgz"));
    let file = fs::File::create(&path).with_context(|| format!("could not make {}", path.display()))?;
    let mut tar = tar::Builder::new(GzEncoder::new(file, Compression::default()));
    for name in ["package.json", "index.js", "index.d.ts"] {
        add(&mut tar, name, &fs::read(client.join(name))?, 0o644)?;
    }
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-NOTICES.txt"] {
        add(&mut tar, name, &fs::read(root.join(name))?, 0o644)?;
    }
    add(&mut tar, "bin/drydock", &fs::read(prefix.join("bin/drydock"))?, 0o755)?;
    for file in files_below(&prefix.join("lib"))? {
        let name = file.strip_prefix(prefix)?.to_string_lossy().into_owned();
        add(&mut tar, &name, &fs::read(&file)?, 0o644)?;
    }
    tar.into_inner()?.finish()?;
    Ok(path)
}

fn add(tar: &mut tar::Builder<impl std::io::Write>, name: &str, bytes: &[u8], mode: u32) -> anyhow::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(mode);
    header.set_mtime(499_162_500);
    header.set_cksum();
    tar.append_data(&mut header, format!("package/{name}"), bytes)?;
    Ok(())
}
