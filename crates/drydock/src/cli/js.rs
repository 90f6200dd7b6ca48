//! `drydock js`: a JavaScript program whose only powers are the tools it was handed.

use std::{io::Read as _, path::Path, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context as _, bail};
use clap::Args;
use drydock_embed::{
    Base, ChildRunner, CodeInput, CodeResult, Dock, DockCode, Language, Setup, ShellSetup, TokioTime,
    codemode::{
        executor::{ExecuteOptions, Remote},
        protocol::Json,
        runner::Console,
    },
    contract::{Cap, FailureCode, Limits, Pattern, Switch, Terms, exit::CANCELLED},
    empty_tree,
    gate::{DenialLog, Grant},
    program_tools,
    store::WorkspaceName,
    tool_pattern,
};

use super::{grants, powers::Powers, run, tree};
use crate::{
    exit, home,
    interrupt::Interrupts,
    show,
    taped::{self, RecordFlags, Taped, Taping},
};

pub(super) mod ahead;
pub(super) mod report;
mod runner;

/// Longest program that is read at all; how long one may be is the protocol's own limit.
const PROGRAM_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug, Args)]
#[command(after_help = "\
The program sees `commands.NAME({args, stdin, env})` for every command it may run,
`commands.sh({line, stdin})`, `files.read/write/list`, `args` and `console`, and a namespace for each
power that it was granted, such as `kv` or `http` (--types shows them); nothing else of the
world. Its last expression, or what it returns, is printed as JSON. It ends with its value: await
what it should wait for.

`import` reads files of the workspace and of mounted directories, relative to the program's own file
if that is in one of them, else to the working directory. Types of TypeScript are stripped.

`drydock js runner` speaks the Execbox protocol on stdin and stdout, one message a line.

Exit status: 0 it ended well, 1 it failed, 124 it timed out, 125 another limit, 130 Ctrl-C.

Examples:
  drydock js -e '(await commands.jq({args: [\".n\"], stdin: \"{\\\"n\\\": 1}\"})).stdout'
  drydock js --workspace notes --args '{\"day\": 3}' report.js
  drydock js --types")]
pub(crate) struct Js {
    /// Run this program
    #[arg(short = 'e', value_name = "CODE", conflicts_with = "file")]
    code: Option<String>,
    /// The program is TypeScript, whatever its name; a FILE.ts is anyway
    #[arg(long)]
    ts: bool,
    #[command(flatten)]
    powers: Powers,
    /// Let the program call only these tools: NAME.TOOL or NAME.*
    #[arg(long, value_name = "TOOL[,TOOL]", value_delimiter = ',', value_parser = tool_pattern, conflicts_with = "grants")]
    allow_tool: Option<Vec<Pattern>>,
    /// A JSON value the program sees as `args`
    #[arg(long, value_name = "JSON", value_parser = json_value)]
    args: Option<Json>,
    /// Keep the program's globals under this name for the next one
    #[arg(long, value_name = "NAME", conflicts_with = "runner")]
    session: Option<WorkspaceName>,
    /// Forget the session first; without a program, do nothing else
    #[arg(long, requires = "session")]
    forget: bool,
    /// Where the program runs: `in-process` (the default), `child`, or a program that speaks the protocol
    #[arg(long, value_name = "RUNNER")]
    runner: Option<String>,
    /// Print TypeScript declarations of the tools, and run nothing
    #[arg(long)]
    types: bool,
    #[command(flatten)]
    record: RecordFlags,
    /// Print the whole result as JSON: ok, result or error, logs, durationMs
    #[arg(long)]
    json: bool,
    /// The program; `-` for stdin, `runner` to speak the protocol
    #[arg(value_name = "FILE")]
    file: Option<String>,
}

impl Js {
    fn language(&self) -> Language {
        let named = self.file.as_deref().is_some_and(|it| it.ends_with(".ts") || it.ends_with(".mts"));
        if self.ts || named { Language::TypeScript } else { Language::JavaScript }
    }

    /// Where the program's own file is seen by the program, if it is.
    fn guest_path(&self) -> Option<String> {
        let file = Path::new(self.file.as_deref().filter(|it| *it != "-")?);
        self.powers.dir.iter().find_map(|mount| mount.seen_at(file))
    }
}

pub(super) fn json_value(text: &str) -> Result<Json, String> {
    Json::parse(text.to_owned()).map_err(|error| error.to_string())
}

/// Limits of a program; the commands it calls have their own.
pub(crate) fn usual() -> Limits {
    Limits { wall_max: Duration::from_millis(5_000), ..Limits::default() }
}

pub(crate) fn run(js: Js) -> anyhow::Result<ExitCode> {
    on(js, Taping::Live).map(|it| it.0)
}

/// Runs it on a tape, or on none.
pub(crate) fn on(js: Js, taping: Taping) -> anyhow::Result<(ExitCode, Taped)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if js.file.as_deref() == Some("runner") {
        let code = runner::run(&runtime)?;
        runtime.shutdown_background();
        return Ok((code, Taped::Nothing));
    }
    if js.record.is_on() && (js.session.is_some() || js.runner.is_some()) {
        bail!(
            "--record goes together neither with --session nor with --runner: what those bring is no part of the run"
        );
    }
    let dock = Arc::new(match taping.machine() {
        Some(dock) => dock,
        None => home::dock_with(js.powers.compile.limits())?,
    });
    if js.forget
        && let Some(name) = &js.session
    {
        let was_there = dock.forget_context(run::PRINCIPAL, name)?;
        if js.code.is_none() && js.file.is_none() {
            show::line(&match was_there {
                true => format!("forgot `{name}`"),
                false => format!("there was no session `{name}`"),
            })?;
            return Ok((ExitCode::SUCCESS, Taped::Nothing));
        }
    }
    let text = if js.types { String::new() } else { text(&js)? };
    let file = taped::optional("path", || js.guest_path());
    let (code, bases, log, taping) = open(&dock, &js, taping)?;
    if js.types {
        show::line(&code.types())?;
        return Ok((ExitCode::SUCCESS, Taped::Nothing));
    }
    let limits = js.powers.setup(usual())?.limits.unwrap_or_default();
    let status = runtime.block_on(async {
        // The program's time is not spent on compiling.
        dock.warm_js().await?;
        if js.language() == Language::TypeScript || ahead::imports_types(&text) {
            dock.warm_ts().await?;
        }
        if js.powers.installs_any() {
            ahead::install(&dock, &text, |name| js.powers.installs(name)).await;
        }
        ahead::compile(&dock, &text).await;
        let signal = Arc::new(Switch::default());
        let end = Arc::clone(&signal);
        taping.on_end(move || end.trip());
        // Said on the command line, it limits the console; a line of it may be empty.
        let console_max = js.powers.output_max().map(|it| it as f64);
        let options = ExecuteOptions {
            timeout_ms: Some(limits.wall_max.as_secs_f64() * 1e3),
            memory_limit_bytes: Some(limits.memory_bytes_max as f64),
            max_log_lines: console_max,
            max_log_chars: console_max,
        };
        let input = CodeInput {
            options,
            args: js.args.clone(),
            signal: Some(Arc::clone(&signal)),
            console: (!js.json && taping.shows()).then(|| Console::new(report::console_line)),
            file: file.clone().map(Into::into),
            language: js.language(),
            denials: None,
        };
        let Some(result) = until_interrupted(&signal, code.execute_whole(&text, input)).await else {
            return anyhow::Ok((CANCELLED, Taped::Nothing));
        };
        let status = if signal.is_tripped() { CANCELLED } else { status(&result) };
        let denials = log.take();
        let told = grants::with_denials(result.execute.to_json(), &denials);
        let taped = taping.keep(&dock, &format!("exited({status})"), &report::but_for_times(&told));
        if !taping.shows() {
            return Ok((status, taped));
        }
        if js.json {
            show::line(&report::on(told, &taped))?;
        } else {
            taped.tell();
            let shown = report::Shown { text: &text, file: js.file.as_deref(), limits: &limits };
            report::show(&result, &shown, signal.is_tripped())?;
            grants::tell_to(run::PRINCIPAL, &denials);
        }
        if result.execute.logs_cut {
            report::console_cut(&options);
        }
        Ok((status, taped))
    });
    tree::tell_what_is_dropped(&bases);
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    runtime.shutdown_background();
    let (status, taped) = status?;
    // The process ends here; taking the pool apart page by page would only delay it.
    std::mem::forget((dock, code));
    Ok((ExitCode::from(status), taped))
}

fn status(result: &CodeResult) -> u8 {
    match &result.refused {
        Some(error) => error.exit_status(),
        None => result.execute.code().map_or(0, FailureCode::exit_status),
    }
}

fn text(js: &Js) -> anyhow::Result<String> {
    if let Some(code) = &js.code {
        return Ok(code.clone());
    }
    let bytes = taped::text("program", || host_text(js))?;
    String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("the program is not UTF-8"))
}

fn host_text(js: &Js) -> anyhow::Result<Vec<u8>> {
    let (from, what): (Box<dyn std::io::Read>, &str) = match js.file.as_deref() {
        None => bail!("no program: name a FILE, `-` for stdin, or give -e CODE"),
        Some("-") => (Box::new(std::io::stdin().lock()), "stdin"),
        Some(path) => {
            let file = std::fs::File::open(Path::new(path));
            (Box::new(file.with_context(|| format!("could not open `{path}`"))?), path)
        }
    };
    let mut bytes = Vec::new();
    from.take(PROGRAM_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("could not read the program from `{what}`"))?;
    if bytes.len() as u64 > PROGRAM_BYTES_MAX {
        bail!("the program from `{what}` is longer than {}", show::size(PROGRAM_BYTES_MAX));
    }
    if std::str::from_utf8(&bytes).is_err() {
        bail!("the program from `{what}` is not UTF-8");
    }
    Ok(bytes)
}

/// Code mode with the commands and files that the flags describe, and the directories below it.
fn open(
    dock: &Arc<Dock>,
    js: &Js,
    taping: Taping,
) -> anyhow::Result<(DockCode, Vec<Base>, Arc<DenialLog>, Taping)> {
    let mut setup: Setup = js.powers.setup(Limits::default())?;
    js.powers.leave_fuel_to_each_run(&mut setup);
    grants::add_stored(dock, run::PRINCIPAL, &mut setup)?;
    let taping = taping.begin(&js.record, "js", &setup, &js.powers.dir)?;
    taping.deck().prepare(&mut setup);
    let log = setup.denials.clone().unwrap_or_default();
    let mut shell = ShellSetup::default();
    let mut bases = Vec::new();
    let files = match tree::of(dock.home(), &js.powers, js.powers.builtin_memory(), &taping)? {
        Some(tree) => {
            (shell.roots, shell.cwd, bases) = (tree.roots, tree.cwd, tree.bases);
            tree.files
        }
        None => empty_tree(js.powers.builtin_memory()),
    };
    setup.files = Some(Arc::clone(&files));
    let providers = program_tools(dock, run::PRINCIPAL, &setup, &shell)?;
    if let Some(tools) = &js.allow_tool {
        setup.grants.push(Arc::new(Grant::of(Cap::Tool).within(Terms::of(tools.clone()))));
    }
    let code = match &js.session {
        Some(name) => dock.code_staying(run::PRINCIPAL, setup, providers, name)?,
        None => dock.code(run::PRINCIPAL, setup, providers)?,
    };
    let launch = match js.runner.as_deref() {
        None | Some("in-process") => return Ok((code, bases, log, taping)),
        Some("child") => {
            ChildRunner::new(std::env::current_exe()?, ["js", "runner"]).env("DRYDOCK_HOME", home::path()?)
        }
        Some(foreign) => {
            let mut words = foreign.split_whitespace();
            let program = words.next().context("--runner is empty: name a program")?;
            let path = std::env::var_os("PATH").unwrap_or_default();
            ChildRunner::new(program, words).env("PATH", path)
        }
    };
    let remote = Remote::new(Arc::new(launch), Arc::new(TokioTime::default()));
    Ok((code.on(Arc::new(remote)), bases, log, taping))
}

/// Runs until it ends; Ctrl-C gives it up. A second one waits for nothing more: the program is dropped,
/// and a runner of its own with all that it started.
pub(super) async fn until_interrupted<T>(signal: &Switch, program: impl Future<Output = T>) -> Option<T> {
    let mut interrupts = Interrupts::listen();
    let mut program = std::pin::pin!(program);
    loop {
        tokio::select! {
            done = &mut program => return Some(done),
            () = interrupts.next() => {
                if signal.is_tripped() {
                    return None;
                }
                signal.trip();
            }
        }
    }
}
