//! Describes a built module: its hash, and the hash of everything of ours that went into it.

use super::Places;
use super::catalogue::Guest;
use super::closure;
use super::lock::Entry;
use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The entry of a module that was just built.
pub fn describe(places: &Places, guest: &Guest, file: &Path, toolchain: &str) -> Result<Entry> {
    let wasm = std::fs::read(file)?;
    Ok(Entry {
        name: guest.name.to_owned(),
        file: format!("{}.wasm", guest.name),
        sha256: sha256(&wasm),
        size: wasm.len() as u64,
        applets: match guest.part {
            Some(part) => applets(places, part)?,
            None => guest.also.iter().map(|name| (*name).to_owned()).collect(),
        },
        kind: guest.kind.as_str().to_owned(),
        sources_sha256: sources(places, guest)?,
        toolchain: toolchain.to_owned(),
        crates: versions(places, guest)?,
    })
}

/// As lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash over the guest's files, those of our own packages it depends on, and its part of the
/// workspace's manifest and lock file.
pub fn sources(places: &Places, guest: &Guest) -> Result<String> {
    let workspace = |name: &str| std::fs::read_to_string(places.guests.join(name));
    let lock = workspace("Cargo.lock")?;
    let mut files = Vec::new();
    for package in closure::own_packages(&lock, guest.package) {
        for place in places_of(places, package) {
            collect(&place, &mut files)?;
        }
    }
    files.sort();
    let mut hash = Sha256::new();
    hash.update(closure::workspace_that_counts(&workspace("Cargo.toml")?, &lock, guest.package));
    hash.update(closure::lock_of(&lock, guest.package));
    for file in files {
        let name = file.strip_prefix(&places.guests).or_else(|_| file.strip_prefix(&places.crates))?;
        let name = name.to_string_lossy().into_owned();
        let mut content = std::fs::read(&file)?;
        if file.file_name().is_some_and(|name| name == "Cargo.toml") {
            content = closure::manifest_that_counts(&String::from_utf8_lossy(&content)).into_bytes();
        }
        hash.update(format!("{name}\0{}\0", content.len()));
        hash.update(content);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Where a package of ours lies: in `guests/`, or among the host's crates, of which only what is built counts.
fn places_of(places: &Places, package: &str) -> Vec<PathBuf> {
    if let Some(name) = package.strip_prefix("drydock-") {
        let folder = places.crates.join(name);
        return vec![folder.join("src"), folder.join("Cargo.toml")];
    }
    let at = places.guests.join(package);
    vec![if at.is_dir() { at } else { places.guests.join("stand-ins").join(package) }]
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if folder.is_file() {
        files.push(folder.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))? {
        let path = entry?.path();
        match path.is_dir() {
            true if path.file_name().is_some_and(|name| name == "target") => {}
            true => collect(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

/// The names in a part's list, read from the list itself.
fn applets(places: &Places, part: &str) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(places.guests.join("wbox/src/parts.rs"))?;
    names_in(&text, part).context("wbox/src/parts.rs has no such part")
}

fn names_in(text: &str, part: &str) -> Option<Vec<String>> {
    let (_, rows) = text.split_once(&format!("\n    {part} {{\n"))?;
    let rows = rows.lines().take_while(|line| line.trim() != "}");
    let names = rows
        .filter_map(|row| row.trim().strip_prefix('"')?.split_once("\" =>").map(|(name, _)| name.to_owned()));
    Some(names.collect())
}

/// The locked versions of the crates the guest is made of.
fn versions(places: &Places, guest: &Guest) -> Result<BTreeMap<String, String>> {
    let lock = std::fs::read_to_string(places.guests.join("Cargo.lock"))?;
    guest.crates.iter().map(|name| Ok(((*name).to_owned(), version(&lock, name)?))).collect()
}

fn version(lock: &str, name: &str) -> Result<String> {
    let head = format!("name = \"{name}\"\nversion = \"");
    let (_, rest) =
        lock.split_once(&head).with_context(|| format!("guests/Cargo.lock does not name {name}"))?;
    Ok(rest.split('"').next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_s_names_are_read_from_its_rows() {
        let text = "part! {\n    /// Doc.\n    core {\n        \"cat\" => uu_cat, CAT;\n        \"[\" => uu_test, TEST;\n    }\n}\n";
        assert_eq!(names_in(text, "core"), Some(vec!["cat".to_owned(), "[".to_owned()]));
        assert_eq!(names_in(text, "text"), None);
    }

    #[test]
    fn versions_are_read_from_the_lock_file() {
        let lock = "[[package]]\nname = \"clap\"\nversion = \"4.5.1\"\n";
        assert_eq!(version(lock, "clap").ok().as_deref(), Some("4.5.1"));
        assert!(version(lock, "cla").is_err());
    }
}
