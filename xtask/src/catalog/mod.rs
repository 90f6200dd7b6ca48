//! `cargo xtask catalog`: rows of the catalog from the registries, installed from nothing and proven.
//!
//! Without arguments the few rows that every change must keep alive; `--all` every row, `--write` also writes what
//! was found into docs/catalog.json, and docs/catalog.md from that and from the rows. What is absent (a client, a
//! registry) is an error and never a pass.

mod after;
mod c_programs;
mod lines;
mod page;
mod py_cases;
mod py_network;
mod py_pip;
mod py_programs;
mod py_revoked;
mod readme;
mod state;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::{cargo, must_succeed};
use state::{Proof, States};

/// What `.ci/run` proves: an interpreter, a compiler and two programs built by it, and a module of Go.
const ALWAYS: [&str; 5] = ["python", "clang", "lua", "sqlite3", "esbuild"];

/// What that may take: whoever changes something waits for it.
const ALWAYS_MAX: Duration = Duration::from_secs(600);

pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    let flag = |name: &str| args.iter().any(|it| it == name);
    let named: Vec<&str> = args.iter().map(String::as_str).filter(|it| !it.starts_with("--")).collect();
    if let Some(other) =
        args.iter().find(|it| it.starts_with("--") && !["--all", "--write", "--page"].contains(&it.as_str()))
    {
        bail!("`catalog` takes names of rows, --all, --write and --page, and was given `{other}`");
    }
    let mut states = States::read(root)?;
    if !flag("--page") {
        must_succeed(cargo().args(["build", "--quiet", "--package", "drydock"]).current_dir(root))?;
        let rows = page::rows(root)?;
        let wanted: Vec<&str> = match (flag("--all"), &named[..]) {
            (true, _) => rows.iter().map(|it| it.name.as_str()).collect(),
            (false, []) => ALWAYS.to_vec(),
            (false, named) => named.to_vec(),
        };
        let begun = Instant::now();
        let mut failed = prove(root, &wanted, &rows, &mut states)?;
        let took = begun.elapsed();
        println!("{} rows in {:.1} s", wanted.len(), took.as_secs_f64());
        if flag("--all") {
            // The page says of each why it is not there; whoever names a row wants it.
            failed.retain(|it| !rows.iter().any(|row| row.name == *it && row.unavailable.is_some()));
        } else if named.is_empty() && took > ALWAYS_MAX {
            failed.push(format!("within {} s", ALWAYS_MAX.as_secs()));
        }
        if flag("--write") {
            states.write(root)?;
        }
        if !failed.is_empty() && !flag("--write") {
            bail!("not proven: {}", failed.join(", "));
        }
    }
    if flag("--write") || flag("--page") {
        fs::write(root.join(page::PATH), page::text(root, &states)?)?;
        println!("wrote {}", page::PATH);
    }
    Ok(())
}

/// Installs and checks each row in a data directory that begins empty, but for archives that earlier runs fetched:
/// they are known by their hash.
fn prove(
    root: &Path,
    wanted: &[&str],
    rows: &[page::Row],
    states: &mut States,
) -> anyhow::Result<Vec<String>> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let binary = target.join("debug/drydock");
    let kept = target.join("catalog/archives");
    fs::create_dir_all(&kept)?;
    let home = tempfile::tempdir_in(target.join("catalog"))?;
    let archives = home.path().join("catalog/archives");
    fs::create_dir_all(&archives)?;
    copy_all(&kept, &archives)?;
    let mut failed = Vec::new();
    for name in wanted {
        let row =
            rows.iter().find(|it| it.name == *name).with_context(|| format!("there is no row `{name}`"))?;
        if let Some(why) = &row.unavailable {
            println!("{name}: unavailable: {why}");
            states.set(name, Proof::unavailable(why));
            failed.push((*name).to_owned());
            continue;
        }
        let begun = Instant::now();
        let proof = one(&binary, home.path(), name)?;
        println!("{name}: {} ({:.1} s)", proof.summary(), begun.elapsed().as_secs_f64());
        if !proof.is_proven() {
            failed.push((*name).to_owned());
        } else {
            failed.extend(after::run(root, &binary, home.path(), name)?);
        }
        states.set(name, proof);
        copy_all(&archives, &kept)?;
    }
    if readme::NEEDS.iter().all(|it| wanted.contains(it)) {
        failed.extend(readme::run(root, &binary, home.path())?);
    }
    Ok(failed)
}

fn one(binary: &Path, home: &Path, name: &str) -> anyhow::Result<Proof> {
    let drydock = |args: &[&str]| -> anyhow::Result<Value> {
        let mut command = Command::new(binary);
        command.args(["catalog", "--json"]).args(args).env("DRYDOCK_HOME", home);
        let output = command.output().with_context(|| format!("could not start {command:?}"))?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{command:?} answered no JSON: {told}"))
    };
    // The licence of a copyleft row is accepted for this trial alone: nothing of it is shipped.
    let added = drydock(&["add", "--accept-licence", name, name])?;
    if let Some(message) = added["error"]["message"].as_str() {
        return Ok(Proof::failed(message));
    }
    let verified = drydock(&["verify", "--run", name])?;
    let state = &verified[0];
    if state["state"] != "proven" {
        let why = state["why"].as_str().unwrap_or("it is not installed after it was added");
        return Ok(Proof::failed(why));
    }
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let hash = added[0]["sha256"].as_str().unwrap_or_default();
    let size = fs::metadata(home.join("commands").join(format!("{hash}.wasm"))).map_or(0, |it| it.len());
    let compile_ms = number(&added[0]["compile_ms"]);
    Ok(Proof { compile_ms, ..Proof::proven(size, number(&added[0]["ms"]), number(&state["ms"])) })
}

fn copy_all(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(from)?.flatten() {
        let place = to.join(entry.file_name());
        // Whole or not at all: another run may read it.
        if !place.exists() {
            let beside = to.join(format!(".{}", std::process::id()));
            fs::copy(entry.path(), &beside)?;
            fs::rename(&beside, &place)?;
        }
    }
    Ok(())
}
