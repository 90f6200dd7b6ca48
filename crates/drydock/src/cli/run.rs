//! `drydock run [flags] NAME [ARGS…]`.

use std::{ffi::OsString, os::unix::ffi::OsStrExt as _, process::ExitCode};

use clap::Args;
use drydock_embed::{
    DockSession,
    contract::{CallError, Denial, Limits, RunReport, Sink, Streams, exit::CANCELLED, port::Registry as _},
};

use super::{grants, mistyped, powers::Powers, revoke, tree};
use crate::{
    exit, home,
    interrupt::Interrupts,
    local, show, streams,
    taped::{RecordFlags, Taped, Taping},
    units,
};

pub(super) mod record;

/// Who a person at the command line is.
pub(crate) const PRINCIPAL: &str = "cli";

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: the command's own; otherwise 124 timed out, 125 another limit or a trap, 136 and 139 as after a signal,
126 denied, 127 unknown command, 130 Ctrl-C.")]
pub(crate) struct Run {
    #[command(flatten)]
    powers: Powers,
    /// Bytes the command may read from stdin [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    input_max: Option<u64>,
    #[command(flatten)]
    record: RecordFlags,
    /// Print one record of the run as JSON instead of its output
    #[arg(long)]
    json: bool,
    /// Start it in the server of this data directory (`drydock serve`), print its id, and do not wait for it
    #[arg(long, conflicts_with_all = NOT_DETACHED)]
    detach: bool,
    /// The command and its arguments, which are passed on untouched
    #[arg(value_name = "NAME [ARGS]", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    line: Vec<OsString>,
}

/// What a server does not take from a caller: nothing of the host is named over HTTP, and its limits are its own.
const NOT_DETACHED: [&str; 25] = [
    "profile",
    "grants",
    "fuel",
    "output_max",
    "disk_max",
    "dir",
    "links",
    "allow_host",
    "allow_private",
    "allow_url",
    "allow_tcp",
    "allow_tls",
    "allow_udp",
    "allow_secret",
    "secret",
    "secret_header",
    "install_missing",
    "compile_timeout",
    "compile_memory",
    "seed",
    "now",
    "input_max",
    "record",
    "record_max",
    "json",
];

impl Run {
    /// Whether its end is told as JSON, and so is why it has none.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }
}

/// Limits of a run where no flag says otherwise.
pub(crate) fn usual() -> Limits {
    Limits::default()
}

pub(crate) fn run(run: Run) -> anyhow::Result<ExitCode> {
    on(run, Taping::Live).map(|it| it.0)
}

/// Runs it on a tape, or on none.
pub(crate) fn on(run: Run, taping: Taping) -> anyhow::Result<(ExitCode, Taped)> {
    let (name, args) = run.line.split_first().ok_or_else(|| anyhow::anyhow!("no command named"))?;
    let name = name.to_string_lossy().into_owned();
    if name.starts_with('-') {
        mistyped::flag("run", &name);
    }
    let args: Vec<Vec<u8>> = args.iter().map(|it| it.as_bytes().to_vec()).collect();
    if run.detach {
        return Ok((detach(&run.powers, &name, &args)?, Taped::Nothing));
    }
    let json = run.json;
    let usual = usual();
    let stdin_bytes_max = run.input_max.unwrap_or(usual.stdin_bytes_max);
    let mut setup = run.powers.setup(Limits { stdin_bytes_max, ..usual })?;
    let dock = match taping.machine() {
        Some(dock) => dock,
        None => home::dock_with(run.powers.compile.limits())?,
    };
    grants::add_stored(&dock, PRINCIPAL, &mut setup)?;
    let mut taping = taping.begin(&run.record, "run", &setup, &run.powers.dir)?;
    taping.deck().prepare(&mut setup);
    let log = setup.denials.clone();
    let builtin = run.powers.builtin_memory();
    let blind = run.powers.dir.is_empty() && run.powers.workspace.is_none();
    let mut bases = Vec::new();
    if let Some(tree) = tree::of(dock.home(), &run.powers, builtin, &taping)? {
        bases = tree.bases;
        setup.files = Some(tree.files);
        if !setup.env.iter().any(|(name, _)| name == "PWD") {
            setup.env.push(("PWD".into(), tree.cwd));
        }
    }
    if let Some(columns) = streams::stdout_columns().filter(|_| taping.is_live())
        && !json
        && !setup.env.iter().any(|(name, _)| name == "COLUMNS")
    {
        setup.env.push(("COLUMNS".into(), columns.to_string()));
    }
    // What was added has the profile's memory, and is told so.
    let mut limits = setup.limits.unwrap_or_default();
    if dock.registry().lookup(&name, None).is_none_or(|entry| entry.builtin) {
        limits.memory_bytes_max = builtin;
    }
    let session = dock.session(PRINCIPAL, setup)?;
    let cancel = session.clone();
    taping.on_end(move || cancel.cancel());

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (status, taped) = runtime.block_on(async {
        let streams = Streams {
            stdin: taping.stdin(streams::stdin)?,
            stdout: if json { Sink::capture() } else { taping.sink("stdout", streams::stdout)? },
            stderr: if json { Sink::capture() } else { taping.sink("stderr", streams::stderr)? },
            ..Streams::default()
        };
        let done = cancellable(&session, session.run_with(&name, &args, streams)).await;
        let denials = grants::refused(log.as_deref());
        match done {
            Ok((report, streams)) => {
                let status = report.outcome.exit_status();
                let ended = json.then(|| record::ended(&report, streams, denials.clone()));
                let taped = match &ended {
                    Some(ended) => taping.keep(&dock, &report.outcome.to_string(), &ended.but_for_times()),
                    None => taping.keep(&dock, &report.outcome.to_string(), &costs(&report)),
                };
                match ended {
                    _ if !taping.shows() => {}
                    Some(ended) => show::json(&ended.on(&taped))?,
                    None => {
                        taped.tell();
                        explain(&name, &report, &limits);
                        grants::tell_to(PRINCIPAL, &denials);
                        hint_at_files(status, blind, &run.line);
                    }
                }
                anyhow::Ok((status, taped))
            }
            Err(error) => {
                let taped = taping.keep(&dock, error.code(), b"");
                let names: Vec<String> = dock.registry().names().iter().map(ToString::to_string).collect();
                let absent = dock.remedy(&name);
                match json {
                    _ if !taping.shows() => {}
                    true => show::json(&record::refused(&error, &names, absent))?,
                    false => {
                        taped.tell();
                        refuse(&error, &names, &name, PRINCIPAL, absent);
                        grants::tell_to(PRINCIPAL, &denials);
                    }
                }
                Ok((error.exit_status(), taped))
            }
        }
    })?;
    tree::tell_what_is_dropped(&bases);
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    // A thread may still wait for stdin, which nobody will read any more.
    runtime.shutdown_background();
    // The process ends here; taking the pool apart page by page would only delay it.
    std::mem::forget(dock);
    Ok((ExitCode::from(status), taped))
}

/// What a run cost, but for time.
fn costs(report: &RunReport) -> Vec<u8> {
    let RunReport { fuel, memory_bytes, stdin_bytes, stdout_bytes, stderr_bytes, .. } = report;
    [fuel, memory_bytes, stdin_bytes, stdout_bytes, stderr_bytes]
        .into_iter()
        .flat_map(|it| it.to_le_bytes())
        .collect()
}

/// Has the server of this data directory start it, and prints its id.
fn detach(powers: &Powers, name: &str, args: &[Vec<u8>]) -> anyhow::Result<ExitCode> {
    let text = |it: &Vec<u8>| match std::str::from_utf8(it) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => anyhow::bail!("an argument is no UTF-8, which a server does not take"),
    };
    let mut wanted = powers.for_server();
    wanted["command"] = name.into();
    wanted["args"] = args.iter().map(text).collect::<anyhow::Result<Vec<String>>>()?.into();
    let told = local::ask(&home::open()?, "POST", "/v1/processes", Some(&wanted))?;
    show::line(told["id"].as_str().unwrap_or_default())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs until it ends, or Ctrl-C cancels the session; a second Ctrl-C ends the process.
pub(super) async fn cancellable<T>(session: &DockSession, run: impl Future<Output = T>) -> T {
    let mut interrupts = Interrupts::listen();
    let mut run = std::pin::pin!(run);
    loop {
        tokio::select! {
            done = &mut run => return done,
            () = interrupts.next() => {
                if !session.inner().is_live() {
                    std::process::exit(i32::from(CANCELLED));
                }
                session.cancel();
            }
        }
    }
}

/// Says on stderr why a run was ended before its own end.
fn explain(name: &str, report: &RunReport, limits: &Limits) {
    if let Some(limit) = report.quota {
        exit::warn(&format!("{name}: {}", limit.remark()));
    }
    if let Some(text) = report.outcome.remark(limits, None) {
        exit::warn(&format!("{name}: {text}"));
    }
}

/// A command that failed over a file of the host's is the first thing a newcomer meets.
fn hint_at_files(status: u8, blind: bool, line: &[OsString]) {
    let exists = |it: &&OsString| std::path::Path::new(it).exists();
    if let (true, true, Some(path)) = (status != 0, blind, line.iter().skip(1).find(exists)) {
        let path = path.to_string_lossy();
        exit::warn(&format!(
            "hint: a command sees no file of the host; `--dir .` shows it this directory and `{path}`"
        ));
    }
}

/// Says on stderr why a run did not begin, and what would have let it.
pub(super) fn refuse(
    error: &CallError,
    names: &[String],
    name: &str,
    principal: &str,
    absent: Option<String>,
) {
    if let (CallError::Denied(Denial::UnknownCommand(_)), Some(absent)) = (error, &absent) {
        return exit::warn(&format!("{name}: {absent}"));
    }
    let mut text = format!("{}: {error}", error.code());
    let mut cause = std::error::Error::source(error).and_then(std::error::Error::source);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    exit::warn(&text);
    if matches!(error, CallError::Denied(Denial::Revoked)) {
        exit::warn(&revoke::hint(principal, None));
    }
    if let Some(hint) = record::hint(error, names, absent) {
        exit::warn(&format!("hint: {hint}"));
    }
}
