//! docs/catalog.md, from the rows and from what is known of them.

use std::{fs, path::Path};

use anyhow::Context as _;
use toml::Value;

use super::state::States;

pub(super) const PATH: &str = "docs/catalog.md";

const HEAD: &str = "\
# The catalog

Programs that `drydock catalog add NAME` installs. A row is a file of [crates/catalog/rows](../crates/catalog/rows). This page is
generated from the rows and from docs/catalog.json, which `cargo xtask catalog --all --write` writes. The trials were
single runs of `catalog add` and `catalog verify --run`, on two cores that other builds shared: times are upper bounds and no benchmark.
*Size* is that of the module, *first add* is fetching (where it was not cached), unpacking, building where the lane is `c`, and
compiling together; *first compile* is the last part of that, with the snapshot where the row has one; *check* is how many checks a row has and how long they took, each of which computes something from input and
compares bytes. A dash was not measured.

";

/// What the page says of a row.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) unavailable: Option<String>,
    version: String,
    lane: String,
    licence: String,
    commands: Vec<String>,
    checks: usize,
}

/// The rows, by name.
pub(super) fn rows(root: &Path) -> anyhow::Result<Vec<Row>> {
    let mut files: Vec<_> =
        fs::read_dir(root.join("crates/catalog/rows"))?.flatten().map(|it| it.path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "toml"));
    files.sort();
    files.iter().map(|file| row(file).with_context(|| format!("{} cannot be read", file.display()))).collect()
}

fn row(file: &Path) -> anyhow::Result<Row> {
    let table: toml::Table = fs::read_to_string(file)?.parse()?;
    let text = |key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |key: &str| table.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let name = |it: &Value| it.get("name").and_then(Value::as_str).map(str::to_owned);
    Ok(Row {
        name: text("name").context("it has no name")?,
        unavailable: text("unavailable"),
        version: text("version").unwrap_or_default(),
        lane: text("lane").unwrap_or_default(),
        licence: text("licence").unwrap_or_default(),
        commands: list("commands").iter().filter_map(name).collect(),
        checks: list("checks").len(),
    })
}

/// The whole page.
pub(super) fn text(root: &Path, states: &States) -> anyhow::Result<String> {
    let mut page = HEAD.to_owned();
    page.push_str(
        "| Row | Version | Commands | Lane | Licence | Size | First add | First compile | Check | State |\n",
    );
    page.push_str("|---|---|---|---|---|---|---|---|---|---|\n");
    for row in rows(root)? {
        let proof = states.of(&row.name);
        let known = proof.filter(|it| it.is_proven());
        let dash = || "–".to_owned();
        let size = known.map_or_else(dash, |it| format!("{:.1} MB", it.size as f64 / 1e6));
        let seconds = |ms: Option<u64>| match ms.filter(|it| *it > 0) {
            Some(ms) => format!("{:.1} s", ms as f64 / 1e3),
            None => dash(),
        };
        let add = seconds(known.map(|it| it.add_ms));
        let compile = seconds(known.map(|it| it.compile_ms));
        let check =
            known.map_or_else(dash, |it| format!("{}, {:.1} s", row.checks, it.check_ms as f64 / 1e3));
        let state = match (&row.unavailable, proof) {
            (Some(why), _) => format!("unavailable: {why}"),
            (None, Some(proof)) => format!("{} ({})", proof.summary().replace('|', "\\|"), proof.date),
            (None, None) => "unproven: not tried yet".into(),
        };
        let commands = row.commands.join(", ");
        page.push_str(&format!(
            "| {} | {} | {commands} | {} | {} | {size} | {add} | {compile} | {check} | {state} |\n",
            row.name, row.version, row.lane, row.licence
        ));
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_what_the_rows_and_the_trials_say() {
        let root = crate::root();
        let states = States::read(&root).unwrap();
        let written = fs::read_to_string(root.join(PATH)).unwrap();
        assert_eq!(written, text(&root, &states).unwrap(), "`cargo xtask catalog --page` writes it anew");
    }
}
