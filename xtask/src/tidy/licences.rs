//! Licences, bans and sources of every lock file, as `deny.toml` has them.
//!
//! The same file is read by cargo-deny (`just deny`), which needs a tool that must be installed; this
//! rule needs nothing. Bans and sources are judged for every row of a lock file, licences for what is
//! built on this machine: what only other systems build is not fetched. Advisories are not checked,
//! because their database is not to be had here.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use super::{Finding, tree::Tree};
use crate::{fuzz::host_triple, packages::Packages};

#[derive(Deserialize)]
struct Deny {
    licenses: Licences,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// A licence that one crate may have.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

#[derive(Deserialize)]
struct Sources {
    #[serde(rename = "allow-git")]
    allow_git: Vec<String>,
}

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
}

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let deny: Deny = toml::from_str(tree.text("deny.toml").context("there is no deny.toml")?)?;
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|it| it.path == "Cargo.lock" || it.path.ends_with("/Cargo.lock")) {
        let lock: Lock = toml::from_str(file.text().unwrap_or_default())
            .with_context(|| format!("could not read {}", file.path))?;
        findings.extend(rows(&deny, &file.path, &lock));
        let manifest = tree.root.join(&file.path).with_file_name("Cargo.toml");
        findings.extend(licences(&deny, &file.path, &manifest)?);
    }
    Ok(findings)
}

/// Bans and sources of each row.
fn rows(deny: &Deny, file: &str, lock: &Lock) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in &lock.package {
        if let Some(ban) = deny.bans.deny.iter().find(|ban| ban.name == row.name) {
            findings.push(Finding::new(
                file,
                format!("has `{}`", row.name),
                format!("remove it: {}", ban.reason),
            ));
        }
        let foreign = row.source.as_deref().is_some_and(|source| {
            source != "registry+https://github.com/rust-lang/crates.io-index"
                && !deny.sources.allow_git.iter().any(|it| source.starts_with(&format!("git+{it}")))
        });
        if foreign {
            findings.push(Finding::new(
                file,
                format!("takes `{} {}` from elsewhere than the default registry", row.name, row.version),
                "use a published version",
            ));
        }
    }
    findings
}

fn licences(deny: &Deny, file: &str, manifest: &Path) -> anyhow::Result<Vec<Finding>> {
    let packages = Packages::of(manifest, &host_triple()?)?;
    let foreign = packages.0.values().filter(|it| it.source.is_some());
    let refused = foreign.filter(|it| !permitted(deny, &it.name, it.licence.as_deref()));
    Ok(refused
        .map(|it| {
            Finding::new(
                file,
                format!(
                    "`{} {}` is under {}",
                    it.name,
                    it.version,
                    it.licence.as_deref().unwrap_or("no licence")
                ),
                "do without it: deny.toml lists the licences that anyone may embed",
            )
        })
        .collect())
}

/// Whether the expression can be satisfied with allowed licences alone.
fn permitted(deny: &Deny, name: &str, licence: Option<&str>) -> bool {
    // The slash is how old manifests spell `OR`.
    let Ok(expression) = spdx::Expression::parse_mode(licence.unwrap_or_default(), spdx::ParseMode::LAX)
    else {
        return false;
    };
    let extra = deny.licenses.exceptions.iter().filter(|it| it.name == name).flat_map(|it| &it.allow);
    let allowed: Vec<&String> = deny.licenses.allow.iter().chain(extra).collect();
    expression.evaluate(|wanted| allowed.iter().any(|it| **it == wanted.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
        exceptions = [{ crate = "odd", allow = ["Zlib"] }]
        [bans]
        deny = [{ crate = "openssl-sys", reason = "a C library" }]
        [sources]
        allow-git = []
    "#;

    #[test]
    fn an_expression_must_be_satisfied_by_allowed_licences() {
        let deny: Deny = toml::from_str(DENY).unwrap();
        let cases = [
            ("a", Some("MIT"), true),
            ("a", Some("MIT OR GPL-3.0"), true),
            ("a", Some("MIT/Apache-2.0"), true),
            ("a", Some("MIT AND Apache-2.0"), true),
            ("a", Some("Apache-2.0 WITH LLVM-exception"), true),
            ("a", Some("MIT AND GPL-3.0-only"), false),
            ("a", Some("LGPL-2.1-or-later"), false),
            ("a", Some("Zlib"), false),
            ("odd", Some("Zlib"), true),
            ("a", Some("whatever I like"), false),
            ("a", None, false),
        ];
        for (name, licence, want) in cases {
            assert_eq!(permitted(&deny, name, licence), want, "{name} {licence:?}");
        }
    }

    #[test]
    fn banned_crates_and_other_sources_are_found() {
        let deny: Deny = toml::from_str(DENY).unwrap();
        let lock: Lock = toml::from_str(
            "[[package]]\nname = \"openssl-sys\"\nversion = \"1.0.0\"\n\
             source = \"registry+https://github.com/rust-lang/crates.io-index\"\n\
             [[package]]\nname = \"fork\"\nversion = \"1.0.0\"\nsource = \"git+https://example.com/fork\"\n\
             [[package]]\nname = \"ours\"\nversion = \"1.0.0\"\n",
        )
        .unwrap();
        let problems: Vec<String> =
            rows(&deny, "Cargo.lock", &lock).into_iter().map(|it| it.problem).collect();
        assert_eq!(
            problems,
            ["has `openssl-sys`", "takes `fork 1.0.0` from elsewhere than the default registry"]
        );
    }
}
