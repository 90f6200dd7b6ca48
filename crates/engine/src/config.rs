//! How wasmtime is set up, and what of it this machine really gives.

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

/// What an embedder may choose.
#[derive(Debug, Clone, Copy)]
pub struct EngineSettings {
    /// Instances alive at once, or none to size the pool to the machine. Zero is no pool at all.
    pub slots: Option<u32>,
    /// Modules kept compiled in memory.
    pub modules_max: usize,
    /// Compilations at once.
    pub compilations_max: usize,
    /// The longest a module may take to compile.
    pub compile_max: std::time::Duration,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            slots: None,
            modules_max: 256,
            compilations_max: 2,
            compile_max: std::time::Duration::from_secs(180),
        }
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

/// How a guest that computes is brought back to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Its instructions are counted, and can run out.
    Fuel,
    /// A clock ticks; nothing is counted.
    Tick,
}

/// A guest's stack. Deep recursion ends here as a trap.
pub(crate) const STACK_BYTES_MAX: usize = 1 << 20;

/// Fuel between two yields: well under a millisecond, so a deadline is met closely and callers that
/// share a thread take turns.
pub(crate) const FUEL_BETWEEN_YIELDS: u64 = 1_000_000;

/// Dirty memory a slot keeps to be restored in place rather than mapped again.
const MEMORY_KEPT_BYTES: usize = 2 << 20;
const TABLE_KEPT_BYTES: usize = 64 << 10;
const STACK_KEPT_BYTES: usize = 64 << 10;
const TABLE_ELEMENTS_MAX: usize = 65_536;

/// Builds the engine with the largest pool that the address space takes.
pub(crate) fn build(
    settings: &EngineSettings,
    interrupt: Interrupt,
) -> wasmtime::Result<(wasmtime::Engine, Facts)> {
    let pagemap_scan = PoolingAllocationConfig::is_pagemap_scan_available();
    let facts = |allocation| Facts {
        allocation,
        pagemap_scan,
        stack_bytes_max: STACK_BYTES_MAX,
        fuel_between_yields: FUEL_BETWEEN_YIELDS,
        tick: crate::ticker::TICK,
    };
    let wanted = settings.slots.unwrap_or_else(slots_for_this_machine);
    for slots in [wanted, wanted.div_ceil(4), wanted.div_ceil(16)].into_iter().filter(|slots| *slots > 0) {
        let mut config = base(interrupt);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(slots, pagemap_scan)));
        if let Ok(engine) = wasmtime::Engine::new(&config) {
            return Ok((engine, facts(Allocation::Pooling { slots })));
        }
    }
    // Small reservations that move when they grow: where a pool does not fit, four gigabytes of
    // addresses for one memory do not either.
    let mut config = base(interrupt);
    config.memory_reservation(0).memory_reservation_for_growth(1 << 20).memory_guard_size(64 << 10);
    config.memory_may_move(true);
    let engine = wasmtime::Engine::new(&config)?;
    Ok((engine, facts(Allocation::OnDemand)))
}

/// One slot for every 16 MiB of memory, within reason: each slot reserves addresses, not memory.
fn slots_for_this_machine() -> u32 {
    let info = rustix::system::sysinfo();
    let memory = info.totalram * u64::from(info.mem_unit.max(1));
    u32::try_from(memory / (16 << 20)).unwrap_or(u32::MAX).clamp(128, 1024)
}

fn base(interrupt: Interrupt) -> Config {
    let mut config = Config::new();
    match interrupt {
        Interrupt::Fuel => config.consume_fuel(true),
        Interrupt::Tick => config.epoch_interruption(true),
    };
    config.cranelift_opt_level(OptLevel::Speed);
    config.parallel_compilation(true);
    config.memory_init_cow(true);
    config.max_wasm_stack(STACK_BYTES_MAX);
    config.async_stack_size(STACK_BYTES_MAX + (1 << 20));
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

fn pool(slots: u32, pagemap_scan: bool) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(slots)
        .total_memories(slots)
        .total_tables(slots)
        .total_stacks(slots)
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
