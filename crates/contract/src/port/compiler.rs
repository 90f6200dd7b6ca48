//! Compiles a module somewhere else: for bytes of strangers, whose compilation can take more time and
//! memory than a process may lose.
//!
//! What comes back is native code that will be executed. Whoever stands behind this port is trusted with it.

use std::{fmt, str::FromStr, time::Duration};

use crate::{Artifact, BoxFuture};

/// Compiles modules.
pub trait Compiler: Send + Sync {
    /// The code of the module for a lane, in the form that the engine loads. Dropping the future ends the work.
    ///
    /// `limits` are those that the module was registered with; without them the usual ones count.
    fn compile<'a>(
        &'a self,
        wasm: &'a Artifact,
        lane: LaneSettings,
        limits: Option<CompileLimits>,
        threads: CompileThreads,
    ) -> BoxFuture<'a, Result<Vec<u8>, CompileError>>;
}

/// How many cores a compilation may take. The code does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompileThreads {
    /// One: something else goes on.
    One,
    /// All there are: somebody waits, and nothing else goes on.
    All,
}

impl CompileThreads {
    /// As a worker is told it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::All => "all",
        }
    }

    /// What a worker was told; `None` if it is no such word.
    pub fn named(text: &str) -> Option<Self> {
        [Self::One, Self::All].into_iter().find(|it| it.as_str() == text)
    }
}

/// What compiling one module may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// Wall clock.
    pub wall_max: Duration,
    /// Memory of whoever compiles.
    pub memory_bytes_max: u64,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self { wall_max: Duration::from_secs(60), memory_bytes_max: 1 << 30 }
    }
}

/// What decides the code besides the module itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LaneSettings {
    /// How a guest that computes is brought back to the host.
    pub interrupt: Interruption,
    /// How its memory lies in the address space.
    pub memory: MemoryLayout,
    /// What its module may use beyond the common core.
    pub features: WasmFeatures,
}

/// What a module needs of the lane it runs in. How memory lies there is the machine's affair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LaneChoice {
    /// How it is brought back to the host.
    pub interrupt: Interruption,
    /// What it uses beyond the common core.
    pub features: WasmFeatures,
}

impl LaneChoice {
    /// All there are.
    pub const ALL: [Self; 4] = [
        Self { interrupt: Interruption::Fuel, features: WasmFeatures::NONE },
        Self { interrupt: Interruption::Tick, features: WasmFeatures::NONE },
        Self { interrupt: Interruption::Fuel, features: WasmFeatures::ALL },
        Self { interrupt: Interruption::Tick, features: WasmFeatures::ALL },
    ];

    /// Its place in [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        let interrupt = match self.interrupt {
            Interruption::Fuel => 0,
            Interruption::Tick => 1,
        };
        interrupt + if self.features.exceptions { 2 } else { 0 }
    }
}

/// Proposals beyond the common core that a module may need. They are off unless somebody names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WasmFeatures {
    /// Exceptions: what `setjmp` and C++ are made of.
    pub exceptions: bool,
}

impl WasmFeatures {
    /// The common core alone.
    pub const NONE: Self = Self { exceptions: false };
    /// Everything that can be named.
    pub const ALL: Self = Self { exceptions: true };
    /// The names, as registered entries and command lines have them.
    pub const NAMES: [&'static str; 1] = ["exceptions"];

    /// The names of those that are on.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.exceptions.then_some("exceptions").into_iter()
    }

    /// The same with one more; `None` if nothing has that name.
    #[must_use]
    pub fn with(self, name: &str) -> Option<Self> {
        match name {
            "exceptions" => Some(Self { exceptions: true }),
            _ => None,
        }
    }
}

impl serde::Serialize for WasmFeatures {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.names())
    }
}

impl<'de> serde::Deserialize<'de> for WasmFeatures {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let names = <Vec<String>>::deserialize(from)?;
        names.iter().try_fold(Self::NONE, |all, name| {
            let unknown = || serde::de::Error::unknown_variant(name, &Self::NAMES);
            all.with(name).ok_or_else(unknown)
        })
    }
}

/// How a guest that computes is brought back to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interruption {
    /// Its instructions are counted, and can run out.
    #[default]
    Fuel,
    /// A clock ticks; nothing is counted.
    Tick,
}

/// How a guest's memory lies in the address space, which decides what its loads and stores must check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryLayout {
    /// All four gigabytes are reserved, with guard pages behind them.
    Reserved,
    /// It grows and moves: the address space is small.
    Growing,
}

/// The text names no way of interrupting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a lane: use fuel or tick")]
pub struct NotAnInterruption(String);

impl Interruption {
    /// The name used in the registry file and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fuel => "fuel",
            Self::Tick => "tick",
        }
    }
}

impl FromStr for Interruption {
    type Err = NotAnInterruption;

    fn from_str(text: &str) -> Result<Self, NotAnInterruption> {
        match text {
            "fuel" => Ok(Self::Fuel),
            "tick" => Ok(Self::Tick),
            other => Err(NotAnInterruption(other.escape_default().to_string())),
        }
    }
}

impl LaneSettings {
    /// A lane of that choice whose memory lies so.
    pub const fn of(choice: LaneChoice, memory: MemoryLayout) -> Self {
        Self { interrupt: choice.interrupt, memory, features: choice.features }
    }

    /// All there are.
    pub fn all() -> impl Iterator<Item = Self> {
        let layouts = [MemoryLayout::Reserved, MemoryLayout::Growing];
        LaneChoice::ALL.into_iter().flat_map(move |choice| layouts.map(|memory| Self::of(choice, memory)))
    }

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match (self.interrupt, self.memory, self.features.exceptions) {
            (Interruption::Fuel, MemoryLayout::Reserved, false) => "fuel-reserved",
            (Interruption::Fuel, MemoryLayout::Growing, false) => "fuel-growing",
            (Interruption::Tick, MemoryLayout::Reserved, false) => "tick-reserved",
            (Interruption::Tick, MemoryLayout::Growing, false) => "tick-growing",
            (Interruption::Fuel, MemoryLayout::Reserved, true) => "fuel-reserved-exceptions",
            (Interruption::Fuel, MemoryLayout::Growing, true) => "fuel-growing-exceptions",
            (Interruption::Tick, MemoryLayout::Reserved, true) => "tick-reserved-exceptions",
            (Interruption::Tick, MemoryLayout::Growing, true) => "tick-growing-exceptions",
        }
    }
}

impl fmt::Display for LaneSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no lane.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of a lane")]
pub struct NotALane(String);

impl FromStr for LaneSettings {
    type Err = NotALane;

    fn from_str(text: &str) -> Result<Self, NotALane> {
        Self::all().find(|it| it.as_str() == text).ok_or_else(|| NotALane(text.into()))
    }
}

/// There is no code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The module is at fault.
    #[error("it does not compile: {0}")]
    Rejected(String),
    /// It took too long, and was ended.
    #[error("it takes longer than {} s to compile; --compile-timeout allows more", .0.as_secs_f64())]
    TooLate(Duration),
    /// It wanted too much memory, and was ended.
    #[error("compiling it takes more than {} MiB of memory; --compile-memory allows more", .0 >> 20)]
    OutOfMemory(u64),
    /// Whoever compiled was ended by somebody else.
    #[error("the compile worker was ended: {0}")]
    Killed(String),
    /// Nobody could be asked.
    #[error("the compile worker could not be started: {0}")]
    Unavailable(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_has_a_name_that_reads_back() {
        let mut names: Vec<_> = LaneSettings::all().map(LaneSettings::as_str).collect();
        for lane in LaneSettings::all() {
            assert_eq!(lane.to_string().parse(), Ok(lane));
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 8);
        assert!("fuel".parse::<LaneSettings>().is_err());
    }

    #[test]
    fn every_choice_knows_its_place_and_every_feature_its_name() {
        for (index, choice) in LaneChoice::ALL.into_iter().enumerate() {
            assert_eq!(choice.index(), index);
        }
        for name in WasmFeatures::NAMES {
            assert_eq!(WasmFeatures::NONE.with(name).unwrap().names().collect::<Vec<_>>(), [name]);
        }
        assert_eq!(WasmFeatures::NONE.with("threads"), None);
    }
}
