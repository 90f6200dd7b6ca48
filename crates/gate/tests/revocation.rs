//! Revocation against everything that goes on meanwhile: work in flight, streams, leases, other processes.
#![allow(clippy::unwrap_used)]

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use drydock_contract::{
    Call, CallError, Cap, Denial, GrantId, Node, Outcome, Reply, Streams, Tenant, Timestamp,
    port::{AuditRecord, Journal, JournalError, Ledger, LedgerError, Subjects},
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Gate, GateSettings, Grant, Lease, NotAdmitted, Operation, Permit,
    Recording, Refused, Session, SessionSpec,
};
use drydock_testkit::{FixedClock, MemoryJournal, MemoryLedger, block_on, principal};
use parking_lot::Mutex;

/// What the test sees of the power.
#[derive(Default)]
struct Seen {
    /// How often the power acted.
    steps: AtomicU32,
    /// How often it found its permit valid.
    valid: AtomicU32,
    dropped: AtomicBool,
    lease: Mutex<Option<Lease>>,
}

/// Says when the work is gone.
struct Guard(Arc<Seen>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped.store(true, Ordering::SeqCst);
    }
}

/// A power that acts once at every poll, until it has a lease to give or for ever.
struct Counting(Arc<Seen>);

const fn operation(name: &'static str, class: Class) -> Operation {
    let (request_bytes_max, in_flight_max) = (16, Some(1));
    Operation { name, class, request_bytes_max, in_flight_max, audited: Audited::Everything, summary: "" }
}

impl Capability for Counting {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Kv,
        operations: &[
            operation("counting.tool", Class::Tool),
            operation("counting.run", Class::Run),
            operation("counting.lease", Class::Look),
        ],
        imports: &[],
    };
    type Request = String;
    type Ready = Arc<str>;
    type Policy = ();

    fn policy(&self) -> &() {
        &()
    }
    fn decode(operation: &str, _: &[u8]) -> Result<String, Denial> {
        Ok(operation.into())
    }
    fn subject(_: &String) -> &str {
        "it"
    }
    fn not_admitted(_: &String, _: NotAdmitted) -> Denial {
        Denial::NotGranted { cap: Cap::Kv, subjects: Subjects::cut("it"), why: "" }
    }
    fn check(_: &(), _: &Session, request: String) -> Result<Arc<str>, Refused> {
        Ok(request.into())
    }
    fn label(_: &Arc<str>) -> Arc<str> {
        "it".into()
    }
    async fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: Arc<str>,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        if &*ready == "counting.lease" {
            *self.0.lease.lock() = Some(permit.into_lease());
            return Ok(Reply::of_bytes(Vec::new(), streams));
        }
        let _guard = Guard(Arc::clone(&self.0));
        std::future::poll_fn(|_| {
            self.0.steps.fetch_add(1, Ordering::SeqCst);
            self.0.valid.fetch_add(u32::from(permit.still_valid()), Ordering::SeqCst);
            Poll::<()>::Pending
        })
        .await;
        Ok(Reply::of_bytes(Vec::new(), streams))
    }
}

struct Room {
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
    seen: Arc<Seen>,
}

fn room_with(journal: Arc<dyn Journal>, seen: &Arc<Seen>) -> Gate {
    let clock = Arc::new(FixedClock::at_second(600));
    let settings = GateSettings { recording: Recording::Ahead, ..GateSettings::default() };
    Gate::new(settings, clock, journal).with(Counting(Arc::clone(seen)))
}

fn room() -> Room {
    let (journal, seen) = (Arc::new(MemoryJournal::default()), Arc::<Seen>::default());
    Room { gate: Arc::new(room_with(Arc::clone(&journal) as _, &seen)), journal, seen }
}

fn me() -> Node {
    Node::Principal(Tenant::default(), principal("me"))
}

fn net() -> GrantId {
    "net".parse().unwrap()
}

fn session(gate: &Gate) -> Session {
    let grants = [Grant::of(Cap::Kv).named(net())].into_iter().collect();
    gate.open(SessionSpec { grants, ..SessionSpec::new(principal("me")) }).unwrap()
}

/// Whether somebody woke the call.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn poll<T>(future: &mut Pin<Box<impl Future<Output = T> + ?Sized>>) -> Poll<T> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn ended(answer: Poll<Result<Reply, CallError>>) -> String {
    match answer {
        Poll::Ready(Err(error)) => error.to_string(),
        Poll::Ready(Ok(_)) => "answered".into(),
        Poll::Pending => "goes on".into(),
    }
}

impl Room {
    /// What the last records say.
    fn said(&self) -> Vec<(&'static str, String)> {
        self.gate.flush().unwrap();
        self.journal.records().iter().map(|it| (it.call.operation, it.event.to_string())).collect()
    }
}

#[test]
fn a_tool_that_counts_in_a_loop_does_not_count_on_after_a_revocation() {
    let room = room();
    let session = session(&room.gate);
    let mut call =
        Box::pin(room.gate.dispatch(&session, Call::new("counting.tool", b"", Streams::default())));
    assert_eq!((ended(poll(&mut call)), ended(poll(&mut call))), ("goes on".into(), "goes on".into()));
    room.gate.revoke(&me()).unwrap();
    let answer = block_on(call);
    assert_eq!(answer.map(drop).unwrap_err().code(), "revoked");
    assert_eq!(room.seen.steps.load(Ordering::SeqCst), 2, "it was not polled once more");
    assert_eq!(
        room.said(),
        [("counting.tool", "begun".into()), ("counting.tool", "ended revoked".to_owned())]
    );
}

#[test]
fn what_a_revocation_ended_stays_ended_when_it_is_taken_back_at_once() {
    let room = room();
    let session = session(&room.gate);
    for operation in ["counting.tool", "counting.run"] {
        let mut call = Box::pin(room.gate.dispatch(&session, Call::new(operation, b"", Streams::default())));
        assert!(poll(&mut call).is_pending());
        room.gate.revoke(&me()).unwrap();
        room.gate.unrevoke(&me()).unwrap();
        assert_eq!(block_on(call).map(drop).unwrap_err().code(), "revoked", "{operation}");
    }
    let mut call = Box::pin(room.gate.dispatch(&session, Call::new("counting.run", b"", Streams::default())));
    assert!(poll(&mut call).is_pending(), "a new call may");
}

#[test]
fn a_lease_that_a_revocation_or_the_loss_of_its_grant_ended_is_not_valid_again() {
    let room = room();
    let lease = |session: &Session| {
        let call = Call::new("counting.lease", b"", Streams::default());
        block_on(room.gate.dispatch(session, call)).unwrap();
        room.seen.lease.lock().take().unwrap()
    };
    let one = session(&room.gate);
    let leased = lease(&one);
    room.gate.revoke(&me()).unwrap();
    room.gate.unrevoke(&me()).unwrap();
    assert!(one.is_live() && !leased.still_valid());
    drop(leased);
    let leased = lease(&one);
    assert!(leased.still_valid());
    assert!(one.lose(&net()));
    assert!(!leased.still_valid());
    one.give(Grant::of(Cap::Kv).named(net())).unwrap();
    assert!(!leased.still_valid(), "it is another grant, though of the same name");
}

#[test]
fn a_grant_that_is_lost_or_revoked_ends_the_calls_that_it_let_begin() {
    let denied = "capability `kv` is not granted: the grant was taken back";
    for (operation, revoke) in
        [("counting.tool", false), ("counting.run", false), ("counting.tool", true), ("counting.run", true)]
    {
        let room = room();
        let (one, other) = (session(&room.gate), session(&room.gate));
        let mut call = Box::pin(room.gate.dispatch(&one, Call::new(operation, b"", Streams::default())));
        let woken = Arc::<Woken>::default();
        assert!(call.as_mut().poll(&mut Context::from_waker(&Arc::clone(&woken).into())).is_pending());
        match revoke {
            false => assert!(one.lose(&net())),
            true => room.gate.revoke(&Node::Grant(Tenant::default(), net().shared())).unwrap(),
        }
        assert!(woken.0.load(Ordering::SeqCst), "{operation}");
        assert_eq!(block_on(call).map(drop).unwrap_err().to_string(), denied, "{operation}");
        assert_eq!(
            other.grants().iter().all(|it| other.holds(it)),
            !revoke,
            "others keep what was only lost"
        );
    }
}

#[test]
fn a_call_in_flight_goes_on_when_a_session_is_given_a_grant_or_loses_another() {
    let room = room();
    let session = session(&room.gate);
    let mut call =
        Box::pin(room.gate.dispatch(&session, Call::new("counting.tool", b"", Streams::default())));
    assert!(poll(&mut call).is_pending());
    session.give(Grant::of(Cap::Exec).named("run".parse().unwrap())).unwrap();
    assert!(poll(&mut call).is_pending());
    assert!(session.lose(&"run".parse().unwrap()));
    assert!(poll(&mut call).is_pending());
    assert_eq!(room.seen.valid.load(Ordering::SeqCst), 3, "its permit held at every step");
    drop(call);
    let said = room.said();
    let changes: Vec<_> = said.iter().filter(|it| it.0.starts_with("grant.")).collect();
    let done = || "ended done".to_owned();
    assert_eq!(changes, [&("grant.give", done()), &("grant.lose", done())]);
}

#[test]
fn a_stream_learns_of_a_revocation_before_its_next_chunk() {
    // A power of the class of runs is given a moment to end by itself, and asks its permit meanwhile.
    let room = room();
    let session = session(&room.gate);
    let mut call = Box::pin(room.gate.dispatch(&session, Call::new("counting.run", b"", Streams::default())));
    assert!(poll(&mut call).is_pending());
    room.gate.revoke(&me()).unwrap();
    room.gate.unrevoke(&me()).unwrap();
    assert!(block_on(call).is_err());
    let (steps, valid) = (room.seen.steps.load(Ordering::SeqCst), room.seen.valid.load(Ordering::SeqCst));
    assert_eq!((steps, valid), (2, 1), "the second step saw that it must end");
}

/// Says at each write whether the work was gone by then.
struct Watching {
    seen: Arc<Seen>,
    gone: Mutex<Vec<(String, bool)>>,
}

impl Journal for Watching {
    fn append(&self, records: &[AuditRecord]) -> Result<(), JournalError> {
        let dropped = self.seen.dropped.load(Ordering::SeqCst);
        self.gone.lock().extend(records.iter().map(|it| (it.event.to_string(), dropped)));
        Ok(())
    }

    fn sync(&self) -> Result<(), JournalError> {
        Ok(())
    }
}

#[test]
fn work_that_was_cut_off_is_gone_before_anybody_waits_for_its_record() {
    let seen = Arc::<Seen>::default();
    let journal = Arc::new(Watching { seen: Arc::clone(&seen), gone: Mutex::default() });
    let gate = Arc::new(room_with(Arc::clone(&journal) as _, &seen));
    let session = session(&gate);
    let mut call = Box::pin(gate.dispatch(&session, Call::new("counting.tool", b"", Streams::default())));
    assert!(poll(&mut call).is_pending());
    gate.revoke(&me()).unwrap();
    assert!(block_on(call).is_err());
    assert_eq!(*journal.gone.lock(), [("begun".into(), false), ("ended revoked".to_owned(), true)]);
}

#[test]
fn work_of_a_front_end_is_refused_to_the_revoked_and_is_on_record_from_its_beginning_to_its_end() {
    let room = room();
    let session = session(&room.gate);
    let begin = || block_on(room.gate.begin_work(&session, "line.run", session.lineage().call));
    begin().unwrap().end(Outcome::Exited(0));
    let work = begin().unwrap();
    room.gate.revoke(&me()).unwrap();
    assert_eq!(session.lost_since(work.mark()), Some(Denial::Revoked));
    block_on(work.refused(Denial::Revoked));
    assert_eq!(begin().map(drop).unwrap_err().code(), "revoked");
    room.gate.unrevoke(&me()).unwrap();
    drop(begin().unwrap());
    let said: Vec<_> = room.said().into_iter().map(|it| it.1).collect();
    let wanted =
        ["begun", "ended done", "begun", "ended revoked", "denied revoked", "begun", "ended dropped"];
    assert_eq!(said, wanted);
}

/// A ledger that has an old answer on its way while somebody revokes.
struct Slow {
    inner: MemoryLedger,
    /// Run after the answer was read and before it is handed out.
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Ledger for Slow {
    fn lease(&self, tenant: &Tenant, counter: &str, wanted: u64, max: u64) -> Result<u64, LedgerError> {
        self.inner.lease(tenant, counter, wanted, max)
    }
    fn leased(&self, tenant: &Tenant, counter: &str) -> Result<u64, LedgerError> {
        self.inner.leased(tenant, counter)
    }
    fn cell(&self, tenant: &Tenant, key: &str) -> Result<Option<Vec<u8>>, LedgerError> {
        self.inner.cell(tenant, key)
    }
    fn swap(
        &self,
        tenant: &Tenant,
        key: &str,
        expected: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool, LedgerError> {
        self.inner.swap(tenant, key, expected, new)
    }
    fn cells(&self, tenant: &Tenant, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, LedgerError> {
        self.inner.cells(tenant, prefix)
    }
    fn revoke(&self, node: &Node, at: Timestamp) -> Result<bool, LedgerError> {
        self.inner.revoke(node, at)
    }
    fn unrevoke(&self, node: &Node) -> Result<bool, LedgerError> {
        self.inner.unrevoke(node)
    }
    fn revocations(&self, seen: Option<u64>) -> Result<Option<(u64, Vec<Node>)>, LedgerError> {
        let answer = self.inner.revocations(seen);
        let meanwhile = self.meanwhile.lock().take();
        if let Some(meanwhile) = meanwhile {
            meanwhile();
        }
        answer
    }
}

#[test]
fn an_old_answer_of_the_ledger_takes_no_revocation_back_that_was_made_meanwhile() {
    let ledger = Arc::new(Slow { inner: MemoryLedger::default(), meanwhile: Mutex::default() });
    let seen = Arc::<Seen>::default();
    let gate = room_with(Arc::new(MemoryJournal::default()), &seen);
    let gate = Arc::new(gate.agreeing_by(Arc::clone(&ledger) as _).unwrap());
    let (session, mark) = (session(&gate), session(&gate).mark());
    // Somebody else of the home is revoked, so that there is something to hear.
    let other = Node::Principal(Tenant::default(), principal("other"));
    ledger.inner.revoke(&other, Timestamp(1)).unwrap();
    let revoking = Arc::new(Mutex::new(None));
    *ledger.meanwhile.lock() = Some(Box::new({
        let (gate, revoking, session) = (Arc::clone(&gate), Arc::clone(&revoking), session.clone());
        move || {
            *revoking.lock() = Some(std::thread::spawn(move || gate.revoke(&me()).unwrap()));
            // The answer is handed out only after the revocation works here.
            while session.is_live() {
                std::thread::yield_now();
            }
        }
    }));
    let mut heard = None;
    gate.hear(&*ledger, &mut heard).unwrap();
    assert!(!session.is_live(), "the answer was older than the revocation");
    let revoking = revoking.lock().take().unwrap();
    revoking.join().unwrap();
    assert!(!session.is_live());
    gate.hear(&*ledger, &mut heard).unwrap();
    assert!(!session.is_live() && session.lost_since(mark).is_some());
    gate.unrevoke(&me()).unwrap();
    gate.hear(&*ledger, &mut heard).unwrap();
    assert!(session.is_live());
}

#[test]
fn a_revocation_that_the_ledger_did_not_take_holds_here_whatever_the_ledger_says_next() {
    let ledger = Arc::new(MemoryLedger::default());
    let seen = Arc::<Seen>::default();
    let gate = room_with(Arc::new(MemoryJournal::default()), &seen);
    let gate = gate.agreeing_by(Arc::clone(&ledger) as _).unwrap();
    let session = session(&gate);
    ledger.break_down();
    assert_eq!(gate.revoke(&me()).unwrap_err().code, "ledger_unavailable");
    ledger.mend();
    ledger.revoke(&Node::Principal(Tenant::default(), principal("other")), Timestamp(1)).unwrap();
    gate.hear(&*ledger, &mut None).unwrap();
    assert!(!session.is_live());
    gate.unrevoke(&me()).unwrap();
    assert!(session.is_live());
}

#[test]
fn a_grant_is_revoked_for_good() {
    let room = room();
    let grant = Node::Grant(Tenant::default(), net().shared());
    room.gate.revoke(&grant).unwrap();
    let refused = room.gate.unrevoke(&grant).unwrap_err();
    assert_eq!(
        (refused.code(), refused.to_string().as_str()),
        (
            "revoked_grant",
            "grant `net` was revoked, and a grant is revoked for good; give a new one with another id"
        )
    );
}
