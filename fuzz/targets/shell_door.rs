//! Any calls of a shell's imports with any numbers, made by a real guest against the real engine, two lines side by side:
//! no host panic, an end within their time, no more held than their memory and all of it given back, no command that
//! outlives its line, and not a byte of one line in the streams of the other.
#![no_main]

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use arbitrary::Arbitrary;
use drydock_abi::{
    exec::encode_command,
    shell::{self, NumberedStream, Start, encode},
};
use drydock_contract::{
    Artifact, GuestTime, InsideShell, InsideTime, LineWorld, Meter, ShellCall, ShellGuestSpec, Sink, Source,
    Streams, Tenant, port::FileRules,
};
use drydock_engine::{Engine, EngineSettings};
use drydock_store::MemoryFiles;
use drydock_testkit::shell_prober::{self, PAGES, PARAMETERS, ProbedDesk, ProbedDoor, Program};

const MEMORY_BYTES_MAX: u64 = 8 << 20;
const WALL_MAX: Duration = Duration::from_millis(50);
/// A line that takes so long hangs, whoever else the machine works for.
const HANG: Duration = Duration::from_secs(10);
const STEPS_MAX: usize = 64;
/// What one line reads, and the other never sees.
const SECRET: &[u8] = b"of the other one";

#[derive(Debug, Arbitrary)]
enum Step<'a> {
    /// Puts bytes where the calls point at.
    Poke(u16, &'a [u8]),
    Call(u8, [Argument; PARAMETERS]),
    /// The same call many times.
    Times(u8, u16, [Argument; PARAMETERS]),
    /// A command, of which most of the request is right.
    Start(u8, [Argument; 3], u8),
    /// What was there before with other bytes behind it.
    Garbled(u8, [Argument; 3], &'a [u8]),
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Argument {
    /// A handle, a flag, a command, a short length.
    Small(u8),
    /// A place among the bytes.
    Place(u16),
    /// Around the end of memory.
    Edge(i8),
    /// A file of the guest's.
    File(u8),
    None,
    Any(u32),
}

impl Argument {
    fn value(self) -> u32 {
        match self {
            Self::Small(it) => u32::from(it % 16),
            Self::Place(it) => u32::from(it),
            Self::Edge(it) => (PAGES << 16).wrapping_add_signed(it.into()),
            Self::File(it) => shell::file(u32::from(it % 8)),
            Self::None => shell::NONE,
            Self::Any(it) => it,
        }
    }
}

#[derive(Debug, Arbitrary)]
struct Tried<'a> {
    lines: [Vec<Step<'a>>; 2],
    inside: u8,
}

struct Bench {
    engine: Engine,
    module: Artifact,
    runtime: tokio::runtime::Runtime,
}

fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| Bench {
        engine: Engine::new(EngineSettings { slots: Some(4), ..EngineSettings::default() }, None).unwrap(),
        module: Artifact::hash(wat::parse_str(shell_prober::guest()).unwrap()),
        runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(),
    })
}

fn started(which: u8, streams: [Argument; 3], level: u8) -> Vec<u8> {
    let name = ["quick", "never", "cat", "missing"][usize::from(which % 4)];
    let [stdin, stdout, stderr] = streams.map(Argument::value);
    // Up to three more under numbers that rise, or do not, by the upper bits of what is there already.
    let numbered =
        (0..u32::from(which >> 6)).zip([stdin, stdout, stderr]).map(|(at, handle)| NumberedStream {
            number: 3 + at * u32::from(level >> 6),
            handle,
            end: (at + u32::from(level >> 5)) % 3,
        });
    let start = Start {
        ordinal: u64::from(which),
        umask: 0o22,
        file_bytes_max: None,
        level: u32::from(level % 4),
        stdin,
        stdout,
        stderr,
        numbered: numbered.collect(),
    };
    [encode(&start), encode_command(&[""; 0], name, &[""; 0], b"").unwrap()].concat()
}

fn program(steps: &[Step<'_>]) -> Program {
    let mut program = Program::default();
    for step in steps.iter().take(STEPS_MAX) {
        program = match step {
            Step::Poke(at, bytes) => program.poke((*at).into(), &bytes[..bytes.len().min(512)]),
            Step::Call(which, arguments) => {
                program.numbered(usize::from(*which), 1, &arguments.map(Argument::value))
            }
            Step::Times(which, times, arguments) => {
                program.numbered(usize::from(*which), u32::from(*times), &arguments.map(Argument::value))
            }
            Step::Start(which, streams, level) => {
                let bytes = started(*which, *streams, *level);
                program.poke(0, &bytes).numbered(0, 1, &[0, bytes.len() as u32])
            }
            Step::Garbled(which, streams, behind) => {
                let bytes = [&started(*which, *streams, 0)[..], &behind[..behind.len().min(64)]].concat();
                program.poke(0, &bytes).numbered(0, 1, &[0, bytes.len() as u32])
            }
        };
    }
    program
}

fn inside() -> InsideShell {
    InsideShell {
        name: "sh".into(),
        args: vec![b"-c".to_vec()],
        env: Arc::new([]),
        file_rules: FileRules::USUAL,
        recipe_of: None,
        seed: 0,
        time: InsideTime::Lines,
        streams: Streams {
            stdin: Source::from("inside"),
            stdout: Sink::capture(),
            stderr: Sink::Discard,
            ..Streams::default()
        },
        door: Arc::new(ProbedDoor::default()),
        end: Box::new(|_, _| {}),
    }
}

/// Runs a line; what it wrote comes back.
async fn line(input: Vec<u8>, inside_count: u8, stdin: &[u8]) -> [Vec<u8>; 2] {
    let Bench { engine, module, .. } = bench();
    let spec = ShellGuestSpec {
        artifact: module.clone(),
        memory_bytes_max: MEMORY_BYTES_MAX,
        preparing: None,
        depth: 0,
        tenant: Tenant::default(),
    };
    let mut guest = engine.open_shell(spec).await.expect("there is a slot for each of two");
    let (door, memory) = (Arc::new(ProbedDoor::default()), Arc::new(Meter::new(MEMORY_BYTES_MAX)));
    let world = LineWorld {
        streams: Streams {
            stdin: Source::from(stdin.to_vec()),
            stdout: Sink::capture(),
            stderr: Sink::capture(),
            ..Streams::default()
        },
        door: Arc::clone(&door) as _,
        desk: Arc::new(ProbedDesk::with((0..inside_count % 4).map(|_| inside()))),
        files: Arc::new(MemoryFiles::with(Arc::new(Meter::new(1 << 20)))),
        time: GuestTime::Real,
        clock: None,
    };
    let call = ShellCall {
        input,
        wall_max: WALL_MAX,
        memory: Some(Arc::clone(&memory)),
        budget: None,
        world: Some(world),
    };
    let began = Instant::now();
    let (_, streams) = guest.call(call).await;
    assert!(began.elapsed() < HANG, "{:?}", began.elapsed());
    assert_eq!(door.open(), 0, "no command outlives its line");
    drop(guest);
    assert_eq!(memory.held(), 0, "everything that was held for it is given back");
    assert!(memory.peak() <= MEMORY_BYTES_MAX);
    [streams.stdout.into_captured(), streams.stderr.into_captured()]
}

fn has_secret(bytes: &[u8]) -> bool {
    bytes.windows(SECRET.len()).any(|it| it == SECRET)
}

libfuzzer_sys::fuzz_target!(|tried: Tried<'_>| {
    let [mine, theirs] = tried.lines.each_ref().map(|it| program(it).input());
    // One that knows it already tells nothing.
    if has_secret(&theirs) {
        return;
    }
    let both =
        async { tokio::join!(line(mine, tried.inside, SECRET), line(theirs, tried.inside, b"plain input")) };
    let (_, written) = bench().runtime.block_on(both);
    for bytes in written {
        assert!(!has_secret(&bytes), "bytes of the other line");
    }
});
