//! Arrows point down only: what cargo says against the table of rooms.

mod table;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use serde_json::Value;

pub(super) use table::HANDLESS;
use table::{GUEST_ONLY, OWNED, ROOMS, Room};

use super::{Finding, tree::Tree};
use crate::{fuzz::host_triple, packages::metadata};

const TABLE: &str = "xtask/src/tidy/layers/table.rs";

/// Who depends on whom.
struct Graph {
    /// Packages of this workspace, by name.
    members: BTreeSet<String>,
    /// Direct normal dependencies by package name. Two versions of a crate are one.
    uses: BTreeMap<String, BTreeSet<String>>,
    /// The same with those of tests and build scripts.
    names: BTreeMap<String, BTreeSet<String>>,
}

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let answer = metadata(&tree.root.join("Cargo.toml"), &host_triple()?)?;
    Ok(judge(&Graph::of(&answer)?))
}

impl Graph {
    fn of(metadata: &Value) -> anyhow::Result<Self> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();

        let mut names = BTreeMap::new();
        for package in list(&metadata["packages"]) {
            names.insert(text(&package["id"]), text(&package["name"]));
        }
        let name =
            |id: &Value| names.get(&text(id)).cloned().context("cargo metadata names an unknown package");

        let members = list(&metadata["workspace_members"]).iter().map(name).collect::<Result<_, _>>()?;
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in list(&metadata["resolve"]["nodes"]) {
            let from = uses.entry(name(&node["id"])?).or_default();
            let all = named.entry(name(&node["id"])?).or_default();
            for dep in list(&node["deps"]) {
                all.insert(name(&dep["pkg"])?);
                if list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                    from.insert(name(&dep["pkg"])?);
                }
            }
        }
        Ok(Self { members, uses, names: named })
    }

    fn direct(&self, package: &str) -> impl Iterator<Item = &String> {
        self.uses.get(package).into_iter().flatten()
    }

    /// Everything reachable, the package itself left out.
    fn reachable(&self, package: &str) -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = self.direct(package).map(String::as_str).collect();
        while let Some(name) = next.pop() {
            if seen.insert(name) {
                next.extend(self.direct(name).map(String::as_str));
            }
        }
        seen
    }
}

fn judge(graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &graph.members {
        match ROOMS.iter().find(|room| room_of(package) == room.name) {
            None => findings.push(Finding::new(
                TABLE,
                format!("does not know the package `{package}`"),
                "give the room a row, here and in ARCHITECTURE.md",
            )),
            Some(room) => judge_room(graph, package, room, &mut findings),
        }
    }
    for room in ROOMS.iter().filter(|room| !graph.members.iter().any(|package| room_of(package) == room.name))
    {
        findings.push(Finding::new(
            TABLE,
            format!("has a room `{}` that is not there", room.name),
            "remove its row",
        ));
    }
    findings
}

fn judge_room(graph: &Graph, package: &str, room: &Room, findings: &mut Vec<Finding>) {
    let manifest = match room.name {
        "xtask" => "xtask/Cargo.toml".to_owned(),
        name => format!("crates/{name}/Cargo.toml"),
    };
    for dep in graph.direct(package) {
        let owners = OWNED.iter().find(|(name, _)| name == dep).map(|(_, owners)| *owners);
        if let Some(owners) = owners.filter(|owners| !owners.contains(&room.name)) {
            let who = if owners.is_empty() { "nobody but tests".to_owned() } else { owners.join(", ") };
            findings.push(Finding::new(
                &manifest,
                format!("depends on `{dep}`, which belongs to {who}"),
                "ask that room through a port",
            ));
        } else if graph.members.contains(dep) && !room.may_use.contains(&room_of(dep)) {
            findings.push(Finding::new(
                &manifest,
                format!("depends on `{dep}`, and the arrow does not point down"),
                format!("`{}` may use: {}", room.name, shown(room.may_use)),
            ));
        }
    }
    for dep in graph.names.get(package).into_iter().flatten() {
        if GUEST_ONLY.contains(&dep.as_str()) {
            findings.push(Finding::new(
                &manifest,
                format!("depends on `{dep}`, which runs as a guest only"),
                "open the guest instead, in tests too; only `guests/` and `fuzz/` may name it",
            ));
        }
    }
    for dep in graph.reachable(package).into_iter().filter(|dep| room.never.contains(dep)) {
        findings.push(Finding::new(
            &manifest,
            format!("reaches `{dep}`, which `{}` must never do", room.name),
            format!("`cargo tree -p {package} -e normal -i {dep}` shows the way; cut it"),
        ));
    }
}

fn room_of(package: &str) -> &str {
    package.strip_prefix("drydock-").unwrap_or(package)
}

fn shown(rooms: &[&str]) -> String {
    if rooms.is_empty() { "no room".to_owned() } else { rooms.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A workspace of all built rooms, and some arrows `from -> to (kind)`.
    fn found(arrows: &[(&str, &str, Option<&str>)], without: &str, plus: &[&str]) -> Vec<String> {
        let built = ROOMS.iter().filter(|room| room.name != without);
        let package = |room: &Room| match room.name {
            "drydock" | "xtask" => room.name.to_owned(),
            name => format!("drydock-{name}"),
        };
        let mut members: Vec<String> = built.map(package).collect();
        members.extend(plus.iter().map(|name| (*name).to_owned()));
        let mut all: BTreeSet<String> = members.iter().cloned().collect();
        for (from, to, _) in arrows {
            all.extend([(*from).to_owned(), (*to).to_owned()]);
        }
        let id = |name: &str| format!("id+{name}");
        let nodes: Vec<Value> = all
            .iter()
            .map(|name| {
                let own = arrows.iter().filter(|(from, _, _)| from == name);
                let deps: Vec<Value> =
                    own.map(|(_, to, kind)| json!({"pkg": id(to), "dep_kinds": [{"kind": kind}]})).collect();
                json!({"id": id(name), "deps": deps})
            })
            .collect();
        let metadata = json!({
            "packages": all.iter().map(|name| json!({"id": id(name), "name": name})).collect::<Vec<_>>(),
            "workspace_members": members.iter().map(|name| id(name)).collect::<Vec<_>>(),
            "resolve": {"nodes": nodes},
        });
        judge(&Graph::of(&metadata).unwrap())
            .iter()
            .map(|it| format!("{}: {}", it.file, it.problem))
            .collect()
    }

    #[test]
    fn arrows_that_point_down_are_fine_and_tests_may_use_anything() {
        let arrows = [
            ("drydock-gate", "drydock-contract", None),
            ("drydock-engine", "wasmtime", None),
            ("wasmtime", "tokio", None),
            ("drydock-contract", "tokio", Some("dev")),
            ("drydock-contract", "drydock-testkit", Some("dev")),
        ];
        assert!(found(&arrows, "", &[]).is_empty());
    }

    #[test]
    fn each_kind_of_wrong_arrow_is_found() {
        let cases = [
            (("drydock-contract", "drydock-gate"), "the arrow does not point down"),
            (("drydock-caps", "drydock-engine"), "the arrow does not point down"),
            (("drydock-store", "wasmtime"), "which belongs to engine"),
            (("drydock-gate", "rusqlite"), "which belongs to store"),
            (("drydock-embed", "drydock-testkit"), "which belongs to nobody but tests"),
        ];
        for ((from, to), want) in cases {
            let found = found(&[(from, to, None)], "", &[]);
            assert!(found.iter().any(|it| it.contains(want)), "{from} -> {to}: {found:#?}");
        }
    }

    #[test]
    fn what_runs_as_a_guest_is_on_nobodys_list_not_even_for_tests() {
        let rooms = ["commands", "embed", "mcp", "catalog", "engine", "codemode", "testkit", "gate"];
        let packages = rooms.map(|it| format!("drydock-{it}"));
        for package in packages.iter().map(String::as_str).chain(["drydock"]) {
            for kind in [None, Some("dev"), Some("build")] {
                let found = found(&[(package, "drydock-shell", kind)], "", &[]);
                let want = "depends on `drydock-shell`, which runs as a guest only";
                assert!(found.iter().any(|it| it.contains(want)), "{package} {kind:?}: {found:#?}");
            }
        }
        let own =
            [("drydock-shell", "drydock-contract", None), ("drydock-shell", "drydock-testkit", Some("dev"))];
        assert!(found(&own, "", &[]).is_empty());
    }

    #[test]
    fn a_runtime_is_found_however_deep_it_hides() {
        let arrows =
            [("drydock-contract", "bytes", None), ("bytes", "helper", None), ("helper", "tokio", None)];
        let found = found(&arrows, "", &[]);
        assert_eq!(found, ["crates/contract/Cargo.toml: reaches `tokio`, which `contract` must never do"]);
    }

    #[test]
    fn the_table_knows_every_room_and_no_other() {
        assert_eq!(
            found(&[], "caps", &["drydock-misc", "drydock-agent"]),
            [
                format!("{TABLE}: does not know the package `drydock-misc`"),
                format!("{TABLE}: has a room `caps` that is not there"),
            ]
        );
    }
}
