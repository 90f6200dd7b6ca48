//! The host's side of one run: everything the guest's imports work on.

use std::{sync::Arc, time::Instant};

use drydock_contract::{
    CapSet, Dispatch, Entropy, GuestTime, Limits, Meter, RunRequest, Streams,
    port::Files,
};
use drydock_store::MemoryFiles;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

use crate::wasi::Descriptors;

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
    pub(crate) door: Arc<dyn Dispatch>,
    /// The code of the last refusal, for `env.host_error`.
    pub(crate) last_error: &'static str,
    pub(crate) memory: Option<wasmtime::Memory>,
    files: Option<Arc<dyn Files>>,
}

/// Bytes that went through stdin, stdout and stderr.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) stdin: u64,
    pub(crate) stdout: u64,
    pub(crate) stderr: u64,
}

impl Guest {
    pub(crate) fn new(request: RunRequest) -> (Self, CapSet) {
        let caps = request.caps;
        let guest = Self {
            argv: request.argv,
            env: request.env,
            streams: request.streams,
            counts: Counts::default(),
            limits: request.limits,
            meter: Arc::new(Meter::new(request.limits.memory_bytes_max)),
            clock: GuestClock::new(request.time),
            random: Random::new(request.entropy),
            descriptors: Descriptors::new(caps),
            door: request.door,
            last_error: "",
            memory: None,
            files: request.files,
        };
        (guest, caps)
    }

    /// The run's files; a fresh empty tree, charged to the run, if it was given none.
    pub(crate) fn files(&mut self) -> Arc<dyn Files> {
        let meter = &self.meter;
        Arc::clone(self.files.get_or_insert_with(|| Arc::new(MemoryFiles::with(Arc::clone(meter)))))
    }
}

/// What the guest's clocks say.
pub(crate) enum GuestClock {
    /// The time of day, to the microsecond.
    Real { start: Instant },
    /// Moves by being looked at and by sleeping.
    Fixed { start_ns: u64, now_ns: u64 },
}

/// How far a fixed clock moves when it is looked at.
const LOOK_NS: u64 = 1_000;
/// Monotonic time starts here: some programs take zero for "unset".
const MONOTONIC_START_NS: u64 = 1_000_000_000;

impl GuestClock {
    fn new(time: GuestTime) -> Self {
        match time {
            GuestTime::Real => Self::Real { start: Instant::now() },
            GuestTime::Fixed(at) => Self::Fixed { start_ns: at.0, now_ns: at.0 },
        }
    }

    /// Nanoseconds since the epoch.
    pub(crate) fn realtime_ns(&mut self) -> u64 {
        match self {
            Self::Real { .. } => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                to_micros(since.unwrap_or_default().as_nanos())
            }
            Self::Fixed { now_ns, .. } => {
                *now_ns = now_ns.saturating_add(LOOK_NS);
                *now_ns
            }
        }
    }

    /// Nanoseconds since some moment before the run.
    pub(crate) fn monotonic_ns(&mut self) -> u64 {
        match self {
            Self::Real { start } => MONOTONIC_START_NS.saturating_add(to_micros(start.elapsed().as_nanos())),
            Self::Fixed { start_ns, now_ns } => {
                *now_ns = now_ns.saturating_add(LOOK_NS);
                MONOTONIC_START_NS.saturating_add(*now_ns - *start_ns)
            }
        }
    }

    /// Passes the time if it is fixed; otherwise somebody has to wait for real.
    pub(crate) fn skip(&mut self, nanos: u64) -> bool {
        match self {
            Self::Real { .. } => false,
            Self::Fixed { now_ns, .. } => {
                *now_ns = now_ns.saturating_add(nanos);
                true
            }
        }
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
