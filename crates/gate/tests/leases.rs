//! What is leased ahead of the ladder: whoever calls never waits for a disk on its own thread, and a ledger that cannot be
//! asked is an error by its own name.
#![allow(clippy::unwrap_used)]

use std::{
    sync::Arc,
    task::{Context, Waker},
    time::{Duration, Instant},
};

use drydock_contract::{
    Call, CallError, Cap, Denial, Fault, Reply, Streams, Tenant,
    port::{Ledger as _, Subjects},
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Gate, GateSettings, Grant, NotAdmitted, Operation, Permit, Refused,
    Session, SessionSpec,
};
use drydock_testkit::{FixedClock, MemoryJournal, MemoryLedger, block_on, principal};

struct Nothing;

impl Capability for Nothing {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Kv,
        operations: &[Operation {
            name: "kv.nothing",
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

    fn decode_typed(_: &str, value: Box<dyn std::any::Any + Send>) -> Option<()> {
        value.downcast().ok().map(|it| *it)
    }

    fn subject((): &()) -> &str {
        "nothing"
    }

    fn not_admitted((): &(), _: NotAdmitted) -> Denial {
        Denial::NotGranted { cap: Cap::Kv, subjects: Subjects::cut("nothing"), why: "" }
    }

    fn check((): &(), _: &Session, (): ()) -> Result<(), Refused> {
        Ok(())
    }

    fn label((): &()) -> Arc<str> {
        "nothing".into()
    }

    async fn perform(&self, _: Permit<'_, Self>, (): (), streams: Streams) -> Result<Reply, CallError> {
        Ok(Reply::of_bytes(Vec::new(), streams))
    }
}

fn room(calls_max: u32) -> (Arc<Gate>, Arc<MemoryLedger>) {
    let ledger = Arc::new(MemoryLedger::default());
    let settings = GateSettings { calls_max, ..GateSettings::default() };
    let gate = Gate::new(settings, Arc::new(FixedClock::at_second(600)), Arc::new(MemoryJournal::default()));
    (Arc::new(gate.with(Nothing).agreeing_by(Arc::clone(&ledger) as _).unwrap()), ledger)
}

fn open(gate: &Gate, tenant: &Tenant, grant: Grant) -> Session {
    let spec = SessionSpec::new(principal("me"));
    gate.open(SessionSpec { tenant: tenant.clone(), grants: [grant].into_iter().collect(), ..spec }).unwrap()
}

/// Typed, because such a request can be decoded only once.
fn call() -> Call<'static> {
    Call::typed("kv.nothing", (), 0, Streams::default())
}

fn act(gate: &Arc<Gate>, session: &Session) -> Result<(), &'static str> {
    block_on(gate.dispatch(session, call())).map(drop).map_err(|it| it.code())
}

/// Calls that were let through until one was not, and why that one was not.
fn until_refused(gate: &Arc<Gate>, session: &Session) -> (usize, &'static str) {
    let mut done = 0;
    loop {
        match act(gate, session) {
            Ok(()) => done += 1,
            Err(code) => return (done, code),
        }
    }
}

fn eventually(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never happened");
        std::thread::yield_now();
    }
}

#[test]
fn a_ledger_that_does_not_answer_is_an_error_by_its_name_and_never_a_full_window() {
    let (gate, ledger) = room(4_000);
    let session = open(&gate, &Tenant::default(), Grant::of(Cap::Kv));
    ledger.break_down();
    assert_eq!(until_refused(&gate, &session), (1_000, "ledger_unavailable"));
    assert_eq!(act(&gate, &session), Err("ledger_unavailable"), "each time");
    let unknown = block_on(gate.dispatch(&session, Call::new("no.such", b"", Streams::default())));
    assert!(
        matches!(unknown, Err(CallError::Failed(Fault::Ledger { .. }))),
        "for an operation that nobody offers too"
    );
    ledger.mend();
    assert_eq!(until_refused(&gate, &session), (3_000, "rate_limited"), "in the same window");
}

#[test]
fn a_call_that_waits_for_a_lease_holds_no_thread_and_no_other_tenant_up() {
    let (gate, ledger) = room(64_000);
    let (slow, quick) = ("slow".parse::<Tenant>().unwrap(), "quick".parse::<Tenant>().unwrap());
    let (stuck, free) = (open(&gate, &slow, Grant::of(Cap::Kv)), open(&gate, &quick, Grant::of(Cap::Kv)));
    ledger.hold(&slow);
    for _ in 0..1_000 {
        act(&gate, &stuck).unwrap();
    }
    // Were it to ask the ledger itself, this thread would stand still here.
    let mut waiting: Vec<_> = (0..100).map(|_| Box::pin(gate.dispatch(&stuck, call()))).collect();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(waiting.iter_mut().all(|it| it.as_mut().poll(&mut cx).is_pending()));
    for _ in 0..20_000 {
        act(&gate, &free).unwrap();
    }
    assert!(waiting.iter_mut().all(|it| it.as_mut().poll(&mut cx).is_pending()));
    ledger.let_go();
    assert!(waiting.into_iter().all(|it| block_on(it).is_ok()));
}

#[test]
fn uses_of_a_kept_grant_are_leased_off_the_callers_thread_and_the_rest_is_given_back() {
    let (gate, ledger) = room(64_000);
    let dev = Tenant::default();
    let grant = || {
        let grant = Grant::of(Cap::Kv).named("g".parse().unwrap()).times(10_000);
        grant.counted_in(Arc::clone(&ledger) as _, dev.clone())
    };
    let session = open(&gate, &dev, grant());
    ledger.hold(&dev);
    let mut first = Box::pin(gate.dispatch(&session, call()));
    assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    ledger.let_go();
    block_on(first).unwrap();
    for _ in 0..299 {
        act(&gate, &session).unwrap();
    }
    let leased = || ledger.leased(&dev, "uses/g").unwrap();
    assert!(leased() > 300, "in pieces");
    drop(session);
    eventually(|| leased() == 300);
    let session = open(&gate, &dev, grant());
    ledger.break_down();
    assert_eq!(act(&gate, &session), Err("ledger_unavailable"));
    ledger.mend();
    assert_eq!(act(&gate, &session), Ok(()), "nothing was used up by it");
}
