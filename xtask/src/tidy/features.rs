//! One wasmtime for all: whatever is built, what wasmtime stands on has the same features.
//!
//! Cargo turns on the features that the packages at hand ask for. Where the binary, an example of the library
//! and the tests ask for different ones of a crate that wasmtime uses, wasmtime is built again for minutes, and
//! nobody is told why.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::{Context as _, bail};

use super::{Finding, tree::Tree};
use crate::{cargo, fuzz::host_triple};

/// The README's first command, and what is built after it. What macros stand on is built apart, for the compiler to load.
const FIRST: &[&str] = &["-p", "drydock", "-e", "normal,build,no-proc-macro"];
const LATER: &[(&str, &[&str])] = &[
    ("cargo test --workspace", &["--workspace", "-e", "normal,build,dev,no-proc-macro"]),
    (
        "cargo run -p drydock-embed --example",
        &["-p", "drydock-embed", "-e", "normal,build,dev,no-proc-macro"],
    ),
    ("cargo build -p drydock-embed", &["-p", "drydock-embed", "-e", "normal,build,no-proc-macro"]),
];

/// The features of each package, by name and version; twice where it is built for two purposes.
type Features = BTreeMap<String, BTreeSet<String>>;

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let below: BTreeSet<String> =
        features(&tree.root, &["-p", "wasmtime", "-e", "normal,build,no-proc-macro"])?.into_keys().collect();
    let first = features(&tree.root, FIRST)?;
    let mut findings = Vec::new();
    for (what, args) in LATER {
        findings.extend(differences(&below, &first, &features(&tree.root, args)?, what));
    }
    Ok(findings)
}

fn features(root: &Path, args: &[&str]) -> anyhow::Result<Features> {
    let host = host_triple()?;
    let output = cargo()
        .args(["tree", "--prefix", "none", "--no-dedupe", "--target", &host, "-f", "{p}|{f}"])
        .args(args)
        .current_dir(root)
        .output()
        .context("could not start cargo")?;
    if !output.status.success() {
        bail!("cargo tree failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout)))
}

fn parse(text: &str) -> Features {
    let mut all = Features::new();
    for (package, features) in text.lines().filter_map(|line| line.split_once('|')) {
        let named: Vec<&str> = package.split_whitespace().take(2).collect();
        all.entry(named.join(" ")).or_default().insert(features.to_owned());
    }
    all
}

fn differences(below: &BTreeSet<String>, first: &Features, later: &Features, what: &str) -> Vec<Finding> {
    let differs = |package: &&String| match (first.get(*package), later.get(*package)) {
        (Some(one), Some(two)) => one != two,
        _ => false,
    };
    below
        .iter()
        .filter(differs)
        .map(|package| {
            Finding::new(
                "Cargo.toml",
                format!("`{what}` builds `{package}` with other features than `cargo run`, and so wasmtime again"),
                "name the union of its features in [workspace.dependencies], and the crate in crates/engine/Cargo.toml",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_more_is_found_below_wasmtime_and_nowhere_else() {
        let below = BTreeSet::from(["libc v1".to_owned()]);
        let first = parse("wasmtime v48|std\nlibc v1|std\nclap v4|derive\n");
        assert!(differences(&below, &first, &first, "x").is_empty());
        assert!(differences(&below, &first, &parse("clap v4|\n"), "x").is_empty());
        let found = differences(&below, &first, &parse("libc v1|extra,std\nclap v4|\n"), "x");
        assert_eq!(found.len(), 1);
        assert!(found[0].problem.contains("libc v1"));
    }
}
