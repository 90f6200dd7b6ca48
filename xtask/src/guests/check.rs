//! Whether the committed modules are what the lock file, and a fresh build, say.

use super::catalogue::{GUESTS, Guest};
use super::lock::Lock;
use super::{Places, build, sources};
use anyhow::{Context as _, Result, bail};

/// The files against the lock file: hashes, sizes, and the sources they were made of.
pub fn files(places: &Places) -> Result<()> {
    let lock = Lock::read(&places.lock())?;
    let mut wrong = Vec::new();
    for entry in lock.entries() {
        let path = places.modules.join(&entry.file);
        let wasm = std::fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
        let found = sources::sha256(&wasm);
        if found != entry.sha256 || wasm.len() as u64 != entry.size {
            wrong.push(format!(
                "{}: {} bytes, sha256 {found}, but the lock says {} and {}",
                entry.file,
                wasm.len(),
                entry.size,
                entry.sha256
            ));
        }
    }
    for guest in GUESTS {
        match lock.entry(guest.name) {
            None => wrong.push(format!("{}: not in the lock file", guest.name)),
            Some(entry) if entry.sources_sha256 != sources::sources(places, guest)? => {
                wrong.push(format!("{}: its sources have changed since it was built", guest.name));
            }
            Some(_) => {}
        }
    }
    report(wrong)
}

/// A build from the sources against the lock file.
pub fn rebuilt(places: &Places, guests: &[&Guest]) -> Result<()> {
    let lock = Lock::read(&places.lock())?;
    let folder = tempfile::tempdir()?;
    let built = build::all(places, guests, folder.path())?;
    let wrong = built.iter().filter_map(|new| {
        let old = lock.entry(&new.name)?;
        let same = old.sha256 == new.sha256;
        let why = if old.toolchain == new.toolchain {
            String::new()
        } else {
            format!(" (it was built with {}, now with {})", old.toolchain, new.toolchain)
        };
        (!same).then(|| {
            format!(
                "{}: a fresh build gives sha256 {}, the lock says {}{why}",
                new.file, new.sha256, old.sha256
            )
        })
    });
    report(wrong.collect())
}

fn report(wrong: Vec<String>) -> Result<()> {
    if wrong.is_empty() {
        return Ok(());
    }
    bail!(
        "the built-in commands are not what they should be:\n  {}\nrun `cargo xtask guests` and commit the result",
        wrong.join("\n  ")
    );
}
