//! A charge that is given back when what it paid for is dropped.

use std::sync::Arc;

use drydock_contract::{
    Meter,
    port::{FileError, FileLimit, FileResult},
};

/// What one node costs beside its content: about what its struct and its share of a map take.
pub(super) const NODE_BYTES: u64 = 128;
/// What one name costs beside its letters.
const NAME_BYTES: u64 = 64;

/// What one name costs. Names are charged on their own, or thousands of hard links to one file
/// would be nearly free.
pub(super) fn name_bytes(name: &str) -> u64 {
    NAME_BYTES + name.len() as u64
}

/// Bytes held on a meter.
#[derive(Debug)]
pub(super) struct Charge {
    meter: Arc<Meter>,
    bytes: u64,
}

impl Charge {
    pub(super) fn new(meter: &Arc<Meter>, bytes: u64) -> FileResult<Self> {
        if !meter.try_hold(bytes) {
            return Err(FileError::Quota(FileLimit::Bytes));
        }
        Ok(Self { meter: Arc::clone(meter), bytes })
    }

    /// Changes what is held; a refusal changes nothing.
    pub(super) fn set(&mut self, bytes: u64) -> FileResult<()> {
        let more = bytes.saturating_sub(self.bytes);
        if more > 0 && !self.meter.try_hold(more) {
            return Err(FileError::Quota(FileLimit::Bytes));
        }
        self.meter.release(self.bytes.saturating_sub(bytes));
        self.bytes = bytes;
        Ok(())
    }

    /// The largest charge there can ever be.
    pub(super) fn bytes_max(&self) -> u64 {
        self.meter.max()
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.meter.release(self.bytes);
    }
}
