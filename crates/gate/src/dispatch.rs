//! The one function that answers calls.

use std::{
    collections::HashMap,
    future::ready as ready_now,
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use drydock_contract::{
    BoxFuture, Call, CallError, CallId, Cap, Denial, Dispatch, Entropy, Fault, GrantId, Lineage, Reply,
    Timestamp, TraceId, Who,
    port::{
        Attempt, AuditEvent, AuditRecord, CallEnd, CallFacts, Clock, Digested, EndKind, Journal, Ledger,
        LedgerError, Subjects,
    },
};

use parking_lot::Mutex;
use rustc_hash::FxBuildHasher;

use crate::{
    Audited, CapSpec, Capability, Class, Operation, Recording, Refused, Session, SessionSpec,
    account::Accounts,
    act::{Begun, OpenCall, carry_out},
    audit::{Audit, AuditCounts},
    digest::Digester,
    giving::Giving,
    grant_table::GrantTable,
    ladder::{self, Asked, Climb, Stop, Through},
    lender::Lender,
    rate::Rate,
    span,
};

/// How the gate counts and records.
#[derive(Debug, Clone, Copy)]
pub struct GateSettings {
    /// Calls a principal may make in a window.
    pub calls_max: u32,
    /// The window.
    pub window_s: u32,
    /// Principals remembered at once.
    pub principals_max: usize,
    /// Calls of one class that all principals of a tenant may have in flight together.
    pub tenant_in_flight_max: u32,
    /// When the record of an allowed call is written.
    pub recording: Recording,
    /// What the digests in records are keyed with: a secret of the installation.
    pub digest_key: [u8; 32],
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            calls_max: 120_000,
            window_s: 60,
            principals_max: 65_536,
            tenant_in_flight_max: 1024,
            recording: Recording::Behind,
            digest_key: [0; 32],
        }
    }
}

/// The gate: every power behind it, everybody's account, and the audit around both.
pub struct Gate {
    powers: Vec<Box<dyn Power>>,
    /// Where each operation is found: its power and its specification. What is looked up may be a guest's word; what is
    /// in it never is, so that a hash without a secret does.
    operations: HashMap<&'static str, (usize, &'static Operation), FxBuildHasher>,
    pub(crate) accounts: Accounts,
    pub(crate) grants: Arc<GrantTable>,
    giving: Arc<Giving>,
    pub(crate) audit: Arc<Audit>,
    pub(crate) digester: Digester,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ledger: Option<Arc<dyn Ledger>>,
    /// Held by whoever asks the ledger what is revoked and does as it says, or changes that.
    pub(crate) agreeing: Mutex<()>,
    pub(crate) lender: Arc<Lender>,
    pub(crate) rate: Rate,
    tenant_in_flight_max: u32,
    pub(crate) recording: Recording,
    traces: (RandomState, AtomicU64),
}

impl Gate {
    /// A gate with no powers behind it.
    pub fn new(settings: GateSettings, clock: Arc<dyn Clock>, journal: Arc<dyn Journal>) -> Self {
        let rate = Rate { calls_max: settings.calls_max, window_s: settings.window_s };
        let (grants, audit) = (Arc::<GrantTable>::default(), Arc::new(Audit::new(journal)));
        let giving =
            Giving { table: Arc::clone(&grants), audit: Arc::downgrade(&audit), clock: Arc::clone(&clock) };
        Self {
            powers: Vec::new(),
            operations: HashMap::default(),
            accounts: Accounts::new(settings.principals_max, rate),
            grants,
            giving: Arc::new(giving),
            audit,
            digester: Digester::new(settings.digest_key),
            clock,
            ledger: None,
            agreeing: Mutex::default(),
            lender: Arc::default(),
            rate,
            tenant_in_flight_max: settings.tenant_in_flight_max,
            recording: settings.recording,
            traces: (RandomState::new(), AtomicU64::new(0)),
        }
    }

    /// The gate with one more power behind it.
    #[must_use]
    pub fn with<C: Capability>(mut self, capability: C) -> Self {
        let place = self.powers.len();
        self.operations.extend(C::SPEC.operations.iter().map(|it| (it.name, (place, it))));
        self.powers.push(Box::new(capability));
        self
    }

    /// The gate of a home whose processes agree by this ledger: what is revoked there is revoked here.
    pub fn agreeing_by(mut self, ledger: Arc<dyn Ledger>) -> Result<Self, LedgerError> {
        self.hear(&*ledger, &mut None)?;
        self.ledger = Some(ledger);
        Ok(self)
    }

    /// What all processes of the home agree by, if there is such a thing.
    pub fn ledger(&self) -> Option<&Arc<dyn Ledger>> {
        self.ledger.as_ref()
    }

    /// What is behind the gate.
    pub fn specs(&self) -> impl Iterator<Item = &'static CapSpec> {
        self.powers.iter().map(|power| power.spec())
    }

    /// Opens a session.
    pub fn open(&self, spec: SessionSpec) -> Result<Session, Denial> {
        let now = self.clock.now();
        let who = Who { tenant: spec.tenant.clone(), principal: spec.principal.clone() };
        let lineage = spec.lineage.clone().unwrap_or_else(|| Lineage::root(self.trace_of(&spec)));
        let account = self.accounts.of(&who, now);
        let opened =
            account.and_then(|it| Session::open(spec, it, lineage.clone(), Arc::clone(&self.giving)));
        match opened {
            Ok(session) => Ok(session),
            Err(denial) => {
                let (call, parent) = lineage.next();
                let facts = CallFacts {
                    who: Arc::new(who),
                    trace: lineage.trace,
                    call,
                    parent,
                    operation: "session.open",
                    subjects: Subjects::none(),
                    grant: None,
                    request: None,
                };
                let event = AuditEvent::Denied(denial.code());
                self.audit.refused(AuditRecord { at: now, call: facts, event });
                Err(denial)
            }
        }
    }

    /// A seeded session's trace follows from its seed; any other is one that nobody had.
    fn trace_of(&self, spec: &SessionSpec) -> TraceId {
        if let Entropy::Seeded(seed) = spec.entropy {
            return TraceId::seeded(seed);
        }
        let (random, opened) = &self.traces;
        let number = opened.fetch_add(1, Ordering::Relaxed);
        let half = |which: u8| u128::from(random.hash_one((number, which)));
        TraceId(half(0) << 64 | half(1))
    }

    /// Answers one call, or refuses it. It is numbered and judged here and now, and not when the future is first polled:
    /// calls are counted as they are made, not as they are scheduled.
    pub fn dispatch<'a>(
        self: &'a Arc<Self>,
        session: &'a Session,
        call: Call<'a>,
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        let ids = session.lineage().next_or(call.ordinal);
        tracing::trace!(target: "drydock::hop", "gate: Call{{{}}} climbs the ladder", call.operation);
        let found = self.operations.get(call.operation);
        let span = span::of_call(session, ids, found.map(|(_, operation)| operation.name));
        let answering = span.in_scope(|| match found {
            Some((power, operation)) => self.powers[*power].answer(self, session, ids, operation, call),
            None => Box::pin(self.answer_nobody(session, ids, call)),
        });
        span::around(span, answering)
    }

    /// For an operation that nobody offers.
    async fn answer_nobody<'a>(
        self: &'a Arc<Self>,
        session: &'a Session,
        ids: (CallId, CallId),
        call: Call<'a>,
    ) -> Result<Reply, CallError> {
        let (now, denial) = self.first_rungs(session).await?;
        let nobody = || Denial::UnknownOperation(ladder::shorten(call.operation).to_string());
        let denial = denial.unwrap_or_else(nobody);
        let facts = facts(&self.climb_to_nowhere(session), ids, Subjects::none(), None, None);
        Err(self.refuse(session, now, facts, denial).await)
    }

    fn climb_to_nowhere<'a>(&'a self, session: &'a Session) -> Climb<'a> {
        self.climb(session, &NOWHERE, &NOWHERE.operations[0], 0)
    }

    /// The rungs that every caller climbs, whatever for: when that was, and what was refused.
    pub(crate) async fn first_rungs(&self, session: &Session) -> Result<(Timestamp, Option<Denial>), Fault> {
        loop {
            let climb = self.climb_to_nowhere(session);
            match ladder::climb_to_nowhere(&climb).err() {
                Some(Stop::Unleased) => self.lease_calls(session, climb.now).await?,
                Some(Stop::Refused(denial)) => return Ok((climb.now, Some(denial))),
                None => return Ok((climb.now, None)),
            }
        }
    }

    pub(crate) fn climb<'a>(
        &'a self,
        session: &'a Session,
        spec: &'a CapSpec,
        operation: &'a Operation,
        payload_bytes: u64,
    ) -> Climb<'a> {
        let (now, rate, leasing) = (self.clock.now(), self.rate, self.leasing());
        let tenant_in_flight_max = self.tenant_in_flight_max;
        let grants = session.grants();
        Climb { session, grants, spec, operation, payload_bytes, now, rate, leasing, tenant_in_flight_max }
    }

    /// The gate bound to a session, for a front end that is handed a door instead of the two. It gives
    /// nothing that [`Gate::dispatch`] with the same session would not.
    pub fn door(self: &Arc<Self>, session: &Session) -> Arc<dyn Dispatch> {
        Arc::new(Door { gate: Arc::clone(self), session: session.clone() })
    }

    /// Decisions since the start, counted.
    pub fn counts(&self) -> AuditCounts {
        self.audit.counts()
    }

    /// How many principals are remembered.
    pub fn principals(&self) -> usize {
        self.accounts.len()
    }

    /// Writes every record out, and says if one could not be.
    pub fn flush(&self) -> Result<(), String> {
        self.audit.flush()
    }

    /// The gate's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) async fn refuse(
        &self,
        session: &Session,
        at: Timestamp,
        call: CallFacts,
        denial: Denial,
    ) -> CallError {
        if let Some(log) = session.denials() {
            log.keep(&denial);
        }
        let event = AuditEvent::Denied(denial.code());
        self.audit.denied(session.account(), AuditRecord { at, call, event }).await;
        denial.into()
    }

    /// Records that a call is about to act: no record, no act. What is given back can be recorded only by waiting.
    pub(crate) fn record_begin(
        &self,
        session: &Session,
        record: AuditRecord,
    ) -> Result<Option<AuditRecord>, Fault> {
        let account = session.account();
        match self.recording {
            Recording::Behind => Ok(self.audit.begun(account, record).err()),
            Recording::Ahead => {
                self.audit.begun_ahead(account, record).map(|()| None).map_err(Fault::Unrecorded)
            }
        }
    }

    /// Records that a call is about to make a connection: no record, no connection.
    pub(crate) fn record_attempt(&self, call: CallFacts) -> Result<(), Fault> {
        let record = AuditRecord { at: self.clock.now(), call, event: AuditEvent::Begun };
        self.audit.attempted(record, self.recording).map_err(Fault::Unrecorded)
    }

    /// Records that a call is over, if its beginning was.
    pub(crate) fn record_end(&self, facts: &CallFacts, audited: Audited, end: CallEnd) {
        if audited == Audited::Everything {
            let event = AuditEvent::Ended(end);
            let record = AuditRecord { at: self.clock.now(), call: facts.clone(), event };
            match self.recording {
                Recording::Behind => self.audit.ended(record),
                Recording::Ahead => self.audit.ended_here(record),
            }
        }
    }

    /// A denial that a power found out while it acted: on disk before it is reported, like any other.
    pub(crate) async fn record_late_denial(
        &self,
        facts: &CallFacts,
        code: &'static str,
        attempts: Option<Arc<[Attempt]>>,
    ) {
        let event = AuditEvent::Ended(CallEnd { attempts, ..CallEnd::plain(EndKind::Denied(code)) });
        self.audit.denied_late(AuditRecord { at: self.clock.now(), call: facts.clone(), event }).await;
    }
}

fn facts(
    climb: &Climb<'_>,
    (call, parent): (CallId, CallId),
    subjects: Subjects,
    grant: Option<GrantId>,
    request: Option<Digested>,
) -> CallFacts {
    let who = Arc::clone(&climb.session.account().who);
    let (trace, operation) = (climb.session.lineage().trace, climb.operation.name);
    CallFacts { who, trace, call, parent, operation, subjects, grant, request }
}

/// A tape that lets through what this gate refuses: there is nothing to let through.
fn unjudged() -> CallError {
    Fault::Internal("a refused call was let through".into()).into()
}

/// Stands in for an operation nobody offers, so that its denial has a record like any other.
const NOWHERE: CapSpec = CapSpec {
    cap: Cap::Commands,
    operations: &[Operation {
        name: "unknown",
        class: Class::Look,
        request_bytes_max: 0,
        in_flight_max: None,
        audited: Audited::Denials,
        summary: "",
    }],
    imports: &[],
};

/// A capability with its types hidden, so that the gate can keep a list of them.
trait Power: Send + Sync {
    fn spec(&self) -> &'static CapSpec;

    fn answer<'a>(
        &'a self,
        gate: &'a Arc<Gate>,
        session: &'a Session,
        ids: (CallId, CallId),
        operation: &'static Operation,
        call: Call<'a>,
    ) -> BoxFuture<'a, Result<Reply, CallError>>;
}

impl<C: Capability> Power for C {
    fn spec(&self) -> &'static CapSpec {
        &C::SPEC
    }

    fn answer<'a>(
        &'a self,
        gate: &'a Arc<Gate>,
        session: &'a Session,
        ids: (CallId, CallId),
        operation: &'static Operation,
        mut call: Call<'a>,
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        // Climbing takes no time, so it is done here: what it needs is no part of the future, which is moved.
        let typed_bytes = call.typed.as_ref().map_or(0, |it| it.bytes);
        let payload_bytes =
            (call.payload.len() as u64).saturating_add(call.unread_bytes).saturating_add(typed_bytes);
        // Taken before the first rung looks, so that a revocation that is taken back at once still ends the call.
        let mark = session.mark();
        let climb = gate.climb(session, &C::SPEC, operation, payload_bytes);
        let now = climb.now;
        // A tape knows each call by all of its request, whether it is on record or not.
        let wanted = operation.audited == Audited::Everything || session.spec().tape.is_some();
        let digester = wanted.then_some(&gate.digester);
        let asked = Asked { payload: call.payload, typed: &mut call.typed, digester };
        let through = match ladder::climb(self, &climb, asked) {
            Ok(through) => through,
            Err(Stop::Unleased) => {
                // Rare: a process that calls faster than its leases come.
                return Box::pin(async move {
                    gate.lease_calls(session, now).await?;
                    self.answer(gate, session, ids, operation, call).await
                });
            }
            Err(Stop::Refused(Refused { denial, subjects })) => {
                let facts = facts(&climb, ids, subjects, None, None);
                return match session.judged(&facts, C::SPEC.cap, Some(denial)) {
                    Err(CallError::Denied(denial)) => {
                        Box::pin(async move { Err(gate.refuse(session, now, facts, denial).await) })
                    }
                    Err(other) => Box::pin(ready_now(Err(other))),
                    Ok(()) => Box::pin(ready_now(Err(unjudged()))),
                };
            }
        };
        let Through { ready, slot, reserved, grant, use_due, request } = through;
        let named = grant.id().cloned();
        let facts = facts(&climb, ids, C::subjects(&ready), named, request);
        match session.judged(&facts, C::SPEC.cap, None) {
            Ok(()) => {}
            Err(CallError::Denied(denial)) => {
                let facts = CallFacts { grant: None, request: None, ..facts };
                return Box::pin(async move { Err(gate.refuse(session, now, facts, denial).await) });
            }
            Err(other) => return Box::pin(ready_now(Err(other))),
        }
        let (audited, file_rules, wants_typed, class) =
            (operation.audited, call.file_rules, call.wants_typed, operation.class);
        let caps = session.spec().importable.union(climb.grants.caps());
        let record = || AuditRecord { at: now, call: facts.clone(), event: AuditEvent::Begun };
        let mut record = (audited == Audited::Everything).then(record);
        if use_due.is_none()
            && let Some(due) = record.take()
        {
            record = match gate.record_begin(session, due) {
                Ok(due) => due,
                Err(fault) => return Box::pin(ready_now(Err(fault.into()))),
            };
        }
        let open = OpenCall::new(gate, facts, audited);
        let mut begun = Begun { open, grant, caps, slot, reserved, file_rules, wants_typed, mark, class };
        if use_due.is_none() && record.is_none() {
            begun.open.begin();
            return Box::pin(carry_out(self, (gate, session), begun, ready, call.streams));
        }
        Box::pin(async move {
            if let Some(kept) = use_due
                && !gate.lease_use(&begun.grant, kept).await?
            {
                let facts = CallFacts { grant: None, request: None, ..begun.open.facts.clone() };
                let denial = ladder::used_up::<C>(&ready);
                return Err(gate.refuse(session, now, facts, denial).await);
            }
            if let Some(record) = record {
                gate.audit.begun_later(session.account(), record).await.map_err(Fault::Unrecorded)?;
            }
            begun.open.begin();
            carry_out(self, (gate, session), begun, ready, call.streams).await
        })
    }
}

/// The gate bound to a session: what a run is given as its only way to the world.
pub(crate) struct Door {
    pub(crate) gate: Arc<Gate>,
    pub(crate) session: Session,
}

impl Dispatch for Door {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        self.gate.dispatch(&self.session, call)
    }
}
