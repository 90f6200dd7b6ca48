//! A shell over a dock: lines of bash's language whose every command is a call at the gate.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_commands::shell::{LineFiles, LineReport, Mode, Shell, ShellLimits, ShellSpec};
use drydock_contract::{
    Budget, CallError, CallId, Cap, Denial, Limits, Lineage, Meter, Outcome, Principal, Streams, Unit,
    port::{Files, Registry as _},
};
use drydock_gate::{Gate, Session, SessionSpec};
use drydock_store::{MemoryFiles, Mounts, Volume};

use crate::{
    BadSetup, Dock, Setup,
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
            name: "drydock".into(),
            args: Vec::new(),
            cwd: "/workspace".into(),
            roots: Volume::ALL.iter().map(|it| format!("/{}", it.name())).collect(),
            limits: ShellLimits::default(),
        }
    }
}

/// A shell of a [`Dock`]. Variables, functions and the working directory live as long as it does; each
/// line has a session of its own with one budget of fuel, within the setup's, and one deadline for all its stages.
pub struct DockShell {
    gate: Arc<Gate>,
    session: Session,
    spec: SessionSpec,
    line_limits: Limits,
    line_memory_bytes_max: u64,
    line: Arc<Line>,
    files: Arc<LineFiles>,
    shell: Shell,
}

/// A line did not begin: the gate refused it, or could not record it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct LineRefused(#[from] CallError);

impl LineRefused {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.0.code()
    }

    /// The status of a line that never began.
    pub const fn exit_status(&self) -> u8 {
        self.0.exit_status()
    }
}

/// What the record of a line calls it.
const LINE: &str = "line.run";

impl Dock {
    /// Opens a shell for `principal`. The limits of `setup` are those of a whole line: its stages share
    /// the fuel, the time and what may be written to the line's own stdout and stderr.
    pub fn shell(&self, principal: &str, setup: Setup, shell: ShellSetup) -> Result<DockShell, BadSetup> {
        self.shell_beside(principal, None, Setup { preparing: Arc::default(), ..setup }, shell)
    }

    /// The same for a program's lines, whose waits are the program's, and whose calls belong to the program's call of a
    /// tool and are as deep as what the program itself starts.
    pub(crate) fn shell_beside(
        &self,
        principal: &str,
        call: Option<(CallId, u32)>,
        mut setup: Setup,
        shell: ShellSetup,
    ) -> Result<DockShell, BadSetup> {
        let principal: Principal = principal.parse()?;
        let host_commands = setup.host_commands.clone();
        let may_install = setup.install_missing;
        let clock = setup.one_clock();
        let line_memory_bytes_max = setup.line_memory_bytes_max;
        let mut spec = self.spec_of(setup, principal)?;
        let line_limits = spec.limits;
        let files = match spec.files.take() {
            Some(files) => files,
            None => empty_tree(spec.builtin_memory_bytes_max),
        };
        // Commands see the files through it too, so that what they write is known to the line.
        let files = Arc::new(LineFiles::over(files));
        spec.files = Some(Arc::clone(&files) as _);
        spec.limits = Limits {
            stdin_bytes_max: PIPE_BYTES_MAX,
            stdout_bytes_max: PIPE_BYTES_MAX,
            stderr_bytes_max: PIPE_BYTES_MAX,
            ..line_limits
        };
        let session = self.gate.open(spec.clone())?;
        let lineage = session.lineage();
        spec.lineage = Some(call.map_or_else(|| lineage.clone(), |(call, depth)| lineage.at(call, depth)));
        let line = Arc::new(Line::new(self.gate.door(&session), session.clone()));
        let (registry, names) = (Arc::clone(&self.registry), Arc::clone(&self.registry));
        // Whoever may not run a command is not told either that there is one.
        let (gate, grants) = (Arc::clone(&self.gate), spec.grants.clone());
        let admits = move |name: &str| grants.now().would_admit(Cap::Exec, name, gate.now());
        let known = admits.clone();
        let mut limits = shell.limits;
        limits.expired = Some(line.expired(limits.expired.take()));
        let inner = Shell::new(ShellSpec {
            door: Arc::clone(&line) as _,
            commands: Arc::new({
                let (host_commands, dock) = (host_commands.clone(), self.clone());
                let there = move |name: &str| {
                    registry.lookup(name, None).is_some()
                        || host_commands.has(name)
                        || dock.provides(name, may_install)
                };
                move |name| known(name) && there(name)
            }),
            names: Arc::new(move || {
                let all = names.names();
                all.iter().map(|it| it.as_str()).filter(|it| admits(it)).map(str::to_owned).collect()
            }),
            absent: Arc::new({
                let dock = self.clone();
                move |name| dock.remedy(name)
            }),
            files: Arc::clone(&files),
            clock,
            roots: shell.roots,
            scratch: "/tmp".into(),
            cwd: shell.cwd,
            env: spec.env.iter().filter_map(|entry| variable(entry)).collect(),
            name: shell.name,
            args: shell.args,
            mode: shell.mode,
            seed: spec.entropy.for_call(call.map_or(CallId(0), |it| it.0)).seed(),
            limits,
            stage_limits: Limits { memory_bytes_max: spec.builtin_memory_bytes_max, ..line_limits },
            line_memory_bytes_max,
        });
        let (within, grants) = (host_commands.within(Some(inner.inside())), spec.grants.clone());
        spec.inside = self.providing(within, may_install, spec.files.clone(), grants);
        let gate = Arc::clone(&self.gate);
        Ok(DockShell { gate, session, spec, line_limits, line_memory_bytes_max, line, files, shell: inner })
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

    /// Whoever types gave the line up before it began: the next one sees that as `$?`.
    pub fn interrupt(&mut self) {
        self.shell.set_status(i32::from(Outcome::Cancelled.exit_status()));
    }

    /// The session whose grants its lines hold: what it is given or loses, they have or have not from the next line on.
    pub fn session(&self) -> &Session {
        &self.session
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
        let started = Instant::now();
        let own = Budget::of([(Unit::Fuel, self.line_limits.fuel_max)]);
        let budget = Some(Arc::new(own.within(self.spec.budget.clone())));
        let lineage = self.spec.lineage.as_ref().map(Lineage::branch);
        let memory = Arc::new(Meter::new(self.line_memory_bytes_max));
        self.shell.charge(Arc::clone(&memory));
        self.files.begin_line();
        let spec = SessionSpec { budget, lineage, memory: Some(memory), ..self.spec.clone() };
        let session = self.gate.open(spec).map_err(CallError::from)?;
        if !self.session.is_live() {
            session.cancel();
        }
        // Builtins and redirections are no calls, so the line itself asks to begin, and is on record.
        let parent = self.spec.lineage.as_ref().map_or(session.lineage().call, |it| it.call);
        let work = self.gate.begin_work(&session, LINE, parent).await?;
        self.line.begin(self.gate.door(&session), (session, work.mark()), &self.line_limits);
        tracing::trace!(target: "drydock::hop", "embed: a line has a session, a budget and a deadline of its own");
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
        let end = self.line.finish();
        match end {
            Some(LineEnd::Revoked) => work.refused(Denial::Revoked).await,
            Some(end) => work.end(end.outcome()),
            None => work.end(Outcome::Exited(report.status)),
        }
        if let Some(end) = end {
            let outcome = end.outcome();
            report.status = i32::from(outcome.exit_status());
            report.limit = Some(outcome.code().to_owned());
            // The next line of a prompt sees it as `$?`.
            self.shell.set_status(report.status);
        }
        tracing::trace!(target: "drydock::hop", "embed: the line ended with status {}", report.status);
        report.micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
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
