//! Guest memory and tables are charged to the same meter as the host's buffers.
//!
//! What growing past the limit does is the affair of the guest's kind: a run ends there, as the seed says, and whoever
//! was promised an answer gets it.

use wasmtime::ResourceLimiter;

use crate::{entry::Growth, guest::Guest, outcome::Stop};

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
        if self.meter.try_hold(bytes) {
            return Ok(true);
        }
        self.refused.get_or_insert(bytes);
        match self.growth {
            Growth::Ends => Err(Stop::OutOfMemory.into()),
            Growth::Refused => Ok(false),
        }
    }
}
