//! `drydock lembeh run GUEST`: one guest of the lembeh ABI, for real, recorded, or replayed from a transcript.

use std::{
    fs::{File, OpenOptions, Permissions},
    io::{self, BufWriter, Write},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use drydock_embed::{
    Dock, DockSession, LEMBEH_LIMITS, LembehError, LembehPolicy, LembehRun, LembehSetup,
    gate::DenialLog,
    specimen::{Schedule, Transcript},
    store::{Access, HostDir, Quota},
};
use serde_json::json;

use super::{
    grants,
    run::{PRINCIPAL, cancellable},
};
use crate::{exit, home, module, show};

/// The largest input and the largest transcript that are read.
const DATA_BYTES_MAX: u64 = 256 << 20;
/// The largest policy that is read.
const POLICY_BYTES_MAX: u64 = 1 << 20;
/// A replay left its transcript.
const DIVERGED: u8 = 1;

#[derive(Debug, Args)]
pub(crate) struct LembehCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a guest under a policy, record its calls, or replay them
    Run(Run),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A guest exports `memory` and `lembeh_handle(req, res)`, and imports `lembeh`. It has what its policy says: a JSON object
with the keys of CAPS_DESCRIBE and `programs`, `files`, `hosts`, `config`. Without one it has a hub that leads nowhere.

  {\"programs\": {\"tools/echo\": \"echo\"}, \"max_args\": 8, \"time_limit_ms\": 5000, \"hosts\": [\"127.0.0.1:8080\"]}

A transcript holds what the guest read and wrote, secrets included. A replay touches no clock, process, socket or file.
Exit status: that of the guest's run; 1 a replay diverged; 124 timed out; 125 any other failure; 126 denied; 130 Ctrl-C.")]
struct Run {
    /// The guest, as WebAssembly (.wasm) or as its text (.wat)
    #[arg(value_name = "GUEST")]
    guest: PathBuf,
    /// What it may start, see and reach
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    policy: Option<PathBuf>,
    /// Its input; - is stdin [default: none]
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    stdin: Option<PathBuf>,
    /// The directory that it sees, read only
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    files: Option<PathBuf>,
    /// Write every call down, as JSON Lines
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Answer every call from a transcript; the first that differs ends the run
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// How bytes are cut when they are read: all, byte, pow2, crlf, random:SEED
    #[arg(long, value_name = "S")]
    schedule: Option<Schedule>,
    /// Print one JSON object: outcome, exit status, what it wrote and what it cost
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: LembehCommand) -> anyhow::Result<ExitCode> {
    let Command::Run(run) = command.command;
    let module = module::read(&run.guest)?;
    let transcript = run.transcript()?;
    let (policy, denials) = (run.policy()?, Arc::new(DenialLog::default()));
    let dock = home::dock()?;
    let session = dock.lembeh_session(PRINCIPAL, &policy, Some(Arc::clone(&denials)))?;
    let setup = run.setup(policy)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done =
        runtime.block_on(cancellable(&session, run.carry_out(&dock, &session, module, setup, transcript)));
    grants::tell(&denials.take());
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    // The process ends here; taking the pool apart page by page would only delay it.
    std::mem::forget(dock);
    match done {
        Ok(done) => run.tell(&done),
        Err(LembehError::Call(error)) => {
            exit::warn(&format!("{}: {error}", error.code()));
            Ok(ExitCode::from(error.exit_status()))
        }
        Err(error) => Err(error.into()),
    }
}

/// An empty file that only its owner reads, because a transcript has the guest's input and all that it read.
fn private(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // One that was there keeps its mode unless it is told another; what is no file of its own (`/dev/stdout`) has none.
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

impl Run {
    async fn carry_out(
        &self,
        dock: &Dock,
        session: &DockSession,
        module: Vec<u8>,
        setup: LembehSetup,
        transcript: Option<Transcript>,
    ) -> Result<LembehRun, LembehError> {
        let module = dock.hand_over(module).await;
        match transcript {
            None => dock.run_lembeh(session, &module, setup).await,
            Some(transcript) => {
                dock.replay_lembeh(session, &module, transcript, self.schedule, setup.limits).await
            }
        }
    }

    fn policy(&self) -> anyhow::Result<LembehPolicy> {
        let Some(file) = &self.policy else {
            let files = self.files.is_some().then(Default::default);
            return Ok(LembehPolicy { files, ..LembehPolicy::default() });
        };
        let policy = LembehPolicy::parse(&module::read_data(file, POLICY_BYTES_MAX)?)
            .with_context(|| format!("`{}` is no policy", file.display()))?;
        // Whoever names a directory wants it seen.
        let files = policy.files.clone().or_else(|| self.files.is_some().then(Default::default));
        Ok(LembehPolicy { files, ..policy })
    }

    fn setup(&self, policy: LembehPolicy) -> anyhow::Result<LembehSetup> {
        let stdin = match &self.stdin {
            Some(file) => module::read_data(file, DATA_BYTES_MAX)?.into(),
            None => drydock_embed::contract::Source::Empty,
        };
        let files = self.files.as_ref().map(|dir| {
            let opened = HostDir::within(dir, Access::ReadOnly, Quota::default());
            opened.with_context(|| format!("could not open `{}`", dir.display()))
        });
        let record = self
            .record
            .as_ref()
            .map(|file| private(file).with_context(|| format!("could not write `{}`", file.display())));
        Ok(LembehSetup {
            policy,
            stdin,
            files: files.transpose()?.map(|it| Arc::new(it) as _),
            limits: LEMBEH_LIMITS,
            schedule: self.schedule.unwrap_or_default(),
            record: record.transpose()?.map(|it| Box::new(BufWriter::new(it)) as Box<dyn Write + Send>),
        })
    }

    fn transcript(&self) -> anyhow::Result<Option<Transcript>> {
        let Some(file) = &self.replay else { return Ok(None) };
        let shown = file.display();
        let bytes = module::read_data(file, DATA_BYTES_MAX)?;
        if bytes.len() as u64 > DATA_BYTES_MAX {
            anyhow::bail!("`{shown}` is longer than any transcript that is read");
        }
        let text = String::from_utf8(bytes).with_context(|| format!("`{shown}` is not UTF-8"))?;
        Transcript::parse(&text).map(Some).with_context(|| format!("`{shown}` cannot be replayed"))
    }

    fn tell(&self, done: &LembehRun) -> anyhow::Result<ExitCode> {
        let (report, diverged) = (&done.report, done.divergence.as_ref());
        let status = if diverged.is_some() { DIVERGED } else { report.outcome.exit_status() };
        if self.json {
            show::json(&json!({
                "outcome": report.outcome.code(),
                "exit_status": status,
                "stdout": String::from_utf8_lossy(&done.stdout),
                "stderr": String::from_utf8_lossy(&done.stderr),
                "divergence": diverged.map(|it| json!({ "code": it.code, "call": it.call, "what": it.what })),
                "fuel": report.fuel,
                "memory_bytes": report.memory_bytes,
                "duration_us": u64::try_from(report.duration.as_micros()).unwrap_or(u64::MAX),
            }))?;
        } else {
            show::bytes(&done.stdout)?;
            std::io::stderr().write_all(&done.stderr)?;
            match diverged {
                Some(divergence) => exit::warn(&divergence.to_string()),
                None if status != 0 => exit::warn(&report.outcome.to_string()),
                None => {}
            }
        }
        if let Some(warning) = &done.warning {
            exit::warn(warning);
        }
        if self.record.is_some() && !done.is_recorded {
            exit::warn("the transcript is not whole: a call could not be written down");
        }
        Ok(ExitCode::from(status))
    }
}
