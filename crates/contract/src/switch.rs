//! A switch that is thrown once and wakes whoever waits: revocation and cancellation in flight.

use std::sync::atomic::{AtomicBool, Ordering};

use event_listener::{Event, EventListener};

/// On until tripped. Looking costs one atomic load.
#[derive(Debug, Default)]
pub struct Switch {
    tripped: AtomicBool,
    event: Event,
}

impl Switch {
    /// Throws the switch and wakes every waiter.
    pub fn trip(&self) {
        self.tripped.store(true, Ordering::SeqCst);
        self.event.notify(usize::MAX);
    }

    /// Puts the switch back. Runs that were stopped stay stopped.
    pub fn reset(&self) {
        self.tripped.store(false, Ordering::SeqCst);
    }

    /// Whether it was thrown.
    pub fn is_tripped(&self) -> bool {
        self.tripped.load(Ordering::Acquire)
    }

    /// A listener to poll. Look at [`Switch::is_tripped`] again after making one: a trip between
    /// the two would otherwise be missed.
    pub fn listen(&self) -> EventListener {
        self.event.listen()
    }
}
