//! `drydock py`: a Python program whose only powers are the tools it was handed, beside `drydock js`.

use std::{io::Read as _, path::Path, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context as _, bail};
use clap::Args;
use drydock_embed::{
    ChangeLog, Dock, DockPy, OpenPyError, PyInput, PyResult, Setup, ShellSetup,
    codemode::{executor::ExecuteOptions, protocol::Json},
    contract::{
        Cap, Limits, Pattern, Source, Switch, Terms,
        exit::CANCELLED,
        port::{Files, OpenHow, Registry as _, TreePath},
    },
    empty_tree,
    gate::{DenialLog, Grant},
    program_tools,
    store::WorkspaceName,
    tool_pattern,
};

use super::{
    grants,
    js::{ahead, json_value, report::but_for_times, until_interrupted},
    mistyped,
    powers::Powers,
    run, tree,
};
use crate::{
    exit, home, show, streams,
    taped::{self, RecordFlags, Taped, Taping},
};

mod packages;
mod report;
mod runner;

/// Longest program that is read.
const PROGRAM_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug, Args)]
#[command(after_help = "\
The program sees `commands.NAME(*args, stdin=…)` for every command it may run, `sh(line)`,
`files.read/write/list`, `args`, and the session's files by open(); nothing else of the world.
`aio.commands.NAME(…)` begins at once and is awaited, also at the top level. `subprocess` and
`os.system` run the same commands. Its last expression is the result: printed as JSON where the
program itself printed nothing, and always in --json.

`drydock py add PKG…` installs pure Python wheels below the directory that programs start in
(--workspace NAME or --dir DIR:rw), locked by hash in drydock-py.lock; `py list`, `py remove PKG…`.
`drydock py runner` speaks the Execbox protocol on stdin and stdout, one message a line.

Exit status: the program's own (1 if it raised), 124 it timed out, 125 another limit, 127 there is
no Python: `drydock catalog add python`.

Examples:
  drydock py -c 'commands.jq(\".n\", stdin=\"{\\\"n\\\": 1}\").stdout'
  drydock py --dir . report.py 2026
  drydock py --session s -c 'x = 41' && drydock py --session s -c 'x + 1'
  drydock py --types")]
pub(crate) struct Py {
    /// Run this program
    #[arg(short = 'c', value_name = "CODE")]
    code: Option<String>,
    #[command(flatten)]
    powers: Powers,
    /// Let the program call only these tools: NAME.TOOL or NAME.*
    #[arg(long, value_name = "TOOL[,TOOL]", value_delimiter = ',', value_parser = tool_pattern, conflicts_with = "grants")]
    allow_tool: Option<Vec<Pattern>>,
    /// A JSON value the program sees as `args`
    #[arg(long, value_name = "JSON", value_parser = json_value)]
    args: Option<Json>,
    /// Keep the program's globals under this name for the next one
    #[arg(long, value_name = "NAME")]
    session: Option<WorkspaceName>,
    /// Forget the session first; without a program, do nothing else
    #[arg(long, requires = "session")]
    forget: bool,
    /// Print the tools as a program finds them, and run nothing
    #[arg(long)]
    types: bool,
    #[command(flatten)]
    record: RecordFlags,
    /// Print the whole result as JSON: ok, result or error, status, stdout, stderr, files, displays
    #[arg(long)]
    json: bool,
    /// The program (`-` for stdin), then its own arguments; or add, list, remove, runner
    #[arg(value_name = "FILE [ARG]", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Py {
    /// The file that was named, if the program is in one.
    fn file(&self) -> Option<&str> {
        if self.code.is_some() {
            return None;
        }
        self.words.first().map(String::as_str).filter(|it| *it != "-")
    }

    fn argv(&self) -> Vec<String> {
        match self.code {
            Some(_) => std::iter::once("-c".to_owned()).chain(self.words.iter().cloned()).collect(),
            None => self.words.clone(),
        }
    }

    /// The program's own file, by the path that the program itself would use where it sees it.
    fn name(&self) -> Option<String> {
        let file = self.file()?;
        let seen = self.powers.dir.iter().find_map(|mount| mount.seen_at(Path::new(file)));
        Some(seen.unwrap_or_else(|| file.to_owned()))
    }
}

/// Limits of a program; the commands it calls have their own.
pub(crate) fn usual() -> Limits {
    Limits { wall_max: Duration::from_secs(30), ..Limits::default() }
}

pub(crate) fn run(py: Py) -> anyhow::Result<ExitCode> {
    on(py, Taping::Live).map(|it| it.0)
}

/// Runs it on a tape, or on none.
pub(crate) fn on(py: Py, taping: Taping) -> anyhow::Result<(ExitCode, Taped)> {
    if let Some(flag) = py.file().filter(|it| it.starts_with('-')) {
        mistyped::flag("py", flag);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if py.file() == Some("runner") {
        let code = runner::run(&runtime)?;
        runtime.shutdown_background();
        return Ok((code, Taped::Nothing));
    }
    if let Some((action, words)) = py.words.split_first()
        && py.code.is_none()
        && packages::ACTIONS.contains(&action.as_str())
    {
        return Ok((packages::run(py.powers, py.json, action, words)?, Taped::Nothing));
    }
    if py.record.is_on() && py.session.is_some() {
        bail!("--record and --session do not go together: what a session kept is no part of the run");
    }
    let dock = Arc::new(match taping.machine() {
        Some(dock) => dock,
        None => home::dock_with(py.powers.compile.limits())?,
    });
    if py.forget
        && let Some(name) = &py.session
    {
        let was_there = dock.forget_py(run::PRINCIPAL, name)?;
        if py.code.is_none() && py.words.is_empty() {
            show::line(&match was_there {
                true => format!("forgot `{name}`"),
                false => format!("there was no session `{name}`"),
            })?;
            return Ok((ExitCode::SUCCESS, Taped::Nothing));
        }
    }
    if py.powers.installs("python") && dock.registry().lookup("python", None).is_none() {
        // What went wrong is said; that it is not there is said below.
        if let Err(why) = runtime.block_on(dock.install("python")) {
            exit::warn(&format!("python: not installed: {why}"));
        }
    }
    // Before anything is recorded: it is an input, if the host has it.
    let host = if py.types { None } else { host_text(&py)? };
    let name = taped::optional("path", || py.name());
    let mut opened = match open(&dock, &py, taping) {
        Ok(opened) => opened,
        Err(error) => {
            let Some(absent) = error.downcast_ref::<OpenPyError>() else { return Err(error) };
            exit::warn(&absent.to_string());
            return Ok((ExitCode::from(absent.exit_status()), Taped::Nothing));
        }
    };
    if py.types {
        show::line(&opened.programs.types())?;
        return Ok((ExitCode::SUCCESS, Taped::Nothing));
    }
    let text = text(&py, host, &opened.files)?;
    let limits = Limits { memory_bytes_max: py.powers.builtin_memory(), ..opened.limits };
    let status = runtime.block_on(execute(&dock, &py, &mut opened, (&text, name), &limits));
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    runtime.shutdown_background();
    let (status, taped) = status?;
    // The process ends here; taking the pool apart page by page would only delay it.
    std::mem::forget((dock, opened));
    Ok((ExitCode::from(status), taped))
}

async fn execute(
    dock: &Dock,
    py: &Py,
    opened: &mut Opened,
    (text, name): (&str, Option<String>),
    limits: &Limits,
) -> anyhow::Result<(u8, Taped)> {
    // The program's time is not spent on compiling.
    opened.programs.warm().await?;
    if py.powers.installs_any() {
        ahead::install(dock, text, |name| py.powers.installs(name)).await;
    }
    ahead::compile(dock, text).await;
    let signal = Arc::new(Switch::default());
    let end = Arc::clone(&signal);
    opened.taping.on_end(move || end.trip());
    let console_max = py.powers.output_max().map(|it| it as f64);
    let input = PyInput {
        options: ExecuteOptions {
            timeout_ms: Some(limits.wall_max.as_secs_f64() * 1e3),
            memory_limit_bytes: Some(limits.memory_bytes_max as f64),
            max_log_lines: console_max,
            max_log_chars: console_max,
        },
        args: py.args.clone(),
        argv: py.argv(),
        name,
        stdin: if py.file().is_none() && py.code.is_none() {
            Source::Empty
        } else {
            opened.taping.stdin(streams::stdin)?
        },
        stdout: if py.json { None } else { Some(opened.taping.sink("stdout", streams::stdout)?) },
        stderr: if py.json { None } else { Some(opened.taping.sink("stderr", streams::stderr)?) },
        signal: Some(Arc::clone(&signal)),
        denials: None,
    };
    let Some(result) = until_interrupted(&signal, opened.programs.execute(text, input)).await else {
        return Ok((CANCELLED, Taped::Nothing));
    };
    let status = if signal.is_tripped() { CANCELLED } else { result.status };
    let told = result.to_json().to_string();
    let taped = opened.taping.keep(dock, &format!("exited({status})"), &but_for_times(&told));
    if opened.taping.shows() {
        taped.tell_unless(py.json);
        show(py, opened, &result, limits, (signal.is_tripped(), &taped))?;
    }
    Ok((status, taped))
}

fn show(
    py: &Py,
    opened: &Opened,
    result: &PyResult,
    limits: &Limits,
    (was_interrupted, taped): (bool, &Taped),
) -> anyhow::Result<()> {
    if py.json {
        let mut whole = result.to_json();
        let files = opened.changes.changes();
        if !files.is_empty() {
            whole["files"] = serde_json::to_value(files)?;
        }
        let denials = opened.log.take();
        if !denials.is_empty() {
            whole["denials"] = serde_json::to_value(denials)?;
        }
        if let Some(id) = taped.id() {
            whole["tape"] = id.into();
        }
        show::line(&whole.to_string())?;
    } else {
        report::show(result, limits, was_interrupted)?;
        grants::tell_to(run::PRINCIPAL, &opened.log.take());
    }
    tree::tell_what_is_dropped(&opened.bases);
    Ok(())
}

fn text(py: &Py, host: Option<Vec<u8>>, files: &Arc<dyn Files>) -> anyhow::Result<String> {
    if let Some(code) = &py.code {
        return Ok(code.clone());
    }
    let what = match py.words.first().map(String::as_str) {
        None => bail!("no program: name a FILE, `-` for stdin, or give -c CODE"),
        Some("-") => "stdin",
        Some(path) => path,
    };
    // A path of the workspace is a path too.
    let bytes = match host.or_else(|| inside(files, what)) {
        Some(bytes) => bytes,
        None => {
            let error = std::fs::File::open(Path::new(what)).err();
            let error = error.unwrap_or_else(|| std::io::ErrorKind::NotFound.into());
            return Err(error).with_context(|| format!("could not open `{what}`"));
        }
    };
    if bytes.len() as u64 > PROGRAM_BYTES_MAX {
        bail!("the program from `{what}` is longer than {}", show::size(PROGRAM_BYTES_MAX));
    }
    String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("the program from `{what}` is not UTF-8"))
}

/// The program as the host has it; nothing if it does not.
fn host_text(py: &Py) -> anyhow::Result<Option<Vec<u8>>> {
    if py.code.is_some() {
        return Ok(None);
    }
    let (from, what): (Box<dyn std::io::Read>, &str) = match py.words.first().map(String::as_str) {
        _ if taped::is_played() => return Ok(taped::text("program", || bail!("it is on the tape")).ok()),
        None => return Ok(None),
        Some("-") => (Box::new(std::io::stdin().lock()), "stdin"),
        Some(path) => match std::fs::File::open(Path::new(path)) {
            Ok(file) => (Box::new(file), path),
            Err(_) => return Ok(None),
        },
    };
    let mut bytes = Vec::new();
    from.take(PROGRAM_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("could not read the program from `{what}`"))?;
    taped::text("program", || Ok(bytes)).map(Some)
}

/// The bytes of a file that a program would see by that absolute path.
fn inside(files: &Arc<dyn Files>, path: &str) -> Option<Vec<u8>> {
    let path = TreePath::new(path.strip_prefix('/')?).ok()?;
    let how = OpenHow { read: true, ..OpenHow::default() };
    let file = files.open(&path, how, drydock_embed::contract::Timestamp(0)).ok()?;
    let size = file.stat().ok()?.size.min(PROGRAM_BYTES_MAX + 1);
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    let count = file.read_at(0, &mut bytes).ok()?;
    bytes.truncate(count);
    Some(bytes)
}

/// Programs with what they were given.
struct Opened {
    programs: DockPy,
    files: Arc<dyn Files>,
    changes: ChangeLog,
    bases: Vec<drydock_embed::Base>,
    limits: Limits,
    log: Arc<DenialLog>,
    taping: Taping,
}

/// Python with the commands and files that the flags describe.
fn open(dock: &Arc<Dock>, py: &Py, taping: Taping) -> anyhow::Result<Opened> {
    let mut setup: Setup = py.powers.setup(Limits::default())?;
    py.powers.leave_fuel_to_each_run(&mut setup);
    grants::add_stored(dock, run::PRINCIPAL, &mut setup)?;
    let taping = taping.begin(&py.record, "py", &setup, &py.powers.dir)?;
    taping.deck().prepare(&mut setup);
    let log = setup.denials.clone().unwrap_or_default();
    let limits = py.powers.setup(usual())?.limits.unwrap_or_default();
    let mut shell = ShellSetup::default();
    let mut bases = Vec::new();
    let files = match tree::of(dock.home(), &py.powers, py.powers.builtin_memory(), &taping)? {
        Some(tree) => {
            (shell.roots, shell.cwd, bases) = (tree.roots, tree.cwd, tree.bases);
            tree.files
        }
        None => empty_tree(py.powers.builtin_memory()),
    };
    let (files, changes) = ChangeLog::of(&files);
    setup.files = Some(Arc::clone(&files));
    let providers = program_tools(dock, run::PRINCIPAL, &setup, &shell)?;
    if let Some(tools) = &py.allow_tool {
        setup.grants.push(Arc::new(Grant::of(Cap::Tool).within(Terms::of(tools.clone()))));
    }
    let programs = dock.py(run::PRINCIPAL, setup, &shell, providers, py.session.as_ref())?;
    Ok(Opened { programs, files, changes, bases, limits, log, taping })
}
