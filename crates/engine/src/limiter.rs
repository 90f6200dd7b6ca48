//! Guest memory and tables are charged to the same meter as the host's buffers.
//!
//! Growing past the limit ends the run, as the seed says: a guest that was told no would only abort
//! a little later, with a worse message.

use wasmtime::ResourceLimiter;

use crate::{guest::Guest, outcome::Stop};

/// What one table element costs.
const ELEMENT_BYTES: u64 = 8;

impl ResourceLimiter for Guest {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.hold((desired as u64).saturating_sub(current as u64))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.hold((desired as u64).saturating_sub(current as u64).saturating_mul(ELEMENT_BYTES))
    }
}

impl Guest {
    fn hold(&mut self, bytes: u64) -> wasmtime::Result<bool> {
        if !self.meter.try_hold(bytes) {
            return Err(Stop::OutOfMemory.into());
        }
        Ok(true)
    }
}
