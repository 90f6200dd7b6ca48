//! `drydock run [flags] NAME [ARGS…]`.

use std::{ffi::OsString, os::unix::ffi::OsStrExt as _, process::ExitCode};

use clap::{Args, CommandFactory as _, error::ErrorKind};
use drydock_embed::{
    DockSession,
    contract::{CallError, Limits, Outcome, RunReport, Sink, Streams, port::FileLimit},
};

use super::{powers::Powers, tree};
use crate::{exit, home, show, streams, units};

pub(super) mod record;

/// Who a person at the command line is.
pub(super) const PRINCIPAL: &str = "cli";

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: the command's own; otherwise 124 timed out, 125 another limit or a trap,
126 denied, 127 unknown command, 130 Ctrl-C.")]
pub(crate) struct Run {
    #[command(flatten)]
    powers: Powers,
    /// Bytes the command may read from stdin [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    input_max: Option<u64>,
    /// Print one record of the run as JSON instead of its output
    #[arg(long)]
    json: bool,
    /// The command and its arguments, which are passed on untouched
    #[arg(value_name = "NAME [ARGS]", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    line: Vec<OsString>,
}

/// Limits of a run where no flag says otherwise.
pub(crate) fn usual() -> Limits {
    Limits::default()
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
    let usual = usual();
    let stdin_bytes_max = run.input_max.unwrap_or(usual.stdin_bytes_max);
    let mut setup = run.powers.setup(Limits { stdin_bytes_max, ..usual });
    let dock = home::dock()?;
    let limits = setup.limits.unwrap_or_default();
    if let Some(tree) = tree::of(dock.home(), &run.powers, limits.memory_bytes_max)? {
        setup.files = Some(tree.files);
        if !setup.env.iter().any(|(name, _)| name == "PWD") {
            setup.env.push(("PWD".into(), tree.cwd));
        }
    }
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
