//! The door of the shell's guest, tried by a guest that is no shell: it calls the imports in any order and with any
//! numbers. Nothing it says reaches another line, all that the host keeps for it is on its bill, and its time ends it.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use common::{engine, request, run};
use drydock_abi::{
    exec::{REQUEST_BYTES_MAX, encode_command},
    shell::{
        AGAIN, BAD, BROKEN, ENDED, Event, FAILED, HAS_COMMAND, NONE, NOT_FOUND, NUMBERED_MAX, NumberedStream,
        READS, Start, TOO_MANY, WRITES, decode, encode, file,
    },
};
use drydock_contract::{
    Artifact, Cap, CapSet, Fault, GuestTime, InsideShell, InsideTime, LineWorld, LiveError, Meter, Outcome,
    RunRequest, ShellCall, ShellGuestSpec, Sink, Source, Streams, Tenant, port::FileRules,
};
use drydock_engine::ShellGuest;
use drydock_store::MemoryFiles;
use drydock_testkit::shell_prober::{self, FUNCTIONS, PAGES, ProbedDesk, ProbedDoor, Program};
use parking_lot::Mutex;
use proptest::prelude::*;

/// Nothing here takes a minute unless it hangs.
const HANG: Duration = Duration::from_secs(60);
const MEMORY_BYTES_MAX: u64 = 16 << 20;
/// The end of the guest's memory.
const EDGE: u32 = PAGES << 16;
/// Room for what is read.
const INTO: u32 = 4096;

async fn opened(memory_bytes_max: u64) -> ShellGuest {
    let spec = ShellGuestSpec {
        artifact: Artifact::hash(wat::parse_str(shell_prober::guest()).unwrap()),
        memory_bytes_max,
        preparing: None,
        depth: 0,
        tenant: Tenant::default(),
    };
    engine().open_shell(spec).await.unwrap()
}

/// One line as its caller has it.
struct Line {
    program: Program,
    door: Arc<ProbedDoor>,
    desk: ProbedDesk,
    stdin: Source,
    wall_max: Duration,
    memory: Arc<Meter>,
}

impl Line {
    fn of(program: Program) -> Self {
        let memory = Arc::new(Meter::new(MEMORY_BYTES_MAX));
        let (door, desk) = (Arc::default(), ProbedDesk::default());
        Self { program, door, desk, stdin: Source::from("input"), wall_max: HANG, memory }
    }

    async fn run(self, guest: &mut ShellGuest) -> (Result<Vec<i32>, LiveError>, Streams) {
        let world = LineWorld {
            streams: Streams {
                stdin: self.stdin,
                stdout: Sink::capture(),
                stderr: Sink::capture(),
                ..Streams::default()
            },
            door: Arc::clone(&self.door) as _,
            desk: Arc::new(self.desk),
            files: Arc::new(MemoryFiles::with(Arc::new(Meter::new(1 << 20)))),
            time: GuestTime::Real,
            clock: None,
        };
        let (input, memory, world) = (self.program.input(), Some(self.memory), Some(world));
        let call = ShellCall { input, wall_max: self.wall_max, memory, budget: None, world };
        let (reply, streams) = guest.call(call).await;
        assert_eq!(self.door.open(), 0, "no command outlives its line");
        (reply.map(|it| shell_prober::results(&it.bytes)), streams)
    }
}

/// What the calls of a line answer; afterwards nothing is held for it.
async fn answers(program: Program) -> Vec<i32> {
    let line = Line::of(program);
    let memory = Arc::clone(&line.memory);
    let mut guest = opened(MEMORY_BYTES_MAX).await;
    let (said, _) = line.run(&mut guest).await;
    assert_eq!(memory.held(), u64::from(EDGE), "between lines it holds its memory and nothing else");
    drop(guest);
    assert_eq!(memory.held(), 0);
    said.unwrap()
}

fn start(name: &str, [stdin, stdout, stderr]: [u32; 3], level: u32) -> Vec<u8> {
    let start = Start {
        ordinal: 1,
        umask: 0o22,
        file_bytes_max: None,
        level,
        stdin,
        stdout,
        stderr,
        numbered: Vec::new(),
    };
    let command = encode_command(&[""; 0], name, &[""; 0], b"").unwrap();
    [encode(&start), command].concat()
}

/// Puts a command at 0 and starts it so often.
fn starts(program: Program, times: u32, bytes: &[u8]) -> Program {
    program.poke(0, bytes).times(times, "start", &[0, bytes.len() as u32])
}

const NOTHING: [u32; 3] = [NONE; 3];

#[tokio::test]
async fn foreign_handles_are_nobodys() {
    for foreign in [3, 4, 99, 8_191, 8_192, u32::MAX, u32::MAX - 1, file(0), file(3), file(99)] {
        let program = Program::default()
            .call("read", &[foreign, INTO, 10])
            .call("write", &[foreign, INTO, 10])
            .call("unread", &[foreign, INTO, 1])
            .call("wanted", &[foreign])
            .call("flush", &[foreign])
            .call("named", &[foreign]);
        assert_eq!(answers(program).await, [BAD; 6], "{foreign}");
        let close = Program::default().call("close", &[foreign, READS]).call("close", &[foreign, WRITES]);
        assert_eq!(answers(close).await, [0, 0], "{foreign}");
        for place in 0..3 {
            let mut streams = NOTHING;
            streams[place] = foreign;
            if foreign == NONE {
                continue;
            }
            let said = answers(starts(Program::default(), 1, &start("quick", streams, 0))).await;
            assert_eq!(said[1], BAD, "{foreign} as stream {place}");
        }
    }
}

/// A command that would open these as `/dev/fd/N`.
fn start_with(numbered: Vec<NumberedStream>) -> Vec<u8> {
    let [stdin, stdout, stderr] = NOTHING;
    let head =
        Start { ordinal: 1, umask: 0o22, file_bytes_max: None, level: 0, stdin, stdout, stderr, numbered };
    [encode(&head), encode_command(&[""; 0], "quick", &[""; 0], b"").unwrap()].concat()
}

#[tokio::test]
async fn only_streams_of_this_line_are_opened_by_a_number_and_the_numbers_rise() {
    let pipe = |number, handle, end| NumberedStream { number, handle, end };
    let good = pipe(63, 3, READS);
    let refused = [
        ("an input to write to", vec![pipe(63, 0, WRITES)]),
        ("an output to read", vec![pipe(63, 1, READS)]),
        ("nobody's handle", vec![pipe(63, 4, READS)]),
        ("a directory", vec![pipe(63, file(3), READS)]),
        ("a file that is not open", vec![pipe(63, file(9), WRITES)]),
        ("nothing, a third way", vec![pipe(63, NONE, 2)]),
        ("an end that no pipe has", vec![pipe(63, 3, 2)]),
        ("stdin once more", vec![pipe(0, 3, READS)]),
        ("stderr once more", vec![pipe(2, 3, WRITES)]),
        ("a number twice", vec![good, pipe(63, 3, WRITES)]),
        ("a number that falls", vec![good, pipe(62, 3, WRITES)]),
        ("too many", (3..4 + NUMBERED_MAX as u32).map(|it| pipe(it, 3, READS)).collect()),
    ];
    for (what, numbered) in refused {
        let program = Program::default().call("pipe", &[]);
        let said = answers(starts(program, 1, &start_with(numbered))).await;
        assert_eq!(said.last(), Some(&BAD), "{what}");
    }
    let all = vec![pipe(3, 0, READS), pipe(4, 1, WRITES), pipe(5, NONE, READS), pipe(6, NONE, WRITES)];
    let said = answers(starts(Program::default().call("pipe", &[]), 1, &start_with(all))).await;
    assert!(said.last().is_some_and(|it| *it > 0), "streams of the line, and none: {said:?}");
    // Both ends, under as many numbers as there may be.
    let all = (3..3 + NUMBERED_MAX as u32).map(|it| pipe(it, 3, it % 2)).collect();
    let said = answers(starts(Program::default().call("pipe", &[]), 1, &start_with(all))).await;
    assert!(said.last().is_some_and(|it| *it > 0), "{said:?}");
    // An end that was let go is no end any more.
    let closed = Program::default().call("pipe", &[]).call("close", &[3, READS]);
    let said = answers(starts(closed, 1, &start_with(vec![good]))).await;
    assert_eq!(said.last(), Some(&BAD));
}

#[tokio::test]
async fn a_stream_has_the_ends_that_it_has() {
    let program = Program::default()
        .call("write", &[0, INTO, 4])
        .call("flush", &[0])
        .call("read", &[1, INTO, 4])
        .call("unread", &[2, INTO, 0])
        .call("wanted", &[1]);
    assert_eq!(answers(program).await, [BAD, BAD, BAD, BAD, BAD]);
    // The line's own streams stay, whatever it lets go.
    let program = Program::default()
        .call("close", &[0, READS])
        .call("close", &[1, WRITES])
        .call("close", &[1, 77])
        .call("read", &[0, INTO, 10])
        .call("write", &[1, INTO, 5]);
    let (said, streams) = Line::of(program).run(&mut opened(MEMORY_BYTES_MAX).await).await;
    assert_eq!(said.unwrap()[3..], [5, 5]);
    assert_eq!(streams.stdout.into_captured(), b"input");
}

#[tokio::test]
async fn closed_handles_are_gone_and_reused_ones_know_nothing_of_before() {
    let program = Program::default()
        .call("pipe", &[])
        .call("write", &[3, 0, 100])
        .call("read", &[3, INTO, 50])
        .call("close", &[3, WRITES])
        .call("write", &[3, 0, 100])
        .call("read", &[3, INTO, 20])
        .call("close", &[3, READS])
        .call("read", &[3, INTO, 20])
        .call("unread", &[3, INTO, 20])
        .call("pipe", &[])
        .call("unread", &[3, INTO, 20])
        .call("read", &[3, INTO, 20])
        .call("close", &[3, READS])
        .call("write", &[3, 0, 1])
        .call("close", &[3, READS])
        .call("close", &[3, WRITES])
        .call("close", &[3, WRITES])
        .call("pipe", &[])
        .call("pipe", &[]);
    let want = [3, 100, 50, 0, BAD, 20, 0, BAD, BAD, 3, BAD, AGAIN, 0, BROKEN, 0, 0, 0, 3, 4];
    assert_eq!(answers(program).await, want);
}

#[tokio::test]
async fn no_more_is_given_back_than_was_read_last() {
    let program = Program::default()
        .call("pipe", &[])
        .call("write", &[3, 0, 10])
        .call("read", &[3, INTO, 4])
        .call("unread", &[3, INTO, 5])
        .call("unread", &[3, INTO, 3])
        .call("unread", &[3, INTO, 2])
        .call("unread", &[3, INTO, 1])
        .call("unread", &[3, INTO, 1])
        .call("read", &[3, INTO, 100])
        .call("read", &[0, INTO, 3])
        .call("unread", &[0, INTO, 4])
        .call("unread", &[0, INTO, 3])
        .call("read", &[0, INTO, 100]);
    assert_eq!(answers(program).await, [3, 10, 4, BAD, 0, BAD, 0, BAD, 10, 3, BAD, 0, 3]);
}

#[tokio::test]
async fn a_pipe_that_is_filled_and_given_back_to_again_and_again_stays_what_was_paid_for() {
    let mut program = Program::default().call("pipe", &[]);
    for _ in 0..200 {
        program = program
            .call("write", &[3, 0, 1 << 20])
            .call("read", &[3, 0, 1 << 16])
            .call("write", &[3, 0, 1 << 20])
            .call("unread", &[3, 0, 1 << 16]);
    }
    // Whatever is in it comes out in a few reads.
    program = program.times(3, "read", &[3, 0, 1 << 20]);
    assert_eq!(answers(program).await.last(), Some(&AGAIN));
}

#[tokio::test]
async fn lengths_past_memory_are_refused_before_anything_moves() {
    for (at, count) in
        [(EDGE, 1), (EDGE - 1, 2), (EDGE + 1, 0), (u32::MAX, 1), (u32::MAX, u32::MAX), (8, u32::MAX)]
    {
        let is_cut = at < EDGE && count == u32::MAX;
        let program = Program::default()
            .call("pipe", &[])
            .call("write", &[3, 0, 64])
            .call("unread", &[3, at, count])
            .call("start", &[at, count.min(1000)])
            .call("ask", &[HAS_COMMAND, at, count, 0, 10])
            .call("ask", &[NOT_FOUND, 0, 4, at, 100])
            .call("answer", &[at, count])
            .call("take", &[at, count])
            .call("read", &[3, at, count])
            .call("write", &[3, at, count]);
        let said = answers(program).await;
        assert_eq!(said[..3], [3, 64, BAD], "{at} {count}");
        assert_eq!(said[3..5], [BAD, BAD], "{at} {count}");
        assert_eq!(said[6..8], [BAD, BAD], "{at} {count}");
        // Only a piece is moved at a time, so a length may lie as long as the piece does not.
        assert_eq!(said[8] == BAD, !is_cut, "{at} {count}");
        assert_eq!(said[9] == BAD, !is_cut, "{at} {count}");
    }
}

#[tokio::test]
async fn an_event_that_does_not_fit_or_has_no_place_is_told_later() {
    let program = starts(Program::default(), 3, &start("quick", NOTHING, 0))
        .times(1000, "wait", &[1, INTO, 0])
        .call("wait", &[1, INTO, 3])
        .call("wait", &[1, EDGE, 4096])
        .call("wait", &[1, u32::MAX, 4096])
        .call("wait", &[1, INTO, 4096])
        .call("write", &[1, INTO, 64])
        .call("wait", &[0, INTO, 4096]);
    let (said, streams) = Line::of(program).run(&mut opened(MEMORY_BYTES_MAX).await).await;
    let said = said.unwrap();
    assert_eq!(said[1], 3 | ENDED.cast_signed());
    assert!(said[2] < 0 && said[3] < 0, "{said:?}");
    assert_eq!(said[4..6], [BAD, BAD]);
    let told = streams.stdout.into_captured();
    let events: Vec<Event> = decode(&told[..usize::try_from(said[6]).unwrap()]).unwrap();
    assert!(
        matches!(&events[..], [Event::Ended(1, _), Event::Ended(2, _), Event::Ended(3, _)]),
        "{events:?}"
    );
    assert_eq!(said[8], 1, "there is no more to be told");
}

/// A shell inside with a large environment, which the guest is slow to hear of.
fn large_inside(id: u32, told: &Told, bytes: usize) -> InsideShell {
    InsideShell { env: Arc::new([vec![b'e'; bytes]]), ..inside(id, told) }
}

#[tokio::test]
async fn a_shell_inside_is_paid_for_until_the_guest_has_been_told_of_it() {
    let told = Told::default();
    // Five of them fit into the memory of the line, and the others are told so.
    let desk = ProbedDesk::with((0..40).map(|it| large_inside(it, &told, 3 << 20)));
    let line = Line { desk, ..Line::of(Program::default().times(2_000, "wait", &[1, INTO, 0])) };
    let memory = Arc::clone(&line.memory);
    let mut guest = opened(MEMORY_BYTES_MAX).await;
    let began = Instant::now();
    let (said, _) = line.run(&mut guest).await;
    assert!(said.unwrap()[0] < -(3 << 20), "it says how much room it takes");
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "asking again writes nothing again: {:?}",
        began.elapsed()
    );
    assert!(memory.peak() > 12 << 20 && memory.peak() <= MEMORY_BYTES_MAX);
    let of = |kind: &Outcome| told.lock().iter().filter(|it| it.1 == *kind).count();
    assert_eq!((of(&Outcome::OutOfMemory), of(&Outcome::Cancelled)), (35, 5));
    assert_eq!(memory.held(), u64::from(EDGE));
}

#[tokio::test]
async fn an_answer_is_paid_for_until_it_is_read() {
    let mut guest = opened(MEMORY_BYTES_MAX).await;
    let memory = Arc::new(Meter::new(MEMORY_BYTES_MAX));
    let program = Program::default().call("pipe", &[]);
    let call = ShellCall {
        input: program.input(),
        wall_max: HANG,
        memory: Some(Arc::clone(&memory)),
        budget: None,
        world: None,
    };
    let reply = guest.call(call).await.0.unwrap();
    assert_eq!(memory.held(), u64::from(EDGE) + reply.bytes.len() as u64);
    drop(reply);
    assert_eq!(memory.held(), u64::from(EDGE));
}

#[tokio::test]
async fn a_shell_that_is_gone_gives_the_streams_of_its_line_back() {
    let mut guest = opened(MEMORY_BYTES_MAX).await;
    let forever = Program::default().times(100_000, "wait", &[1, INTO, 4096]);
    let line = Line { wall_max: Duration::from_millis(50), ..Line::of(forever) };
    assert!(line.run(&mut guest).await.0.is_err());
    assert!(!guest.is_alive());
    let (said, streams) = Line::of(Program::default()).run(&mut guest).await;
    assert!(matches!(said, Err(LiveError::Dead(_))), "{said:?}");
    assert!(matches!((streams.stdin, streams.stdout), (Source::Bytes(_), Sink::Capture(_))));
}

#[tokio::test]
async fn a_hundred_thousand_waits_cost_time_and_nothing_else() {
    let never = start("never", NOTHING, 0);
    let began = Instant::now();
    let program = starts(Program::default(), 1, &never)
        .times(100_000, "wait", &[0, INTO, 4096])
        .times(100_000, "wait", &[0, INTO, 0])
        .times(100_000, "wait", &[0, EDGE, u32::MAX])
        .call("end", &[1])
        .times(100_000, "end", &[1])
        .times(100_000, "end", &[u32::MAX]);
    answers(program).await;
    println!("300,000 waits took {:?}", began.elapsed());
}

/// More than there may be commands and timers at once.
const MANY: u32 = 3_000;

#[tokio::test]
async fn timers_end_by_themselves_are_counted_and_can_be_ended() {
    let program = Program::default()
        .call("timer", &[1])
        .call("wait", &[1, INTO, 4096])
        .times(MANY, "timer", &[u32::MAX])
        .call("timer", &[0])
        .call("end", &[2])
        .call("wait", &[0, INTO, 4096])
        .call("timer", &[1])
        .call("wait", &[1, INTO, 4096]);
    let said = answers(program).await;
    let (first, rest) = said.split_at(2);
    assert!(first[0] == 1 && first[1] > 1, "{first:?}");
    let [full, _, nothing, one_more, event]: [i32; 5] = rest[rest.len() - 5..].try_into().unwrap();
    assert_eq!((full, nothing), (TOO_MANY, 1));
    assert!(one_more > 1 && event > 1, "{one_more} {event}");
}

#[tokio::test]
async fn a_wait_for_what_never_happens_ends_with_the_time_of_the_call() {
    for program in [
        Program::default().call("wait", &[1, INTO, 4096]),
        starts(Program::default(), 5, &start("never", NOTHING, 0)).times(9, "wait", &[1, INTO, 4096]),
        Program::default().call("pipe", &[]).call("read", &[3, INTO, 1]).call("wait", &[1, INTO, 4096]),
        Program::default().times(100_000, "wait", &[0, INTO, 0]).times(100_000, "is_over", &[]),
    ] {
        let mut program = program;
        for _ in 0..500 {
            program = program.times(100_000, "wait", &[1, INTO, 4096]).times(100_000, "left", &[7]);
        }
        let line = Line { wall_max: Duration::from_millis(200), ..Line::of(program) };
        let memory = Arc::clone(&line.memory);
        let mut guest = opened(MEMORY_BYTES_MAX).await;
        let began = Instant::now();
        let (said, streams) = line.run(&mut guest).await;
        assert!(matches!(said, Err(LiveError::Ended(Outcome::TimedOut))), "{said:?}");
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        assert!(matches!(streams.stdout, Sink::Capture(_)), "the line's streams come back");
        assert!(!guest.is_alive());
        drop(guest);
        assert_eq!(memory.held(), 0);
    }
}

#[tokio::test]
async fn garbage_is_not_started() {
    let fine = start("quick", NOTHING, 0);
    for cut in 0..8 {
        let said = answers(starts(Program::default(), 1, &fine[..cut])).await;
        assert_eq!(said[1], BAD, "{cut} bytes");
    }
    for level in [1, 2, u32::MAX] {
        let said = answers(starts(Program::default(), 1, &start("quick", NOTHING, level))).await;
        assert_eq!(said[1], BAD, "there is no shell {level} inside");
    }
    // What the door makes of it is the door's: here it is refused there.
    let head = Start {
        ordinal: 1,
        umask: 0,
        file_bytes_max: None,
        level: 0,
        stdin: NONE,
        stdout: NONE,
        stderr: NONE,
        numbered: Vec::new(),
    };
    let garbled = [encode(&head), vec![255; 500]].concat();
    assert_eq!(answers(starts(Program::default(), 1, &garbled)).await[1], 1 | ENDED.cast_signed());
    let oversized = Program::default()
        .call("start", &[0, u32::try_from(REQUEST_BYTES_MAX).unwrap() + 1])
        .call("start", &[u32::MAX, u32::MAX]);
    assert_eq!(answers(oversized).await, [1, 2], "refused at the gate, and told as an event");
}

#[tokio::test]
async fn without_a_line_nothing_is_there_and_after_it_nothing_goes_on() {
    let mut guest = opened(MEMORY_BYTES_MAX).await;
    let first = starts(Program::default(), 20, &start("never", NOTHING, 0)).call("pipe", &[]);
    let line = Line::of(first);
    let door = Arc::clone(&line.door);
    assert_eq!(line.run(&mut guest).await.0.unwrap()[1..], [20, 3]);
    assert_eq!(door.open(), 0);

    let quick = start("quick", NOTHING, 0);
    let program = Program::default()
        .poke(0, &quick)
        .call("start", &[0, quick.len() as u32])
        .call("pipe", &[])
        .call("read", &[0, INTO, 1])
        .call("write", &[3, INTO, 1])
        .call("unread", &[3, INTO, 0])
        .call("wanted", &[3])
        .call("wait", &[1, INTO, 4096])
        .call("ask", &[HAS_COMMAND, 0, 4, 0, 0])
        .call("left", &[0])
        .call("is_over", &[])
        .call("end", &[1])
        .call("ended", &[1, 0, 0])
        .call("close", &[3, READS]);
    let input = program.input();
    let call = ShellCall { input, wall_max: HANG, memory: None, budget: None, world: None };
    let reply = guest.call(call).await.0.unwrap();
    let want = [0, BAD, BAD, BAD, BAD, BAD, BAD, BAD, 0, 0, 1, 0, 0, 0];
    assert_eq!(shell_prober::results(&reply.bytes), want);

    // The next line has neither the pipe nor the commands of the first one.
    let next = starts(Program::default().call("read", &[3, INTO, 1]).call("end", &[7]), 1, &quick);
    assert_eq!(Line::of(next).run(&mut guest).await.0.unwrap(), [BAD, 0, 0, 1 | ENDED.cast_signed()]);
}

#[tokio::test]
async fn another_lines_pipe_is_out_of_reach() {
    let (mut mine, mut theirs) = (opened(MEMORY_BYTES_MAX).await, opened(MEMORY_BYTES_MAX).await);
    let secret = Program::default()
        .poke(0, b"secret")
        .call("pipe", &[])
        .call("write", &[3, 0, 6])
        .call("wait", &[1, INTO, 100]);
    let mine = Line { wall_max: Duration::from_millis(500), ..Line::of(secret) }.run(&mut mine);
    // The first one is polled first, and stops where it waits.
    let tried = async {
        let program = starts(Program::default(), 1, &start("cat", [3, 1, 2], 0))
            .call("read", &[3, INTO, 6])
            .call("write", &[3, INTO, 6])
            .call("close", &[3, READS])
            .call("pipe", &[])
            .call("read", &[3, INTO, 6]);
        Line::of(program).run(&mut theirs).await
    };
    let ((held, _), (said, streams)) = tokio::join!(mine, tried);
    assert!(matches!(held, Err(LiveError::Ended(Outcome::TimedOut))), "{held:?}");
    assert_eq!(said.unwrap()[1..], [BAD, BAD, BAD, 0, 3, AGAIN]);
    assert!(streams.stdout.into_captured().is_empty());
}

#[tokio::test]
async fn pipes_and_commands_without_end_are_paid_for_and_counted() {
    let hoards = [
        Program::default().times(100_000, "pipe", &[]),
        starts(Program::default(), 100_000, &start("never", NOTHING, 0)).times(100_000, "pipe", &[]),
        // Nobody asks what came of them.
        starts(Program::default(), 100_000, &start("quick", NOTHING, 0)),
        starts(Program::default(), 100_000, &start("missing", NOTHING, 0)),
        Program::default().times(100_000, "start", &[0, u32::MAX]),
    ];
    for (which, program) in hoards.into_iter().enumerate() {
        let line = Line::of(program);
        let memory = Arc::clone(&line.memory);
        let (said, _) = line.run(&mut opened(MEMORY_BYTES_MAX).await).await;
        assert!(matches!(said, Err(LiveError::Ended(Outcome::OutOfMemory))), "{which}: {said:?}");
        assert!(memory.peak() <= MEMORY_BYTES_MAX);
        assert_eq!(memory.held(), 0, "{which}");
    }
    let plenty = 4 << 30;
    let counted = starts(Program::default(), 3_000, &start("never", NOTHING, 0)).times(9_000, "pipe", &[]);
    let line = Line { memory: Arc::new(Meter::new(plenty)), ..Line::of(counted) };
    assert_eq!(line.run(&mut opened(plenty).await).await.0.unwrap()[1..], [TOO_MANY, TOO_MANY]);
}

#[tokio::test]
async fn a_pipe_is_paid_for_while_a_command_has_it() {
    let mut program = Program::default();
    for _ in 0..200 {
        program = starts(
            program.call("pipe", &[]).call("write", &[3, 0, 1 << 16]),
            1,
            &start("never", [3, NONE, NONE], 0),
        )
        .call("close", &[3, READS])
        .call("close", &[3, WRITES]);
    }
    let (said, _) = Line::of(program).run(&mut opened(MEMORY_BYTES_MAX).await).await;
    assert!(matches!(said, Err(LiveError::Ended(Outcome::OutOfMemory))), "{said:?}");
}

#[tokio::test]
async fn answers_are_paid_for_and_only_the_last_one_is_kept() {
    let program = Program::default().times(1_000, "answer", &[0, EDGE]);
    assert_eq!(answers(program).await, [0]);
    let line = Line {
        memory: Arc::new(Meter::new(u64::from(EDGE) + 4096)),
        ..Line::of(Program::default().call("answer", &[0, EDGE]))
    };
    // One that has no room is refused and not the end: the guest may say less.
    let (said, _) = line.run(&mut opened(MEMORY_BYTES_MAX).await).await;
    assert_eq!(said.unwrap(), [FAILED]);
}

type Told = Arc<Mutex<Vec<(u32, Outcome, Vec<u8>)>>>;

fn inside(number: u32, told: &Told) -> InsideShell {
    let told = Arc::clone(told);
    InsideShell {
        name: "sh".into(),
        args: Vec::new(),
        env: Arc::new([]),
        file_rules: FileRules::USUAL,
        recipe_of: None,
        seed: 0,
        time: InsideTime::Lines,
        streams: Streams {
            stdin: Source::from("of it"),
            stdout: Sink::capture(),
            stderr: Sink::Discard,
            ..Streams::default()
        },
        door: Arc::new(ProbedDoor::default()),
        end: Box::new(move |outcome, streams| {
            told.lock().push((number, outcome, streams.stdout.into_captured()));
        }),
    }
}

#[tokio::test]
async fn shells_that_are_not_there_do_not_end_and_those_that_are_end_once() {
    let told = Told::default();
    let program = Program::default()
        .call("ended", &[1, 0, 7])
        .call("wait", &[1, INTO, 4096])
        .poke(0, b"out")
        .call("write", &[4, 0, 3])
        .call("ended", &[1, 0, 7])
        .times(100_000, "ended", &[1, 0, 8])
        .call("ended", &[u32::MAX, 1, 8])
        .call("write", &[4, 0, 3])
        .call("left", &[1])
        .call("left", &[2]);
    let desk = ProbedDesk::with([inside(1, &told), inside(2, &told)]);
    let line = Line { desk, ..Line::of(program) };
    let said = line.run(&mut opened(MEMORY_BYTES_MAX).await).await.0.unwrap();
    assert_eq!(said[3], 3);
    assert_eq!(said[7..], [BAD, 0, -1]);
    let want = [(1, Outcome::Exited(7), b"out".to_vec()), (2, Outcome::Cancelled, Vec::new())];
    assert_eq!(*told.lock(), want);
}

#[tokio::test]
async fn a_shell_inside_whose_streams_were_closed_takes_nobody_elses_along() {
    let told = Told::default();
    let program = Program::default()
        .call("wait", &[1, INTO, 4096])
        // Handles 3, 4 and 5 are its own; a pipe gets the number of its output.
        .call("close", &[4, WRITES])
        .call("pipe", &[])
        .poke(0, b"kept")
        .call("write", &[4, 0, 4])
        .call("ended", &[1, 0, 0])
        .call("read", &[4, INTO, 4]);
    let line = Line { desk: ProbedDesk::with([inside(1, &told)]), ..Line::of(program) };
    let said = line.run(&mut opened(MEMORY_BYTES_MAX).await).await.0.unwrap();
    assert_eq!(said[2..], [4, 0, 4, 0, 4]);
    assert_eq!(*told.lock(), [(1, Outcome::Exited(0), Vec::new())]);
}

#[tokio::test]
async fn too_many_shells_inside_one_another_are_ended_at_once() {
    let told = Told::default();
    let desk = ProbedDesk::with((0..300).map(|it| inside(it, &told)));
    let line = Line { desk, ..Line::of(Program::default().times(500, "wait", &[0, INTO, 4096])) };
    line.run(&mut opened(MEMORY_BYTES_MAX).await).await.0.unwrap();
    let told = told.lock();
    let of = |kind: fn(&Outcome) -> bool| told.iter().filter(|it| kind(&it.1)).count();
    assert_eq!(of(|it| matches!(it, Outcome::Trapped(_))), 300 - 256);
    assert_eq!(of(|it| matches!(it, Outcome::Cancelled)), 256);
}

#[tokio::test]
async fn a_command_that_is_no_shell_has_none_of_these_imports_whatever_it_may() {
    let every = CapSet::of(Cap::ALL);
    for (name, parameters, result) in FUNCTIONS {
        let types = " i32".repeat(*parameters);
        let answers = match *result {
            "" => "",
            "i" => "(result i32)",
            _ => "(result i64)",
        };
        let module = format!(
            r#"(module (import "shell" "{name}" (func (param{types}) {answers}))
              (memory (export "memory") 1) (func (export "_start")))"#
        );
        for caps in [every, CapSet::of(&[])] {
            let fault = run(RunRequest { caps, ..request(&module) }).await.err().unwrap();
            assert!(matches!(&fault, Fault::Import { import, .. } if *import == format!("shell.{name}")));
            assert!(fault.to_string().contains("is not offered here"), "{fault}");
        }
    }
}

fn argument() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => 0u32..8,
        2 => 0u32..5000,
        1 => EDGE - 10..EDGE + 10,
        1 => Just(u32::MAX),
        1 => (0u32..10).prop_map(file),
        1 => any::<u32>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_calls_and_no_numbers_upset_the_host(
        calls in prop::collection::vec((0..FUNCTIONS.len() + 2, prop::array::uniform5(argument())), 0..80),
    ) {
        let mut program = Program::default();
        for (which, arguments) in calls {
            let streams = [arguments[0], arguments[1], arguments[2]];
            program = match which.checked_sub(FUNCTIONS.len()) {
                None => program.numbered(which, 1, &arguments),
                Some(0) => starts(program, 1, &start("cat", streams, arguments[3] % 3)),
                Some(_) => starts(program, 1, &start("never", streams, arguments[3] % 3)),
            };
        }
        let told = Told::default();
        let desk = ProbedDesk::with([inside(1, &told), inside(2, &told)]);
        let line = Line { wall_max: Duration::from_millis(50), desk, ..Line::of(program) };
        let memory = Arc::clone(&line.memory);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut guest = opened(MEMORY_BYTES_MAX).await;
            let began = Instant::now();
            let _ = line.run(&mut guest).await;
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        });
        prop_assert_eq!(memory.held(), 0);
        prop_assert!(memory.peak() <= MEMORY_BYTES_MAX);
    }
}
