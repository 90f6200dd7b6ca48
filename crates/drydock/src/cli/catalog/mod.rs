//! `drydock catalog list | search | show | add | remove | verify`.

mod bar;
mod name;
mod tell;

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::{Args, Subcommand};
use drydock_catalog::{Catalog as Rows, CatalogError, State};
use drydock_embed::{Dock, contract::exit::CANCELLED};
use serde_json::{Value, json};

use super::hosts::Hosts;
use crate::{exit, home, interrupt::Interrupts, provide, show, units};

#[derive(Debug, Args)]
#[command(after_help = "\
A row is fetched by the package client that this machine has configured (npm, pip, cargo), which installs
nothing and runs no script of a package. The archive and the module are compared with the hashes of the row,
the archive is unpacked in a sandbox, and the module compiled once. What was fetched stays in the data
directory, so that adding it again needs no client. A row of --rows may also have an https: source, which
is fetched by Drydock itself, from a host that --allow-host names.

Examples:
  drydock catalog add python && drydock run python -c 'print(6 * 7)'
  drydock catalog verify --run")]
pub(crate) struct Catalog {
    #[command(subcommand)]
    act: Act,
    /// Further rows: the TOML files of this directory
    #[arg(long, global = true, value_name = "DIR")]
    rows: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List every row
    List,
    /// List the rows that have this text in their name, their commands or their summary
    Search {
        /// What to look for
        text: String,
    },
    /// Show one row
    Show {
        /// Which one
        #[arg(value_parser = name::RowNames, hide_possible_values = true)]
        name: String,
    },
    /// Fetch, check, compile and register rows
    Add {
        /// Which ones; a command of a row will do
        #[arg(required = true, value_parser = name::RowNames, hide_possible_values = true)]
        names: Vec<String>,
        /// Use what was fetched before, and start no package client
        #[arg(long)]
        offline: bool,
        /// Time that fetching one archive may take
        #[arg(long, value_name = "TIME", value_parser = units::duration, default_value = "10m")]
        fetch_timeout: Duration,
        /// Hosts that rows with an `https:` source may be fetched from
        #[command(flatten)]
        hosts: Hosts,
        /// Say that you read and accept the copyleft licence of this row; may be repeated
        #[arg(long, value_name = "NAME")]
        accept_licence: Vec<String>,
    },
    /// Forget the names of rows; their bytes stay
    Remove {
        /// Which ones
        #[arg(required = true, value_parser = name::RowNames, hide_possible_values = true)]
        names: Vec<String>,
    },
    /// Hash what is installed again, and compare
    Verify {
        /// Run each row's own checks too, and compare what they write
        #[arg(long)]
        run: bool,
        /// Only these; all rows otherwise
        #[arg(value_parser = name::RowNames, hide_possible_values = true)]
        names: Vec<String>,
    },
}

pub(crate) fn run(catalog: Catalog) -> anyhow::Result<ExitCode> {
    let json = catalog.json;
    let done = act(catalog);
    let Err(error) = done else { return done };
    let code = error.downcast_ref::<CatalogError>().map_or_else(
        || error.downcast_ref::<drydock_catalog::BadRow>().map_or("unreadable", |it| it.code()),
        CatalogError::code,
    );
    exit::report_code(code, &error, json)
}

fn act(catalog: Catalog) -> anyhow::Result<ExitCode> {
    let mut rows = provide::catalog(catalog.rows.as_deref())?;
    let dock = home::dock()?;
    let json = catalog.json;
    match catalog.act {
        Act::List => tell::list(&dock, &rows, |_| true, json),
        Act::Search { text } => {
            let text = text.to_lowercase();
            tell::list(&dock, &rows, |row| tell::mentions(row, &text), json)
        }
        Act::Show { name } => tell::show(&dock, &rows, rows.row(&name)?, json),
        Act::Add { names, offline, fetch_timeout, hosts, accept_licence } => {
            rows.network.rules = hosts.rules();
            rows.fetch.wall_max = fetch_timeout;
            (rows.offline, rows.accepted) = (offline, accept_licence);
            let times = bar::CompileTimes::default();
            rows.watcher = bar::watcher(times.clone());
            add(&dock, &rows, &names, json.then_some(&times))
        }
        Act::Remove { names } => remove(&dock, &rows, &names, json),
        Act::Verify { run, names } => verify(&dock, &rows, &names, run, json),
    }
}

/// Installs rows; `json` has what is told besides, where JSON is wanted.
fn add(
    dock: &Dock,
    rows: &Rows,
    names: &[String],
    json: Option<&bar::CompileTimes>,
) -> anyhow::Result<ExitCode> {
    // All of them are known before the first is fetched.
    for name in names {
        rows.row(name)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut told: Vec<Value> = Vec::new();
    for name in names {
        let begun = Instant::now();
        let done = runtime.block_on(async {
            let mut interrupts = Interrupts::listen();
            tokio::select! {
                done = rows.install(dock, name) => Some(done),
                // Dropping it ends the client and the compile worker.
                () = interrupts.next() => None,
            }
        });
        bar::wipe();
        let Some(done) = done else {
            return Ok(ExitCode::from(CANCELLED));
        };
        let installed = done?;
        let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(times) = json {
            let mut value = serde_json::to_value(&installed)?;
            value["ms"] = ms.into();
            value["compile_ms"] = times.of(installed.row.as_str()).into();
            told.push(value);
            continue;
        }
        let commands: Vec<String> = installed.commands.iter().map(ToString::to_string).collect();
        show::line(&format!(
            "{} {}: {} from {}, in {:.1} s",
            installed.row,
            installed.version,
            commands.join(", "),
            installed.from,
            ms as f64 / 1e3
        ))?;
    }
    if json.is_some() {
        show::json(&told)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(dock: &Dock, rows: &Rows, names: &[String], json: bool) -> anyhow::Result<ExitCode> {
    let mut told: Vec<Value> = Vec::new();
    for name in names {
        let removed = rows.remove(dock, name)?;
        match json {
            true => told.push(json!({ "row": rows.row(name)?.name, "removed": removed })),
            false => show::line(&format!("{name}: removed {}; its bytes are kept", removed.join(", ")))?,
        }
    }
    if json {
        show::json(&told)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(dock: &Dock, rows: &Rows, names: &[String], checks: bool, json: bool) -> anyhow::Result<ExitCode> {
    let wanted = match names {
        [] => rows.table.rows().iter().collect::<Vec<_>>(),
        names => names.iter().map(|it| rows.row(it)).collect::<Result<_, _>>()?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut states = Vec::new();
    for row in wanted {
        bar::say(&format!("{}: checking", row.name));
        let begun = Instant::now();
        let state = runtime.block_on(rows.verify(dock, row, checks));
        bar::wipe();
        states.push((row, state, begun.elapsed()));
    }
    // Whoever names rows wants them; without names, what is not installed is no failure.
    let bad = states.iter().any(|(_, state, _)| match state {
        State::Failed(_) => true,
        State::NotInstalled => !names.is_empty(),
        State::Installed | State::Proven => false,
    });
    tell::states(&states, json)?;
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
