//! The binary and its precompiled code: built, used to compile, built again with the hashes of what it compiled.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use crate::{cargo, must_succeed};

/// What a binary needs of the machine it runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linking {
    /// Nothing.
    Static,
    /// The libc of this machine, or a newer one.
    Dynamic,
}

/// What a package is made of.
pub(crate) struct Built {
    /// The binary, with the hashes of the code in it.
    pub(crate) binary: PathBuf,
    /// A folder with nothing in it but the code; it goes to `lib/drydock/code` beside the binary's folder.
    pub(crate) code: PathBuf,
    /// `x86_64` or another.
    pub(crate) arch: &'static str,
    /// What it needs.
    pub(crate) linking: Linking,
    /// The version of the workspace.
    pub(crate) version: String,
}

/// Builds both under `target/dist`.
pub(crate) fn build(root: &Path, profile: &str) -> anyhow::Result<Built> {
    let out = root.join("target/dist");
    fs::create_dir_all(&out).with_context(|| format!("could not make `{}`", out.display()))?;
    let first = compile(root, profile, None)?;
    let (code, list) = (out.join("code"), out.join("code.list"));
    if code.exists() {
        fs::remove_dir_all(&code)?;
    }
    must_succeed(Command::new(&first).arg("precompile").arg("--out").arg(&code))?;
    fs::rename(code.join("list"), &list)?;
    let second = compile(root, profile, Some(&list))?;
    let binary = out.join("drydock");
    fs::copy(&second, &binary).with_context(|| format!("could not copy `{}`", second.display()))?;
    let version = version(&second)?;
    // Whoever runs what lies in `target` afterwards has no code beside it, and must not be told that it lacks.
    compile(root, profile, None)?;
    let linking = if profile == "release" { Linking::Static } else { Linking::Dynamic };
    Ok(Built { binary, code, arch: std::env::consts::ARCH, linking, version })
}

/// Builds the binary, the second time with the list of hashes in it; answers where it is.
fn compile(root: &Path, profile: &str, list: Option<&Path>) -> anyhow::Result<PathBuf> {
    let mut command = cargo();
    command.current_dir(root).args(["build", "--locked", "--profile", profile, "--bin", "drydock"]);
    match profile {
        "release" => command.args(["--package", "drydock"]),
        // A test beside it gives dependencies the features that `cargo test --workspace` gives them: with others,
        // an archive that is only tested would build the engine once more.
        _ => command.args(["--workspace", "--test", "help"]),
    };
    // A static program needs the flag on its own target alone: what runs during the build is linked as usual.
    if let Some(triple) = &triple(profile) {
        let variable = format!("CARGO_TARGET_{}_RUSTFLAGS", triple.to_uppercase().replace('-', "_"));
        command.args(["--target", triple]).env(variable, "-C target-feature=+crt-static");
    }
    match list {
        Some(list) => command.env("DRYDOCK_SHIPPED", list),
        None => command.env_remove("DRYDOCK_SHIPPED"),
    };
    must_succeed(&mut command)?;
    Ok(placed(root, profile))
}

/// The target of a release, which is named so that flags of its own reach nothing else.
fn triple(profile: &str) -> Option<String> {
    (profile == "release").then(|| format!("{}-unknown-linux-gnu", std::env::consts::ARCH))
}

/// Where cargo puts the binary.
fn placed(root: &Path, profile: &str) -> PathBuf {
    let target = root.join("target");
    let folder = if profile == "dev" { "debug" } else { profile };
    triple(profile).map_or(target.clone(), |triple| target.join(triple)).join(folder).join("drydock")
}

/// What lies in `target` afterwards compiles and runs as before, without a word of code that lacks.
pub(crate) fn is_left_as_it_was(root: &Path, profile: &str) -> anyhow::Result<()> {
    let binary = placed(root, profile);
    let home = tempfile::tempdir()?;
    let said = Command::new(&binary).args(["run", "upper"]).env("DRYDOCK_HOME", home.path()).output()?;
    let told = String::from_utf8_lossy(&said.stderr);
    if !said.status.success() || !told.is_empty() {
        bail!("`{}` ended with {} and said: {told}", binary.display(), said.status);
    }
    Ok(())
}

fn version(binary: &Path) -> anyhow::Result<String> {
    let said = Command::new(binary).arg("--version").output()?;
    let text = String::from_utf8_lossy(&said.stdout);
    match text.trim().strip_prefix("drydock ") {
        Some(version) => Ok(version.to_owned()),
        None => bail!("`{}` does not say its version", binary.display()),
    }
}
