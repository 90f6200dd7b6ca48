//! Runs a guest's initialisation and takes the snapshot.

use crate::memory::Warmed;
use anyhow::{Context as _, Result, anyhow};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use wasmtime::{Engine, Linker, Module, Store};
use wasmtime_wizer::Wizer;

/// The export that the build calls and then removes.
pub const INITIALISE: &str = "wizer-initialize";

/// The module with the memory and the globals that its initialisation leaves.
pub fn warm(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut wizer = Wizer::new();
    wizer.init_func(INITIALISE);
    let (context, instrumented) = wizer.instrument(wasm).map_err(plain)?;

    let engine = Engine::default();
    let module = Module::new(&engine, &instrumented).map_err(plain)?;
    let mut store = Store::new(&engine, ());
    let mut linker = Linker::new(&engine);
    linker.func_wrap("wasi_snapshot_preview1", "random_get", random).map_err(plain)?;
    linker.define_unknown_imports_as_traps(&module).map_err(plain)?;
    let instance = linker.instantiate(&mut store, &module).map_err(plain)?;
    let initialise = instance.get_typed_func::<(), ()>(&mut store, INITIALISE).map_err(plain)?;
    initialise.call(&mut store, ()).map_err(plain).context("the initialisation failed")?;

    let mut warmed = Warmed { store, instance };
    // The state is in memory already, so the future has nothing to wait for.
    let taking = pin!(wizer.snapshot(&context, &mut warmed));
    match taking.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(wasm) => wasm.map_err(plain),
        Poll::Pending => Err(anyhow!("the snapshot waits for something")),
    }
}

/// Keys of hash tables are all that an initialisation may want of randomness. It gets none: the module is the same
/// whenever it is built, and whoever fills such a table fills a guest of their own.
fn random(mut caller: wasmtime::Caller<'_, ()>, at: u32, count: u32) -> i32 {
    let memory = caller.get_export("memory").and_then(wasmtime::Extern::into_memory);
    let end = (at as usize).saturating_add(count as usize);
    match memory.and_then(|it| it.data_mut(&mut caller).get_mut(at as usize..end)) {
        Some(place) => {
            place.fill(0);
            0
        }
        None => 21,
    }
}

/// wasmtime's error is not a standard one.
fn plain(error: wasmtime::Error) -> anyhow::Error {
    anyhow!("{error:?}")
}
