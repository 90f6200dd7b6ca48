//! What cargo says about the packages of a workspace, as far as the chores ask.
//!
//! Only for one platform at a time: a full answer would fetch crates that only other systems build.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::cargo;

/// A package that a workspace is built from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The expression of its manifest.
    pub(crate) licence: Option<String>,
    /// Where its files lie.
    pub(crate) folder: PathBuf,
    /// Nothing for a package of this repository.
    pub(crate) source: Option<String>,
    /// It runs in the compiler, so nothing of it is in what the compiler makes.
    pub(crate) is_macro: bool,
    /// What it is linked with, by id.
    pub(crate) links: Vec<String>,
}

/// All packages of a workspace by id.
pub(crate) struct Packages(pub(crate) BTreeMap<String, Package>);

impl Packages {
    /// Asks cargo about `manifest` for one platform; the lock file is taken as it is.
    pub(crate) fn of(manifest: &Path, platform: &str) -> anyhow::Result<Self> {
        Self::read(&metadata(manifest, platform)?)
    }

    fn read(metadata: &Value) -> anyhow::Result<Self> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut packages = BTreeMap::new();
        for it in list(&metadata["packages"]) {
            let manifest = PathBuf::from(text(&it["manifest_path"]));
            let package = Package {
                name: text(&it["name"]),
                version: text(&it["version"]),
                licence: it["license"].as_str().map(str::to_owned),
                folder: manifest.parent().map(Path::to_path_buf).unwrap_or_default(),
                source: it["source"].as_str().map(str::to_owned),
                is_macro: list(&it["targets"])
                    .iter()
                    .any(|it| list(&it["kind"]).contains(&"proc-macro".into())),
                links: Vec::new(),
            };
            packages.insert(text(&it["id"]), package);
        }
        for node in list(&metadata["resolve"]["nodes"]) {
            let package = packages.get_mut(&text(&node["id"])).context("cargo names an unknown package")?;
            let linked = |dep: &&Value| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            package.links = list(&node["deps"]).iter().filter(linked).map(|dep| text(&dep["pkg"])).collect();
        }
        // Packages that are there only for other platforms have no node and are not built here.
        let built: BTreeSet<String> =
            list(&metadata["resolve"]["nodes"]).iter().map(|it| text(&it["id"])).collect();
        packages.retain(|id, _| built.contains(id));
        Ok(Self(packages))
    }

    /// What ends up inside the package `name`, itself and macros left out.
    pub(crate) fn inside(&self, name: &str) -> anyhow::Result<Vec<&Package>> {
        let (root, _) = self
            .0
            .iter()
            .find(|it| it.1.name == name && it.1.source.is_none())
            .with_context(|| format!("there is no package `{name}`"))?;
        let mut seen = BTreeSet::from([root.as_str()]);
        let mut next = vec![root.as_str()];
        while let Some(id) = next.pop() {
            for link in self.0.get(id).into_iter().flat_map(|it| &it.links) {
                let linked = self.0.get(link).is_some_and(|it| !it.is_macro);
                if linked && seen.insert(link) {
                    next.push(link);
                }
            }
        }
        seen.remove(root.as_str());
        Ok(seen.into_iter().filter_map(|id| self.0.get(id)).collect())
    }
}

/// `cargo metadata`, offline if that is enough.
pub(crate) fn metadata(manifest: &Path, platform: &str) -> anyhow::Result<Value> {
    let output = cargo()
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            platform,
            "--manifest-path",
        ])
        .arg(manifest)
        .output()
        .context("could not start cargo")?;
    if !output.status.success() {
        bail!("cargo metadata of {} failed: {}", manifest.display(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_and_what_they_use_are_not_inside() {
        let package = |name: &str, kind: &str, source: Value| {
            serde_json::json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": source,
                "manifest_path": format!("/{name}/Cargo.toml"), "targets": [{"kind": [kind]}]})
        };
        let node = |name: &str, deps: &[(&str, Value)]| {
            let deps: Vec<Value> = deps
                .iter()
                .map(|(id, kind)| serde_json::json!({"pkg": id, "dep_kinds": [{"kind": kind}]}))
                .collect();
            serde_json::json!({"id": name, "deps": deps})
        };
        let far = || Value::from("registry");
        let packages = Packages::read(&serde_json::json!({
            "packages": [package("a", "bin", Value::Null), package("b", "lib", far()), package("m", "proc-macro", far()),
                package("n", "lib", far()), package("t", "lib", far()), package("windows", "lib", far())],
            "resolve": {"nodes": [
                node("a", &[("b", Value::Null), ("m", Value::Null), ("t", "dev".into())]),
                node("b", &[]), node("m", &[("n", Value::Null)]), node("n", &[]), node("t", &[])]}
        })).unwrap();
        let names: Vec<&str> = packages.inside("a").unwrap().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["b"]);
        assert!(!packages.0.contains_key("windows") && packages.inside("b").is_err());
    }
}
