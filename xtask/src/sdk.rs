//! `cargo xtask sdk`: builds the examples of `sdk/rust`, `sdk/rust-host` and `sdk/c` into `sdk/modules/`.
//!
//! ```text
//! cargo xtask sdk            build, and write the modules and their lock file
//! cargo xtask sdk --check    compare the committed modules and their sources with the lock file
//! ```
//!
//! The modules are committed, so that `cargo test` can install and call them without a wasm toolchain. Examples in
//! JavaScript need no build.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use crate::{guests::Toolchain, must_succeed};

/// Handlers have no WASI.
const TARGET: &str = "wasm32-unknown-unknown";
/// The examples of each language: extensions, and guests that use `env.host_*`.
const EXAMPLES: [&str; 4] = ["ok", "quotes", "counter", "shout"];
/// Which of them each crate of Rust has.
const RUST: [(&str, &[&str]); 2] = [("rust", &["ok", "quotes"]), ("rust-host", &["counter", "shout"])];
/// What the headers of `sdk/c` say to compile with, and what keeps a build from telling where it ran.
const C_FLAGS: [&str; 10] = [
    "--target=wasm32",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-nostdlib",
    "-ffreestanding",
    "-fno-builtin",
    "-Wl,--no-entry,--strip-all",
    "-fuse-ld=lld",
];

/// Runs the task with the arguments after its name.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<()> {
    let sdk = root.join("sdk");
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let modules = sdk.join("modules");
            fs::create_dir_all(&modules)?;
            let toolchain = Toolchain::find(&root.join("guests"))?;
            for (folder, examples) in RUST {
                rust(&sdk.join(folder), examples, &modules, &toolchain)?;
            }
            c(&sdk.join("c"), &modules, &toolchain)?;
            let lock = serde_json::to_string_pretty(&described(&sdk)?)? + "\n";
            Ok(fs::write(lock_file(&sdk), lock)?)
        }
        ["--check"] => check(&sdk),
        _ => bail!("unknown arguments; known is --check"),
    }
}

fn lock_file(sdk: &Path) -> PathBuf {
    sdk.join("modules/sdk.lock.json")
}

/// Compares what is committed with what its lock file says.
fn check(sdk: &Path) -> Result<()> {
    let locked: BTreeMap<String, String> = serde_json::from_str(&fs::read_to_string(lock_file(sdk))?)?;
    let found = described(sdk)?;
    let names = locked.keys().chain(found.keys());
    let wrong: Vec<&str> = names.filter(|it| locked.get(*it) != found.get(*it)).map(String::as_str).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("sdk/modules is not what it should be: {}\nrun `cargo xtask sdk` and commit it", wrong.join(", "));
}

/// The hash of each module, and of the sources of each language.
fn described(sdk: &Path) -> Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for language in ["rust", "c"] {
        for example in EXAMPLES {
            let name = format!("{language}-{example}.wasm");
            let module = fs::read(sdk.join("modules").join(&name))
                .with_context(|| format!("could not read sdk/modules/{name}"))?;
            all.insert(name, hex(Sha256::digest(module).as_slice()));
        }
    }
    let of_crate =
        |folder: &str| ["Cargo.toml", "Cargo.lock", "src", "examples"].map(|it| format!("{folder}/{it}"));
    let c = ["c/drydock.h", "c/drydock_host.h", "c/examples"].map(str::to_owned);
    let sources = [
        ("sources of rust", &of_crate("rust")[..]),
        ("sources of rust-host", &of_crate("rust-host")[..]),
        ("sources of c", &c[..]),
    ];
    for (name, places) in sources {
        let mut files = Vec::new();
        for place in places {
            collect(&sdk.join(place), &mut files)?;
        }
        files.sort();
        let mut hash = Sha256::new();
        for file in files {
            let content = fs::read(&file)?;
            hash.update(format!("{}\0{}\0", file.strip_prefix(sdk)?.display(), content.len()));
            hash.update(content);
        }
        all.insert(name.to_owned(), hex(hash.finalize().as_slice()));
    }
    Ok(all)
}

fn collect(place: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if place.is_file() {
        files.push(place.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(place).with_context(|| format!("could not list {}", place.display()))? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn rust(folder: &Path, examples: &[&str], modules: &Path, toolchain: &Toolchain) -> Result<()> {
    let mut flags = vec![format!("--remap-path-prefix={}=/sdk", folder.display())];
    flags.extend(toolchain.remapped()?);
    let mut cargo = toolchain.cargo(folder);
    cargo
        .args(["build", "--release", "--locked", "--examples", "--target", TARGET])
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    if !toolchain.is_rustups() {
        // Its own standard library is that of another target.
        cargo.arg("-Zbuild-std=std,panic_abort").env("RUSTC_BOOTSTRAP", "1");
    }
    must_succeed(&mut cargo)?;
    for example in examples {
        let built = folder.join(format!("target/{TARGET}/release/examples/{example}.wasm"));
        // Not `copy`, which would take over that it is executable.
        fs::write(modules.join(format!("rust-{example}.wasm")), fs::read(built)?)?;
    }
    Ok(())
}

fn c(folder: &Path, modules: &Path, toolchain: &Toolchain) -> Result<()> {
    for example in EXAMPLES {
        let mut clang: Command = toolchain.c_compiler();
        clang.current_dir(folder).args(C_FLAGS).arg("-o");
        let module = modules.join(format!("c-{example}.wasm"));
        must_succeed(clang.arg(&module).arg(format!("examples/{example}.c")))?;
        fs::write(module.with_extension("new"), fs::read(&module)?)?;
        fs::rename(module.with_extension("new"), module)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_modules_are_built_from_the_committed_sources() {
        check(&crate::root().join("sdk")).unwrap();
    }
}
