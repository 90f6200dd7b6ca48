//! A shell over a dock: lines of bash's language whose every command is a call at the gate.

use std::{sync::Arc, time::Duration};

use drydock_commands::shell::{LineReport, Mode, Shell, ShellLimits, ShellSpec};
use drydock_contract::{
    Denial, Entropy, GuestTime, Limits, Meter, Principal, Streams,
    port::{Clock, Files, Registry as _},
};
use drydock_gate::{Gate, Purse, SessionSpec};
use drydock_store::{MemoryFiles, Mounts, Volume};

use crate::{
    BadSetup, Dock, Setup, SystemClock,
    clock::ShiftedClock,
    line::{Line, LineEnd},
};

/// Bytes between two stages of a pipeline. Fuel and time bound a line, not what flows inside it.
const PIPE_BYTES_MAX: u64 = 1 << 40;

/// How long a line that was told to end may take to do so.
const GRACE: Duration = Duration::from_secs(2);

/// What a shell is opened with, besides its [`Setup`].
#[derive(Clone)]
pub struct ShellSetup {
    /// How it differs from bash.
    pub mode: Mode,
    /// `$0`.
    pub name: String,
    /// `$1` and on.
    pub args: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// Directories that redirections may reach; empty for every root there is.
    pub roots: Vec<String>,
    /// Bounds of parsing and evaluation. What `expired` says is asked too.
    pub limits: ShellLimits,
}

impl Default for ShellSetup {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            name: "bash".into(),
            args: Vec::new(),
            cwd: "/workspace".into(),
            roots: Volume::ALL.iter().map(|it| format!("/{}", it.name())).collect(),
            limits: ShellLimits::default(),
        }
    }
}

/// A shell of a [`Dock`]. Variables, functions and the working directory live as long as it does; each
/// line has a session of its own with one purse of fuel and one deadline for all its stages.
pub struct DockShell {
    gate: Arc<Gate>,
    spec: SessionSpec,
    line_limits: Limits,
    line: Arc<Line>,
    shell: Shell,
}

/// A line did not begin.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct LineRefused(#[from] Denial);

impl Dock {
    /// Opens a shell for `principal`. The limits of `setup` are those of a whole line: its stages share
    /// the fuel, the time and what may be written to the line's own stdout and stderr.
    pub fn shell(&self, principal: &str, setup: Setup, shell: ShellSetup) -> Result<DockShell, BadSetup> {
        let principal: Principal = principal.parse()?;
        let host_commands = setup.host_commands.clone();
        let mut spec = setup.into_spec(principal)?;
        let line_limits = spec.limits;
        let files = match &spec.files {
            Some(files) => Arc::clone(files),
            None => empty_tree(line_limits.memory_bytes_max),
        };
        spec.files = Some(Arc::clone(&files));
        spec.limits = Limits {
            stdin_bytes_max: PIPE_BYTES_MAX,
            stdout_bytes_max: PIPE_BYTES_MAX,
            stderr_bytes_max: PIPE_BYTES_MAX,
            ..line_limits
        };
        let clock: Arc<dyn Clock> = match spec.time {
            GuestTime::Real => Arc::new(SystemClock),
            GuestTime::Fixed(start) => Arc::new(ShiftedClock::starting(start)),
        };
        let session = self.gate.open(spec.clone())?;
        let line = Arc::new(Line::new(self.gate.door(&session)));
        let registry = Arc::clone(&self.registry);
        let mut limits = shell.limits;
        limits.expired = Some(line.expired(limits.expired.take()));
        let inner = Shell::new(ShellSpec {
            door: Arc::clone(&line) as _,
            commands: Arc::new({
                let host_commands = host_commands.clone();
                move |name| registry.lookup(name, None).is_some() || host_commands.has(name)
            }),
            files,
            clock,
            roots: shell.roots,
            scratch: "/tmp".into(),
            cwd: shell.cwd,
            env: spec.env.iter().filter_map(|entry| variable(entry)).collect(),
            name: shell.name,
            args: shell.args,
            mode: shell.mode,
            seed: seed(spec.entropy),
            limits,
        });
        spec.inside = host_commands.within(Some(inner.inside()));
        Ok(DockShell { gate: Arc::clone(&self.gate), spec, line_limits, line, shell: inner })
    }
}

impl DockShell {
    /// Runs a whole text, EXIT trap included.
    pub async fn run(&mut self, text: &str, streams: Streams) -> Result<(LineReport, Streams), LineRefused> {
        self.run_with(text, streams, true).await
    }

    /// Runs one line of many: the EXIT trap waits for `exit`.
    pub async fn run_line(
        &mut self,
        text: &str,
        streams: Streams,
    ) -> Result<(LineReport, Streams), LineRefused> {
        self.run_with(text, streams, false).await
    }

    /// Ends the line in flight from elsewhere; the shell stays.
    pub fn canceller(&self) -> impl Fn() + Send + Sync + 'static {
        let line = Arc::clone(&self.line);
        move || line.end(LineEnd::Cancelled)
    }

    /// The working directory.
    pub fn cwd(&self) -> &str {
        self.shell.cwd()
    }

    /// The value of a variable.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.shell.variable(name)
    }

    /// Names of functions and builtins that start so.
    pub fn names_with(&self, prefix: &str) -> Vec<String> {
        self.shell.names_with(prefix)
    }

    /// The files its lines see.
    pub fn files(&self) -> Option<&Arc<dyn Files>> {
        self.spec.files.as_ref()
    }

    async fn run_with(
        &mut self,
        text: &str,
        streams: Streams,
        whole: bool,
    ) -> Result<(LineReport, Streams), LineRefused> {
        let purse = Some(Arc::new(Purse::holding(self.line_limits.fuel_max)));
        let session = self.gate.open(SessionSpec { purse, ..self.spec.clone() })?;
        self.line.begin(self.gate.door(&session), session, &self.line_limits);
        let (streams, kept) = self.line.guard(streams, &self.line_limits);
        let done = {
            let mut running = std::pin::pin!(async {
                match whole {
                    true => self.shell.run(text, streams).await,
                    false => self.shell.run_line(text, streams).await,
                }
            });
            tokio::select! {
                biased;
                done = &mut running => Some(done),
                () = self.line.over() => tokio::time::timeout(GRACE, running).await.ok(),
            }
        };
        let (mut report, rest) = done.unwrap_or_default();
        if let Some(end) = self.line.finish() {
            report.status = end.status();
            report.limit = Some(end.code().to_owned());
        }
        Ok((report, kept.back(rest.stdin)))
    }
}

/// The three volumes of a workspace, in memory and gone afterwards.
pub fn empty_tree(memory_bytes_max: u64) -> Arc<dyn Files> {
    let meter = Arc::new(Meter::new(memory_bytes_max));
    let mut mounts = Mounts::new();
    for volume in Volume::ALL {
        // The names are three different plain ones, so none is refused.
        let _ = mounts.mount(volume.name(), Arc::new(MemoryFiles::with(Arc::clone(&meter))));
    }
    Arc::new(mounts)
}

fn variable(entry: &[u8]) -> Option<(String, String)> {
    let (name, value) = std::str::from_utf8(entry).ok()?.split_once('=')?;
    Some((name.into(), value.into()))
}

/// Where `$RANDOM` starts.
fn seed(entropy: Entropy) -> u32 {
    match entropy {
        Entropy::Seeded(seed) => (seed ^ (seed >> 32)) as u32,
        // A fresh hasher is keyed by the operating system, which is all that is asked of `$RANDOM`.
        Entropy::System => {
            use std::hash::{BuildHasher as _, RandomState};
            RandomState::new().hash_one(0) as u32
        }
    }
}
