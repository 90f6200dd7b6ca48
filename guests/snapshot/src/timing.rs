//! Measures what a first use costs: the host compiles a module when it meets it.

use anyhow::{Result, anyhow};
use std::time::Instant;
use wasmtime::{Config, Engine, Module};

/// Prints size and compile time of each file, with the settings the engine uses.
pub fn report(files: &[&str]) -> Result<()> {
    let mut config = Config::new();
    config.consume_fuel(true);
    config.epoch_interruption(true);
    let engine = Engine::new(&config).map_err(|error| anyhow!("{error:?}"))?;
    for file in files {
        let wasm = std::fs::read(file)?;
        let start = Instant::now();
        let module = Module::new(&engine, &wasm).map_err(|error| anyhow!("{file}: {error:?}"))?;
        let took = start.elapsed();
        let native = module.image_range();
        let native = native.end as usize - native.start as usize;
        println!("{file}: {} bytes, {} ms, {native} bytes native", wasm.len(), took.as_millis());
    }
    Ok(())
}
