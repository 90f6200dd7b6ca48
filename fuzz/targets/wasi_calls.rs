//! Any sequence of preview 1 calls with any arguments, made by a real guest against the real engine:
//! no host panic and no fault, the run ends in a named way and within its limits, and the file tree
//! gives back every byte it held.
#![no_main]

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use arbitrary::Arbitrary;
use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, Cap, CapSet, Denial, Dispatch, Entropy, GuestTime, Limits, Meter,
    Outcome, Reply, RunRequest, Sink, Source, Streams, Timestamp, WorkingDir,
    port::{FileRules, Runner as _},
};
use drydock_engine::{Engine, EngineSettings};
use drydock_store::MemoryFiles;
use drydock_testkit::prober::{self, FUNCTIONS, PAGES, PARAMETERS, RECORD_AT};

const TREE_BYTES_MAX: u64 = 1 << 20;

const LIMITS: Limits = Limits {
    memory_bytes_max: 4 << 20,
    fuel_max: 20_000_000,
    wall_max: Duration::from_secs(10),
    stdin_bytes_max: 1 << 20,
    argv_bytes_max: 1 << 10,
    stdout_bytes_max: 1 << 12,
    stderr_bytes_max: 1 << 12,
};

#[derive(Debug, Arbitrary)]
enum Step<'a> {
    /// Puts bytes where the calls point at: paths, lists of vectors, subscriptions.
    Poke(u16, &'a [u8]),
    Call(u8, [Argument; PARAMETERS]),
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Argument {
    /// A descriptor, a flag, a short length.
    Small(u8),
    /// A place among the bytes.
    Place(u16),
    /// Around the end of memory.
    Edge(i8),
    Any(u64),
}

impl Argument {
    fn value(self) -> u64 {
        match self {
            Self::Small(it) => u64::from(it % 16),
            Self::Place(it) => u64::from(it) % RECORD_AT as u64,
            Self::Edge(it) => (u64::from(PAGES) << 16).wrapping_add_signed(it.into()),
            Self::Any(it) => it,
        }
    }
}

struct ClosedDoor;

impl Dispatch for ClosedDoor {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async move { Err(Denial::UnknownOperation(call.operation.into()).into()) })
    }
}

struct Bench {
    engine: Engine,
    module: Artifact,
    runtime: tokio::runtime::Runtime,
}

fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| Bench {
        engine: Engine::new(EngineSettings { slots: Some(2), ..EngineSettings::default() }, None).unwrap(),
        module: Artifact::hash(wat::parse_str(prober::guest()).unwrap()),
        runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(),
    })
}

fn told(steps: &[Step<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for step in steps {
        match step {
            Step::Poke(at, poked) => prober::poke(&mut bytes, (*at).into(), &poked[..poked.len().min(512)]),
            Step::Call(which, arguments) => {
                let which = usize::from(*which) % FUNCTIONS.len();
                prober::call(&mut bytes, which, &arguments.map(Argument::value));
            }
        }
    }
    bytes
}

libfuzzer_sys::fuzz_target!(|steps: Vec<Step<'_>>| {
    let Bench { engine, module, runtime } = bench();
    let meter = Arc::new(Meter::new(TREE_BYTES_MAX));
    let files = Arc::new(MemoryFiles::with(Arc::clone(&meter)));
    files.write("dir/file", b"some bytes").unwrap();
    files.write("f", b"more bytes").unwrap();
    let request = RunRequest {
        artifact: module.clone(),
        argv: vec![b"guest".to_vec(), b"argument".to_vec()],
        env: Arc::new([b"K=V".to_vec()]),
        streams: Streams {
            stdin: Source::from(told(&steps)),
            stdout: Sink::capture(),
            stderr: Sink::capture(),
            ..Streams::default()
        },
        files: Some(files),
        trees: Vec::new(),
        working_dir: WorkingDir::Given,
        lane: None,
        compile: None,
        file_rules: FileRules::USUAL,
        limits: LIMITS,
        caps: CapSet::of(&[Cap::Vfs]),
        // A fixed clock, so that a guest that sleeps for a century costs nothing.
        time: GuestTime::Fixed(Timestamp(0)),
        entropy: Entropy::Seeded(7),
        door: Arc::new(ClosedDoor),
        switches: [Arc::default(), Arc::default()],
        budget: None,
        memory: None,
        clock: None,
        preparing: None,
        depth: 0,
        tenant: drydock_contract::Tenant::default(),
        pays_for_code: false,
    };
    let (report, streams) = runtime.block_on(engine.run(request)).expect("no call of a guest is our fault");
    assert!(
        !matches!(report.outcome, Outcome::TimedOut | Outcome::Cancelled),
        "{} after {:?}",
        report.outcome,
        report.duration
    );
    assert!(report.memory_bytes <= LIMITS.memory_bytes_max, "{}", report.memory_bytes);
    assert!(report.fuel <= LIMITS.fuel_max, "{}", report.fuel);
    for (told, sink, max) in [
        (report.stdout_bytes, streams.stdout, LIMITS.stdout_bytes_max),
        (report.stderr_bytes, streams.stderr, LIMITS.stderr_bytes_max),
    ] {
        let captured = sink.into_captured().len() as u64;
        assert!(told == captured && captured <= max, "{told} {captured}");
    }
    assert_eq!(meter.held(), 0, "every handle and every file is gone");
    assert!(meter.peak() <= TREE_BYTES_MAX);
});
