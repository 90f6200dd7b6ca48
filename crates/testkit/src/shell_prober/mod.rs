//! A guest of the shell's kind that makes the calls it is told to, with any numbers: for the engine's tests of its door and
//! for its fuzzer. It is told by the bytes that it is called with, and answers with what each call said.

mod world;

use std::fmt::Write as _;

pub use world::{ProbedDesk, ProbedDoor};

/// Every import that a shell has, its parameters (all of 32 bits), and what it answers: nothing, `i` or `I`.
pub const FUNCTIONS: &[(&str, usize, &str)] = &[
    ("start", 2, "i"),
    ("end", 1, ""),
    ("pipe", 0, "i"),
    ("read", 3, "i"),
    ("unread", 3, "i"),
    ("write", 3, "i"),
    ("wanted", 1, "i"),
    ("flush", 1, "i"),
    ("close", 2, ""),
    ("wait", 3, "i"),
    ("ask", 5, "i"),
    ("left", 1, "I"),
    ("is_over", 0, "i"),
    ("ended", 3, ""),
    ("take", 2, "i"),
    ("answer", 2, "i"),
    ("named", 1, "i"),
    ("timer", 1, "i"),
];

/// Arguments a call takes at most.
pub const PARAMETERS: usize = 5;
/// The guest's memory, in pages.
pub const PAGES: u32 = 8;
/// Bytes from 0 on that [`Program::poke`] may fill, and that nothing else uses.
pub const ROOM: u32 = 1 << 16;
/// How often one call may be made in a row.
pub const TIMES_MAX: u32 = 0x1_ffff;

const RESULTS_AT: u32 = ROOM;
const PROGRAM_AT: u32 = ROOM * 2;
/// Most bytes of a program that the guest has room for.
pub const PROGRAM_BYTES_MAX: usize = (PAGES * ROOM - PROGRAM_AT) as usize;
/// Most calls whose answers it has room for.
const STEPS_MAX: usize = (ROOM / 4 - 1) as usize;

const WORD: usize = 4;
/// Which call, how often, and its arguments.
const RECORD: usize = (2 + PARAMETERS) * WORD;

/// Calls in the making.
#[derive(Debug, Default, Clone)]
pub struct Program {
    bytes: Vec<u8>,
    steps: usize,
}

impl Program {
    /// One call; what there is no room for is left out.
    #[must_use]
    pub fn call(self, name: &str, arguments: &[u32]) -> Self {
        self.times(1, name, arguments)
    }

    /// The same call so many times, of which the last one's answer is told.
    #[must_use]
    pub fn times(self, times: u32, name: &str, arguments: &[u32]) -> Self {
        let which = FUNCTIONS.iter().position(|it| it.0 == name).expect("an import of a shell");
        self.numbered(which, times, arguments)
    }

    /// The same by its place among [`FUNCTIONS`].
    #[must_use]
    pub fn numbered(self, which: usize, times: u32, arguments: &[u32]) -> Self {
        self.record(which % FUNCTIONS.len(), times, arguments, &[])
    }

    /// Bytes for the guest's memory, below [`ROOM`]; what does not fit is cut.
    #[must_use]
    pub fn poke(self, at: u32, bytes: &[u8]) -> Self {
        let at = at % ROOM;
        let bytes = &bytes[..bytes.len().min((ROOM - at) as usize)];
        self.record(FUNCTIONS.len(), 1, &[at, bytes.len() as u32], bytes)
    }

    fn record(mut self, which: usize, times: u32, arguments: &[u32], behind: &[u8]) -> Self {
        if self.steps == STEPS_MAX || self.bytes.len() + RECORD + behind.len() > PROGRAM_BYTES_MAX {
            return self;
        }
        self.steps += 1;
        let at = |place: usize| arguments.get(place).copied().unwrap_or(0);
        let words = [which as u32, times.min(TIMES_MAX)].into_iter().chain((0..PARAMETERS).map(at));
        self.bytes.extend(words.flat_map(u32::to_le_bytes));
        self.bytes.extend_from_slice(behind);
        self
    }

    /// What the guest is called with.
    pub fn input(&self) -> Vec<u8> {
        self.bytes.clone()
    }
}

/// What each step answered; 0 where a call answers nothing.
pub fn results(answer: &[u8]) -> Vec<i32> {
    answer.chunks_exact(WORD).map(|it| i32::from_le_bytes([it[0], it[1], it[2], it[3]])).collect()
}

/// The guest.
pub fn guest() -> String {
    let (mut imports, mut cases) = (String::new(), String::new());
    for (index, (name, parameters, result)) in FUNCTIONS.iter().enumerate() {
        let types = " i32".repeat(*parameters);
        let answers = match *result {
            "" => "",
            "i" => "(result i32)",
            _ => "(result i64)",
        };
        let _ = writeln!(imports, "(import \"shell\" \"{name}\" (func $f{index} (param{types}) {answers}))");
        let loads: String = (2..2 + parameters)
            .map(|word| format!("(i32.load offset={} (local.get $at))", word * WORD))
            .collect();
        let called = match *result {
            "" => format!("(call $f{index} {loads})"),
            "i" => format!("(local.set $said (call $f{index} {loads}))"),
            _ => format!("(local.set $said (i32.wrap_i64 (call $f{index} {loads})))"),
        };
        let _ = writeln!(cases, "(if (i32.eq (local.get $which) (i32.const {index})) (then {called}))");
    }
    let (take, answer, poke) = (place("take"), place("answer"), FUNCTIONS.len());
    format!(
        r#"(module {imports}
  (memory (export "memory") {PAGES})
  (func $step (param $at i32) (result i32) (local $which i32) (local $said i32) (local $times i32)
    (local.set $which (i32.load (local.get $at)))
    (local.set $times (i32.and (i32.load offset=4 (local.get $at)) (i32.const {TIMES_MAX})))
    (loop $again
      (if (local.get $times) (then
        (local.set $times (i32.sub (local.get $times) (i32.const 1)))
        {cases}
        (br $again))))
    (local.get $said))
  (func (export "call") (param $len i32) (local $at i32) (local $end i32) (local $out i32)
    (drop (call $f{take} (i32.const {PROGRAM_AT}) (local.get $len)))
    (local.set $at (i32.const {PROGRAM_AT}))
    (local.set $end (i32.add (i32.const {PROGRAM_AT}) (local.get $len)))
    (local.set $out (i32.const {RESULTS_AT}))
    (block $done
      (loop $next
        (br_if $done (i32.gt_u (i32.add (local.get $at) (i32.const {RECORD})) (local.get $end)))
        (if (i32.eq (i32.load (local.get $at)) (i32.const {poke})) (then
          (memory.copy (i32.load offset=8 (local.get $at)) (i32.add (local.get $at) (i32.const {RECORD}))
            (i32.load offset=12 (local.get $at)))
          (i32.store (local.get $out) (i32.const 0))
          (local.set $at (i32.add (local.get $at) (i32.load offset=12 (local.get $at)))))
        (else
          (i32.store (local.get $out) (call $step (local.get $at)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $at (i32.add (local.get $at) (i32.const {RECORD})))
        (br $next)))
    (drop (call $f{answer} (i32.const {RESULTS_AT}) (i32.sub (local.get $out) (i32.const {RESULTS_AT}))))))"#
    )
}

fn place(name: &str) -> usize {
    FUNCTIONS.iter().position(|it| it.0 == name).expect("an import of a shell")
}
