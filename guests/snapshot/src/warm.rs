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

/// wasmtime's error is not a standard one.
fn plain(error: wasmtime::Error) -> anyhow::Error {
    anyhow!("{error:?}")
}
