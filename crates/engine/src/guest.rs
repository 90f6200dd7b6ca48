//! The host's side of one run: everything the guest's imports work on.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_contract::{
    Cap, Deadline, Dispatch, Entropy, GuestLog, GuestTime, Limits, LineWorld, Meter, RunRequest, Sleep,
    SteppedClock, Streams, Switch, WorkingDir,
    port::{Clock as _, EntryTree, FileLimit, FileRules, Files, Interrupt},
    schedule, yield_now,
};
use drydock_store::{MemoryFiles, Mounts};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use wasmtime::Caller;

use crate::{
    entry::{Growth, handler::LINES_MAX, lembeh, serving},
    host::{Answers, ToolCalls, shell},
    occupied::Running,
    outcome::Stop,
    preview1::Descriptors,
    spending::Burnt,
    wait::{see_fuel, wait_for},
};

/// One run.
pub(crate) struct Guest {
    pub(crate) argv: Vec<Vec<u8>>,
    pub(crate) env: Arc<[Vec<u8>]>,
    pub(crate) streams: Streams,
    pub(crate) counts: Counts,
    pub(crate) limits: Limits,
    pub(crate) meter: Arc<Meter>,
    pub(crate) clock: GuestClock,
    pub(crate) random: Random,
    pub(crate) descriptors: Descriptors,
    /// What holds for the files and directories that it makes and writes.
    pub(crate) file_rules: FileRules,
    pub(crate) door: Arc<dyn Dispatch>,
    /// The code of the last refusal, for `env.host_error`.
    pub(crate) last_error: std::borrow::Cow<'static, str>,
    /// The answer of the last call of a broker, until `env.host_reply` fetches it.
    pub(crate) kept_reply: Option<crate::host::KeptReply>,
    /// The exit status of the last nested command, for `env.host_status`.
    pub(crate) last_status: i32,
    /// The exit statuses of the last map, for `env.host_parallel_status`.
    pub(crate) last_mapped: Vec<i32>,
    /// Lines that `env.host_log` wrote.
    pub(crate) logged: u32,
    /// The calls of tools that are open.
    pub(crate) tools: ToolCalls,
    /// The line that it runs, if it is a shell.
    pub(crate) line: Option<Box<shell::Line>>,
    /// Its streams and what goes on beside it, if it is a guest of lembeh.
    pub(crate) lembeh: Option<Box<lembeh::State>>,
    /// The request that it answers, if it serves.
    pub(crate) serving: Option<Box<serving::State>>,
    /// Whether it may call tools at all, and so has `/dev/drydock`.
    pub(crate) has_tools: bool,
    /// Whether it may ask for the network at all, and so has `/dev/http`.
    pub(crate) has_net: bool,
    pub(crate) memory: Option<wasmtime::Memory>,
    /// Whether it is stopped where it asks for input, or was.
    pub(crate) at_input: AtInput,
    /// What growing past its memory limit does.
    pub(crate) growth: Growth,
    /// The bytes of the first growth that was refused.
    pub(crate) refused: Option<u64>,
    /// Where it logs, if its kind does.
    pub(crate) log: Option<Log>,
    /// Its allocator, if it is a handler. Untyped, because few handlers ask for something to be placed.
    pub(crate) alloc: Option<wasmtime::Func>,
    /// Whether that is at work in the middle of one of its own calls, and so may make none that needs it again.
    pub(crate) placing: bool,
    /// Requests that it made in this call.
    pub(crate) fetches: u32,
    /// Answers that it reads as they come.
    pub(crate) answers: Answers,
    /// The first limit of its files that it met.
    pub(crate) quota: Option<FileLimit>,
    deadline: Deadline,
    /// Told what it has burnt, where somebody pays for that as it goes.
    pub(crate) burnt: Option<(Arc<Burnt>, u64)>,
    /// For as long as it lives, it is in flight.
    pub(crate) running: Running,
    breathed: Instant,
    switches: [Arc<Switch>; 2],
    files: Option<Arc<dyn Files>>,
    /// Directories over them.
    trees: Vec<EntryTree>,
    /// The same files, whose long work ends with the run's time.
    view: Option<Arc<dyn Files>>,
}

/// Where a guest's log lines go, and how many more of this call do; the last of them says so.
pub(crate) struct Log {
    pub(crate) sink: Arc<dyn GuestLog>,
    pub(crate) lines_left: u32,
}

impl Log {
    pub(crate) fn new(sink: Arc<dyn GuestLog>) -> Self {
        Self { sink, lines_left: LINES_MAX + 1 }
    }
}

/// What happens when the guest asks for input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AtInput {
    /// It gets some.
    #[default]
    Reads,
    /// It is stopped, because then it is ready to be snapshotted.
    Stops,
    /// It was stopped there.
    Stopped,
}

/// Bytes that went through stdin, stdout and stderr, and those that were written to numbered streams.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) stdin: u64,
    pub(crate) stdout: u64,
    pub(crate) stderr: u64,
    pub(crate) numbered: u64,
}

impl Guest {
    /// Begun at that moment; the clock is not looked at again.
    pub(crate) fn new(request: RunRequest, started: Instant, deadline: Deadline, running: Running) -> Self {
        let given = match request.working_dir {
            WorkingDir::Own => None,
            WorkingDir::Given => request.env.iter().find_map(|it| it.strip_prefix(b"PWD=")),
        };
        let descriptors = Descriptors::new(request.caps, given);
        Self {
            argv: request.argv,
            env: request.env,
            streams: request.streams,
            counts: Counts::default(),
            limits: request.limits,
            meter: Arc::new(Meter::within(request.limits.memory_bytes_max, request.memory)),
            clock: GuestClock::new(request.time, started, request.clock),
            random: Random::new(request.entropy),
            descriptors,
            file_rules: request.file_rules,
            door: request.door,
            last_error: "".into(),
            kept_reply: None,
            last_status: -1,
            last_mapped: Vec::new(),
            logged: 0,
            tools: ToolCalls::default(),
            line: None,
            lembeh: None,
            serving: None,
            has_tools: request.caps.contains(Cap::Tool),
            has_net: request.caps.contains(Cap::Net),
            memory: None,
            at_input: AtInput::Reads,
            growth: Growth::Ends,
            refused: None,
            log: None,
            alloc: None,
            placing: false,
            fetches: 0,
            answers: Answers::default(),
            quota: None,
            deadline,
            burnt: None,
            running,
            breathed: started,
            switches: request.switches,
            files: request.files,
            trees: request.trees,
            view: None,
        }
    }

    /// One more call of an instance that lives: its time is its own.
    pub(crate) fn begin_call(&mut self, deadline: Deadline) {
        self.deadline = deadline;
        self.breathed = Instant::now();
    }

    /// One more line of a shell: its world is the line's.
    pub(crate) fn begin_line(&mut self, world: Option<LineWorld>, meter: Arc<Meter>, input: Vec<u8>) {
        self.meter = meter;
        if let Some(world) = &world {
            self.clock = GuestClock::new(world.time, Instant::now(), world.clock.clone());
            let desk = Arc::clone(&world.desk);
            let time_is_up: Interrupt = Arc::new(move || desk.is_over());
            let files = Arc::clone(&world.files);
            self.view = Some(files.until(&time_is_up).unwrap_or(files));
        }
        self.line = Some(Box::new(shell::Line::new(input, world, &self.meter)));
    }

    /// A call is over: the next one has all its lines. The first shares them with the start function, because both are
    /// one request to whoever reads them.
    pub(crate) fn end_call(&mut self) {
        self.burnt = None;
        self.fetches = 0;
        if let Some(log) = &mut self.log {
            *log = Log::new(Arc::clone(&log.sink));
        }
    }

    /// Ends the run from inside a host call. Work done for the guest burns none of its fuel, so a
    /// guest that does little else would come by the clock too rarely: every host call looks at it.
    pub(crate) fn check_time(&self) -> Result<(), Stop> {
        self.check_time_at(Instant::now())
    }

    fn check_time_at(&self, now: Instant) -> Result<(), Stop> {
        if self.switches.iter().any(|switch| switch.is_tripped()) {
            return Err(Stop::Cancelled);
        }
        if self.deadline.is_over(now) {
            return Err(Stop::TimedOut);
        }
        Ok(())
    }

    /// The run's files; a fresh empty tree, charged to the run, if it was given none.
    pub(crate) fn files(&mut self) -> Arc<dyn Files> {
        if let Some(view) = &self.view {
            return Arc::clone(view);
        }
        let given = self.files.take().unwrap_or_else(|| {
            let meter = Arc::clone(&self.meter);
            Arc::new(MemoryFiles::with(meter))
        });
        let given = under(given, std::mem::take(&mut self.trees));
        let (deadline, switches) = (self.deadline.clone(), self.switches.clone());
        let time_is_up: Interrupt =
            Arc::new(move || deadline.is_over(Instant::now()) || switches.iter().any(|it| it.is_tripped()));
        let view = given.until(&time_is_up).unwrap_or(given);
        self.view = Some(Arc::clone(&view));
        view
    }
}

/// The files with these directories over them. Whoever holds the files themselves does not see those.
fn under(files: Arc<dyn Files>, trees: Vec<EntryTree>) -> Arc<dyn Files> {
    if trees.is_empty() {
        return files;
    }
    let mut mounts = Mounts::over(files);
    for EntryTree { path, files } in trees {
        if let Err(error) = mounts.mount(&path, files) {
            // Registered places are checked, so this is a caller of the library's own.
            tracing::warn!(%error, "a directory of a command is not shown");
        }
    }
    Arc::new(mounts)
}

/// How long a run may keep its thread with work of the host's.
const BREATH: Duration = Duration::from_millis(1);

/// Looks at the clock, and lets others have the thread if the host has worked for long: a guest that
/// does little but call the host comes by its fuel's yields too rarely.
pub(crate) async fn breathe(caller: &mut Caller<'_, Guest>) -> Result<(), Stop> {
    let now = Instant::now();
    caller.data().check_time_at(now)?;
    see_fuel(caller);
    if now.duration_since(caller.data().breathed) >= BREATH {
        let mut yielded = std::pin::pin!(yield_now());
        wait_for(caller, |_, cx| {
            let polled = yielded.as_mut().poll(cx);
            if polled.is_pending() {
                // When that is depends on the machine, so nobody else of the session may have a turn by it.
                schedule::gives_thread_back();
            }
            polled
        })
        .await;
        caller.data_mut().breathed = Instant::now();
    }
    Ok(())
}

/// Bytes charged to a run for as long as this lives.
pub(crate) struct Held {
    meter: Arc<Meter>,
    bytes: u64,
}

impl Held {
    /// Charges the run, or refuses and changes nothing.
    pub(crate) fn take(meter: &Arc<Meter>, bytes: u64) -> Option<Self> {
        meter.try_hold(bytes).then(|| Self { meter: Arc::clone(meter), bytes })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.meter.release(self.bytes);
    }
}

/// What the guest's clocks say.
pub(crate) enum GuestClock {
    /// The time of day, to the microsecond.
    Real { start: Instant },
    /// The session's own, or one that nobody else goes by: moves by being looked at and by sleeping.
    Fixed { start_ns: u64, clock: Arc<SteppedClock> },
}

/// Monotonic time starts here: some programs take zero for "unset".
const MONOTONIC_START_NS: u64 = 1_000_000_000;

impl GuestClock {
    fn new(time: GuestTime, start: Instant, session: Option<Arc<SteppedClock>>) -> Self {
        match time {
            GuestTime::Real => Self::Real { start },
            GuestTime::Fixed(at) => {
                let clock = session.unwrap_or_else(|| Arc::new(SteppedClock::starting(at)));
                Self::Fixed { start_ns: clock.stands_at().0, clock }
            }
        }
    }

    /// The clock, if it is not the real one.
    pub(crate) fn stepped(&self) -> Option<&Arc<SteppedClock>> {
        match self {
            Self::Real { .. } => None,
            Self::Fixed { clock, .. } => Some(clock),
        }
    }

    /// The time of day, in nanoseconds since the epoch.
    pub(crate) fn system_ns() -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        to_micros(since.unwrap_or_default().as_nanos())
    }

    /// Nanoseconds since the epoch.
    pub(crate) fn realtime_ns(&self) -> u64 {
        match self {
            Self::Real { .. } => Self::system_ns(),
            Self::Fixed { clock, .. } => clock.now().0,
        }
    }

    /// Nanoseconds since some moment before the run.
    pub(crate) fn monotonic_ns(&self) -> u64 {
        match self {
            Self::Real { start } => MONOTONIC_START_NS.saturating_add(to_micros(start.elapsed().as_nanos())),
            Self::Fixed { start_ns, clock } => {
                MONOTONIC_START_NS.saturating_add(clock.now().0.saturating_sub(*start_ns))
            }
        }
    }

    /// Ends when so much time has passed, by a clock that is not the real one; none where somebody has to wait for
    /// real.
    pub(crate) fn sleep(&self, nanos: u64) -> Option<Sleep> {
        self.stepped().map(|clock| clock.sleep_until(clock.stands_at().plus(Duration::from_nanos(nanos))))
    }
}

/// Cut to microseconds: enough for programs, less for those who measure what they should not see.
fn to_micros(nanos: u128) -> u64 {
    u64::try_from(nanos / 1_000 * 1_000).unwrap_or(u64::MAX)
}

/// Where `random_get` takes its bytes.
pub(crate) enum Random {
    System,
    Seeded(Box<ChaCha20Rng>),
}

impl Random {
    fn new(entropy: Entropy) -> Self {
        match entropy {
            Entropy::System => Self::System,
            Entropy::Seeded(seed) => Self::Seeded(Box::new(ChaCha20Rng::seed_from_u64(seed))),
        }
    }

    /// Fills the buffer; false if the system has no randomness to give.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> bool {
        match self {
            Self::System => getrandom::fill(buffer).is_ok(),
            Self::Seeded(stream) => {
                stream.fill_bytes(buffer);
                true
            }
        }
    }
}
