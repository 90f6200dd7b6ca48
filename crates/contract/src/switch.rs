//! A switch that is thrown and wakes whoever waits: revocation and cancellation in flight.
//!
//! It can be put back, and what it ended must stay ended all the same. So it counts: whoever begins takes a mark, and
//! asks by that whether the switch was thrown since, however short that was.

use std::sync::atomic::{AtomicU64, Ordering};

use event_listener::{Event, EventListener};

/// On until tripped. Looking costs one atomic load.
#[derive(Debug, Default)]
pub struct Switch {
    /// How often it was thrown and put back, together: odd while it is thrown.
    turns: AtomicU64,
    event: Event,
}

/// A moment of a switch: what began then asks by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchMark(u64);

impl Switch {
    /// Throws the switch and wakes every waiter.
    pub fn trip(&self) {
        let thrown = |turns: u64| turns.is_multiple_of(2).then(|| turns + 1);
        let _ = self.turns.fetch_update(Ordering::SeqCst, Ordering::SeqCst, thrown);
        self.wake();
    }

    /// Puts the switch back. Whatever holds a mark from before stays ended.
    pub fn reset(&self) {
        let put_back = |turns: u64| (turns % 2 == 1).then(|| turns + 1);
        let _ = self.turns.fetch_update(Ordering::SeqCst, Ordering::SeqCst, put_back);
    }

    /// Wakes every waiter without throwing it: something else that they look at has changed.
    pub fn wake(&self) {
        self.event.notify(usize::MAX);
    }

    /// Whether it is thrown.
    pub fn is_tripped(&self) -> bool {
        self.turns.load(Ordering::Acquire) % 2 == 1
    }

    /// A mark for what begins now. What begins while the switch is thrown begins when it is put back.
    pub fn mark(&self) -> SwitchMark {
        let turns = self.turns.load(Ordering::Acquire);
        SwitchMark(turns + turns % 2)
    }

    /// Whether it is thrown, or was since the mark was taken.
    pub fn tripped_since(&self, mark: SwitchMark) -> bool {
        self.turns.load(Ordering::Acquire) != mark.0
    }

    /// A listener to poll. Look at [`Switch::is_tripped`] again after making one: a trip between
    /// the two would otherwise be missed.
    pub fn listen(&self) -> EventListener {
        self.event.listen()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_switch_ended_stays_ended_when_it_is_put_back() {
        let switch = Switch::default();
        let before = switch.mark();
        assert!(!switch.is_tripped() && !switch.tripped_since(before));
        switch.trip();
        switch.trip();
        let meanwhile = switch.mark();
        assert!(switch.is_tripped() && switch.tripped_since(before) && switch.tripped_since(meanwhile));
        switch.reset();
        switch.reset();
        assert!(!switch.is_tripped() && switch.tripped_since(before));
        assert!(!switch.tripped_since(meanwhile) && !switch.tripped_since(switch.mark()));
    }
}
