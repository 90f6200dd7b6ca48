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
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--package", package, "--manifest-path"]).arg(manifest);
    built(cargo, package, "release")
}

/// `drydock` as it is given to others (`cargo xtask dist`): static, so that no loader puts it together at each start.
pub(crate) fn drydock(manifest: &Path) -> anyhow::Result<PathBuf> {
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let variable = format!("CARGO_TARGET_{}_RUSTFLAGS", triple.to_uppercase().replace('-', "_"));
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--package", "drydock", "--target", &triple]);
    cargo.arg("--manifest-path").arg(manifest).env(variable, "-C target-feature=+crt-static");
    built(cargo, "drydock", &format!("{triple}/release"))
}

/// Runs cargo, and says where below the target folder that we lie in it put the program.
fn built(mut cargo: Command, package: &str, folder: &str) -> anyhow::Result<PathBuf> {
    let us = std::env::current_exe().context("where are we?")?;
    let target = us.ancestors().nth(2).context("target/release has a parent")?;
    let status = cargo.arg("--target-dir").arg(target).status().context("could not start cargo")?;
    if !status.success() {
        bail!("building `{package}` ended with {status}");
    }
    Ok(target.join(folder).join(package))
}
