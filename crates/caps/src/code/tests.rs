//! Proofs for `code`, with programs that are closures.

use std::sync::Arc;

use bytes::Bytes;
use drydock_contract::{Call, Cap, Entropy, Node, Outcome, Streams, Tenant, port::AuditEvent};
use drydock_gate::{
    Gate, GateSettings, Grant, HeldGrants, ProgramEnd, ProgramStart, Session, SessionSpec, StartedProgram,
};
use drydock_testkit::{FixedClock, MemoryJournal, block_on, principal};

use super::{Code, RUN};

struct Room {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
}

fn room() -> Room {
    let journal = Arc::new(MemoryJournal::default());
    let gate = Gate::new(GateSettings::default(), Arc::new(FixedClock::default()), Arc::clone(&journal) as _);
    Room { gate: Arc::new(gate.with(Code)), journal }
}

fn session(room: &Room, grants: HeldGrants) -> Session {
    let spec = SessionSpec { grants, entropy: Entropy::Seeded(7), ..SessionSpec::new(principal("me")) };
    room.gate.open(spec).unwrap()
}

fn run(
    room: &Room,
    session: &Session,
    body: impl FnOnce(&StartedProgram) -> u64 + Send + 'static,
) -> Result<u64, &'static str> {
    let start = ProgramStart {
        language: "javascript".into(),
        text: "1 + 1".into(),
        run: Box::new(move |started| {
            Box::pin(async move {
                let result = Box::new(body(&started));
                let digested = Some(Bytes::from(result.to_string()));
                ProgramEnd { result, outcome: Outcome::Exited(0), digested }
            })
        }),
    };
    let call = Call::typed(RUN, start, 5, Streams::default());
    let mut reply = block_on(room.gate.dispatch(session, call)).map_err(|error| error.code())?;
    Ok(reply.value::<u64>().unwrap())
}

#[test]
fn a_program_is_one_call_with_a_beginning_an_end_and_a_depth() {
    let room = room();
    let session = session(&room, [Grant::of(Cap::Code)].into_iter().collect());
    assert_eq!(run(&room, &session, |started| u64::from(started.session.depth())), Ok(1));
    room.gate.flush().unwrap();
    let records = room.journal.records();
    let rows: Vec<_> =
        records.iter().map(|it| format!("{} {}", it.call.subjects.first(), it.event)).collect();
    assert_eq!(rows, ["javascript begun", "javascript ended done"]);
    assert!(records[0].call.request.is_some_and(|it| it.bytes == 5));
    let AuditEvent::Ended(end) = &records[1].event else { panic!("{records:?}") };
    assert_eq!(end.reply.map(|it| it.bytes), Some(1), "of its result");
}

#[test]
fn programs_without_the_power_or_of_a_revoked_principal_do_not_start() {
    let room = room();
    assert_eq!(run(&room, &session(&room, HeldGrants::default()), |_| 1), Err("denied"));
    let session = session(&room, [Grant::of(Cap::Code)].into_iter().collect());
    room.gate.revoke(&Node::Principal(Tenant::default(), principal("me"))).unwrap();
    assert_eq!(run(&room, &session, |_| 1), Err("revoked"));
    let bytes = Call::new(RUN, b"1 + 1", Streams::default());
    assert!(block_on(room.gate.dispatch(&session, bytes)).is_err());
}

#[test]
fn each_program_of_a_seeded_session_has_its_own_randomness_and_the_same_one_again() {
    let seeds = || {
        let room = room();
        let session = session(&room, [Grant::of(Cap::Code)].into_iter().collect());
        let seed = |started: &StartedProgram| match started.entropy {
            Entropy::Seeded(seed) => seed,
            Entropy::System => 0,
        };
        [run(&room, &session, seed).unwrap(), run(&room, &session, seed).unwrap()]
    };
    assert_eq!(seeds(), seeds());
    assert_ne!(seeds()[0], seeds()[1]);
}
