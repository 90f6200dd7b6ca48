//! Any sequence of preview 1 calls with any arguments, made by a real guest against the real engine:
//! no host panic and no fault, the run ends in a named way and within its limits, and the file tree
//! gives back every byte it held.
#![no_main]

use std::{
    fmt::Write as _,
    sync::{Arc, OnceLock},
    time::Duration,
};

use arbitrary::Arbitrary;
use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, Cap, CapSet, Denial, Dispatch, Entropy, GuestTime, Limits, Meter,
    Outcome, Reply, RunRequest, Sink, Source, Streams, Timestamp, port::Runner as _,
};
use drydock_engine::{Engine, EngineSettings};
use drydock_store::MemoryFiles;

/// Every function of preview 1 that comes back, and its parameters: `i` for i32, `I` for i64.
const FUNCTIONS: &[(&str, &str)] = &[
    ("fd_read", "iiii"),
    ("args_get", "ii"),
    ("args_sizes_get", "ii"),
    ("environ_get", "ii"),
    ("environ_sizes_get", "ii"),
    ("clock_res_get", "ii"),
    ("clock_time_get", "iIi"),
    ("fd_advise", "iIIi"),
    ("fd_allocate", "iII"),
    ("fd_close", "i"),
    ("fd_datasync", "i"),
    ("fd_fdstat_get", "ii"),
    ("fd_fdstat_set_flags", "ii"),
    ("fd_fdstat_set_rights", "iII"),
    ("fd_filestat_get", "ii"),
    ("fd_filestat_set_size", "iI"),
    ("fd_filestat_set_times", "iIIi"),
    ("fd_pread", "iiiIi"),
    ("fd_prestat_get", "ii"),
    ("fd_prestat_dir_name", "iii"),
    ("fd_pwrite", "iiiIi"),
    ("fd_readdir", "iiiIi"),
    ("fd_renumber", "ii"),
    ("fd_seek", "iIii"),
    ("fd_sync", "i"),
    ("fd_tell", "ii"),
    ("fd_write", "iiii"),
    ("path_create_directory", "iii"),
    ("path_filestat_get", "iiiii"),
    ("path_filestat_set_times", "iiiiIIi"),
    ("path_link", "iiiiiii"),
    ("path_open", "iiiiiIIii"),
    ("path_readlink", "iiiiii"),
    ("path_remove_directory", "iii"),
    ("path_rename", "iiiiii"),
    ("path_symlink", "iiiii"),
    ("path_unlink_file", "iii"),
    ("poll_oneoff", "iiii"),
    ("random_get", "ii"),
    ("sched_yield", ""),
    ("sock_accept", "iii"),
    ("sock_recv", "iiiiii"),
    ("sock_send", "iiiii"),
    ("sock_shutdown", "ii"),
];

const PARAMETERS: usize = 9;
const RECORD: usize = 8 + PARAMETERS * 8;
/// Where the guest keeps its record; below it lie the bytes that the calls point at.
const RECORD_AT: usize = 8192;
const PAGES: u32 = 2;
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

/// Reads records from stdin and makes the calls they say. A record of no function is followed by
/// bytes, which are read into the guest's memory.
fn guest() -> String {
    let (mut imports, mut cases) = (String::new(), String::new());
    for (index, (name, parameters)) in FUNCTIONS.iter().enumerate() {
        let kind = |it| if it == 'i' { "i32" } else { "i64" };
        let types: String = parameters.chars().map(|it| format!(" {}", kind(it))).collect();
        let _ = writeln!(
            imports,
            "(import \"wasi_snapshot_preview1\" \"{name}\" (func $f{index} (param{types}) (result i32)))"
        );
        let loads: String = (0..)
            .zip(parameters.chars())
            .map(|(at, it)| format!("({}.load (i32.const {}))", kind(it), RECORD_AT + 8 + at * 8))
            .collect();
        let _ = writeln!(
            cases,
            "(if (i32.eq (local.get $which) (i32.const {index})) (then (drop (call $f{index} {loads}))))"
        );
    }
    let (list, list_len, count, base) = (RECORD_AT - 16, RECORD_AT - 12, RECORD_AT - 4, RECORD_AT);
    let (address, length, poke) = (RECORD_AT + 8, RECORD_AT + 16, FUNCTIONS.len());
    format!(
        r#"(module {imports}
  (memory (export "memory") {PAGES})
  (func $take (param $at i32) (param $len i32) (result i32)
    (i32.store (i32.const {list}) (local.get $at))
    (i32.store (i32.const {list_len}) (local.get $len))
    (if (call $f0 (i32.const 0) (i32.const {list}) (i32.const 1) (i32.const {count})) (then (return (i32.const 0))))
    (i32.eq (i32.load (i32.const {count})) (local.get $len)))
  (func (export "_start") (local $which i32)
    (loop $again
      (if (i32.eqz (call $take (i32.const {base}) (i32.const {RECORD}))) (then return))
      (local.set $which (i32.load (i32.const {base})))
      (if (i32.eq (local.get $which) (i32.const {poke}))
        (then (drop (call $take (i32.load (i32.const {address})) (i32.load (i32.const {length}))))))
      {cases}
      (br $again))))"#
    )
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
        module: Artifact::hash(wat::parse_str(guest()).unwrap()),
        runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(),
    })
}

fn told(steps: &[Step<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for step in steps {
        let (which, arguments, tail): (u64, Vec<u64>, &[u8]) = match step {
            Step::Poke(at, bytes) => {
                let room = RECORD_AT - 64;
                let at = usize::from(*at) % room;
                let bytes = &bytes[..bytes.len().min(room - at).min(512)];
                (FUNCTIONS.len() as u64, vec![at as u64, bytes.len() as u64], bytes)
            }
            Step::Call(which, arguments) => {
                let which = usize::from(*which) % FUNCTIONS.len();
                (which as u64, arguments.iter().map(|it| it.value()).collect(), &[])
            }
        };
        bytes.extend_from_slice(&which.to_le_bytes());
        for at in 0..PARAMETERS {
            bytes.extend_from_slice(&arguments.get(at).copied().unwrap_or(0).to_le_bytes());
        }
        bytes.extend_from_slice(tail);
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
        },
        files: Some(files),
        limits: LIMITS,
        caps: CapSet::of(&[Cap::Vfs]),
        // A fixed clock, so that a guest that sleeps for a century costs nothing.
        time: GuestTime::Fixed(Timestamp(0)),
        entropy: Entropy::Seeded(7),
        door: Arc::new(ClosedDoor),
        switches: [Arc::default(), Arc::default()],
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
