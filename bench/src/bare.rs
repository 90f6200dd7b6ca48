//! The floor: wasmtime alone, pooling as the engine pools, and nothing around it.

use drydock_embed::engine::{Allocation, Facts};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, InstancePre, Linker, Module, OptLevel,
    PoolingAllocationConfig, Store,
};

/// An empty command.
pub(crate) const EMPTY: &str = r#"(module (func (export "_start")))"#;
/// An empty command that has a memory, as every command that reads or writes must.
pub(crate) const EMPTY_WITH_MEMORY: &str =
    r#"(module (memory (export "memory") 1) (func (export "_start")))"#;

/// A module ready to be instantiated.
pub(crate) struct Bare {
    engine: Engine,
    pre: InstancePre<()>,
}

impl Bare {
    /// With the pool of the engine whose facts are given: see `crates/engine/src/config.rs`.
    pub(crate) fn prepare(facts: Facts, wat: &str) -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config.cranelift_opt_level(OptLevel::Speed).memory_init_cow(true);
        if let Allocation::Pooling { slots } = facts.allocation {
            let pool = pool(slots, facts.pagemap_scan);
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        }
        let engine = Engine::new(&config)?;
        let module = Module::new(&engine, wat::parse_str(wat)?)?;
        let pre = Linker::new(&engine).instantiate_pre(&module)?;
        Ok(Self { engine, pre })
    }

    /// Instantiates, calls and drops.
    pub(crate) fn run(&self) -> wasmtime::Result<()> {
        let mut store = Store::new(&self.engine, ());
        let instance = self.pre.instantiate(&mut store)?;
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
        start.call(&mut store, ())
    }
}

/// A module whose only import is a host call that does nothing, as asynchronous as the engine's are.
pub(crate) struct HostCalls {
    engine: Engine,
    pre: InstancePre<()>,
}

impl HostCalls {
    pub(crate) fn prepare(wat: &str) -> wasmtime::Result<Self> {
        let engine = Engine::new(Config::new().cranelift_opt_level(OptLevel::Speed).consume_fuel(true))?;
        let module = Module::new(&engine, wat::parse_str(wat)?)?;
        let mut linker = Linker::new(&engine);
        linker.func_wrap_async(
            "env",
            "host_commands",
            |_: wasmtime::Caller<'_, ()>, (_, _): (u32, u32)| Box::new(async { 0_i32 }),
        )?;
        Ok(Self { pre: linker.instantiate_pre(&module)?, engine })
    }

    /// Instantiates, calls and drops.
    pub(crate) async fn run(&self) -> wasmtime::Result<()> {
        let mut store = Store::new(&self.engine, ());
        store.set_fuel(u64::MAX)?;
        let instance = self.pre.instantiate_async(&mut store).await?;
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
        start.call_async(&mut store, ()).await
    }
}

fn pool(slots: u32, pagemap_scan: bool) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(slots)
        .total_memories(slots)
        .total_tables(slots)
        .total_stacks(slots)
        .max_memories_per_module(1)
        .max_tables_per_module(1)
        .table_elements(65_536)
        .max_core_instance_size(4 << 20)
        .linear_memory_keep_resident(2 << 20)
        .table_keep_resident(64 << 10)
        .async_stack_keep_resident(64 << 10)
        .max_unused_warm_slots(slots.min(128));
    if pagemap_scan {
        pool.pagemap_scan(Enabled::Yes);
    }
    pool
}

/// wasmtime's error as one of ours.
pub(crate) fn told(error: wasmtime::Error) -> anyhow::Error {
    anyhow::anyhow!("wasmtime: {error:#}")
}
