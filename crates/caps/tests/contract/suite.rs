//! What every capability must show, whatever it does: each way in which a call is not answered has its code and its records,
//! and leaves nothing behind. A power says in its [`Case`] what is asked of it; what is asked of the gate is said here.
//!
//! Nothing here knows a power, sleeps, or looks at a clock: work that ends, ends because somebody ended it.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use drydock_contract::{
    Budget, Call, CallError, Cap, GrantId, GrantSpec, Lineage, Node, Reply, Streams, Tenant, TraceId, Typed,
    Unit, port::AuditEvent,
};
use drydock_gate::{
    Audited, CapSpec, Class, Gate, GateSettings, Grant, HeldGrants, Operation, Session, SessionSpec,
};
use drydock_testkit::{FixedClock, MemoryJournal, principal};

pub(crate) type Later<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// How one power is asked.
pub(crate) trait Case {
    /// What it says of itself.
    fn spec(&self) -> &'static CapSpec;

    /// The codes of its own bounds: each must be among its refusals.
    fn bounds(&self) -> &'static [&'static str] {
        &[]
    }

    /// The gate with the power behind it, and what the power itself asks for.
    fn behind(&self, gate: Gate, clock: &Arc<FixedClock>) -> Gate;

    /// What a session has besides the power: other powers, tools.
    fn session(&self, spec: SessionSpec) -> SessionSpec {
        spec
    }

    /// Further powers of it.
    fn beside(&self) -> Vec<Grant> {
        Vec::new()
    }

    /// What the grant names; nothing where it names everything.
    fn subjects(&self) -> Option<Vec<String>> {
        None
    }

    /// A name that no request here is about, and the code for whoever was granted only that.
    fn elsewhere(&self) -> (&'static str, &'static str);

    /// A request that is answered.
    fn good<'a>(&'a self, operation: &'static str, who: &'a Who) -> Later<'a, Ask>;

    /// Requests that are none, besides those that are none of any operation.
    fn malformed(&self, operation: &'static str) -> Vec<Ask> {
        let _ = operation;
        Vec::new()
    }

    /// Requests that the power itself refuses, in this order.
    fn refusals<'a>(&'a self, operation: &'static str, who: &'a Who) -> Later<'a, Vec<Refusal>> {
        let _ = (operation, who);
        Box::pin(async { Vec::new() })
    }

    /// A request that is not answered by itself; nothing where every answer is there at once.
    fn waiting<'a>(&'a self, operation: &'static str, who: &'a Who) -> Option<Later<'a, Ask>> {
        let _ = (operation, who);
        None
    }

    /// How much of the work behind the gate is going on, where the case can see it.
    fn working(&self) -> Option<usize> {
        None
    }

    /// What is left when the call is over.
    fn outlives(&self, operation: &'static str) -> Outlives {
        let _ = operation;
        Outlives::Nothing
    }

    /// Proves that what outlived its call is of no use, now that what let it begin is gone.
    fn lost<'a>(&'a self, operation: &'static str, reply: Reply, who: &'a Who) -> Later<'a, ()> {
        let _ = (reply, who);
        panic!("{operation}: nobody said what is lost")
    }
}

/// What an operation leaves behind when it was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outlives {
    Nothing,
    /// Something that holds the call's place and its open record.
    Lease,
    /// Something that is kept for the session, and holds neither.
    State,
}

/// One request.
pub(crate) struct Ask {
    payload: Vec<u8>,
    /// Bytes that are not even there to be read.
    unread_bytes: u64,
    typed: Option<Typed>,
    /// What must live for as long as the request.
    held: Option<Box<dyn std::any::Any>>,
}

impl Ask {
    pub(crate) fn bytes(payload: impl Into<Vec<u8>>) -> Self {
        let (typed, held) = (None, None);
        Self { payload: payload.into(), unread_bytes: 0, typed, held }
    }

    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::bytes(value.to_string())
    }

    pub(crate) fn typed(value: impl std::any::Any + Send) -> Self {
        Self { typed: Some(Typed { value: Box::new(value), bytes: 0 }), ..Self::bytes("") }
    }

    pub(crate) fn holding(self, held: impl std::any::Any) -> Self {
        Self { held: Some(Box::new(held)), ..self }
    }

    fn call<'a>(&'a mut self, operation: &'a str) -> Call<'a> {
        let typed = self.typed.take();
        let wants_typed = typed.is_some();
        let unread_bytes = self.unread_bytes;
        Call { typed, unread_bytes, wants_typed, ..Call::new(operation, &self.payload, Streams::default()) }
    }
}

/// A request that the power itself refuses.
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) when: When,
    pub(crate) ask: Ask,
}

/// How far a request got that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Judged,
    /// The power found it out while it acted.
    Acting,
}

impl Refusal {
    pub(crate) fn judged(code: &'static str, ask: Ask) -> Self {
        Self { code, when: When::Judged, ask }
    }

    pub(crate) fn acting(code: &'static str, ask: Ask) -> Self {
        Self { code, when: When::Acting, ask }
    }
}

/// Somebody who asks.
pub(crate) struct Who {
    pub(crate) gate: Arc<Gate>,
    pub(crate) session: Session,
}

impl Who {
    pub(crate) async fn ask(&self, operation: &str, mut ask: Ask) -> Result<Reply, CallError> {
        let held = ask.held.take();
        let answer = self.gate.dispatch(&self.session, ask.call(operation)).await;
        drop(held);
        answer
    }

    /// The bytes of an answer that there must be.
    pub(crate) async fn told(&self, operation: &str, ask: Ask) -> Vec<u8> {
        match self.ask(operation, ask).await {
            Ok(reply) => reply.payload,
            Err(error) => panic!("{operation} was to be answered: {error}"),
        }
    }

    async fn code(&self, operation: &str, ask: Ask) -> &'static str {
        self.ask(operation, ask).await.map_or_else(|it| it.code(), |_| "answered")
    }

    /// What the session has in flight, class by class.
    fn in_flight(&self) -> [u32; Class::COUNT] {
        CLASSES.map(|class| self.session.own_in_flight(class))
    }
}

const CLASSES: [Class; Class::COUNT] =
    [Class::Run, Class::Tool, Class::Look, Class::Fetch, Class::Process, Class::Connection];

/// Whether more is in flight of any class.
fn exceeds(now: [u32; Class::COUNT], before: [u32; Class::COUNT]) -> bool {
    now.iter().zip(before).any(|(now, before)| *now > before)
}

/// The grant that is given and taken.
const GRANT: &str = "the-grant";

/// A power behind a gate of its own, with its records.
pub(crate) struct Yard<'c> {
    case: &'c dyn Case,
    gate: Arc<Gate>,
    journal: Arc<MemoryJournal>,
}

impl<'c> Yard<'c> {
    fn of(case: &'c dyn Case, settings: GateSettings) -> Self {
        let (clock, journal) = (Arc::new(FixedClock::at_second(600)), Arc::new(MemoryJournal::default()));
        let gate = Gate::new(settings, Arc::clone(&clock) as _, Arc::clone(&journal) as _);
        Self { case, gate: Arc::new(case.behind(gate, &clock)), journal }
    }

    fn grant(&self, subjects: Option<Vec<String>>) -> Grant {
        let cap = self.case.spec().cap.as_str();
        let mut grant = serde_json::json!({ "id": GRANT, "cap": cap });
        if let Some(subjects) = subjects {
            grant["subjects"] = subjects.into();
        }
        Grant::from_spec(&GrantSpec::parse(grant.to_string().as_bytes()).unwrap(), None)
    }

    fn who_with(&self, grants: Vec<Grant>, change: impl FnOnce(SessionSpec) -> SessionSpec) -> Who {
        let grants: HeldGrants = self.case.beside().into_iter().chain(grants).collect();
        let spec = SessionSpec { grants, ..SessionSpec::new(principal("me")) };
        let session = self.gate.open(change(self.case.session(spec))).unwrap();
        Who { gate: Arc::clone(&self.gate), session }
    }

    fn who(&self) -> Who {
        self.who_with(vec![self.grant(self.case.subjects())], |it| it)
    }

    /// How many records there are.
    fn recorded(&self) -> usize {
        self.gate.flush().unwrap();
        self.journal.records().len()
    }

    /// What happened to calls of the operation since then.
    fn since(&self, mark: usize, operation: &str) -> Vec<String> {
        self.gate.flush().unwrap();
        let records = self.journal.records();
        let ours = records[mark..].iter().filter(|it| it.call.operation == operation);
        ours.map(|it| it.event.to_string()).collect()
    }

    /// A refusal has its code, one record, which is on disk before anybody hears of it, and takes no place.
    async fn refused(&self, operation: &'static Operation, who: &Who, mut ask: Ask, code: &str, when: When) {
        let (name, mark) = (operation.name, self.recorded());
        let before = who.session.own_in_flight(operation.class);
        // Its end has records too, which are not these.
        let _held = ask.held.take();
        assert_eq!(who.code(name, ask).await, code, "{name}");
        let synced = usize::try_from(self.journal.synced()).unwrap();
        let records = self.journal.records();
        let is_it = |event: &AuditEvent| event.is_grave() && event.to_string().ends_with(&format!(" {code}"));
        let denial = records.iter().skip(mark).position(|it| it.call.operation == name && is_it(&it.event));
        assert!(denial.is_some_and(|at| mark + at < synced), "{name} {code}: told before it was on disk");
        let want = match (when, operation.audited) {
            (When::Judged, _) => vec![format!("denied {code}")],
            (When::Acting, Audited::Everything) => vec!["begun".to_owned(), format!("ended {code}")],
            (When::Acting, Audited::Denials) => vec![format!("ended {code}")],
        };
        assert_eq!(self.since(mark, name), want, "{name} {code}");
        let now = who.session.own_in_flight(operation.class);
        assert!(now <= before, "{name} {code}: a place was not given back");
    }

    /// Until the session has no more in flight than that, and nobody works. What a request needed may be gone too.
    async fn settled(&self, what: &str, who: &Who, before: [u32; Class::COUNT]) {
        // Others of this test hold the machine's threads, too: only a hang is too long.
        let hung = Instant::now() + Duration::from_secs(60);
        while Instant::now() < hung {
            let is_idle = matches!(self.case.working(), None | Some(0));
            if is_idle && !exceeds(who.in_flight(), before) {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("{what}: {:?} in flight, and {before:?} before", who.in_flight());
    }

    fn node(&self) -> Node {
        Node::Principal(Tenant::default(), principal("me"))
    }
}

/// Where the calls of a run come from that is so many runs deep.
fn deep(depth: usize) -> Lineage {
    (0..depth).fold(Lineage::root(TraceId(1)), |it, _| it.within(it.next().0))
}

/// What is shown of each operation of each power.
pub(crate) async fn an_answer_is_recorded(case: &dyn Case) {
    for operation in case.spec().operations {
        let yard = Yard::of(case, GateSettings::default());
        let (who, name) = (yard.who(), operation.name);
        let ask = case.good(name, &who).await;
        let (mark, before) = (yard.recorded(), who.in_flight());
        let reply = who.ask(name, ask).await.unwrap_or_else(|it| panic!("{name}: {it}"));
        let holds = exceeds(who.in_flight(), before);
        assert_eq!(holds, case.outlives(name) == Outlives::Lease, "{name}: whether it outlives its call");
        drop(reply);
        yard.settled(name, &who, before).await;
        let events = yard.since(mark, name);
        match (operation.audited, case.outlives(name)) {
            (Audited::Denials, _) => assert!(events.is_empty(), "{name}: {events:?}"),
            (Audited::Everything, Outlives::Lease) => {
                assert_eq!((events.len(), events[0].as_str()), (2, "begun"), "{name}: {events:?}");
                assert!(events[1].starts_with("ended "), "{name}: {events:?}");
            }
            (Audited::Everything, _) => assert_eq!(events, ["begun", "ended done"], "{name}"),
        }
    }
}

pub(crate) async fn who_is_revoked_or_cancelled_is_refused(case: &dyn Case) {
    for operation in case.spec().operations {
        let yard = Yard::of(case, GateSettings::default());
        let who = yard.who();
        let ask = case.good(operation.name, &who).await;
        who.session.cancel();
        yard.refused(operation, &who, ask, "cancelled", When::Judged).await;
        let who = yard.who();
        let ask = case.good(operation.name, &who).await;
        yard.gate.revoke(&yard.node()).unwrap();
        yard.refused(operation, &who, ask, "revoked", When::Judged).await;
    }
}

pub(crate) async fn one_call_too_many_is_refused(case: &dyn Case) {
    for operation in case.spec().operations {
        let yard = Yard::of(case, GateSettings { calls_max: 64, ..GateSettings::default() });
        let who = yard.who();
        let ask = case.good(operation.name, &who).await;
        while who.code("no.such", Ask::bytes("")).await != "rate_limited" {}
        yard.refused(operation, &who, ask, "rate_limited", When::Judged).await;
    }
}

pub(crate) async fn who_was_granted_nothing_or_something_else_is_refused(case: &dyn Case) {
    let (elsewhere, code) = case.elsewhere();
    for operation in case.spec().operations {
        let yard = Yard::of(case, GateSettings::default());
        for (grants, code) in [
            (Vec::new(), "denied"),
            (vec![yard.grant(Some(vec![elsewhere.to_owned()]))], code),
            (vec![yard.grant(case.subjects()).times(0)], "denied"),
        ] {
            let (rich, poor) = (yard.who(), yard.who_with(grants, |it| it));
            let ask = case.good(operation.name, &rich).await;
            yard.refused(operation, &poor, ask, code, When::Judged).await;
        }
    }
}

pub(crate) async fn what_is_too_deep_or_too_large_is_refused(case: &dyn Case) {
    for operation in case.spec().operations {
        let yard = Yard::of(case, GateSettings::default());
        let who = yard.who();
        let ask = case.good(operation.name, &who).await;
        let low = yard
            .who_with(vec![yard.grant(case.subjects())], |it| SessionSpec { lineage: Some(deep(9)), ..it });
        yard.refused(operation, &low, ask, "max_depth", When::Judged).await;
        let large = Ask { unread_bytes: operation.request_bytes_max + 1, ..Ask::bytes("") };
        yard.refused(operation, &who, large, "too_large", When::Judged).await;
    }
}

/// A value of no operation.
struct Stranger;

pub(crate) async fn what_is_no_request_is_refused(case: &dyn Case) {
    for operation in case.spec().operations {
        let yard = Yard::of(case, GateSettings::default());
        let who = yard.who();
        let junk: [&[u8]; 4] = [b"\xff", b"{", b"[[[[", b"{\"nobody\":1}"];
        let fits = |it: &&&[u8]| it.len() as u64 <= operation.request_bytes_max;
        let junk = junk.iter().filter(fits).map(|it| Ask::bytes(*it));
        let own = case.malformed(operation.name);
        for ask in junk.chain([Ask::typed(Stranger)]).chain(own) {
            yard.refused(operation, &who, ask, "malformed", When::Judged).await;
        }
    }
}

/// Returns the codes.
pub(crate) async fn what_the_power_refuses_is_refused_by_its_code(case: &dyn Case) -> Vec<&'static str> {
    let mut codes = Vec::new();
    for operation in case.spec().operations {
        let yard = Yard::of(case, GateSettings::default());
        let who = yard.who();
        for Refusal { code, when, ask } in case.refusals(operation.name, &who).await {
            yard.refused(operation, &who, ask, code, when).await;
            codes.push(code);
        }
    }
    codes
}

pub(crate) async fn a_budget_that_is_spent_refuses(case: &dyn Case) {
    for operation in case.spec().operations {
        let yard = Yard::of(case, GateSettings::default());
        let budget = Arc::new(Budget::of([(Unit::Fuel, u64::MAX / 2)]));
        let own = Some(Arc::clone(&budget));
        let who = yard.who_with(vec![yard.grant(case.subjects())], |it| SessionSpec { budget: own, ..it });
        let ask = case.good(operation.name, &who).await;
        budget.reserve_up_to(Unit::Fuel, u64::MAX);
        yard.refused(operation, &who, ask, "budget_exceeded", When::Judged).await;
    }
}

/// Who or what ends a call in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Principal,
    Tenant,
    Session,
    /// The session loses its grant.
    Lost,
    /// The grant is revoked for everybody.
    Grant,
    /// Nobody waits for the answer.
    Caller,
}

impl Ends {
    const ALL: [Self; 6] =
        [Self::Principal, Self::Tenant, Self::Session, Self::Lost, Self::Grant, Self::Caller];

    const fn code(self) -> &'static str {
        match self {
            Self::Principal | Self::Tenant => "revoked",
            Self::Session => "cancelled",
            Self::Lost | Self::Grant => "denied",
            Self::Caller => "dropped",
        }
    }

    fn now(self, yard: &Yard<'_>, who: &Who) {
        let id: GrantId = GRANT.parse().unwrap();
        match self {
            Self::Principal => yard.gate.revoke(&yard.node()).unwrap(),
            Self::Tenant => yard.gate.revoke(&Node::Tenant(Tenant::default())).unwrap(),
            Self::Session => who.session.cancel(),
            Self::Lost => assert!(who.session.lose(&id)),
            Self::Grant => yard.gate.revoke(&Node::Grant(Tenant::default(), id.shared())).unwrap(),
            Self::Caller => {}
        }
    }
}

/// Returns the operations that were ended so.
pub(crate) async fn a_call_in_flight_ends_at_once(case: &dyn Case) -> Vec<&'static str> {
    let mut ended = Vec::new();
    for operation in case.spec().operations {
        for ends in Ends::ALL {
            let yard = Yard::of(case, GateSettings::default());
            let (who, name) = (yard.who(), operation.name);
            let Some(ask) = case.waiting(name, &who) else { continue };
            let mut ask = ask.await;
            let (mark, before) = (yard.recorded(), who.in_flight());
            let what = format!("{name} {ends:?}");
            let mut call = Some(who.gate.dispatch(&who.session, ask.call(name)));
            for _ in 0..200 {
                let polled = poll_fn(|cx| Poll::Ready(call.as_mut().map(|it| it.as_mut().poll(cx)))).await;
                assert!(polled.is_some_and(|it| it.is_pending()), "{what}: it does not wait");
                tokio::task::yield_now().await;
            }
            let waits = CLASSES.iter().position(|it| *it == operation.class).unwrap();
            assert!(who.in_flight()[waits] > before[waits], "{what}: it has no place");
            assert_ne!(case.working(), Some(0), "{what}: nobody works");
            ends.now(&yard, &who);
            match (ends, call.take()) {
                (Ends::Caller, call) => drop(call),
                (_, Some(call)) => {
                    let code = call.await.map_or_else(|it| it.code(), |_| "answered");
                    assert_eq!(code, ends.code(), "{what}");
                }
                (_, None) => unreachable!("it was there"),
            }
            drop(call);
            drop(ask);
            yard.settled(&what, &who, before).await;
            let end = format!("ended {}", ends.code());
            let want = match (operation.audited, ends) {
                (Audited::Everything, _) => vec!["begun".to_owned(), end],
                (Audited::Denials, Ends::Caller) => Vec::new(),
                (Audited::Denials, _) => vec![end],
            };
            assert_eq!(yard.since(mark, name), want, "{what}");
            ended.push(name);
        }
    }
    ended.dedup();
    ended
}

/// Returns the operations that left something behind.
pub(crate) async fn what_outlives_its_call_is_lost_with_what_let_it_begin(
    case: &dyn Case,
) -> Vec<&'static str> {
    let mut lost = Vec::new();
    for operation in case.spec().operations {
        let name = operation.name;
        if case.outlives(name) == Outlives::Nothing {
            continue;
        }
        for ends in Ends::ALL.into_iter().filter(|it| *it != Ends::Caller) {
            let (yard, what) = (Yard::of(case, GateSettings::default()), format!("{name} {ends:?}"));
            let who = yard.who();
            let ask = case.good(name, &who).await;
            let (mark, before) = (yard.recorded(), who.in_flight());
            let reply = who.ask(name, ask).await.unwrap_or_else(|it| panic!("{what}: {it}"));
            ends.now(&yard, &who);
            case.lost(name, reply, &who).await;
            yard.settled(&what, &who, before).await;
            if case.outlives(name) == Outlives::Lease && operation.audited == Audited::Everything {
                let events = yard.since(mark, name);
                assert!(events.len() == 2 && events[1].starts_with("ended "), "{what}: {events:?}");
            }
        }
        lost.push(name);
    }
    lost
}

/// Which powers there are cases of, and no others.
pub(crate) fn lists(case: &dyn Case, cap: Cap) {
    assert_eq!(case.spec().cap, cap, "the case of `{cap}` is one of another power");
}
