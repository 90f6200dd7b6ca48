//! Small stand-ins for the registry and the runner, and a way to wait without a runtime.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use drydock_contract::{
    ArgMode, Artifact, BoxFuture, CallLimits, CommandName, Fault, Limits, LiveError, LiveReply, LiveSpec,
    Outcome, RunReport, RunRequest, Streams, Unit,
    port::{Entry, EntryOptions, LaneChoice, LiveInstance, LoadError, Registry, Runner},
};
use parking_lot::Mutex;

/// Waits for a future by polling it, without a runtime.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return value;
        }
        std::thread::yield_now();
    }
}

/// A registry of a few names, each with bytes of its own.
#[derive(Debug, Default)]
pub struct TinyRegistry(BTreeMap<CommandName, (ArgMode, Artifact)>, BTreeMap<CommandName, Arc<EntryOptions>>);

impl TinyRegistry {
    pub fn of(names: &[&str]) -> Self {
        let row = |name: &&str| {
            let key: CommandName = name.parse().expect("a test's name is legal");
            (key, (ArgMode::Argv, Artifact::hash(name.as_bytes().to_vec())))
        };
        Self(names.iter().map(row).collect(), BTreeMap::new())
    }

    /// The same, and this one is started so. It is then no built-in.
    #[must_use]
    pub fn options(mut self, name: &str, options: EntryOptions) -> Self {
        let key: CommandName = name.parse().expect("a test's name is legal");
        self.1.insert(key, Arc::new(options));
        self
    }

    #[must_use]
    pub fn mode(mut self, name: &str, mode: ArgMode) -> Self {
        if let Some(row) = self.0.get_mut(name) {
            row.0 = mode;
        }
        self
    }
}

impl Registry for TinyRegistry {
    fn lookup(&self, name: &str, _: Option<&[u8]>) -> Option<Entry> {
        let (name, (mode, artifact)) = self.0.get_key_value(name)?;
        let options = self.1.get(name).cloned().unwrap_or_default();
        let builtin = !self.1.contains_key(name);
        Some(Entry { name: name.clone(), digest: artifact.digest(), mode: *mode, builtin, options })
    }

    fn load(&self, entry: &Entry) -> Result<Artifact, LoadError> {
        let missing = || LoadError::Read {
            path: entry.name.as_str().into(),
            cause: std::io::ErrorKind::NotFound.into(),
        };
        self.0.get(entry.name.as_str()).map(|row| row.1.clone()).ok_or_else(missing)
    }

    fn names(&self) -> Vec<CommandName> {
        self.0.keys().cloned().collect()
    }
}

/// What a runner was asked.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub argv: Vec<Vec<u8>>,
    pub env: Vec<Vec<u8>>,
    pub stdin: Vec<u8>,
    pub limits: Limits,
    pub lane: Option<LaneChoice>,
}

/// A runner that runs nothing and remembers everything.
#[derive(Debug, Default)]
pub struct EchoRunner(Mutex<Seen>);

impl EchoRunner {
    /// What each run pretends to have burnt.
    pub const FUEL: u64 = 1_000;

    pub fn last(&self) -> Seen {
        self.0.lock().clone()
    }
}

impl Runner for EchoRunner {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        Box::pin(async move {
            let mut streams = request.streams;
            let mut stdin = Vec::new();
            let mut buffer = [0; 1024];
            loop {
                let got = std::future::poll_fn(|cx| streams.stdin.poll_read(cx, &mut buffer)).await;
                match got.unwrap_or(0) {
                    0 => break,
                    count => stdin.extend_from_slice(&buffer[..count]),
                }
            }
            let (limits, lane) = (request.limits, request.lane);
            if let Some(budget) = &request.budget {
                budget.reserve_up_to(Unit::Fuel, Self::FUEL);
            }
            *self.0.lock() = Seen { argv: request.argv, env: request.env.to_vec(), stdin, limits, lane };
            let report = RunReport {
                outcome: Outcome::Exited(0),
                fuel: Self::FUEL,
                memory_bytes: 0,
                duration: Duration::ZERO,
                stdin_bytes: 0,
                stdout_bytes: 0,
                stderr_bytes: 0,
                quota: None,
            };
            Ok((report, streams))
        })
    }

    fn open(&self, _: LiveSpec) -> BoxFuture<'_, Result<Box<dyn LiveInstance>, LiveError>> {
        Box::pin(async { Ok(Box::new(EchoInstance) as _) })
    }
}

/// An instance that answers with what it was given.
#[derive(Debug)]
struct EchoInstance;

impl LiveInstance for EchoInstance {
    fn call<'a>(
        &'a self,
        input: &'a [u8],
        limits: CallLimits,
    ) -> BoxFuture<'a, Result<LiveReply, LiveError>> {
        if let Some(budget) = &limits.budget {
            budget.reserve_up_to(Unit::Fuel, EchoRunner::FUEL);
        }
        let reply = LiveReply {
            bytes: input.to_vec(),
            fuel: EchoRunner::FUEL,
            memory_bytes: 0,
            duration: Duration::ZERO,
        };
        Box::pin(async { Ok(reply) })
    }

    fn opening_fuel(&self) -> u64 {
        0
    }

    fn close(&self) {}
}
