//! Compiles a module somewhere else: for bytes of strangers, whose compilation can take more time and
//! memory than a process may lose.
//!
//! What comes back is native code that will be executed. Whoever stands behind this port is trusted with it.

use std::{fmt, str::FromStr, time::Duration};

use crate::{Artifact, BoxFuture};

/// Compiles modules.
pub trait Compiler: Send + Sync {
    /// The code of the module for a lane, in the form that the engine loads. Dropping the future ends the work.
    fn compile<'a>(
        &'a self,
        wasm: &'a Artifact,
        lane: LaneSettings,
    ) -> BoxFuture<'a, Result<Vec<u8>, CompileError>>;
}

/// What decides the code besides the module itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LaneSettings {
    /// How a guest that computes is brought back to the host.
    pub interrupt: Interruption,
    /// How its memory lies in the address space.
    pub memory: MemoryLayout,
}

/// How a guest that computes is brought back to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interruption {
    /// Its instructions are counted, and can run out.
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

impl LaneSettings {
    /// All there are.
    pub const ALL: [Self; 4] = [
        Self { interrupt: Interruption::Fuel, memory: MemoryLayout::Reserved },
        Self { interrupt: Interruption::Fuel, memory: MemoryLayout::Growing },
        Self { interrupt: Interruption::Tick, memory: MemoryLayout::Reserved },
        Self { interrupt: Interruption::Tick, memory: MemoryLayout::Growing },
    ];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match (self.interrupt, self.memory) {
            (Interruption::Fuel, MemoryLayout::Reserved) => "fuel-reserved",
            (Interruption::Fuel, MemoryLayout::Growing) => "fuel-growing",
            (Interruption::Tick, MemoryLayout::Reserved) => "tick-reserved",
            (Interruption::Tick, MemoryLayout::Growing) => "tick-growing",
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
        Self::ALL.into_iter().find(|it| it.as_str() == text).ok_or_else(|| NotALane(text.into()))
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
        for lane in LaneSettings::ALL {
            assert_eq!(lane.to_string().parse(), Ok(lane));
        }
        assert!("fuel".parse::<LaneSettings>().is_err());
    }
}
