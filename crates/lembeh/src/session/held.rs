//! Memory that the host holds for the guest, on the guest's bill.

use std::sync::Arc;

use drydock_contract::Meter;

/// Bytes that are charged for as long as this lives.
pub(super) struct Held {
    meter: Arc<Meter>,
    bytes: u64,
}

impl Held {
    /// Charges them; nothing if there are not so many.
    pub(super) fn take(meter: &Arc<Meter>, bytes: u64) -> Option<Self> {
        meter.try_hold(bytes).then(|| Self { meter: Arc::clone(meter), bytes })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.meter.release(self.bytes);
    }
}
