//! What it costs a tight loop to be interruptible, behind decision 0003.

use tokio::runtime::Runtime;
use wasmtime::{Config, Engine, Linker, Module, OptLevel, Store, TypedFunc};

use super::Bench;
use crate::{
    bare, docked,
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
};

/// Uppercases 1 MiB in place, byte by byte. Without a branch inside: with one, how the code happens to
/// be laid out weighs more than what is measured.
const LOOP: &str = r#"(module
  (memory 17)
  (func (export "start")
    (local $at i32) (local $byte i32)
    (loop $next
      (local.set $byte (i32.load8_u offset=65536 (local.get $at)))
      (local.set $byte (i32.sub (local.get $byte)
        (i32.shl (i32.lt_u (i32.sub (local.get $byte) (i32.const 97)) (i32.const 26)) (i32.const 5))))
      (i32.store8 offset=65536 (local.get $at) (local.get $byte))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 1048576))))))"#;

/// Fuel between two looks at the clock, as the engine has it.
const FUEL_BETWEEN_YIELDS: u64 = 1_000_000;

/// Name, with epochs, with fuel.
const WAYS: [(&str, bool, bool); 4] = [
    ("neither", false, false),
    ("epochs", true, false),
    ("fuel that yields every 1,000,000", false, true),
    ("both", true, true),
];

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let runtime = docked::runtime()?;
    let mut contenders = Vec::new();
    for (_, epochs, fuel) in WAYS {
        let (mut store, start) = prepare(&runtime, epochs, fuel).map_err(bare::told)?;
        let runtime = &runtime;
        contenders.push(Contender::calling(move || {
            if fuel {
                store.set_fuel(u64::MAX / 2).map_err(bare::told)?;
            }
            runtime.block_on(start.call_async(&mut store, ())).map_err(bare::told)
        }));
    }
    let samples = interleave(bench.plan, &mut contenders)?;
    let figure = |way: usize| Figure {
        group: "interruption",
        name: format!("a tight loop over 1 MiB: with {} against with neither", WAYS[way].0),
        ours: Amount::Seconds(samples.seconds(way)),
        peer: Some(Amount::Seconds(samples.seconds(0))),
        judged: samples.ratio(way, 0),
        bound: Bound::Known,
    };
    Ok((1..WAYS.len()).map(figure).collect())
}

fn prepare(runtime: &Runtime, epochs: bool, fuel: bool) -> wasmtime::Result<(Store<()>, TypedFunc<(), ()>)> {
    let mut config = Config::new();
    config.cranelift_opt_level(OptLevel::Speed).epoch_interruption(epochs).consume_fuel(fuel);
    let engine = Engine::new(&config)?;
    let module = Module::new(&engine, wat::parse_str(LOOP)?)?;
    let mut store = Store::new(&engine, ());
    if epochs {
        // Nothing ticks here: what is measured is the look, not the interruption.
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
    }
    if fuel {
        store.set_fuel(u64::MAX / 2)?;
        store.fuel_async_yield_interval(Some(FUEL_BETWEEN_YIELDS))?;
    }
    let linker = Linker::new(&engine);
    let instance = runtime.block_on(linker.instantiate_async(&mut store, &module))?;
    let start = instance.get_typed_func(&mut store, "start")?;
    Ok((store, start))
}
