//! Compiles the guests, warms those that want it, and says what they are made of.

use super::Places;
use super::catalogue::{Guest, Start};
use super::lock::Entry;
use super::sources;
use super::toolchain::{TARGET, Toolchain};
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The engine enables these; without them every search would go byte by byte.
const FEATURES: &str = "-Ctarget-feature=+simd128";

/// Builds `guests` into `folder` and returns their entries for the lock file.
pub fn all(places: &Places, guests: &[&Guest], folder: &Path) -> Result<Vec<Entry>> {
    let toolchain = Toolchain::find(&places.guests)?;
    let description = toolchain.describe()?;
    std::fs::create_dir_all(folder)?;
    let mut entries = Vec::new();
    for guest in guests {
        let compiled = compile(places, guest, &toolchain)?;
        let file = folder.join(format!("{}.wasm", guest.name));
        match guest.start {
            Start::Warm => warm(places, guest, &compiled, &file)?,
            // Not `copy`, which would take over that it is executable.
            Start::Bare | Start::Usual => std::fs::write(&file, std::fs::read(&compiled)?)?,
        }
        entries.push(sources::describe(places, guest, &file, &description)?);
    }
    Ok(entries)
}

fn compile(places: &Places, guest: &Guest, toolchain: &Toolchain) -> Result<PathBuf> {
    let mut cargo = toolchain.cargo(&places.guests);
    cargo
        .args(["rustc", "--release", "--locked", "--target", TARGET])
        .args(["--package", guest.package, "--bin", guest.name])
        .env("CARGO_ENCODED_RUSTFLAGS", flags(places, toolchain)?.join("\x1f"))
        // uucore would otherwise embed the messages of whatever lies in the registry cache; the
        // guest brings its own (see guests/wbox/build.rs).
        .env("UUCORE_TARGET_UTIL", "wbox");
    if guest.start == Start::Bare {
        cargo.args(["--", "-Clink-self-contained=no"]);
    }
    succeed(&mut cargo).with_context(|| format!("could not build the guest `{}`", guest.name))?;
    Ok(places.guests.join(format!("target/{TARGET}/release/{}.wasm", guest.name)))
}

/// Flags that make the bytes independent of where the build runs.
fn flags(places: &Places, toolchain: &Toolchain) -> Result<Vec<String>> {
    let remap = |from: String, to: &str| format!("--remap-path-prefix={from}={to}");
    let mut flags = vec![
        FEATURES.to_owned(),
        remap(places.guests.display().to_string(), "/guests"),
        remap(places.crates.display().to_string(), "/crates"),
    ];
    flags.extend(toolchain.remapped()?);
    Ok(flags)
}

/// Names the functions of a guest that lie side by side, if it has such a list.
const HOT_LIST: &str = "hot-functions.txt";

fn warm(places: &Places, guest: &Guest, from: &Path, to: &Path) -> Result<()> {
    let list = places.guests.join(guest.package).join(HOT_LIST);
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(places.guests.join("snapshot"))
        .args(["run", "--quiet", "--locked", "--", "warm"])
        .args([from, to])
        .args(list.exists().then_some(list))
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR");
    succeed(&mut cargo).context("could not warm a guest")
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not run {:?}", command.get_program()))?;
    if !status.success() {
        bail!("{:?} ended with {status}", command.get_program());
    }
    Ok(())
}
