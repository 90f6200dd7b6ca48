//! Code of the built-in modules that is made ahead of time, to be shipped with a program.

use drydock_commands::{MODULES, ModuleKind};
use drydock_contract::port::{CompileThreads, Interruption, LaneChoice, LaneSettings, MemoryLayout};
use drydock_engine::{Cpu, Effort, precompile};

/// One built-in module and the lane it runs in.
#[derive(Debug, Clone, Copy)]
pub struct BuiltInCode {
    /// The module's name.
    pub name: &'static str,
    /// Its hash.
    pub sha256: &'static str,
    /// Where it runs.
    pub lane: LaneSettings,
    wasm: &'static [u8],
}

impl BuiltInCode {
    /// Compiles it, for any machine of this architecture.
    pub fn compile(&self) -> Result<Vec<u8>, String> {
        precompile(self.wasm, self.lane, Cpu::Baseline, Effort::Full, CompileThreads::All)
    }
}

/// Every built-in module. Where the address space is too small for a pool, code is compiled on the spot as ever.
pub fn built_in_code() -> impl Iterator<Item = BuiltInCode> {
    MODULES.iter().map(|module| {
        let interrupt = match module.kind {
            ModuleKind::Command => Interruption::Fuel,
            ModuleKind::Runtime => Interruption::Tick,
        };
        let choice = LaneChoice { interrupt, ..LaneChoice::default() };
        let lane = LaneSettings::of(choice, MemoryLayout::Reserved);
        BuiltInCode { name: module.name, sha256: module.sha256, lane, wasm: module.bytes }
    })
}
