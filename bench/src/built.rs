//! Programs of the two workspaces, built as we were, beside us.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

/// The folder of the main workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("bench lies in the repository").to_path_buf()
}

/// Builds a program of the workspace at `manifest` and answers where it is. What is fresh is not
/// built again, and what is stale is never measured.
pub(crate) fn program(manifest: &Path, package: &str) -> anyhow::Result<PathBuf> {
    let us = std::env::current_exe().context("where are we?")?;
    let release = us.parent().context("a program lies in a folder")?;
    let target = release.parent().context("target/release has a parent")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--package", package, "--manifest-path"]).arg(manifest);
    let status = cargo.arg("--target-dir").arg(target).status().context("could not start cargo")?;
    if !status.success() {
        bail!("building `{package}` ended with {status}");
    }
    Ok(release.join(package))
}
