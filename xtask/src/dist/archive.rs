//! `drydock-VERSION-ARCH.tar.gz`: bin, lib, share, licences. It runs wherever it is unpacked.
//!
//! Before it is packed it is tried: in an empty data directory every command must be ready without compiling.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use super::{Built, Linking};
use crate::must_succeed;

/// Where each shell looks for completions, below the root of the archive.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/drydock"),
    ("zsh", "share/zsh/site-functions/_drydock"),
    ("fish", "share/fish/vendor_completions.d/drydock.fish"),
];

/// What is copied from the root of the repository; the notices are those of whatever is linked or built in.
const TEXTS: &[&str] =
    &["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES.txt", "README.md", "SECURITY.md", "CHANGELOG.md"];

/// Lays the tree out in `target/dist` and tries it.
pub(super) fn lay_out(root: &Path, built: &Built) -> anyhow::Result<PathBuf> {
    let name = format!("drydock-{}-{}-linux", built.version, built.arch);
    let tree = root.join("target/dist").join(name);
    if tree.exists() {
        fs::remove_dir_all(&tree)?;
    }
    fill(root, built, &tree)?;
    if built.linking == Linking::Static && asks_for_a_loader(&fs::read(tree.join("bin/drydock"))?)? {
        bail!("the archive is said to be static, and its binary asks for a loader of the machine's");
    }
    try_out(&tree)?;
    Ok(tree)
}

/// Packs the tree, beside itself.
pub(super) fn pack(tree: &Path) -> anyhow::Result<PathBuf> {
    let (out, name) = (tree.parent().context("it has a folder")?, tree.file_name().context("it has a name")?);
    let archive = out.join(format!("{}.tar.gz", name.to_string_lossy()));
    // The same bytes each time: no owner, no times, names in order.
    must_succeed(
        Command::new("tar")
            .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "-czf"])
            .arg(&archive)
            .arg("-C")
            .arg(out)
            .arg(name),
    )?;
    Ok(archive)
}

fn fill(root: &Path, built: &Built, tree: &Path) -> anyhow::Result<()> {
    let binary = tree.join("bin/drydock");
    put(&built.binary, &binary)?;
    for entry in fs::read_dir(&built.code)? {
        let entry = entry?;
        put(&entry.path(), &tree.join("lib/drydock/code").join(entry.file_name()))?;
    }
    for (shell, path) in COMPLETIONS {
        let said = Command::new(&binary).args(["completions", shell]).output()?;
        if !said.status.success() || said.stdout.is_empty() {
            bail!("`drydock completions {shell}` gave nothing");
        }
        let path = tree.join(path);
        fs::create_dir_all(path.parent().context("it has a folder")?)?;
        fs::write(path, said.stdout)?;
    }
    must_succeed(Command::new(&binary).arg("man").arg("--out").arg(tree.join("share/man/man1")))?;
    for text in TEXTS {
        put(&root.join(text), &tree.join("share/doc/drydock").join(text))?;
    }
    Ok(())
}

fn put(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to.parent().context("it has a folder")?)?;
    fs::copy(from, to).with_context(|| format!("could not copy `{}`", from.display()))?;
    Ok(())
}

/// Whether a program of ELF has a segment `PT_INTERP`: a static one has none.
fn asks_for_a_loader(elf: &[u8]) -> anyhow::Result<bool> {
    const PT_INTERP: u64 = 3;
    let number = |at: usize, len: usize| -> anyhow::Result<u64> {
        let bytes = elf.get(at..at + len).context("the binary is cut")?;
        Ok(bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
    };
    // Class 2 has 64 bits, data 1 is little-endian: what we are built for.
    if elf.get(..6) != Some(b"\x7fELF\x02\x01") {
        bail!("the binary is no ELF program of 64 bits");
    }
    let (table, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    for index in 0..count {
        if number(usize::try_from(table + index * size)?, 4)? == PT_INTERP {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Nothing is compiled on first use, or the archive is not what it says.
fn try_out(tree: &Path) -> anyhow::Result<()> {
    let home = tree.with_extension("home"); // outside of the tree, and gone afterwards
    let said = Command::new(tree.join("bin/drydock"))
        .args(["warm", "--all", "--json"])
        .env("DRYDOCK_HOME", &home)
        .output()?;
    let _ = fs::remove_dir_all(&home);
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&said.stdout)
        .with_context(|| format!("`drydock warm` said: {}", String::from_utf8_lossy(&said.stderr)))?;
    let wrong = |row: &&serde_json::Value| row["ok"] != true || row["compiled"] != false;
    if let Some(row) = rows.iter().find(wrong) {
        bail!("the archive's own code does not serve: {row}");
    }
    if rows.len() < 10 {
        bail!("only {} modules are there", rows.len());
    }
    Ok(())
}

#[test]
fn a_program_that_asks_for_a_loader_is_known() {
    // This test itself is linked as cargo does it.
    let dynamic = fs::read(std::env::current_exe().unwrap()).unwrap();
    assert!(asks_for_a_loader(&dynamic).unwrap());
    assert!(asks_for_a_loader(b"#!/bin/sh\n").is_err());
    assert!(asks_for_a_loader(&dynamic[..0x40]).is_err());
    // Two segments, neither of them an interpreter.
    let mut still = vec![0; 0x40 + 2 * 56];
    still[..6].copy_from_slice(b"\x7fELF\x02\x01");
    (still[0x20], still[0x36], still[0x38]) = (0x40, 56, 2);
    (still[0x40], still[0x40 + 56]) = (1, 2);
    assert!(!asks_for_a_loader(&still).unwrap());
    still[0x40 + 56] = 3;
    assert!(asks_for_a_loader(&still).unwrap());
}
