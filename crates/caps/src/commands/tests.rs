//! Proofs for `commands`.

use std::sync::Arc;

use drydock_contract::{Call, Cap, Streams};
use drydock_gate::{Gate, GateSettings, Grant, SessionSpec};
use drydock_testkit::{FixedClock, MemoryJournal, TinyRegistry, block_on, principal};

use super::{Commands, LIST};

fn list(grant: Option<Cap>, payload: &[u8]) -> Result<String, &'static str> {
    let registry = Arc::new(TinyRegistry::of(&["upper", "jq"]));
    let gate = Gate::new(
        GateSettings::default(),
        Arc::new(FixedClock::default()),
        Arc::new(MemoryJournal::default()),
    );
    let gate = Arc::new(gate.with(Commands::new(registry)));
    let spec = SessionSpec {
        grants: grant.map(Grant::of).into_iter().collect(),
        ..SessionSpec::new(principal("me"))
    };
    let session = gate.open(spec).unwrap();
    let call = Call::new(LIST, payload, Streams::default());
    match block_on(gate.dispatch(&session, call)) {
        Ok(reply) => Ok(String::from_utf8(reply.payload).unwrap()),
        Err(error) => Err(error.code()),
    }
}

#[test]
fn the_list_is_sorted_and_needs_its_own_power() {
    assert_eq!(list(Some(Cap::Commands), b""), Ok("jq\nupper".into()));
    assert_eq!(list(Some(Cap::Exec), b""), Err("denied"));
    assert_eq!(list(None, b""), Err("denied"));
    assert_eq!(list(Some(Cap::Commands), b"x"), Err("too_large"));
}
