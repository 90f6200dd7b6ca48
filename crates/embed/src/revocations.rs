//! Hears what other processes of the home revoke: a thread asks the ledger four times a second, which is one look at a
//! file while nothing has changed.
//!
//! A ledger that cannot be read for a second revokes everybody here until it can: nobody knows what it would say. Kernels
//! of whoever was revoked or cancelled meanwhile are given up at each look.

use std::{
    sync::{Arc, Weak},
    thread,
    time::Duration,
};

use drydock_caps::instance::Shelf;
use drydock_contract::port::Ledger;
use drydock_gate::Gate;

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Looks that may fail in a row before nobody is let through any more.
const FAILED_LOOKS_MAX: u32 = 4;

/// Starts listening, for as long as the gate lives. Without a thread nobody could, and then nothing begins.
pub(crate) fn hear(gate: &Arc<Gate>, ledger: Arc<dyn Ledger>, shelf: &Arc<Shelf>) -> std::io::Result<()> {
    let (gate, shelf) = (Arc::downgrade(gate), Arc::downgrade(shelf));
    let listening = move || listen(&gate, &*ledger, &shelf);
    thread::Builder::new().name("drydock-ledger".into()).spawn(listening).map(drop)
}

fn listen(gate: &Weak<Gate>, ledger: &dyn Ledger, shelf: &Weak<Shelf>) {
    let mut state = Heard::default();
    loop {
        let Some(gate) = gate.upgrade() else { return };
        state.look(&gate, ledger);
        drop(gate);
        if let Some(shelf) = shelf.upgrade() {
            shelf.sweep();
        }
        thread::sleep(LOOK_EVERY);
    }
}

#[derive(Debug, Default)]
struct Heard {
    /// The mark of what was last read.
    seen: Option<u64>,
    failed: u32,
}

impl Heard {
    fn look(&mut self, gate: &Gate, ledger: &dyn Ledger) {
        match gate.hear(ledger, &mut self.seen) {
            Ok(()) => self.failed = 0,
            Err(error) => {
                self.failed = self.failed.saturating_add(1);
                if self.failed == FAILED_LOOKS_MAX {
                    tracing::error!("{error}; everybody is revoked until it can be read");
                    gate.revoke_everybody();
                    // Whatever it says then is news.
                    self.seen = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::{Node, Tenant, Timestamp};
    use drydock_gate::GateSettings;
    use drydock_testkit::{FixedClock, MemoryJournal, MemoryLedger};

    use super::*;

    #[test]
    fn what_the_ledger_says_is_heard_and_a_ledger_that_cannot_be_read_revokes_everybody() {
        let journal = Arc::new(MemoryJournal::default());
        let gate = Gate::new(GateSettings::default(), Arc::new(FixedClock::default()), journal);
        let ledger = MemoryLedger::default();
        let mut heard = Heard::default();
        let session = |name: &str| {
            let spec = drydock_gate::SessionSpec::new(name.parse().unwrap());
            gate.open(spec).unwrap()
        };
        let (me, other) = (session("me"), session("other"));
        let node = Node::Principal(Tenant::default(), "me".parse().unwrap());
        ledger.revoke(&node, Timestamp(1)).unwrap();
        heard.look(&gate, &ledger);
        assert!(!me.is_live() && other.is_live());
        ledger.unrevoke(&node).unwrap();
        heard.look(&gate, &ledger);
        assert!(me.is_live());
        ledger.break_down();
        (1..FAILED_LOOKS_MAX).for_each(|_| heard.look(&gate, &ledger));
        assert!(me.is_live(), "one failure is none");
        heard.look(&gate, &ledger);
        assert!(!me.is_live() && !other.is_live());
        ledger.mend();
        heard.look(&gate, &ledger);
        assert!(me.is_live() && other.is_live());
    }
}
