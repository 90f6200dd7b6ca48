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
    BoxFuture, Call, CallError, CallId, Cap, Denial, Dispatch, Entropy, Fault, GrantId, Lineage, Node, Reply,
    Timestamp, TraceId, Who,
    port::{
        AuditEvent, AuditRecord, CallEnd, CallFacts, Clock, Digested, EndKind, Journal, Ledger, LedgerError,
        Subjects,
    },
};

use crate::{
    Audited, CapSpec, Capability, Class, Operation, Recording, Refused, Session, SessionSpec,
    account::Accounts,
    act::{Begun, carry_out},
    audit::{Audit, AuditCounts},
    digest::Digester,
    grant_table::GrantTable,
    ladder::{self, Asked, Climb, Through},
    rate::Rate,
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
    /// Where each operation is found: its power and its specification.
    operations: HashMap<&'static str, (usize, &'static Operation)>,
    accounts: Accounts,
    grants: Arc<GrantTable>,
    audit: Audit,
    pub(crate) digester: Digester,
    pub(crate) clock: Arc<dyn Clock>,
    ledger: Option<Arc<dyn Ledger>>,
    rate: Rate,
    tenant_in_flight_max: u32,
    recording: Recording,
    traces: (RandomState, AtomicU64),
}

impl Gate {
    /// A gate with no powers behind it.
    pub fn new(settings: GateSettings, clock: Arc<dyn Clock>, journal: Arc<dyn Journal>) -> Self {
        let rate = Rate { calls_max: settings.calls_max, window_s: settings.window_s };
        Self {
            powers: Vec::new(),
            operations: HashMap::new(),
            accounts: Accounts::new(settings.principals_max, rate),
            grants: Arc::default(),
            audit: Audit::new(journal),
            digester: Digester::new(settings.digest_key),
            clock,
            ledger: None,
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
        if let Some((_, nodes)) = ledger.revocations(None)? {
            self.set_revoked(Some(nodes));
        }
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
            account.and_then(|it| Session::open(spec, it, lineage.clone(), Arc::clone(&self.grants)));
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
                self.audit.refused(AuditRecord { at: now, call: Arc::new(facts), event });
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

    /// Answers one call, or refuses it. Which of the session's calls it is, is settled here and now, and not when
    /// the future is first polled: calls are numbered as they are made, not as they are scheduled.
    pub fn dispatch<'a>(
        self: &'a Arc<Self>,
        session: &'a Session,
        call: Call<'a>,
    ) -> impl Future<Output = Result<Reply, CallError>> + Send + 'a {
        let ids = session.lineage().next_or(call.ordinal);
        self.answer(session, ids, call)
    }

    async fn answer<'a>(
        self: &'a Arc<Self>,
        session: &'a Session,
        ids: (CallId, CallId),
        call: Call<'a>,
    ) -> Result<Reply, CallError> {
        tracing::trace!(target: "drydock::hop", "gate: Call{{{}}} climbs the ladder", call.operation);
        if let Some((power, operation)) = self.operations.get(call.operation) {
            return self.powers[*power].answer(self, session, ids, operation, call).await;
        }
        let climb = self.climb(session, &NOWHERE, &NOWHERE.operations[0], 0);
        let nobody = || Denial::UnknownOperation(ladder::shorten(call.operation).to_string());
        let denial = ladder::climb_to_nowhere(&climb).err().unwrap_or_else(nobody);
        let facts = facts(&climb, ids, Subjects::none(), None, None);
        Err(self.refuse(session, climb.now, facts, denial).await)
    }

    fn climb<'a>(
        &'a self,
        session: &'a Session,
        spec: &'a CapSpec,
        operation: &'a Operation,
        payload_bytes: u64,
    ) -> Climb<'a> {
        let (now, rate, ledger) = (self.clock.now(), self.rate, self.ledger.as_deref());
        let tenant_in_flight_max = self.tenant_in_flight_max;
        let grants = session.grants();
        Climb { session, grants, spec, operation, payload_bytes, now, rate, ledger, tenant_in_flight_max }
    }

    /// The gate bound to a session, for a front end that is handed a door instead of the two. It gives
    /// nothing that [`Gate::dispatch`] with the same session would not.
    pub fn door(self: &Arc<Self>, session: &Session) -> Arc<dyn Dispatch> {
        Arc::new(Door { gate: Arc::clone(self), session: session.clone() })
    }

    /// Takes every power from a tenant, a principal or a grant, runs in flight included: in this process at once,
    /// and in all others of the home where there is a ledger.
    pub fn revoke(&self, node: &Node) -> Result<(), LedgerError> {
        self.accounts.revoke(node.clone());
        self.revoke_grants(std::slice::from_ref(node));
        if let Some(ledger) = &self.ledger {
            ledger.revoke(node, self.clock.now())?;
        }
        Ok(())
    }

    /// Lets what was revoked ask again. Runs that were ended stay ended.
    pub fn unrevoke(&self, node: &Node) -> Result<(), LedgerError> {
        if let Some(ledger) = &self.ledger {
            ledger.unrevoke(node)?;
        }
        self.accounts.unrevoke(node);
        Ok(())
    }

    /// Whether that very node is revoked.
    pub fn is_revoked(&self, node: &Node) -> bool {
        self.accounts.is_revoked(node)
    }

    /// What the ledger says now: exactly these nodes are revoked, or nobody knows, and then everybody is.
    pub fn set_revoked(&self, nodes: Option<Vec<Node>>) {
        self.revoke_grants(nodes.as_deref().unwrap_or_default());
        self.accounts.set_revoked(nodes.map(|it| it.into_iter().collect()));
    }

    /// Takes grants back from whoever holds them here, and what hangs from them; also from those who will hold them.
    fn revoke_grants(&self, nodes: &[Node]) {
        for node in nodes {
            if let Node::Grant(tenant, id) = node
                && let Ok(id) = id.parse::<GrantId>()
            {
                self.grants.revoke(tenant, &id);
            }
        }
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

    async fn refuse(&self, session: &Session, at: Timestamp, call: CallFacts, denial: Denial) -> CallError {
        if let Some(log) = session.denials() {
            log.keep(&denial);
        }
        let (call, event) = (Arc::new(call), AuditEvent::Denied(denial.code()));
        self.audit.denied(AuditRecord { at, call, event }).await;
        denial.into()
    }

    /// Records that a call is over, if its beginning was.
    pub(crate) fn record_end(&self, facts: &Arc<CallFacts>, audited: Audited, end: CallEnd) {
        if audited == Audited::Everything {
            let event = AuditEvent::Ended(end);
            self.audit.ended(AuditRecord { at: self.clock.now(), call: Arc::clone(facts), event });
        }
    }

    /// A denial that a power found out while it acted: on disk before it is reported, like any other.
    pub(crate) async fn record_late_denial(&self, facts: &Arc<CallFacts>, code: &'static str) {
        let event = AuditEvent::Ended(CallEnd::plain(EndKind::Denied(code)));
        self.audit.denied(AuditRecord { at: self.clock.now(), call: Arc::clone(facts), event }).await;
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
        call: Call<'a>,
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        // Climbing takes no time, so it is done here: what it needs is no part of the future, which is moved.
        let typed_bytes = call.typed.as_ref().map_or(0, |it| it.bytes);
        let payload_bytes =
            (call.payload.len() as u64).saturating_add(call.unread_bytes).saturating_add(typed_bytes);
        let climb = gate.climb(session, &C::SPEC, operation, payload_bytes);
        let audited = operation.audited;
        let digester = (audited == Audited::Everything).then_some(&gate.digester);
        let asked = Asked { payload: call.payload, typed: call.typed.map(|it| it.value), digester };
        let Through { ready, slot, grant, request } = match ladder::climb(self, &climb, asked) {
            Ok(through) => through,
            Err(Refused { denial, subjects }) => {
                let facts = facts(&climb, ids, subjects, None, None);
                let now = climb.now;
                return Box::pin(async move { Err(gate.refuse(session, now, facts, denial).await) });
            }
        };
        let named = grant.id().cloned();
        let facts = Arc::new(facts(&climb, ids, C::subjects(&ready), named, request));
        if audited == Audited::Everything {
            let record = AuditRecord { at: climb.now, call: Arc::clone(&facts), event: AuditEvent::Begun };
            // No record, no act: a full disk stops the work instead of hiding it.
            if let Err(why) = gate.audit.begun(record, gate.recording) {
                return Box::pin(ready_now(Err(Fault::Unrecorded(why).into())));
            }
        }
        let (umask, wants_typed) = (call.umask, call.wants_typed);
        let begun = Begun { facts, grant, audited, slot, umask, wants_typed };
        Box::pin(carry_out(self, (gate, session), begun, ready, call.streams))
    }
}

/// The gate bound to a session: what a run is given as its only way to the world.
pub(crate) struct Door {
    pub(crate) gate: Arc<Gate>,
    pub(crate) session: Session,
}

impl Dispatch for Door {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(self.gate.dispatch(&self.session, call))
    }
}
