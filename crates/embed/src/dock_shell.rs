//! A shell over a dock: lines of bash's language whose every command is a call at the gate.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_abi::shell::{LineReport, LineRequest, Mode, OWN_NAMES, Opening, SavedWhen, ShellLimits};
use drydock_contract::{
    Budget, CallError, CallId, Denial, Limits, LineWorld, Lineage, Meter, Outcome, Principal, ShellGuestSpec,
    Streams, Unit, port::Files,
};
use drydock_gate::{Cut, LINE_MEMORY_BYTES_MAX, Session, SessionSpec};
use drydock_store::{LineFiles, MemoryFiles, Mounts, Volume};

use crate::{
    BadSetup, Dock, Setup,
    desk::{Desk, InsideQueue, ShellInside},
    line::{Line, LineEnd},
    places::{KnownCommands, SystemPlaces},
    shell_guest::{self, Kept, LineCall},
    shell_session::KeptAs,
};

/// Bytes between two stages of a pipeline. Fuel and time bound a line, not what flows inside it.
const PIPE_BYTES_MAX: u64 = 1 << 40;

/// How long a line that was told to end may take to do so.
const GRACE: Duration = Duration::from_millis(300);

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
    /// Bounds of parsing and evaluation.
    pub limits: ShellLimits,
    /// What another shell was ([`DockShell::state`]): this one goes on from there, and is a fork of it.
    pub saved: Option<Vec<u8>>,
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
            saved: None,
        }
    }
}

/// A shell of a [`Dock`]: an instance of the shell's guest that lives between its lines. Variables, functions and the
/// working directory live as long as it does; each line has a session of its own with one budget of fuel, within the
/// setup's, and one deadline for all its stages.
pub struct DockShell {
    dock: Dock,
    session: Session,
    spec: SessionSpec,
    line_limits: Limits,
    line_memory_bytes_max: u64,
    line: Arc<Line>,
    files: Arc<LineFiles>,
    desk: Arc<Desk>,
    depth: u32,
    kept: Kept,
    kept_as: Option<KeptAs>,
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

impl From<LineRefused> for CallError {
    fn from(refused: LineRefused) -> Self {
        refused.0
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
        let commands = Arc::new(KnownCommands { dock: self.clone(), grants: spec.grants.clone() });
        spec.files = Some(Arc::new(SystemPlaces { inner: Arc::clone(&files) as _, commands }));
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
        let inside = Arc::new(InsideQueue::default());
        let desk = Arc::new(Desk {
            dock: self.clone(),
            line: Arc::clone(&line),
            host_commands: host_commands.clone(),
            may_install,
            grants: spec.grants.clone(),
            files: Arc::clone(&files),
            inside: Arc::clone(&inside),
        });
        let stage_limits = Limits { memory_bytes_max: spec.builtin_memory_bytes_max, ..line_limits };
        let opening = Opening {
            roots: shell.roots,
            cwd: shell.cwd,
            env: spec.env.iter().filter_map(|entry| variable(entry)).collect(),
            name: shell.name,
            args: shell.args,
            mode: shell.mode,
            seed: spec.entropy.for_call(call.map_or(CallId(0), |it| it.0)).seed(),
            limits: shell.limits.for_memory(line_memory_bytes_max, LINE_MEMORY_BYTES_MAX),
            stage_limits: [
                stage_limits.fuel_max,
                stage_limits.memory_bytes_max,
                u64::try_from(stage_limits.wall_max.as_millis()).unwrap_or(u64::MAX),
                stage_limits.stdin_bytes_max,
                stage_limits.stdout_bytes_max,
                stage_limits.stderr_bytes_max,
            ],
            line_memory_bytes_max,
            saved: shell.saved,
        };
        let kept = Kept::new(opening);
        let inside = Arc::new(ShellInside { queue: inside, clock });
        let (within, grants) = (host_commands.within(Some(inside)), spec.grants.clone());
        spec.inside = self.providing(within, may_install, spec.files.clone(), grants);
        let dock = self.clone();
        Ok(DockShell {
            dock,
            session,
            spec,
            line_limits,
            line_memory_bytes_max,
            line,
            files,
            desk,
            depth: call.map_or(0, |it| it.1),
            kept,
            kept_as: None,
        })
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

    /// The same for a tool's call that is part of `call`: what the line asks for hangs from it, and is as deep as what the
    /// tool's caller starts.
    pub(crate) async fn run_called(
        &mut self,
        (call, depth): (CallId, u32),
        text: &str,
        streams: Streams,
    ) -> Result<(LineReport, Streams), LineRefused> {
        self.spec.lineage = Some(self.session.lineage().at(call, depth));
        self.depth = depth;
        self.run_with(text, streams, false).await
    }

    /// Ends the line in flight from elsewhere; the shell stays.
    pub fn canceller(&self) -> impl Fn() + Send + Sync + 'static {
        let line = Arc::clone(&self.line);
        move || line.end(LineEnd::Cancelled)
    }

    /// The same for Ctrl-C: where the shell has a trap for it, that runs and the line goes on, three times at most. Whether
    /// it does.
    pub fn interrupter(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let (line, inside) = (Arc::clone(&self.line), Arc::clone(&self.desk.inside));
        move || {
            let goes_on = inside.interrupt();
            if !goes_on {
                line.end(LineEnd::Cancelled);
            }
            goes_on
        }
    }

    /// Whoever types gave the line up before it began: the next one sees that as `$?`.
    pub fn interrupt(&mut self) {
        self.kept.status = Some(i32::from(Outcome::Cancelled.exit_status()));
    }

    /// The session whose grants its lines hold: what it is given or loses, they have or have not from the next line on.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// From now on, what the shell is after each line is kept there.
    pub(crate) fn keep_as(&mut self, place: KeptAs) {
        self.kept_as = Some(place);
    }

    /// What the shell is between its lines, for another one to go on from; none before its first line. Only lines of many
    /// are written out, and not a whole text.
    pub fn state(&self) -> Option<&[u8]> {
        self.kept.state()
    }

    /// The working directory.
    pub fn cwd(&self) -> &str {
        &self.kept.cwd
    }

    /// Names of functions and of the shell's own that start so.
    pub fn names_with(&self, prefix: &str) -> Vec<String> {
        let own = OWN_NAMES.iter().copied();
        let all = self.kept.names.iter().map(String::as_str).chain(own);
        all.filter(|it| it.starts_with(prefix)).map(str::to_owned).collect()
    }

    /// The files its lines see.
    pub fn files(&self) -> Option<&Arc<dyn Files>> {
        self.spec.files.as_ref()
    }

    /// What ended the line: told to its tape where that was time or somebody, or as the tape has it.
    fn taped_end(&self, call: CallId, end: Option<LineEnd>) -> Option<LineEnd> {
        let Some(tape) = &self.spec.tape else { return end };
        if let Some(was) = tape.was_cut(call) {
            return Some(if was.timed_out { LineEnd::TimedOut } else { LineEnd::Cancelled });
        }
        if let Some(LineEnd::TimedOut | LineEnd::Cancelled | LineEnd::Revoked) = end {
            tape.cut(call, Cut { timed_out: end == Some(LineEnd::TimedOut), fuel: 0 });
        }
        end
    }

    async fn run_with(
        &mut self,
        text: &str,
        streams: Streams,
        whole: bool,
    ) -> Result<(LineReport, Streams), LineRefused> {
        let started = Instant::now();
        // The next line of a session is in another process, so no text is the last.
        let whole = whole && self.kept_as.is_none();
        let own = Budget::of([(Unit::Fuel, self.line_limits.fuel_max)]);
        let budget = Some(Arc::new(own.within(self.spec.budget.clone())));
        let lineage = self.spec.lineage.as_ref().map(Lineage::branch);
        let memory = Arc::new(Meter::new(self.line_memory_bytes_max));
        self.files.begin_line();
        self.desk.inside.begin_line();
        let spec = SessionSpec { budget, lineage, memory: Some(Arc::clone(&memory)), ..self.spec.clone() };
        let gate = Arc::clone(&self.dock.gate);
        let session = gate.open(spec).map_err(CallError::from)?;
        if !self.session.is_live() {
            session.cancel();
        }
        // Builtins and redirections are no calls, so the line itself asks to begin, and is on record.
        let parent = self.spec.lineage.as_ref().map_or(session.lineage().call, |it| it.call);
        let own_call = session.lineage().call;
        let work = gate.begin_work(&session, LINE, parent).await?;
        self.line.begin(gate.door(&session), (session, work.mark()), &self.line_limits);
        tracing::trace!(target: "drydock::hop", "embed: a line has a session, a budget and a deadline of its own");
        let columns = [streams.stdout.columns(), streams.stderr.columns()];
        let (streams, kept) = self.line.guard(streams, &self.line_limits);
        let done = {
            let world = LineWorld {
                streams,
                door: Arc::clone(&self.line) as _,
                desk: Arc::clone(&self.desk) as _,
                files: self.spec.files.clone().unwrap_or_else(|| Arc::clone(&self.files) as _),
                time: self.spec.time,
                clock: self.spec.clock.clone(),
            };
            let request = LineRequest {
                opening: None,
                text: text.to_owned(),
                is_whole: whole,
                status: None,
                columns,
                is_typed: !whole && columns[0].is_some(),
                saved_when: match (whole, &self.kept_as) {
                    (true, _) => SavedWhen::Never,
                    (false, None) => SavedWhen::StateChanged,
                    (false, Some(_)) => SavedWhen::AnythingChanged,
                },
            };
            let call = LineCall { request, world, memory, budget: self.spec.budget.clone() };
            let (spec, memory_bytes_max, depth) = (&self.spec, self.line_memory_bytes_max, self.depth);
            let guest = || {
                let (preparing, tenant) = (spec.preparing.clone(), spec.tenant.clone());
                let artifact = shell_guest::artifact()?;
                Ok(ShellGuestSpec { artifact, memory_bytes_max, preparing, depth, tenant })
            };
            let mut running = std::pin::pin!(self.kept.run(&self.dock, guest, call));
            tokio::select! {
                biased;
                done = &mut running => Some(done),
                () = self.line.over() => tokio::time::timeout(GRACE, running).await.ok(),
            }
        };
        self.desk.inside.clear();
        let end = self.taped_end(own_call, self.line.finish());
        // A line that does not end when it is told to takes its guest along.
        let cut = || (LineReport { was_reset: true, ..LineReport::default() }, Streams::default());
        let (mut report, rest) = done.unwrap_or_else(cut);
        match end {
            Some(LineEnd::Revoked) => work.refused(Denial::Revoked).await,
            Some(end) => work.end(end.outcome()),
            None => work.end(Outcome::Exited(report.status)),
        }
        if let (Some(place), Some(state)) =
            (&mut self.kept_as, self.kept.state().filter(|_| !report.was_reset))
            && let Err(error) = place.keep(state, &self.kept.cwd)
        {
            report.lost.push(error.to_string());
        }
        if let Some(end) = end {
            let outcome = end.outcome();
            report.status = i32::from(outcome.exit_status());
            report.limit = Some(outcome.code().to_owned());
            // The next line of a prompt sees it as `$?`.
            self.kept.status = Some(report.status);
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
