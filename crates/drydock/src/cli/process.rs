//! `drydock ps`, `logs` and `kill`: processes that go on by themselves. The first two read what is kept on disk, and need
//! no server; the third asks the one that runs.

use std::{io::Write as _, process::ExitCode, time::Duration};

use anyhow::bail;
use clap::{Args, ValueEnum};
use drydock_embed::{
    contract::Timestamp,
    store::{ProcessId, ProcessOutput, ProcessRecord, ProcessSpools, SPOOL_CHUNK_BYTES_MAX},
};

use crate::{home, local, show};

/// Between two looks at output that goes on.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
#[command(after_help = "\
Processes are started by `drydock run --detach` or POST /v1/processes. Those that have ended are kept for
seven days, the last 256 of them; of one whose server was killed the output stays.")]
pub(crate) struct Ps {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  drydock logs -f $ID
  drydock logs --output stdout --from 4096 $ID")]
pub(crate) struct Logs {
    /// Go on until the process has ended
    #[arg(short, long)]
    follow: bool,
    /// Only this output [default: both, each where it belongs]
    #[arg(long, value_name = "NAME")]
    output: Option<Output>,
    /// Begin at this byte
    #[arg(long, value_name = "CURSOR", default_value_t = 0, requires = "output")]
    from: u64,
    /// The process
    id: ProcessId,
}

#[derive(Debug, Args)]
pub(crate) struct Kill {
    /// Forget it and its output, too
    #[arg(long)]
    rm: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The process
    id: ProcessId,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Output {
    Stdout,
    Stderr,
}

fn spools() -> anyhow::Result<ProcessSpools> {
    Ok(ProcessSpools::of(&home::tenant()?))
}

pub(crate) fn ps(ps: Ps) -> anyhow::Result<ExitCode> {
    let all = spools()?.list()?;
    if ps.json {
        show::json(&all)?;
    } else if all.is_empty() {
        show::line("no processes")?;
    } else {
        let rows = all.iter().map(|it| {
            let started = Timestamp(it.started_ms.saturating_mul(1_000_000)).to_rfc3339();
            [it.id.to_string(), it.stage.name().to_owned(), end_of(it), started, it.command.clone()]
        });
        show::table(["ID", "STATE", "ENDED", "STARTED", "COMMAND"], rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How it ended, in a word.
fn end_of(record: &ProcessRecord) -> String {
    match (&record.code, record.exit_code) {
        (Some(code), Some(status)) if code == "exited" => status.to_string(),
        (Some(code), _) => code.clone(),
        (None, _) => "-".into(),
    }
}

pub(crate) fn logs(logs: Logs) -> anyhow::Result<ExitCode> {
    let all = spools()?;
    let wanted = match logs.output {
        None => vec![(ProcessOutput::Stdout, 0), (ProcessOutput::Stderr, 0)],
        Some(Output::Stdout) => vec![(ProcessOutput::Stdout, logs.from)],
        Some(Output::Stderr) => vec![(ProcessOutput::Stderr, logs.from)],
    };
    let alone = wanted.len() == 1;
    let mut left = wanted;
    while !left.is_empty() {
        let mut told = false;
        for (output, from) in std::mem::take(&mut left) {
            let Some(chunk) = all.read(&logs.id, output, from, SPOOL_CHUNK_BYTES_MAX)? else {
                bail!("there is no process {}; `drydock ps` shows those there are", logs.id);
            };
            told |= !chunk.bytes.is_empty();
            match output {
                ProcessOutput::Stderr if !alone => std::io::stderr().write_all(&chunk.bytes)?,
                _ => show::bytes(&chunk.bytes)?,
            }
            let goes_on = !chunk.is_end && (logs.follow || !chunk.bytes.is_empty());
            if goes_on {
                left.push((output, chunk.next));
            }
        }
        if !told && !left.is_empty() {
            std::thread::sleep(LOOK_AGAIN);
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn kill(kill: Kill) -> anyhow::Result<ExitCode> {
    let all = spools()?;
    let Some(found) = all.find(&kill.id)? else {
        bail!("there is no process {}; `drydock ps` shows those there are", kill.id);
    };
    let told = if found.stage.is_over() {
        if kill.rm {
            all.remove(&kill.id)?;
        }
        serde_json::to_value(&found)?
    } else {
        let query = if kill.rm { "?remove=true" } else { "" };
        local::ask(&home::open()?, "DELETE", &format!("/v1/processes/{}{query}", kill.id), None)?
    };
    if kill.json {
        show::json(&told)?;
    }
    Ok(ExitCode::SUCCESS)
}
