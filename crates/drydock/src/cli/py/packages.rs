//! `drydock py add|list|remove`: the Python packages of a workspace or a directory.

use std::{process::ExitCode, sync::Arc};

use anyhow::bail;
use clap::Parser;
use drydock_embed::{
    Dock,
    contract::{exit::UNKNOWN, port::Clock as _},
    packages::{LockedPackage, PackageError, Packages, Requirement, WheelSource},
};

use crate::{
    cli::{powers::Powers, tree},
    exit, home, show,
    taped::Taping,
};

/// The words that are no file's name here; `./add` is.
pub(super) const ACTIONS: [&str; 3] = ["add", "list", "remove"];

// Here flags may come after words, which a program's arguments do not allow.
#[derive(Debug, Parser)]
#[command(
    name = "drydock py add|list|remove",
    about = "Add, list or remove Python packages of a workspace or a directory"
)]
struct Rest {
    #[command(flatten)]
    powers: Powers,
    /// Print the packages as JSON
    #[arg(long)]
    json: bool,
    /// Names, with `==VERSION` where it matters
    packages: Vec<String>,
}

pub(super) fn run(before: Powers, json: bool, action: &str, words: &[String]) -> anyhow::Result<ExitCode> {
    let line = std::iter::once("drydock py add|list|remove").chain(words.iter().map(String::as_str));
    let rest = Rest::try_parse_from(line).unwrap_or_else(|error| error.exit());
    let given = rest.powers.workspace.is_some() || !rest.powers.dir.is_empty();
    let powers = if given { rest.powers } else { before };
    let (json, words) = (json || rest.json, &rest.packages[..]);
    if powers.workspace.is_none() && powers.dir.is_empty() {
        bail!("packages lie in a workspace or in a directory: give --workspace NAME or --dir DIR:rw");
    }
    if action != "list" && powers.workspace.is_none() && !powers.dir.iter().all(|it| it.is_written()) {
        bail!("what is installed would be dropped with the process: give --dir DIR:rw, or --workspace NAME");
    }
    let dock = Arc::new(home::dock()?);
    let Some(found) = tree::of(dock.home(), &powers, powers.builtin_memory(), &Taping::Live)? else {
        bail!("there is no directory");
    };
    let now = drydock_embed::SystemClock.now();
    let packages = Packages::of(&dock, &found.files, &found.cwd, now);
    let done = match action {
        "list" => packages.list().map(|lock| lock.packages),
        "remove" => remove(&packages, words),
        _ => add(&dock, &packages, words),
    };
    match done {
        Ok(all) => told(json, action, &all),
        Err(error) => {
            exit::warn(&format!("{}: {error}", error.code()));
            let status = if matches!(error, PackageError::NotInstalled(_)) { UNKNOWN } else { 1 };
            Ok(ExitCode::from(status))
        }
    }
}

fn remove(packages: &Packages<'_>, words: &[String]) -> Result<Vec<LockedPackage>, PackageError> {
    words.iter().map(|name| packages.remove(name)).collect()
}

fn add(dock: &Dock, packages: &Packages<'_>, words: &[String]) -> Result<Vec<LockedPackage>, PackageError> {
    let wanted = words.iter().map(|it| Requirement::parse(it)).collect::<Result<Vec<_>, _>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| PackageError::Fetch(error.to_string()))?;
    let source: Box<dyn WheelSource> = crate::provide::wheels(dock.home());
    runtime.block_on(packages.add(&wanted, &*source))
}

fn told(json: bool, action: &str, all: &[LockedPackage]) -> anyhow::Result<ExitCode> {
    if json {
        show::line(&serde_json::to_string(all)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    for package in all {
        let LockedPackage { name, version, sha256, .. } = package;
        let short = sha256.get(..12).unwrap_or(sha256);
        show::line(&match action {
            "list" => format!("{name} {version} sha256 {sha256}"),
            "remove" => format!("removed {name} {version}"),
            _ => format!("added {name} {version} (sha256 {short}…)"),
        })?;
    }
    Ok(ExitCode::SUCCESS)
}
