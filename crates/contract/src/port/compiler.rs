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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// A lane as a description: what a module needs of where it runs. How memory lies there is the machine's affair. Whoever
/// asks for a lane gets the one of exactly this description, made when it is first asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LaneChoice {
    /// How it is brought back to the host.
    pub interrupt: Interruption,
    /// What it uses beyond the common core.
    pub features: WasmFeatures,
    /// Native stack that a guest may use. Deep recursion ends there as a trap.
    pub stack_bytes_max: u32,
    /// Where its instances get their memory and their stacks.
    pub slots: Slots,
}

impl LaneChoice {
    /// Where a module runs for which nobody chose: instructions are counted, and nothing but the common core is on.
    pub const USUAL: Self = Self {
        interrupt: Interruption::Fuel,
        features: WasmFeatures::NONE,
        stack_bytes_max: 1 << 20,
        slots: Slots::Pool,
    };
}

impl Default for LaneChoice {
    fn default() -> Self {
        Self::USUAL
    }
}

/// Where the instances of a lane get their memory and their stacks. The code is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Slots {
    /// From a pool that is laid out once and has as many places as the machine bears: quick to start, for runs that end.
    #[default]
    Pool,
    /// Mapped anew for each: slower to start, and an instance that does nothing takes nobody's place.
    OnDemand,
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

impl MemoryLayout {
    /// Both there are.
    pub const ALL: [Self; 2] = [Self::Reserved, Self::Growing];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Growing => "growing",
        }
    }

    fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
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
}

/// The stable name: how it is interrupted, how memory lies, and each feature that is on.
impl fmt::Display for LaneSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.interrupt.as_str(), self.memory.as_str())?;
        self.features.names().try_for_each(|name| write!(f, "-{name}"))
    }
}

/// The text names no lane.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of a lane")]
pub struct NotALane(String);

impl FromStr for LaneSettings {
    type Err = NotALane;

    fn from_str(text: &str) -> Result<Self, NotALane> {
        let parse = || {
            let mut words = text.split('-');
            let interrupt = words.next()?.parse().ok()?;
            let memory = MemoryLayout::named(words.next()?)?;
            let features = words.try_fold(WasmFeatures::NONE, WasmFeatures::with)?;
            Some(Self { interrupt, memory, features })
        };
        // One lane has one name: a feature that is named twice or in another order is no name.
        parse().filter(|lane| lane.to_string() == text).ok_or_else(|| NotALane(text.into()))
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
        let mut names = Vec::new();
        for interrupt in [Interruption::Fuel, Interruption::Tick] {
            for features in [WasmFeatures::NONE, WasmFeatures::ALL] {
                for memory in MemoryLayout::ALL {
                    let choice = LaneChoice { interrupt, features, ..LaneChoice::USUAL };
                    let lane = LaneSettings::of(choice, memory);
                    assert_eq!(lane.to_string().parse(), Ok(lane));
                    names.push(lane.to_string());
                }
            }
        }
        // Archives of shipped code have these names.
        assert_eq!(names[0], "fuel-reserved");
        assert_eq!(names[7], "tick-growing-exceptions");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 8);
        for text in
            ["fuel", "", "-", "fuel-reserved-", "fuel-reserved-exceptions-exceptions", "tick-reserved-gc"]
        {
            assert!(text.parse::<LaneSettings>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_feature_has_its_name() {
        for name in WasmFeatures::NAMES {
            assert_eq!(WasmFeatures::NONE.with(name).unwrap().names().collect::<Vec<_>>(), [name]);
        }
        assert_eq!(WasmFeatures::NONE.with("threads"), None);
    }
}
