//! `drydock run [flags] NAME [ARGS…]`.

use std::{ffi::OsString, os::unix::ffi::OsStrExt as _, process::ExitCode, time::Duration};

use clap::{Args, CommandFactory as _, error::ErrorKind};
use drydock_embed::{
    DockSession, Setup,
    contract::{
        CallError, CommandName, Entropy, GuestTime, Limits, Outcome, RunReport, Sink, Streams, Timestamp,
        port::FileLimit,
    },
    gate::Profile,
    store::WorkspaceName,
};

use super::mount;
use crate::{exit, home, show, streams, units};

mod record;

/// Who a person at the command line is.
const PRINCIPAL: &str = "cli";

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: the command's own; otherwise 124 timed out, 125 another limit or a trap,
126 denied, 127 unknown command, 130 Ctrl-C.")]
pub(crate) struct Run {
    /// Powers and memory by name (see `drydock profiles`); an unknown one is `compute`
    #[arg(long, value_name = "NAME", default_value = "minimal")]
    profile: String,
    /// Only these commands may run, nested ones included
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    allow: Option<Vec<CommandName>>,
    /// Wall-clock limit, such as 500ms, 30s or 2m [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    timeout: Option<Duration>,
    /// Instructions the command may execute [default: 5000000000]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// Memory limit, host buffers included, such as 64MiB [default: the profile's]
    #[arg(long, value_name = "SIZE", value_parser = units::memory)]
    memory: Option<u64>,
    /// Bytes the command may write to stdout and to stderr, each [default: 8MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    output_max: Option<u64>,
    /// Bytes the command may read from stdin [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    input_max: Option<u64>,
    /// Bytes each volume of a workspace may hold, and a directory mounted rw may grow by [default: 4GiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    disk_max: Option<u64>,
    /// Mount a host directory: copy-on-write unless :ro or :rw is said
    #[arg(long, value_name = "HOST[:GUEST][:ro|:rw|:cow]", value_parser = mount::parse)]
    dir: Vec<mount::Mount>,
    /// See the files of this workspace, as /workspace, /memory and /tmp
    #[arg(long, value_name = "NAME")]
    workspace: Option<WorkspaceName>,
    /// Set an environment variable; the command sees no others
    #[arg(long, value_name = "K=V", value_parser = variable)]
    env: Vec<(String, String)>,
    /// Take all randomness from this seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Start the command's clocks at this moment: 2026-01-31T12:00:00Z or seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    now: Option<Timestamp>,
    /// Print one record of the run as JSON instead of its output
    #[arg(long)]
    json: bool,
    /// The command and its arguments, which are passed on untouched
    #[arg(value_name = "NAME [ARGS]", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    line: Vec<OsString>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}` has no `=`: use NAME=value"))?;
    if name.is_empty() {
        return Err(format!("`{text}` has no name: use NAME=value"));
    }
    Ok((name.into(), value.into()))
}

pub(crate) fn run(run: Run) -> anyhow::Result<ExitCode> {
    let (name, args) = run.line.split_first().ok_or_else(|| anyhow::anyhow!("no command named"))?;
    let name = name.to_string_lossy().into_owned();
    if name.starts_with('-') {
        // Everything from the name on is the command's, so clap takes a mistyped flag for a name.
        let text = format!("unexpected argument '{name}' found; `drydock help run` lists the flags");
        super::Arguments::command().error(ErrorKind::UnknownArgument, text).exit();
    }
    let args: Vec<Vec<u8>> = args.iter().map(|it| it.as_bytes().to_vec()).collect();
    let json = run.json;
    let mut setup = setup(&run);
    let dock = home::dock()?;
    let limits = setup.limits.unwrap_or_default();
    let room = mount::Room::new(limits.memory_bytes_max, run.disk_max);
    setup.files = mount::tree(dock.home(), run.workspace.as_ref(), &run.dir, room)?;
    let session = dock.session(PRINCIPAL, setup)?;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let status = runtime.block_on(async {
        let streams = Streams {
            stdin: streams::stdin()?,
            stdout: if json { Sink::capture() } else { streams::stdout()? },
            stderr: if json { Sink::capture() } else { streams::stderr()? },
        };
        match cancellable(&session, session.run_with(&name, &args, streams)).await {
            Ok((report, streams)) => {
                let status = exit::of_outcome(&report.outcome);
                match json {
                    true => show::json(&record::ended(&report, streams))?,
                    false => explain(&name, &report, &limits),
                }
                anyhow::Ok(status)
            }
            Err(error) => {
                match json {
                    true => show::json(&record::refused(&error))?,
                    false => refuse(&error),
                }
                Ok(exit::of_error(&error))
            }
        }
    })?;
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    // A thread may still wait for stdin, which nobody will read any more.
    runtime.shutdown_background();
    // The process ends here; taking the pool apart page by page would only delay it.
    std::mem::forget(dock);
    Ok(ExitCode::from(status))
}

fn setup(run: &Run) -> Setup {
    let profile = Profile::named(&run.profile);
    if profile.name != run.profile {
        exit::warn(&format!("there is no profile `{}`; using `{}`", run.profile, profile.name));
    }
    let default = profile.limits();
    let limits = Limits {
        wall_max: run.timeout.unwrap_or(default.wall_max),
        fuel_max: run.fuel.unwrap_or(default.fuel_max),
        memory_bytes_max: run.memory.unwrap_or(default.memory_bytes_max),
        stdout_bytes_max: run.output_max.unwrap_or(default.stdout_bytes_max),
        stderr_bytes_max: run.output_max.unwrap_or(default.stderr_bytes_max),
        stdin_bytes_max: run.input_max.unwrap_or(default.stdin_bytes_max),
        ..default
    };
    Setup {
        profile,
        allow: run.allow.clone(),
        limits: Some(limits),
        // Commands that it starts burn from the same purse.
        fuel_shared: Some(limits.fuel_max),
        env: run.env.clone(),
        time: run.now.map_or(GuestTime::Real, GuestTime::Fixed),
        entropy: run.seed.map_or(Entropy::System, Entropy::Seeded),
        ..Setup::default()
    }
}

/// Runs until it ends, or Ctrl-C cancels the session; a second Ctrl-C ends the process.
async fn cancellable<T>(session: &DockSession, run: impl Future<Output = T>) -> T {
    let mut run = std::pin::pin!(run);
    loop {
        tokio::select! {
            done = &mut run => return done,
            signal = tokio::signal::ctrl_c() => {
                if signal.is_err() {
                    return run.await;
                }
                if !session.inner().is_live() {
                    std::process::exit(130);
                }
                session.cancel();
            }
        }
    }
}

/// Says on stderr why a run was ended before its own end.
fn explain(name: &str, report: &RunReport, limits: &Limits) {
    if let Some(limit) = report.quota {
        let more = match limit {
            FileLimit::Bytes | FileLimit::FileBytes => "; --memory and --disk-max allow more",
            _ => "",
        };
        exit::warn(&format!("{name}: quota_exceeded: {}: {limit}{more}", limit.code()));
    }
    let text = match &report.outcome {
        Outcome::Exited(_) => return,
        Outcome::Trapped(reason) => format!("trapped: {reason}"),
        Outcome::OutOfFuel => {
            format!("out_of_fuel: {} instructions are used up; --fuel allows more", limits.fuel_max)
        }
        Outcome::TimedOut => {
            format!("timed_out: {} s have passed; --timeout allows more", limits.wall_max.as_secs_f64())
        }
        Outcome::OutOfMemory => {
            format!(
                "out_of_memory: the limit is {}; --memory allows more",
                show::size(limits.memory_bytes_max)
            )
        }
        Outcome::OutputLimit => format!(
            "output_limit: cut off after {}; --output-max allows more",
            show::size(limits.stdout_bytes_max.min(limits.stderr_bytes_max))
        ),
        Outcome::InputLimit => {
            format!(
                "input_limit: stdin is longer than {}; --input-max allows more",
                show::size(limits.stdin_bytes_max)
            )
        }
        Outcome::Cancelled => "cancelled".into(),
    };
    exit::warn(&format!("{name}: {text}"));
}

/// Says on stderr why a run did not begin, and what would have let it.
fn refuse(error: &CallError) {
    let mut text = format!("{}: {error}", error.code());
    let mut cause = std::error::Error::source(error).and_then(std::error::Error::source);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    exit::warn(&text);
    if let Some(hint) = record::hint(error) {
        exit::warn(&format!("hint: {hint}"));
    }
}
