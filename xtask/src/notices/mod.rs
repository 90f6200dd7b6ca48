//! `cargo xtask notices`: third-party notices for what is inside the binary and the committed modules.
//!
//! ```text
//! cargo xtask notices            write THIRD-PARTY-NOTICES.txt
//! cargo xtask notices --check    compare it with what would be written
//! ```
//!
//! Every licence text that a linked package carries is in it once, under the packages that carry it.
//! Macros and build scripts are not in the result and not in the list.

mod texts;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
};

use anyhow::{Context as _, bail};

use crate::{
    fuzz::host_triple,
    guests,
    packages::{Package, Packages},
};

const FILE: &str = "THIRD-PARTY-NOTICES.txt";

/// What no package manager lists.
const BESIDE_PACKAGES: &str = "\
Beside the packages:
  Rust's standard library, in the binary and in every module but `upper` (MIT OR Apache-2.0)
  wasi-libc with parts of musl, in the modules (Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT)
  compiler-rt's builtins, in the modules (Apache-2.0 WITH LLVM-exception)
  SQLite, in the binary, by way of libsqlite3-sys (public domain)
  QuickJS-ng, in js.wasm, by way of rquickjs-sys (MIT)
  GNU libc, linked statically into the binary of the archive and of the packages made from it (LGPL-2.1-or-later);
    whoever wants another libc builds Drydock's source, which is whole and public, against it
";

/// Runs the task with the arguments after its name.
pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    let text = write(root)?;
    let file = root.join(FILE);
    match args {
        [] => std::fs::write(&file, text).with_context(|| format!("could not write {}", file.display())),
        [flag] if flag == "--check" => match std::fs::read_to_string(&file) {
            Ok(committed) if committed == text => Ok(()),
            _ => bail!("{FILE} is not what the lock files say; run `cargo xtask notices` and commit it"),
        },
        _ => bail!("notices takes no argument but --check"),
    }
}

fn write(root: &Path) -> anyhow::Result<String> {
    let binary = Packages::of(&root.join("Cargo.toml"), &host_triple()?)?;
    let modules = Packages::of(&root.join("guests/Cargo.toml"), guests::TARGET)?;
    let in_binary = binary.inside("drydock")?;
    let mut in_modules = Vec::new();
    for package in guests::packages() {
        in_modules.extend(modules.inside(package)?);
    }

    let mut out = String::from(
        "Third-party notices. Written by `cargo xtask notices`; do not edit.\n\n\
         Drydock is under MIT or Apache-2.0. It contains the work of others:\n",
    );
    let mut by_text: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (title, packages) in [("In the binary", in_binary), ("In the modules", in_modules)] {
        let foreign: BTreeMap<String, &Package> =
            packages.into_iter().filter(|it| it.source.is_some()).map(|it| (label(it), it)).collect();
        writeln!(out, "\n{title}:")?;
        for (label, package) in &foreign {
            writeln!(out, "  {label} ({})", package.licence.as_deref().unwrap_or("see its text"))?;
            for text in texts::of(package)? {
                by_text.entry(text).or_default().insert(label.clone());
            }
        }
    }
    out.push('\n');
    out.push_str(BESIDE_PACKAGES);
    for (text, labels) in by_text {
        let labels: Vec<String> = labels.into_iter().collect();
        writeln!(out, "\n{}\n{}\n\n{text}", "=".repeat(100), labels.join(", "))?;
    }
    Ok(out)
}

fn label(package: &Package) -> String {
    format!("{} {}", package.name, package.version)
}
