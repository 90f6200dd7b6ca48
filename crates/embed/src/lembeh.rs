//! Guests of the lembeh ABI over a dock: a module's bytes, a policy, and the gate between them; recorded and replayed.

use core::net::{IpAddr, SocketAddr};
use std::{io::Write, sync::Arc, time::Instant};

use drydock_abi::lembeh::{
    exec, net,
    run::{RUN, RunGuest},
};
use drydock_contract::{
    BoxFuture, Call, CallError, Cap, CommandName, Dispatch, FUEL_PER_MICROSECOND, Fault, LembehHost, Limits,
    Pattern, Reply, RunReport, Sink, Source, Streams, Terms,
    host::PRIVATE,
    port::{Files, Registry as _},
};
use drydock_gate::{DenialLog, Grant};
use drydock_lembeh::{
    LembehParts, LembehPolicy, LembehSession, StreamLimits, Timer,
    policy::{exec::ExecPolicy, net::NetPolicy},
    specimen::{Cut, Divergence, Recorder, Replay, Schedule, Transcript},
};
use parking_lot::Mutex;

use crate::{BadSetup, Dock, DockSession, HandedOver, Setup};

/// What a guest gets where the host says nothing else: a minute, and 256 MiB.
pub const LEMBEH_LIMITS: Limits = Limits {
    memory_bytes_max: 256 << 20,
    fuel_max: u64::MAX,
    wall_max: std::time::Duration::from_secs(60),
    stdin_bytes_max: 1 << 30,
    argv_bytes_max: 0,
    stdout_bytes_max: 64 << 20,
    stderr_bytes_max: 1 << 20,
};

/// A process without a limit of its own ends with its guest, and never later than this.
const PROCESS_WALL_MAX: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
/// The longest transcript that is written.
const TRANSCRIPT_BYTES_MAX: u64 = 1 << 30;

/// How a guest is run.
pub struct LembehSetup {
    /// What it has.
    pub policy: LembehPolicy,
    /// Its input.
    pub stdin: Source,
    /// The files behind `file/view`. What it starts does not see them.
    pub files: Option<Arc<dyn Files>>,
    /// What the guest itself may take.
    pub limits: Limits,
    /// How its bytes are cut.
    pub schedule: Schedule,
    /// Where its calls are written down.
    pub record: Option<Box<dyn Write + Send>>,
}

impl Default for LembehSetup {
    fn default() -> Self {
        Self {
            policy: LembehPolicy::default(),
            stdin: Source::Empty,
            files: None,
            limits: LEMBEH_LIMITS,
            schedule: Schedule::All,
            record: None,
        }
    }
}

/// What a guest did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LembehRun {
    /// What it cost.
    pub report: RunReport,
    /// What it wrote to handle 1.
    pub stdout: Vec<u8>,
    /// What it wrote to handle 2, and logged.
    pub stderr: Vec<u8>,
    /// Where a replay left its transcript.
    pub divergence: Option<Divergence>,
    /// What of a replay is no divergence and worth a word.
    pub warning: Option<String>,
    /// Whether its calls were all written down, if they were to be.
    pub is_recorded: bool,
}

/// A guest could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LembehError {
    /// Its session cannot be opened.
    #[error(transparent)]
    Setup(#[from] BadSetup),
    /// The gate refused it, or the module cannot be used.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl LembehError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Setup(_) => "bad_setup",
            Self::Call(error) => error.code(),
        }
    }
}

impl Dock {
    /// A session in which lembeh guests run under this policy: what they may start, and no more. It reaches nobody, because
    /// what a guest starts has it too; connections have a session of their own.
    pub fn lembeh_session(
        &self,
        principal: &str,
        policy: &LembehPolicy,
        denials: Option<Arc<DenialLog>>,
    ) -> Result<DockSession, BadSetup> {
        let mut grants = vec![Arc::new(Grant::of(Cap::Instance))];
        let mut limits = LEMBEH_LIMITS;
        if let Some(exec) = policy.exec.as_ref().filter(|_| !policy.is_refused(exec::KIND)) {
            grants.push(Arc::new(Grant::of(Cap::Exec).only(commands(exec))));
            grants.push(Arc::new(Grant::of(Cap::Process).only(commands(exec))));
            limits = process_limits(exec);
        }
        let setup = Setup {
            grants,
            only_grants: true,
            limits: Some(limits),
            builtin_memory_bytes_max: Some(limits.memory_bytes_max),
            denials,
            ..Setup::default()
        };
        self.session(principal, setup)
    }

    /// The way of a guest's connections: the same principal, and nothing but the destinations of its policy.
    fn way_of_connections(
        &self,
        session: &DockSession,
        policy: &LembehPolicy,
    ) -> Result<Option<Arc<dyn Dispatch>>, BadSetup> {
        let Some(net) = policy.net.as_ref().filter(|_| !policy.is_refused(net::KIND)) else {
            return Ok(None);
        };
        let spec = session.inner().spec();
        let setup = Setup {
            grants: vec![Arc::new(Grant::of(Cap::Tcp).within(destinations(net)))],
            only_grants: true,
            denials: spec.denials.clone(),
            ..Setup::default()
        };
        let own = self.session(spec.principal.as_str(), setup)?;
        Ok(Some(Arc::new(Connections(own))))
    }

    /// The policy with programs that are not registered here known as missing.
    #[must_use]
    pub fn resolved(&self, mut policy: LembehPolicy) -> LembehPolicy {
        for program in policy.exec.iter_mut().flat_map(|it| it.programs.values_mut()) {
            let found = program.command.as_deref().is_some_and(|command| {
                let mut words = command.split_whitespace();
                let (name, first) = (words.next().unwrap_or_default(), words.next().map(str::as_bytes));
                self.registry.lookup(name, first).is_some()
            });
            if !found {
                program.command = None;
            }
        }
        policy
    }

    /// Runs a guest to its end.
    pub async fn run_lembeh(
        &self,
        session: &DockSession,
        module: &HandedOver,
        setup: LembehSetup,
    ) -> Result<LembehRun, LembehError> {
        let LembehSetup { policy, stdin, files, limits, schedule, record } = setup;
        let policy = self.resolved(policy);
        let streams =
            Streams { stdin, stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() };
        let bounds = StreamLimits {
            stdin_bytes_max: limits.stdin_bytes_max,
            stdout_bytes_max: limits.stdout_bytes_max,
            stderr_bytes_max: limits.stderr_bytes_max,
        };
        let net = self.way_of_connections(session, &policy)?;
        let timer = Arc::new(TokioTimer(Instant::now()));
        let parts = LembehParts { policy, streams, limits: bounds, files, net, timer };
        let live = Cut::new(LembehSession::new(parts), schedule);
        let Some(to) = record else {
            let (report, mut host) = run(session, module, live, limits).await?;
            return Ok(ended(report, host.host_mut().take_streams(), true));
        };
        let recorder = Recorder::new(live, to, &module.digest().to_string(), TRANSCRIPT_BYTES_MAX);
        let (report, mut host) = run(session, module, recorder, limits).await?;
        let is_whole = host.is_whole();
        Ok(ended(report, host.host_mut().host_mut().take_streams(), is_whole))
    }

    /// Runs a guest again from the transcript of its calls. By a schedule its bytes are cut otherwise.
    pub async fn replay_lembeh(
        &self,
        session: &DockSession,
        module: &HandedOver,
        transcript: Transcript,
        schedule: Option<Schedule>,
        limits: Limits,
    ) -> Result<LembehRun, LembehError> {
        let (report, mut replay) = match schedule {
            None => run(session, module, Replay::exact(transcript), limits).await?,
            Some(schedule) => {
                let cut = Cut::new(Replay::by_stream(transcript), schedule);
                let (report, cut) = run(session, module, cut, limits).await?;
                (report, cut.into_host())
            }
        };
        let divergence = replay.divergence().cloned();
        let warning = replay.warning();
        let (stdout, stderr) = replay.take_output();
        Ok(LembehRun { report, stdout, stderr, divergence, warning, is_recorded: false })
    }
}

fn ended(report: RunReport, streams: Streams, is_recorded: bool) -> LembehRun {
    let (stdout, stderr) = (streams.stdout.into_captured(), streams.stderr.into_captured());
    LembehRun { report, stdout, stderr, divergence: None, warning: None, is_recorded }
}

/// Runs the module over that host, and hands the host back.
async fn run<H: LembehHost + 'static>(
    session: &DockSession,
    module: &HandedOver,
    host: H,
    limits: Limits,
) -> Result<(RunReport, H), CallError> {
    tracing::trace!(target: "drydock::hop", "embed: a lembeh guest that was handed over becomes a call");
    let host = Arc::new(Mutex::new(host));
    let guest = RunGuest { module: module.digest(), host: Arc::clone(&host) as _, limits };
    let call = Call::typed(RUN, guest, 0, Streams::default());
    let mut reply = session.gate.dispatch(session.inner(), call).await?;
    // What it left running was killed when it ended; those tasks have their turn to end before the next guest starts.
    tokio::task::yield_now().await;
    let report = reply.value::<RunReport>().ok_or_else(|| broken("no report came of it"))?;
    tracing::trace!(target: "drydock::hop", "embed: {} and what it cost", report.outcome);
    let host = Arc::into_inner(host).ok_or_else(|| broken("the guest's host is still in use"))?;
    Ok((report, host.into_inner()))
}

fn broken(text: &str) -> CallError {
    Fault::Internal(text.into()).into()
}

/// The commands behind the programs of a policy.
fn commands(exec: &ExecPolicy) -> Vec<CommandName> {
    let first = |command: &str| command.split_whitespace().next().and_then(|it| it.parse().ok());
    exec.programs.values().filter_map(|it| first(it.command.as_deref()?)).collect()
}

/// What each process may take.
fn process_limits(exec: &ExecPolicy) -> Limits {
    let limits = &exec.process;
    let bounded = |it: u64| if it == 0 { u64::MAX } else { it };
    let wall_max = match limits.time_limit_ms {
        0 => PROCESS_WALL_MAX,
        ms => std::time::Duration::from_millis(ms).min(PROCESS_WALL_MAX),
    };
    // Judged by the policy already; here only what carries them is counted.
    let texts = exec.argv_bytes_max.saturating_add(exec.env_bytes_max);
    let ends = u64::from(exec.args_max) + 2 * u64::from(exec.env_max);
    Limits {
        memory_bytes_max: limits.mem_limit_bytes,
        fuel_max: match limits.cpu_time_ms {
            0 => u64::MAX,
            ms => ms.saturating_mul(1_000).saturating_mul(FUEL_PER_MICROSECOND),
        },
        wall_max,
        stdin_bytes_max: bounded(limits.stdin_bytes_max),
        argv_bytes_max: texts.saturating_add(ends).saturating_add(4096),
        stdout_bytes_max: limits.stdout_bytes_max,
        stderr_bytes_max: limits.stdout_bytes_max,
    }
}

/// Hosts as a grant names them. Each address is opened by itself, whether or not it is public; a name opens none.
fn destinations(net: &NetPolicy) -> Terms {
    let patterns = net.allow.iter().flat_map(|it| match it.host.parse::<IpAddr>() {
        // One address has many spellings, and grants have one.
        Ok(address) => {
            let place = SocketAddr::new(address.to_canonical(), it.port).to_string();
            vec![format!("{PRIVATE}{place}"), place]
        }
        Err(_) => vec![it.to_string().to_ascii_lowercase()],
    });
    Terms::of(patterns.filter_map(|it| it.parse::<Pattern>().ok()))
}

/// Whoever asks here asks in a session that can connect, and nothing else.
struct Connections(DockSession);

impl Dispatch for Connections {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(self.0.dispatch(call))
    }
}

/// The runtime's own clock, from the moment a session begins.
struct TokioTimer(Instant);

impl Timer for TokioTimer {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn at(&self, ms: u64) -> BoxFuture<'static, ()> {
        let at = self.0.checked_add(std::time::Duration::from_millis(ms));
        Box::pin(async move {
            match at {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        })
    }
}
