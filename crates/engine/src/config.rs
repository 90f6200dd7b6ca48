//! How wasmtime is set up, and what of it this machine really gives.

use drydock_contract::port::{CompileThreads, Interruption, LaneChoice, LaneSettings, MemoryLayout, Slots};
use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, WasmFeatures,
};

/// What an embedder may choose.
#[derive(Debug, Clone, Copy)]
pub struct EngineSettings {
    /// Instances alive at once, or none to size the pool to the machine. Zero is no pool at all.
    pub slots: Option<u32>,
    /// Stacks of a pool beyond one for each slot, or none to have as many as slots. A handler for which something is placed
    /// by its own `alloc` has a second one until its call is over; with fewer than there are such handlers, a run that has a
    /// slot may find no stack.
    pub spare_stacks: Option<u32>,
    /// Bytes of compiled code that each lane keeps in memory. What was not used for longest goes first; the newest
    /// stays, however large it is.
    pub code_bytes_max: u64,
    /// Compilations of one tenant at once; all tenants together have twice as many.
    pub compilations_max: usize,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self { slots: None, spare_stacks: None, code_bytes_max: 1 << 30, compilations_max: 2 }
    }
}

/// How instances get their memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// From a pool of this many slots, reused with copy-on-write images.
    Pooling {
        /// Instances alive at once.
        slots: u32,
    },
    /// Mapped anew for each instance, because the address space was too small for a pool.
    OnDemand,
}

/// What boundary this machine gives, for `drydock doctor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// How instances get their memory.
    pub allocation: Allocation,
    /// Whether the kernel tells which pages a guest dirtied (Linux 6.7 and later).
    pub pagemap_scan: bool,
    /// Most bytes of native stack a guest may use.
    pub stack_bytes_max: usize,
    /// Fuel between two looks at the clock, for guests whose fuel is counted.
    pub fuel_between_yields: u64,
    /// Time between two looks at it, for the others.
    pub tick: std::time::Duration,
}

/// Fuel between two yields: well under a millisecond, so a deadline is met closely and callers that
/// share a thread take turns.
pub(crate) const FUEL_BETWEEN_YIELDS: u64 = 1_000_000;

/// Dirty memory a slot keeps to be restored in place rather than mapped again.
const MEMORY_KEPT_BYTES: usize = 2 << 20;
const TABLE_KEPT_BYTES: usize = 64 << 10;
const STACK_KEPT_BYTES: usize = 64 << 10;
pub(crate) const TABLE_ELEMENTS_MAX: usize = 65_536;

/// Builds the engine with the largest pool that the address space takes, or with none and memory that lies so.
pub(crate) fn build(
    settings: &EngineSettings,
    choice: LaneChoice,
    layout: MemoryLayout,
) -> wasmtime::Result<(wasmtime::Engine, LaneSettings, Facts)> {
    let pagemap_scan = PoolingAllocationConfig::is_pagemap_scan_available();
    let facts = |allocation| Facts {
        allocation,
        pagemap_scan,
        stack_bytes_max: choice.stack_bytes_max as usize,
        fuel_between_yields: FUEL_BETWEEN_YIELDS,
        tick: crate::ticker::TICK,
    };
    if choice.slots == Slots::OnDemand {
        let lane = LaneSettings::of(choice, layout);
        let engine = wasmtime::Engine::new(&stacked(base(lane), choice))?;
        return Ok((engine, lane, facts(Allocation::OnDemand)));
    }
    let wanted = settings.slots.unwrap_or_else(slots_for_this_machine);
    for slots in [wanted, wanted.div_ceil(4), wanted.div_ceil(16)].into_iter().filter(|slots| *slots > 0) {
        let lane = LaneSettings::of(choice, MemoryLayout::Reserved);
        let stacks = slots.saturating_add(settings.spare_stacks.unwrap_or(slots));
        let mut config = stacked(base(lane), choice);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(
            slots,
            stacks,
            lane,
            pagemap_scan,
        )));
        if let Ok(engine) = wasmtime::Engine::new(&config) {
            return Ok((engine, lane, facts(Allocation::Pooling { slots })));
        }
    }
    // Where a pool does not fit, four gigabytes of addresses for one memory do not either.
    let lane = LaneSettings::of(choice, MemoryLayout::Growing);
    let engine = wasmtime::Engine::new(&stacked(base(lane), choice))?;
    Ok((engine, lane, facts(Allocation::OnDemand)))
}

/// Whether pools fit for all that is known without making one: somebody wants them, and nobody limits the addresses of
/// this process.
pub(crate) fn has_room_for_pools(settings: &EngineSettings) -> bool {
    let addresses = rustix::process::getrlimit(rustix::process::Resource::As);
    settings.slots != Some(0) && addresses.current.is_none()
}

/// With the stacks of a lane, on which its code does not depend. The host has as much again as the usual guest has.
fn stacked(mut config: Config, choice: LaneChoice) -> Config {
    let guest = choice.stack_bytes_max as usize;
    config.max_wasm_stack(guest);
    config.async_stack_size(guest + (1 << 20));
    config
}

/// Which processors code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cpu {
    /// This one, with all it can do.
    Host,
    /// Any of this architecture that was sold in the last ten years and more.
    Baseline,
}

/// What every x86-64 processor since 2009 can do (level 2 of the architecture's own list). Other architectures
/// have a baseline that is enough.
const BASELINE_X86_64: &[&str] =
    &["has_cmpxchg16b", "has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"];

/// How much the compiler does for fast code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// All it can: somebody made the code ahead of time.
    Full,
    /// Less: somebody waits. A fifth faster to compile, 5 to 13 % slower to run (decision 0034).
    Quick,
}

/// Modules of at least so many bytes take about a second on two cores with full effort, or longer.
const LARGE_BYTES: usize = 1_150_000;

impl Effort {
    /// What a module of this size gets while somebody waits for it.
    pub(crate) fn while_waiting(wasm_bytes: usize) -> Self {
        if wasm_bytes >= LARGE_BYTES { Self::Quick } else { Self::Full }
    }
}

/// Compiles without running anything: what a worker, or whoever ships code, does. The code loads in every
/// engine of the same version whose lane is this one.
pub fn precompile(
    wasm: &[u8],
    lane: LaneSettings,
    cpu: Cpu,
    effort: Effort,
    threads: CompileThreads,
) -> Result<Vec<u8>, String> {
    let compile = || -> wasmtime::Result<Vec<u8>> {
        let mut config = base(lane);
        config.parallel_compilation(threads == CompileThreads::All);
        if cpu == Cpu::Baseline {
            baseline(&mut config)?;
        }
        if effort == Effort::Quick {
            config.cranelift_opt_level(OptLevel::None);
        }
        wasmtime::Engine::new(&config)?.precompile_module(wasm)
    };
    compile().map_err(|error| crate::features::refusal(&format!("{error:#}"), lane))
}

/// Takes what the processor at hand can do out of the picture.
#[allow(unsafe_code)]
fn baseline(config: &mut Config) -> wasmtime::Result<()> {
    // A target that is named is not looked at, even if it is this machine.
    config.target(target_name())?;
    if cfg!(target_arch = "x86_64") {
        for flag in BASELINE_X86_64 {
            // SAFETY: each is an instruction set that cranelift may use. Whether the processor has it is
            // looked at when the code is loaded.
            unsafe { config.cranelift_flag_enable(flag) };
        }
    }
    Ok(())
}

/// The name of this machine's target, as far as code depends on it.
const fn target_name() -> &'static str {
    if cfg!(target_arch = "aarch64") {
        "aarch64-unknown-linux-gnu"
    } else if cfg!(target_arch = "riscv64") {
        "riscv64gc-unknown-linux-gnu"
    } else {
        "x86_64-unknown-linux-gnu"
    }
}

/// One slot for every 16 MiB of memory, within reason: each slot reserves addresses, not memory.
fn slots_for_this_machine() -> u32 {
    let info = rustix::system::sysinfo();
    let memory = info.totalram * u64::from(info.mem_unit.max(1));
    u32::try_from(memory / (16 << 20)).unwrap_or(u32::MAX).clamp(128, 1024)
}

/// What every lane offers: what compilers of today emit without being asked. Everything else is off: garbage collection,
/// typed function references, 64-bit, shared and multiple memories, atomics, stack switching, custom page sizes, wide
/// arithmetic, components.
const CORE: WasmFeatures = WasmFeatures::MUTABLE_GLOBAL
    .union(WasmFeatures::SATURATING_FLOAT_TO_INT)
    .union(WasmFeatures::SIGN_EXTENSION)
    .union(WasmFeatures::REFERENCE_TYPES)
    .union(WasmFeatures::MULTI_VALUE)
    .union(WasmFeatures::BULK_MEMORY)
    .union(WasmFeatures::SIMD)
    .union(WasmFeatures::RELAXED_SIMD)
    .union(WasmFeatures::TAIL_CALL)
    .union(WasmFeatures::EXTENDED_CONST)
    .union(WasmFeatures::FLOATS)
    .union(WasmFeatures::GC_TYPES);

/// What the code of a lane depends on. The worker that compiles for it has nothing but this.
fn base(lane: LaneSettings) -> Config {
    let mut config = Config::new();
    match lane.interrupt {
        Interruption::Fuel => config.consume_fuel(true),
        Interruption::Tick => config.epoch_interruption(true),
    };
    // Everything off, then what is named: a proposal that some version or cargo feature of wasmtime turns on changes
    // nothing here. Exceptions are the only reason why collected objects are built in.
    config.wasm_features(WasmFeatures::all(), false).wasm_features(CORE, true);
    config.wasm_features(WasmFeatures::EXCEPTIONS, lane.features.exceptions);
    config.shared_memory(false).concurrency_support(false);
    if lane.memory == MemoryLayout::Growing {
        // Small reservations that move when they grow.
        config.memory_reservation(0).memory_reservation_for_growth(1 << 20).memory_guard_size(64 << 10);
        config.memory_may_move(true);
    }
    config.cranelift_opt_level(OptLevel::Speed);
    config.memory_init_cow(true);
    // Traps are reported by name; nobody reads native frames, and without them code is smaller and
    // a guest's exit cheaper.
    config.wasm_backtrace_max_frames(None);
    config.generate_address_map(false);
    config.native_unwind_info(false);
    // The same floats on every machine, so that a run can be repeated bit for bit.
    config.relaxed_simd_deterministic(true);
    config.cranelift_nan_canonicalization(true);
    config
}

fn pool(slots: u32, stacks: u32, lane: LaneSettings, pagemap_scan: bool) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    // What is thrown lies in a memory of its own, which grows on the run's bill like the other one.
    let (memories, heaps) =
        if lane.features.exceptions { (slots.saturating_mul(2), slots) } else { (slots, 0) };
    pool.total_core_instances(slots)
        .total_memories(memories)
        .total_gc_heaps(heaps)
        .total_tables(slots)
        .total_stacks(stacks)
        .max_memories_per_module(1)
        .max_tables_per_module(1)
        .table_elements(TABLE_ELEMENTS_MAX)
        .max_core_instance_size(4 << 20)
        .linear_memory_keep_resident(MEMORY_KEPT_BYTES)
        .table_keep_resident(TABLE_KEPT_BYTES)
        .async_stack_keep_resident(STACK_KEPT_BYTES)
        .max_unused_warm_slots(slots.min(128));
    if pagemap_scan {
        pool.pagemap_scan(Enabled::Yes);
    }
    pool
}
