//! `drydock commands list | show | add | snapshot | rm | verify`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use drydock_embed::{
    CompileLimits, SnapshotCommandError,
    contract::{ArgMode, Digest, Fault, port::EntryOptions},
    store::{CommandRegistry, Listed, Origin, PutArtifactError, RegisterError, Registration, Repaired},
};
use serde_json::{Value, json};

use super::{compile::CompileFlags, start::StartFlags};
use crate::{exit, home, module, show};

#[derive(Debug, Args)]
pub(crate) struct Commands {
    #[command(subcommand)]
    act: Act,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List every command
    List,
    /// Show one command
    Show {
        /// Which one
        name: String,
    },
    /// Register a module under a name, or bind the name anew
    Add {
        /// The name to run it by
        name: String,
        /// A .wasm or .wat file, or - for stdin
        file: PathBuf,
        /// Refuse the file unless it has this hash
        #[arg(long, value_name = "H")]
        sha256: Option<Digest>,
        /// How it takes arguments: argv, or stdin1 for a first line of stdin
        #[arg(long, default_value = "argv")]
        mode: ArgMode,
        #[command(flatten)]
        start: Box<StartFlags>,
        #[command(flatten)]
        compile: CompileFlags,
    },
    /// Keep a command as it is after its initialisation, so that it starts faster
    Snapshot {
        /// Which one
        name: String,
        /// How that is done with this very module: a TOML file
        recipe: PathBuf,
    },
    /// Forget a name
    Rm {
        /// Which one
        name: String,
    },
    /// Hash every module again and compare
    Verify {
        /// Set a damaged registry file aside and restore its second copy
        #[arg(long)]
        repair: bool,
    },
}

pub(crate) fn run(commands: Commands) -> anyhow::Result<ExitCode> {
    let json = commands.json;
    let done = match commands.act {
        Act::List => list(json),
        Act::Show { name } => show_one(&name, json),
        Act::Add { name, file, sha256, mode, start, compile } => {
            let how = Registration { mode, expected: sha256, options: start.options(&compile) };
            add(&name, &file, how, compile.limits(), json)
        }
        Act::Snapshot { name, recipe } => super::snapshot::run(&name, &recipe, json),
        Act::Rm { name } => remove(&name, json),
        Act::Verify { repair } => verify(repair, json),
    };
    let Err(error) = done else { return done };
    exit::report_code(code_of(&error), &error, json)
}

fn code_of(error: &anyhow::Error) -> &'static str {
    if let Some(error) = error.downcast_ref::<RegisterError>() {
        return error.code();
    }
    if let Some(error) = error.downcast_ref::<PutArtifactError>() {
        return error.code();
    }
    if let Some(error) = error.downcast_ref::<SnapshotCommandError>() {
        return error.code();
    }
    if let Some(error) = error.downcast_ref::<Fault>() {
        return error.code();
    }
    if error.downcast_ref::<wat::Error>().is_some() { "bad_module" } else { "unreadable" }
}

fn describe(it: &Listed) -> Value {
    let (origin, path) = match &it.origin {
        Origin::Builtin => ("builtin".to_owned(), None),
        Origin::Applet { of } => (format!("applet of {of}"), None),
        Origin::Registered { path } => ("registered".to_owned(), Some(path.display().to_string())),
    };
    let mut told = json!({ "name": it.entry.name, "sha256": it.entry.digest, "mode": it.entry.mode.as_str(),
                           "size": it.size, "origin": origin, "path": path });
    if *it.entry.options != EntryOptions::default() {
        told["options"] = json!(*it.entry.options);
    }
    told
}

fn list(json: bool) -> anyhow::Result<ExitCode> {
    let dock = home::dock()?;
    warn_if_damaged(dock.registry());
    let all = dock.registry().list();
    if json {
        show::json(&all.iter().map(describe).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let (applets, commands): (Vec<_>, Vec<_>) =
        all.iter().partition(|it| matches!(it.origin, Origin::Applet { .. }));
    let rows = commands.iter().map(|it| {
        let size = it.size.map_or("missing".into(), show::size);
        let origin = if it.entry.builtin { "builtin" } else { "registered" };
        let digest = it.entry.digest.to_string();
        [it.entry.name.to_string(), it.entry.mode.as_str().into(), size, digest[..12].into(), origin.into()]
    });
    show::table(["NAME", "MODE", "SIZE", "SHA256", "ORIGIN"], rows)?;
    if !applets.is_empty() {
        show::line("\nApplets of wbox, callable by their own name:")?;
        let mut line = String::new();
        for it in applets {
            let name = it.entry.name.as_str();
            if line.len() + name.len() > 90 {
                show::line(&format!(" {line}"))?;
                line.clear();
            }
            line.push(' ');
            line.push_str(name);
        }
        show::line(&format!(" {line}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show_one(name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let dock = home::dock()?;
    let it = dock.registry().show(name)?;
    let described = describe(&it);
    if json {
        show::json(&described)?;
        return Ok(ExitCode::SUCCESS);
    }
    for key in ["name", "sha256", "mode", "size", "origin", "path", "options"] {
        match &described[key] {
            Value::Null => {}
            Value::String(text) => show::line(&format!("{key:<8}{text}"))?,
            other => show::line(&format!("{key:<8}{other}"))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn add(
    name: &str,
    file: &Path,
    how: Registration,
    compile: CompileLimits,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let dock = home::dock_with(compile)?;
    dock.registry().may_register(name)?;
    let bytes = module::read(file)?;
    let got = Digest::of(&bytes);
    if let Some(expected) = how.expected.filter(|expected| *expected != got) {
        return Err(RegisterError::ShaMismatch { expected, got }.into());
    }
    // Compiled before it is named, so that what is registered can run, and starts at once.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(dock.check_as(bytes.clone(), &how.options))?;
    let entry = dock.registry().register(name, bytes, how)?;
    if json {
        show::json(&describe(&dock.registry().show(entry.name.as_str())?))?;
        return Ok(ExitCode::SUCCESS);
    }
    show::line(&format!("added {} ({}, {})", entry.name, entry.mode.as_str(), entry.digest))?;
    Ok(ExitCode::SUCCESS)
}

fn remove(name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let dock = home::dock()?;
    let entry = dock.registry().remove(name)?;
    if json {
        show::json(&json!({ "removed": entry.name, "sha256": entry.digest }))?;
        return Ok(ExitCode::SUCCESS);
    }
    show::line(&format!("removed {} ({}); its module is kept", entry.name, entry.digest))?;
    Ok(ExitCode::SUCCESS)
}

fn verify(repair: bool, json: bool) -> anyhow::Result<ExitCode> {
    let dock = home::dock()?;
    let registry = dock.registry();
    let repaired = if repair { Some(registry.repair()?) } else { None };
    registry.check()?;
    let verdicts = registry.verify();
    let bad = verdicts.iter().filter(|it| it.outcome.is_err()).count();
    if json {
        let rows: Vec<_> = verdicts
            .iter()
            .map(|it| {
                let problem = it.outcome.as_ref().err();
                json!({ "name": it.name, "sha256": it.digest, "ok": problem.is_none(),
                        "code": problem.map(|it| it.code()), "message": problem.map(ToString::to_string) })
            })
            .collect();
        show::json(&rows)?;
    } else {
        if let Some(Repaired::SetAside { broken, restored }) = repaired {
            let restored = restored
                .map_or("nothing was there to restore".into(), |count| format!("{count} names restored"));
            show::line(&format!("the damaged registry is now `{}`; {restored}", broken.display()))?;
        }
        for it in &verdicts {
            if let Err(problem) = &it.outcome {
                show::line(&format!("{}: {}: {problem}", it.name, problem.code()))?;
            }
        }
        show::line(&format!("{} commands verified, {bad} bad", verdicts.len()))?;
    }
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn warn_if_damaged(registry: &CommandRegistry) {
    if let Err(error) = registry.check() {
        exit::warn(&format!("{}: {error}", error.code()));
    }
}
