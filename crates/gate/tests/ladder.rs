//! The ladder as sentences: each rung beats the next, and what is refused is recorded.
#![allow(clippy::unwrap_used)]

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use drydock_contract::{
    Budget, Call, CallError, CallId, Cap, Denial, Lineage, Node, Pattern, Reply, Streams, Tenant, Terms,
    Timestamp, TraceId, Unit,
    port::{AuditEvent, AuditRecord, CallEnd, EndKind, Subjects},
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Gate, GateSettings, Grant, HeldGrants, Lease, NotAdmitted,
    Operation, Permit, RUNGS, Recording, Refused, Session, SessionSpec,
};
use drydock_testkit::{FixedClock, MemoryJournal, block_on, principal};

/// A power that parses `name`, knows `real`, and counts how often it acted.
struct Toy {
    acted: Arc<AtomicU32>,
}

impl Capability for Toy {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Exec,
        operations: &[Operation {
            name: "toy.act",
            class: Class::Run,
            request_bytes_max: 16,
            in_flight_max: Some(2),
            audited: Audited::Everything,
            summary: "",
        }],
        imports: &[],
    };
    type Request = String;
    type Ready = Arc<str>;
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }

    fn decode(_: &str, payload: &[u8]) -> Result<String, Denial> {
        String::from_utf8(payload.to_vec()).map_err(|_| Denial::Malformed("not text".into()))
    }

    fn subject(request: &String) -> &str {
        request
    }

    fn not_admitted(request: &String, _: NotAdmitted) -> Denial {
        Denial::CommandNotGranted { command: request.as_str().into(), why: "", rules: Some([].into()) }
    }

    fn check(_: &(), _: &Session, request: String) -> Result<Arc<str>, Refused> {
        let subject: Arc<str> = request.into();
        match &*subject {
            "real" => Ok(subject),
            _ => Err(Refused {
                denial: Denial::UnknownCommand(Arc::clone(&subject)),
                subjects: subject.into(),
            }),
        }
    }

    fn label(ready: &Arc<str>) -> Arc<str> {
        Arc::clone(ready)
    }

    async fn perform(
        &self,
        permit: Permit<'_, Self>,
        _: Arc<str>,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        self.acted.fetch_add(1, Ordering::SeqCst);
        // Waits while the session lives and somebody wants it to.
        while self.acted.load(Ordering::SeqCst) >= 1_000 && permit.still_valid() {
            std::future::pending::<()>().await;
        }
        Ok(Reply::of_bytes(permit.call().0.to_le_bytes().to_vec(), streams))
    }
}

struct Room {
    gate: Arc<Gate>,
    clock: Arc<FixedClock>,
    journal: Arc<MemoryJournal>,
    acted: Arc<AtomicU32>,
}

fn room(settings: GateSettings) -> Room {
    let (clock, journal) = (Arc::new(FixedClock::at_second(600)), Arc::new(MemoryJournal::default()));
    let acted = Arc::new(AtomicU32::new(0));
    let gate = Gate::new(settings, Arc::clone(&clock) as _, Arc::clone(&journal) as _);
    let gate = Arc::new(gate.with(Toy { acted: Arc::clone(&acted) }));
    Room { gate, clock, journal, acted }
}

fn open(room: &Room, grants: HeldGrants) -> Session {
    room.gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap()
}

/// Where the calls of a run come from that is so many runs deep.
fn deep(depth: usize) -> Lineage {
    (0..depth).fold(Lineage::root(TraceId(1)), |it, _| it.within(it.next().0))
}

fn me() -> Node {
    Node::Principal(Tenant::default(), principal("me"))
}

/// What a record says, in short.
fn row(record: &AuditRecord) -> (String, &'static str, String, String) {
    let event = record.event.to_string();
    let call = &record.call;
    (call.who.principal.to_string(), call.operation, call.subjects.first().to_owned(), event)
}

fn exec() -> HeldGrants {
    [Grant::of(Cap::Exec)].into_iter().collect()
}

fn act(room: &Room, session: &Session, payload: &[u8]) -> Result<(), &'static str> {
    let call = Call::new("toy.act", payload, Streams::default());
    block_on(room.gate.dispatch(session, call)).map(drop).map_err(|error| error.code())
}

const ODD: &[u8] = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

#[test]
fn each_rung_beats_the_next() {
    // Everything is wrong at first; one thing after the other is put right, and each time the next
    // rung answers.
    let mut wrongs = [true; 8];
    let mut answers = Vec::new();
    for fixed in 0..=8 {
        if fixed > 0 {
            wrongs[fixed - 1] = false;
        }
        let [revoked, rate, grant, depth, size, decode, policy, room_] = wrongs;
        let calls_max = if rate { 0 } else { 100 };
        let room = room(GateSettings { calls_max, ..GateSettings::default() });
        let grants = if grant {
            HeldGrants::default()
        } else if policy {
            [Grant::of(Cap::Exec).only(["other".parse().unwrap()])].into_iter().collect()
        } else {
            exec()
        };
        let budget = room_.then(|| Arc::new(Budget::of([(Unit::Fuel, 0)])));
        let lineage = depth.then(|| deep(9));
        let spec = SessionSpec { grants, budget, lineage, ..SessionSpec::new(principal("me")) };
        let session = room.gate.open(spec).unwrap();
        if revoked {
            room.gate.revoke(&me()).unwrap();
        }
        let payload = match (size, decode) {
            (true, _) => ODD,
            (false, true) => &ODD[..16],
            (false, false) => b"real",
        };
        answers.push(act(&room, &session, payload).err().unwrap_or("allowed"));
    }
    assert_eq!(
        answers,
        [
            "revoked",
            "rate_limited",
            "denied",
            "max_depth",
            "too_large",
            "malformed",
            "command_not_granted",
            "budget_exceeded",
            "allowed"
        ]
    );
    assert_eq!(RUNGS.len() + 1, answers.len());
}

#[test]
fn a_name_outside_the_grant_is_refused_before_it_is_looked_up() {
    let room = room(GateSettings::default());
    let only_real: HeldGrants = [Grant::of(Cap::Exec).only(["real".parse().unwrap()])].into_iter().collect();
    let session = open(&room, only_real);
    assert_eq!(act(&room, &session, b"missing"), Err("command_not_granted"));
    assert_eq!(act(&room, &open(&room, exec()), b"missing"), Err("unknown_command"));
    assert_eq!(act(&room, &session, b"real"), Ok(()));
}

#[test]
fn the_third_of_two_calls_is_rate_limited_even_for_an_unknown_name() {
    let room = room(GateSettings { calls_max: 2, ..GateSettings::default() });
    let session = open(&room, exec());
    let answers = [(); 3].map(|()| act(&room, &session, b"missing").unwrap_err());
    assert_eq!(answers, ["unknown_command", "unknown_command", "rate_limited"]);
    room.clock.advance_s(60);
    assert_eq!(act(&room, &session, b"real"), Ok(()));
}

#[test]
fn depth_eight_passes_and_nine_does_not() {
    let room = room(GateSettings::default());
    let at = |depth: usize| {
        let (grants, lineage) = (exec(), Some(deep(depth)));
        room.gate.open(SessionSpec { grants, lineage, ..SessionSpec::new(principal("me")) }).unwrap()
    };
    assert_eq!(act(&room, &at(8), b"real"), Ok(()));
    assert_eq!(act(&room, &at(9), b"real"), Err("max_depth"));
    assert_eq!(act(&room, &at(99), b"real"), Err("max_depth"));
}

#[test]
fn a_grant_expires_and_is_used_up() {
    let room = room(GateSettings::default());
    let until = Timestamp(601 * 1_000_000_000);
    let session = open(&room, [Grant::of(Cap::Exec).until(until).times(2)].into_iter().collect());
    assert_eq!(act(&room, &session, b"missing"), Err("unknown_command"), "a refusal uses nothing up");
    assert_eq!([(); 3].map(|()| act(&room, &session, b"real")), [Ok(()), Ok(()), Err("denied")]);
    let session = open(&room, [Grant::of(Cap::Exec).until(until)].into_iter().collect());
    assert_eq!(act(&room, &session, b"real"), Ok(()));
    room.clock.advance_s(1);
    assert_eq!(act(&room, &session, b"real"), Err("denied"));
}

#[test]
fn a_call_has_a_begin_and_an_end_and_a_denial_one_record_without_the_request() {
    let room = room(GateSettings::default());
    let session = open(&room, exec());
    act(&room, &session, b"real").unwrap();
    act(&room, &session, b"missing").unwrap_err();
    act(&room, &session, ODD).unwrap_err();
    let call = Call::new("no.such", b"secret", Streams::default());
    assert_eq!(
        block_on(room.gate.dispatch(&session, call)).map(drop).unwrap_err().code(),
        "unknown_operation"
    );
    room.gate.flush().unwrap();
    let records = room.journal.records();
    let rows: Vec<_> = records.iter().map(row).collect();
    let want = |operation, subject: &str, event: &str| {
        ("me".to_owned(), operation, subject.to_owned(), event.to_owned())
    };
    assert_eq!(
        rows,
        [
            want("toy.act", "real", "begun"),
            want("toy.act", "real", "ended done"),
            want("toy.act", "missing", "denied unknown_command"),
            want("toy.act", "", "denied too_large"),
            want("unknown", "", "denied unknown_operation"),
        ]
    );
    assert_eq!(records[0].call, records[1].call, "both are of the same call");
    assert_ne!(records[1].call.call, records[2].call.call);
    assert_eq!(records[0].call.trace, records[4].call.trace);
    let counts = room.gate.counts();
    assert_eq!((counts.allowed, counts.denials()), (1, 3));
}

#[test]
fn digests_of_requests_and_replies_depend_on_a_secret_of_the_installation() {
    let digests = |key: u8, payload: &[u8]| {
        let room = room(GateSettings { digest_key: [key; 32], ..GateSettings::default() });
        let _ = act(&room, &open(&room, exec()), payload);
        room.gate.flush().unwrap();
        let records = room.journal.records();
        let reply = match &records[1].event {
            AuditEvent::Ended(CallEnd { reply, .. }) => reply.unwrap(),
            other => panic!("{other:?}"),
        };
        (records[0].call.request.unwrap(), reply)
    };
    let (request, reply) = digests(1, b"real");
    assert_eq!((request.bytes, reply.bytes), (4, 8));
    assert_eq!(digests(1, b"real").0, request, "the same bytes have the same digest");
    assert_ne!(digests(2, b"real").0, request, "another installation's differs");
}

#[test]
fn a_denial_is_on_disk_before_it_is_reported() {
    let room = room(GateSettings::default());
    let session = open(&room, HeldGrants::default());
    for number in 1..=20 {
        act(&room, &session, b"real").unwrap_err();
        assert!(room.journal.synced() >= number, "denial {number} was reported before it was synced");
    }
}

#[test]
fn nothing_is_allowed_while_it_cannot_be_recorded() {
    for recording in [Recording::Ahead, Recording::Behind] {
        let room = room(GateSettings { recording, ..GateSettings::default() });
        let session = open(&room, exec());
        room.journal.break_now();
        let _ = act(&room, &session, b"real");
        let _ = room.gate.flush();
        let before = room.acted.load(Ordering::SeqCst);
        assert_eq!(act(&room, &session, b"real"), Err("audit_unavailable"));
        assert_eq!(
            act(&room, &session, b"missing"),
            Err("unknown_command"),
            "a denial needs no disk to stand"
        );
        assert_eq!(room.acted.load(Ordering::SeqCst), before);
        room.journal.mend();
        assert_eq!(act(&room, &session, b"real"), Ok(()));
        room.gate.flush().unwrap();
        assert!(room.journal.records().len() >= 2, "what could not be written was kept and written later");
    }
}

#[test]
fn a_record_is_not_forgotten_when_a_sync_fails() {
    let room = room(GateSettings::default());
    let session = open(&room, HeldGrants::default());
    act(&room, &session, b"first").unwrap_err();
    room.journal.lose_next_sync();
    act(&room, &session, b"second").unwrap_err();
    room.gate.flush().unwrap();
    let kept = room.journal.records();
    assert_eq!((kept.len(), room.journal.synced()), (2, 2), "{kept:?}");
}

#[test]
fn slots_are_given_back_on_every_path() {
    let room = room(GateSettings::default());
    let session = open(&room, exec());
    room.acted.store(1_000, Ordering::SeqCst);
    {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let call = || Call::new("toy.act", b"real", Streams::default());
        let mut first = Box::pin(room.gate.dispatch(&session, call()));
        let mut second = Box::pin(room.gate.dispatch(&session, call()));
        assert!(first.as_mut().poll(&mut cx).is_pending());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        assert_eq!(session.in_flight(), 2);
        assert_eq!(act(&room, &session, b"real"), Err("too_many_processes"));
        assert_eq!(session.in_flight(), 2, "a refusal takes no slot");
    }
    assert_eq!(session.in_flight(), 0, "dropping the calls gave both back");
    room.acted.store(0, Ordering::SeqCst);
    assert_eq!(act(&room, &session, b"real"), Ok(()));
    assert_eq!(session.in_flight(), 0);
}

#[test]
fn calls_are_numbered_as_they_are_made_and_not_as_they_are_polled() {
    let room = room(GateSettings::default());
    let session = open(&room, exec());
    let call = || Call::new("toy.act", b"real", Streams::default());
    let spans = |session: &Session| {
        let first = room.gate.dispatch(session, call());
        let second = room.gate.dispatch(session, call());
        let second = block_on(second).unwrap().payload;
        (block_on(first).unwrap().payload, second)
    };
    let (first, second) = spans(&session);
    assert_ne!(first, second);
    let again = room.gate.open(SessionSpec {
        grants: exec(),
        lineage: Some(Lineage::root(session.lineage().trace)),
        ..SessionSpec::new(principal("me"))
    });
    assert_eq!(
        spans(&again.unwrap()),
        (first.clone(), second),
        "another session of the trace that calls the same"
    );
    assert_ne!(spans(&session).0, first, "no number is given twice");
    let there = CallId(3);
    assert_eq!(
        spans(&session.at(there, 1)),
        spans(&open(&room, exec()).at(there, 1)),
        "only its parent's calls count"
    );
    assert_eq!(
        (session.at(there, 4).depth(), session.at(there, 1).at(there, 0).depth()),
        (4, 1),
        "never less deep"
    );
    let numbered =
        |ordinal| block_on(room.gate.dispatch(&session, call().numbered(ordinal))).unwrap().payload;
    assert_eq!(numbered(0), first, "whoever numbers its calls itself is believed");
    assert_eq!(numbered(9), numbered(9));
}

#[test]
fn revocation_is_heard_by_permits_in_flight_and_outlives_being_forgotten() {
    let room = room(GateSettings { principals_max: 2, ..GateSettings::default() });
    let session = open(&room, exec());
    assert!(session.is_live());
    room.gate.revoke(&me()).unwrap();
    assert!(!session.is_live());
    drop(session);
    // A flood of other principals makes the gate forget whom it can, and it cannot forget this one.
    for number in 0..100 {
        let name = principal(&format!("other-{number}"));
        assert!(room.gate.open(SessionSpec::new(name)).is_ok());
        assert!(room.gate.principals() <= 2);
    }
    assert_eq!(act(&room, &open(&room, exec()), b"real"), Err("revoked"));
    room.gate.unrevoke(&me()).unwrap();
    assert_eq!(act(&room, &open(&room, exec()), b"real"), Ok(()));
}

#[test]
fn when_nobody_can_be_forgotten_a_new_principal_is_refused() {
    let room = room(GateSettings { principals_max: 2, ..GateSettings::default() });
    let _held = ["a", "b"].map(|name| room.gate.open(SessionSpec::new(principal(name))).unwrap());
    let refused = room.gate.open(SessionSpec::new(principal("c"))).map(drop).unwrap_err();
    assert_eq!(refused.code(), "rate_limited");
}

#[test]
fn the_default_rate_is_120_000_a_minute_and_each_principals_own() {
    let settings = GateSettings::default();
    assert_eq!((settings.calls_max, settings.window_s), (120_000, 60));
    let room = room(GateSettings { calls_max: 1, ..settings });
    let other =
        room.gate.open(SessionSpec { grants: exec(), ..SessionSpec::new(principal("other")) }).unwrap();
    let session = open(&room, exec());
    assert_eq!(act(&room, &session, b"real"), Ok(()));
    assert_eq!(act(&room, &session, b"real"), Err("rate_limited"));
    assert_eq!(act(&room, &other, b"real"), Ok(()));
}

#[test]
fn a_request_too_long_to_be_read_is_refused_by_the_gate_and_recorded() {
    let room = room(GateSettings::default());
    let session = open(&room, exec());
    let call = Call::oversized("toy.act", 17);
    assert_eq!(block_on(room.gate.dispatch(&session, call)).map(drop).unwrap_err().code(), "too_large");
    assert_eq!(room.gate.counts().denied[&("toy.act", "too_large")], 1);
}

#[test]
fn a_principal_who_is_not_let_in_is_recorded() {
    let room = room(GateSettings { principals_max: 1, ..GateSettings::default() });
    let _held = open(&room, exec());
    assert!(room.gate.open(SessionSpec::new(principal("late"))).is_err());
    let records = room.journal.records();
    assert_eq!(row(&records[0]).1, "session.open");
    assert_eq!(row(&records[0]).0, "late");
}

#[test]
fn a_cancelled_session_performs_nothing_more() {
    let room = room(GateSettings::default());
    let session = open(&room, exec());
    session.cancel();
    assert_eq!(act(&room, &session, b"real"), Err("cancelled"));
    assert_eq!(room.acted.load(Ordering::SeqCst), 0);
    assert_eq!(act(&room, &open(&room, exec()), b"real"), Ok(()), "another session of the principal goes on");
}

#[test]
fn work_that_does_not_hear_of_a_revocation_is_dropped_by_dispatch_and_recorded() {
    let room = room(GateSettings::default());
    let session = open(&room, exec());
    room.acted.store(1_000, Ordering::SeqCst);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut call = Box::pin(room.gate.dispatch(&session, Call::new("toy.act", b"real", Streams::default())));
    assert!(call.as_mut().poll(&mut cx).is_pending());
    room.gate.revoke(&me()).unwrap();
    let answer = block_on(call).map(drop).map_err(|error| error.code());
    assert_eq!(answer, Err("revoked"));
    room.gate.flush().unwrap();
    let rows: Vec<_> = room.journal.records().iter().map(|it| row(it).3).collect();
    assert_eq!(rows, ["begun", "ended revoked"]);
    assert_eq!(session.in_flight(), 0);
}

#[test]
fn a_call_that_nobody_waits_for_has_an_end_too() {
    let room = room(GateSettings::default());
    let session = open(&room, exec());
    room.acted.store(1_000, Ordering::SeqCst);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut call = Box::pin(room.gate.dispatch(&session, Call::new("toy.act", b"real", Streams::default())));
    assert!(call.as_mut().poll(&mut cx).is_pending());
    drop(call);
    room.gate.flush().unwrap();
    let rows: Vec<_> = room.journal.records().iter().map(|it| row(it).3).collect();
    assert_eq!(rows, ["begun", "ended dropped"]);
}

#[test]
fn revoking_a_tenant_trips_all_below_it_and_nobody_else() {
    let room = room(GateSettings::default());
    let of = |tenant: &str, name: &str| {
        let tenant = tenant.parse().unwrap();
        let spec = SessionSpec { tenant, grants: exec(), ..SessionSpec::new(principal(name)) };
        room.gate.open(spec).unwrap()
    };
    let (one, two, other) = (of("acme", "a"), of("acme", "b"), of("other", "a"));
    let acme = Node::Tenant("acme".parse().unwrap());
    let b = Node::Principal("acme".parse().unwrap(), principal("b"));
    room.gate.revoke(&b).unwrap();
    room.gate.revoke(&acme).unwrap();
    assert_eq!(act(&room, &one, b"real"), Err("revoked"));
    assert_eq!(act(&room, &of("acme", "new"), b"real"), Err("revoked"), "whoever comes later too");
    assert_eq!(act(&room, &other, b"real"), Ok(()));
    room.gate.unrevoke(&acme).unwrap();
    assert_eq!(act(&room, &one, b"real"), Ok(()));
    assert_eq!(act(&room, &two, b"real"), Err("revoked"), "its own revocation stands");
}

#[test]
fn runs_in_flight_bound_runs_and_nothing_else_and_a_tenant_bounds_its_principals() {
    let room = room(GateSettings { tenant_in_flight_max: 3, ..GateSettings::default() });
    room.acted.store(1_000, Ordering::SeqCst);
    let sessions = ["a", "b"].map(|name| {
        room.gate.open(SessionSpec { grants: exec(), ..SessionSpec::new(principal(name)) }).unwrap()
    });
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut held = Vec::new();
    for session in [&sessions[0], &sessions[0], &sessions[1]] {
        let call = Call::new("toy.act", b"real", Streams::default());
        let mut call = Box::pin(room.gate.dispatch(session, call));
        assert!(call.as_mut().poll(&mut cx).is_pending());
        held.push(call);
    }
    assert_eq!(sessions[0].own_in_flight(Class::Run), 2);
    assert_eq!(sessions[0].own_in_flight(Class::Tool), 0);
    assert_eq!(act(&room, &sessions[1], b"real"), Err("too_many_processes"), "the tenant has three already");
    drop(held);
    assert_eq!(sessions[0].own_in_flight(Class::Run), 0);
}

#[test]
fn calls_without_a_limit_of_their_own_are_counted_and_bounded_by_their_tenant() {
    struct Look;
    impl Capability for Look {
        const SPEC: CapSpec = CapSpec {
            cap: Cap::Commands,
            operations: &[Operation {
                name: "look.up",
                class: Class::Look,
                request_bytes_max: 16,
                in_flight_max: None,
                audited: Audited::Denials,
                summary: "",
            }],
            imports: &[],
        };
        type Request = ();
        type Ready = ();
        type Policy = ();
        fn policy(&self) -> &() {
            &()
        }
        fn decode(_: &str, _: &[u8]) -> Result<(), Denial> {
            Ok(())
        }
        fn subject((): &()) -> &str {
            ""
        }
        fn not_admitted((): &(), _: NotAdmitted) -> Denial {
            Denial::Revoked
        }
        fn check((): &(), _: &Session, (): ()) -> Result<(), Refused> {
            Ok(())
        }
        fn label((): &()) -> Arc<str> {
            "".into()
        }
        async fn perform(&self, _: Permit<'_, Self>, (): (), _: Streams) -> Result<Reply, CallError> {
            std::future::pending().await
        }
    }
    let (clock, journal) = (Arc::new(FixedClock::at_second(600)), Arc::new(MemoryJournal::default()));
    let settings = GateSettings { tenant_in_flight_max: 2, ..GateSettings::default() };
    let gate = Arc::new(Gate::new(settings, clock, journal).with(Look));
    let grants: HeldGrants = [Grant::of(Cap::Commands)].into_iter().collect();
    let session = gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut look = || {
        let mut call = Box::pin(gate.dispatch(&session, Call::new("look.up", b"", Streams::default())));
        call.as_mut().poll(&mut cx).is_pending().then_some(call)
    };
    let held = [look(), look()];
    assert!(held.iter().all(Option::is_some));
    assert_eq!((session.own_in_flight(Class::Look), session.own_in_flight(Class::Run)), (2, 0));
    let third = block_on(gate.dispatch(&session, Call::new("look.up", b"", Streams::default())));
    assert_eq!(third.err().map(|it| it.code()), Some("too_many_processes"));
}

#[test]
fn a_budget_of_calls_and_bytes_is_reserved_before_the_act() {
    let room = room(GateSettings::default());
    let spent = |amounts: &[(Unit, u64)], calls: usize| {
        let budget = Some(Arc::new(Budget::of(amounts.iter().copied())));
        let spec = SessionSpec { grants: exec(), budget, ..SessionSpec::new(principal("me")) };
        let session = room.gate.open(spec).unwrap();
        (0..calls).map(|_| act(&room, &session, b"real")).collect::<Vec<_>>()
    };
    assert_eq!(spent(&[(Unit::Calls, 2)], 3), [Ok(()), Ok(()), Err("budget_exceeded")]);
    // Four bytes there and eight back: then there is room for a request and none for its reply.
    let before = room.acted.load(Ordering::SeqCst);
    assert_eq!(spent(&[(Unit::Bytes, 16)], 3), [Ok(()), Err("budget_exceeded"), Err("budget_exceeded")]);
    assert_eq!(room.acted.load(Ordering::SeqCst), before + 1, "without room for a reply nothing is done");
    let budget = Arc::new(Budget::of([(Unit::Calls, 2)]));
    let spec = SessionSpec {
        grants: exec(),
        budget: Some(Arc::clone(&budget)),
        ..SessionSpec::new(principal("me"))
    };
    act(&room, &room.gate.open(spec).unwrap(), b"missing").unwrap_err();
    assert_eq!(budget.left(Unit::Calls), Some(2), "a refusal spends nothing");
    let budget = Arc::new(Budget::of([(Unit::Bytes, 1 << 20)]));
    let spec = SessionSpec {
        grants: exec(),
        budget: Some(Arc::clone(&budget)),
        ..SessionSpec::new(principal("me"))
    };
    act(&room, &room.gate.open(spec).unwrap(), b"real").unwrap();
    assert_eq!(budget.left(Unit::Bytes), Some((1 << 20) - 12), "what a reply did not take is given back");
}

/// A power whose work outlives its answer: it keeps the lease.
struct Lasting(Arc<parking_lot::Mutex<Option<Lease>>>);

impl Capability for Lasting {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Kv,
        operations: &[Operation {
            name: "lasting.open",
            class: Class::Run,
            request_bytes_max: 16,
            in_flight_max: Some(1),
            audited: Audited::Everything,
            summary: "",
        }],
        imports: &[],
    };
    type Request = ();
    type Ready = ();
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }
    fn decode(_: &str, _: &[u8]) -> Result<(), Denial> {
        Ok(())
    }
    fn subject((): &()) -> &str {
        "it"
    }
    fn not_admitted((): &(), _: NotAdmitted) -> Denial {
        Denial::NotGranted { cap: Cap::Kv, subjects: Subjects::cut("it"), why: "" }
    }
    fn check((): &(), _: &Session, (): ()) -> Result<(), Refused> {
        Ok(())
    }
    fn label((): &()) -> Arc<str> {
        "it".into()
    }
    async fn perform(&self, permit: Permit<'_, Self>, (): (), streams: Streams) -> Result<Reply, CallError> {
        *self.0.lock() = Some(permit.into_lease());
        Ok(Reply::of_bytes(Vec::new(), streams))
    }
}

#[test]
fn a_lease_keeps_the_slot_and_the_record_open_until_it_ends() {
    let (clock, journal) = (Arc::new(FixedClock::at_second(600)), Arc::new(MemoryJournal::default()));
    let held = Arc::new(parking_lot::Mutex::new(None));
    let gate = Gate::new(GateSettings::default(), clock, Arc::clone(&journal) as _);
    let gate = Arc::new(gate.with(Lasting(Arc::clone(&held))));
    let grants = [Grant::of(Cap::Kv)].into_iter().collect();
    let session = gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap();
    let ask = || {
        let call = Call::new("lasting.open", b"", Streams::default());
        block_on(gate.dispatch(&session, call)).map(drop).map_err(|error| error.code())
    };
    assert_eq!(ask(), Ok(()));
    assert_eq!(ask(), Err("too_many_processes"), "the lease has the only slot");
    let lease = held.lock().take().unwrap();
    assert!(lease.still_valid());
    gate.revoke(&me()).unwrap();
    assert!(!lease.still_valid() && lease.switches()[0].is_tripped());
    lease.end(CallEnd::plain(EndKind::Done));
    gate.unrevoke(&me()).unwrap();
    assert_eq!(session.in_flight(), 0);
    gate.flush().unwrap();
    let rows: Vec<_> = journal.records().iter().map(|it| row(it).3).collect();
    assert_eq!(rows, ["begun", "denied too_many_processes", "ended done"]);
}

/// A power whose requests are about several names, with commas between them.
struct Pair;

impl Capability for Pair {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Kv,
        operations: &[Operation {
            name: "pair.act",
            class: Class::Look,
            request_bytes_max: 4096,
            in_flight_max: None,
            audited: Audited::Everything,
            summary: "",
        }],
        imports: &[],
    };
    type Request = Vec<String>;
    type Ready = Vec<String>;
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }
    fn decode(_: &str, payload: &[u8]) -> Result<Vec<String>, Denial> {
        Ok(String::from_utf8_lossy(payload).split(',').map(str::to_owned).collect())
    }
    fn subject(request: &Vec<String>) -> &str {
        &request[0]
    }
    fn more_subjects(request: &Vec<String>) -> Vec<&str> {
        request[1..].iter().map(String::as_str).collect()
    }
    fn not_admitted(request: &Vec<String>, _: NotAdmitted) -> Denial {
        let subjects = Subjects::Many(request.iter().map(|it| Denial::subject(it)).collect());
        Denial::NotGranted { cap: Cap::Kv, subjects, why: ": other names" }
    }
    fn check((): &(), _: &Session, request: Vec<String>) -> Result<Vec<String>, Refused> {
        Ok(request)
    }
    fn label(ready: &Vec<String>) -> Arc<str> {
        ready[0].as_str().into()
    }
    fn subjects(ready: &Vec<String>) -> Subjects {
        Subjects::Many(ready.iter().map(|it| it.as_str().into()).collect())
    }
    async fn perform(
        &self,
        _: Permit<'_, Self>,
        _: Vec<String>,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        Ok(Reply::of_bytes(Vec::new(), streams))
    }
}

#[test]
fn one_grant_admits_every_name_of_a_request_or_none_and_the_records_have_them_all() {
    let (clock, journal) = (Arc::new(FixedClock::at_second(600)), Arc::new(MemoryJournal::default()));
    let gate = Arc::new(Gate::new(GateSettings::default(), clock, Arc::clone(&journal) as _).with(Pair));
    let long = "k".repeat(500);
    let grant = |names: &[&str]| {
        Grant::of(Cap::Kv).within(Terms::of(names.iter().map(|it| it.parse::<Pattern>().unwrap())))
    };
    let ask = |grants: HeldGrants, names: &str| {
        let session = gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap();
        let call = Call::new("pair.act", names.as_bytes(), Streams::default());
        match block_on(gate.dispatch(&session, call)) {
            Ok(_) => Ok(()),
            Err(CallError::Denied(denial)) => Err(denial.remedy().unwrap().to_json()),
            Err(CallError::Failed(fault)) => panic!("{fault}"),
        }
    };
    assert_eq!(ask([grant(&["a", "b"])].into_iter().collect(), "a,b"), Ok(()));
    assert_eq!(ask([grant(&["*"])].into_iter().collect(), &format!("a,{long}")), Ok(()));
    let both = r#"{"cap":"kv","subjects":["a","b"]}"#;
    // Not one grant for each of them: whoever gave `a` said nothing of `a` together with `b`.
    assert_eq!(ask([grant(&["a"]), grant(&["b"])].into_iter().collect(), "a,b"), Err(both.into()));
    assert_eq!(ask(HeldGrants::default(), "a,b"), Err(both.into()));
    gate.flush().unwrap();
    let records = journal.records();
    let names: Vec<Vec<&str>> = records.iter().map(|it| it.call.subjects.iter().collect()).collect();
    for names in [&names[0], &names[1], &names[4], &names[5]] {
        assert_eq!(names, &["a", "b"]);
    }
    assert_eq!(names[2], ["a", &long], "and none is cut");
}
