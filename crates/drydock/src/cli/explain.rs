//! `drydock explain LINE`: what a line would do, without doing it.

use std::{io::Read as _, process::ExitCode};

use anyhow::bail;
use clap::Args;
use drydock_embed::{
    Dock, ExplainError, catalog,
    contract::port::Registry as _,
    shell::{Plan, PlannedCommand, ShellLimits, Touch},
};
use serde::Serialize;

use crate::{home, show};

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The text; `-` reads it from stdin
    #[arg(value_name = "LINE", allow_hyphen_values = true)]
    line: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Told {
    stages: Vec<Stage>,
    reads: Vec<String>,
    writes: Vec<String>,
    appends: Vec<String>,
    /// Names that a grant of `exec` must admit.
    grants: Vec<String>,
    unknown: Vec<String>,
    /// A name or a path is computed, so there may be more.
    open_ended: bool,
    /// It re-parses text, which `--eval` must allow.
    evaluates: bool,
    /// Scripts that run if the line does not write them itself.
    scripts: Vec<String>,
    /// Places of the network, which a shell here does not have.
    network: Vec<String>,
}

#[derive(Serialize)]
struct Stage {
    pipeline: usize,
    line: u32,
    column: u32,
    name: String,
    args: Vec<String>,
    kind: &'static str,
    /// The command that starts it, where that is not the shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    started_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

pub(crate) fn run(args: Explain) -> anyhow::Result<ExitCode> {
    let limits = ShellLimits::default();
    let mut text = args.line;
    if text == "-" {
        text.clear();
        let most = limits.text_bytes_max as u64 + 1;
        std::io::stdin().lock().take(most).read_to_string(&mut text)?;
    }
    let dock = home::dock()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let plan = match runtime.block_on(dock.explain(&text, &limits)) {
        Ok(plan) => plan,
        Err(ExplainError::Syntax(error)) => bail!("not a line: {error}"),
        Err(error) => bail!("{error}"),
    };
    let told = told(plan, &dock);
    match args.json {
        true => show::json(&told)?,
        false => {
            let names: Vec<String> = dock.registry().names().iter().map(ToString::to_string).collect();
            print(&told, &names, |name| dock.remedy(name))?;
        }
    }
    std::mem::forget(dock);
    Ok(ExitCode::SUCCESS)
}

fn told(plan: Plan, dock: &Dock) -> Told {
    let stages: Vec<Stage> = plan.commands.into_iter().map(|it| stage(it, dock)).collect();
    let of = |wanted: Touch| {
        let mut paths: Vec<String> =
            plan.files.iter().filter(|(touch, _)| *touch == wanted).map(|(_, path)| path.clone()).collect();
        paths.sort();
        paths.dedup();
        paths
    };
    let is_unknown = |name: &&String| dock.registry().lookup(name, None).is_none() && !dock.stands_in(name);
    let unknown = plan.grants.iter().filter(is_unknown).cloned().collect();
    Told {
        stages,
        reads: of(Touch::Reads),
        writes: of(Touch::Writes),
        appends: of(Touch::Appends),
        unknown,
        grants: plan.grants.into_iter().collect(),
        open_ended: plan.open_ended,
        evaluates: plan.evaluates,
        scripts: plan.scripts.into_iter().collect(),
        network: plan.network.into_iter().collect(),
    }
}

fn stage(it: PlannedCommand, dock: &Dock) -> Stage {
    let entry = dock.registry().lookup(&it.name, it.args.first().map(String::as_bytes));
    let (kind, sha256) = match entry {
        _ if it.function => ("function", None),
        _ if it.alias => ("alias", None),
        _ if it.builtin => ("shell", None),
        _ if it.name.contains('$') => ("computed", None),
        Some(entry) => (if entry.builtin { "built-in" } else { "added" }, Some(entry.digest.to_string())),
        None if dock.stands_in(&it.name) => ("stand-in", None),
        None => ("unknown", None),
    };
    Stage {
        pipeline: it.pipeline,
        line: it.line,
        column: it.column,
        name: it.name,
        args: it.args,
        kind,
        started_by: it.started_by,
        sha256,
    }
}

fn print(told: &Told, names: &[String], absent: impl Fn(&str) -> Option<String>) -> anyhow::Result<()> {
    show::table(
        ["AT", "PIPELINE", "COMMAND", "KIND", "SHA256", "ARGUMENTS"],
        told.stages.iter().map(|it| {
            let hash = it.sha256.as_deref().map_or("-", |hash| &hash[..hash.len().min(12)]);
            [
                format!("{}:{}", it.line, it.column),
                (it.pipeline + 1).to_string(),
                match &it.started_by {
                    Some(by) => format!("{by} > {}", it.name),
                    None => it.name.clone(),
                },
                it.kind.into(),
                hash.into(),
                it.args.join(" "),
            ]
        }),
    )?;
    let list = |names: &[String]| match names {
        [] => "nothing".to_owned(),
        names => names.iter().map(|it| show::plain(it)).collect::<Vec<_>>().join(", "),
    };
    show::line("")?;
    show::line(&format!("reads:   {}", list(&told.reads)))?;
    show::line(&format!("writes:  {}", list(&told.writes)))?;
    show::line(&format!("appends: {}", list(&told.appends)))?;
    show::line(&format!(
        "grants:  {}",
        match &told.grants[..] {
            [] => "none".to_owned(),
            names => format!("exec for {}", list(names)),
        }
    ))?;
    if !told.unknown.is_empty() {
        show::line(&format!("unknown: {} (status 127)", list(&told.unknown)))?;
        for name in &told.unknown {
            let remedy = absent(name).or_else(|| catalog::remedy(name, names.iter().map(String::as_str)));
            if let Some(remedy) = remedy {
                show::line(&format!("hint:    {}: {remedy}", show::plain(name)))?;
            }
        }
    }
    if told.open_ended {
        show::line("note:    a name or a path is computed when it runs, so there may be more")?;
    }
    if !told.network.is_empty() {
        show::line(&format!("network: {} (refused: a shell here has none)", list(&told.network)))?;
    }
    if told.evaluates {
        show::line("note:    it parses text again, which is refused without --eval (status 126)")?;
    }
    if !told.scripts.is_empty() {
        let scripts = list(&told.scripts);
        show::line(&format!(
            "note:    runs {scripts}; a script that this line writes is refused without --eval (status 126), a \
             WebAssembly program is not"
        ))?;
    }
    show::line("Files are those of redirections and of the arguments of well-known commands.")?;
    Ok(())
}
