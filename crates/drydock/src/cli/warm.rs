//! `drydock warm [--all | NAME…]`: compiles now what would be compiled on first use.

use std::{
    collections::HashSet,
    io::{IsTerminal as _, Write as _},
    process::ExitCode,
    time::Instant,
};

use anyhow::bail;
use clap::Args;
use drydock_embed::{Dock, contract::port::Registry as _};
use serde_json::{Value, json};

use super::compile::CompileFlags;
use crate::{home, progress, show};

/// The module that runs JavaScript, which is no command.
const JS: &str = "js";
/// The module that strips the types of TypeScript, which is none either.
const TS: &str = "ts";

#[derive(Debug, Args)]
pub(crate) struct Warm {
    /// Every command there is, JavaScript and TypeScript
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// These commands; `js` is what runs JavaScript, `ts` what strips TypeScript's types
    #[arg(value_name = "NAME", required_unless_present = "all")]
    names: Vec<String>,
    #[command(flatten)]
    compile: CompileFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(warm: Warm) -> anyhow::Result<ExitCode> {
    let dock = home::dock_with(warm.compile.limits())?;
    let modules = if warm.all { all(&dock) } else { named(&dock, warm.names)? };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = Instant::now();
    let (mut rows, mut bad): (Vec<Value>, usize) = (Vec::new(), 0);
    for (at, name) in modules.iter().enumerate() {
        tell(&format!("{} of {}: {name}", at + 1, modules.len()));
        let (before, begun) = (progress::compiled(), Instant::now());
        let done = runtime.block_on(async {
            match name.as_str() {
                JS => dock.warm_js().await?,
                TS => dock.warm_ts().await?,
                name => return dock.warm(name).await,
            }
            // Somebody may have added a command of that name.
            if dock.registry().lookup(name, None).is_some() { dock.warm(name).await } else { Ok(()) }
        });
        tell("");
        let compiled = progress::compiled() > before;
        let ms = begun.elapsed().as_millis() as u64;
        if let Err(error) = &done {
            bad += 1;
            crate::exit::warn(&format!("{name}: {}: {error}", error.code()));
        }
        let code = done.as_ref().err().map(|it| it.code());
        rows.push(json!({ "name": name, "ok": done.is_ok(), "compiled": compiled, "ms": ms, "code": code }));
    }
    match warm.json {
        true => show::json(&rows)?,
        false => {
            let compiled = rows.iter().filter(|row| row["compiled"] == true).count();
            let seconds = started.elapsed().as_secs_f64();
            show::line(&format!(
                "{} modules ready, {compiled} compiled now, in {seconds:.1} s",
                rows.len() - bad
            ))?;
        }
    }
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One name for each module: many commands live in one.
fn all(dock: &Dock) -> Vec<String> {
    let names = dock.registry().names();
    let mut seen = HashSet::new();
    let first = names.iter().filter(|name| {
        dock.registry().lookup(name.as_str(), None).is_some_and(|entry| seen.insert(entry.digest))
    });
    first.map(ToString::to_string).chain([JS, TS].map(str::to_owned)).collect()
}

/// All of them, or none if one is unknown: a script wants to know before it begins.
fn named(dock: &Dock, names: Vec<String>) -> anyhow::Result<Vec<String>> {
    let unknown = names
        .iter()
        .find(|name| ![JS, TS].contains(&name.as_str()) && dock.registry().lookup(name, None).is_none());
    if let Some(name) = unknown {
        bail!("there is no command `{name}`; `drydock commands list` lists them");
    }
    Ok(names)
}

/// On a terminal, what is being done, until it is wiped.
fn tell(what: &str) {
    let mut stderr = std::io::stderr();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[2K{}", show::plain(what));
    }
}
