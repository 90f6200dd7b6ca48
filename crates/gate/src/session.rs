//! Who is asking, with what in hand.

use std::{any::Any, sync::Arc, time::Duration};

use drydock_contract::{
    Budget, CallError, CallId, Cap, CapSet, Deadline, Denial, Entropy, GuestTime, Limits, Lineage, Meter,
    Preparing, Principal, SteppedClock, Switch, SwitchMark, Tenant, Tools,
    port::{CallFacts, Files, Registry},
};

use crate::{
    Class, DenialLog, Grant, GrantSet, HeldGrants, Inside, Tape, TapedCall,
    account::{Account, InFlight},
    giving::Giving,
    held::not_counted,
};

/// Limits of a session that nobody chose: a command that was registered with its own gets those instead. Without
/// this they are all chosen, and no entry goes beyond them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DefaultLimits {
    /// Memory of a run.
    pub memory: bool,
    /// Memory that the stages of a line share: it is raised by that of the largest entry.
    pub line_memory: bool,
    /// Wall clock of a run.
    pub wall: bool,
    /// Fuel of a run.
    pub fuel: bool,
}

impl DefaultLimits {
    /// Nothing was chosen.
    pub const ALL: Self = Self { memory: true, line_memory: true, wall: true, fuel: true };
}

/// What a session is opened with. Nothing is granted unless it is put in.
#[derive(Clone)]
pub struct SessionSpec {
    /// Whose principal.
    pub tenant: Tenant,
    /// Who.
    pub principal: Principal,
    /// What they hold.
    pub grants: HeldGrants,
    /// Powers whose imports its guests may name although no grant says what they reach.
    pub importable: CapSet,
    /// Told of every denial, if anybody wants to show them.
    pub denials: Option<Arc<DenialLog>>,
    /// The limits of each run.
    pub limits: Limits,
    /// Wall clock of one call into a guest that outlives the call.
    pub call_wall_max: Duration,
    /// Memory of a run of a built-in command; `limits` has that of the others.
    pub builtin_memory_bytes_max: u64,
    /// Which of the limits are only defaults.
    pub default_limits: DefaultLimits,
    /// Memory that all runs of the session share, or none for no bound but each run's own.
    pub memory: Option<Arc<Meter>>,
    /// What that meter began with.
    pub line_memory_bytes_max: u64,
    /// `NAME=value` entries every run sees.
    pub env: Arc<[Vec<u8>]>,
    /// The files every run sees, or none for a fresh empty tree each.
    pub files: Option<Arc<dyn Files>>,
    /// What clocks tell a run.
    pub time: GuestTime,
    /// Where that time stands, if it is not the real one: runs start there, and move it.
    pub clock: Option<Arc<SteppedClock>>,
    /// Where a run's randomness comes from: each call has a stream of its own, derived from this.
    pub entropy: Entropy,
    /// What all runs of the session share, or none for no bound but each run's own.
    pub budget: Option<Arc<Budget>>,
    /// Where its calls come from, if it is part of something larger; none for a trace of its own.
    pub lineage: Option<Lineage>,
    /// The tools its programs may be granted, or none.
    pub tools: Option<Arc<dyn Tools>>,
    /// Credentials that a power sends along for it and that no guest sees; what they are is that power's own affair.
    pub credentials: Option<Arc<dyn Any + Send + Sync>>,
    /// The names of commands, where its tenant has others than the default one.
    pub registry: Option<Arc<dyn Registry>>,
    /// Commands the front end answers itself, or none.
    pub inside: Option<Arc<dyn Inside>>,
    /// Who is told of what enters from outside, or answers for it; none where nobody records or replays.
    pub tape: Option<Arc<dyn Tape>>,
    /// What is waited for code to be compiled, if it is another session's wait too; none for one of its own.
    pub preparing: Option<Arc<Preparing>>,
}

impl SessionSpec {
    /// A session that may do nothing yet.
    pub fn new(principal: Principal) -> Self {
        Self {
            tenant: Tenant::default(),
            principal,
            grants: HeldGrants::default(),
            importable: CapSet::EMPTY,
            denials: None,
            limits: Limits::default(),
            call_wall_max: Limits::default().wall_max,
            builtin_memory_bytes_max: Limits::default().memory_bytes_max,
            default_limits: DefaultLimits::default(),
            memory: None,
            line_memory_bytes_max: 0,
            env: Arc::new([]),
            files: None,
            time: GuestTime::default(),
            clock: None,
            entropy: Entropy::default(),
            budget: None,
            lineage: None,
            tools: None,
            credentials: None,
            registry: None,
            inside: None,
            tape: None,
            preparing: None,
        }
    }
}

/// An open session. Cheap to clone; clones are the same session.
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
    /// Who of the session calls: its host, or one of its runs.
    lineage: Lineage,
    /// When the time of that run is up.
    deadline: Option<Deadline>,
    /// The built-in command that calls; nobody else is known by a name.
    caller: Option<Arc<str>>,
    /// Who is told of denials.
    denials: Option<Arc<DenialLog>>,
}

struct Inner {
    spec: SessionSpec,
    giving: Arc<Giving>,
    account: Arc<Account>,
    in_flight: Arc<InFlight>,
    /// The principal's switch, and the session's own.
    switches: [Arc<Switch>; 2],
    preparing: Arc<Preparing>,
}

impl Session {
    pub(crate) fn open(
        spec: SessionSpec,
        account: Arc<Account>,
        lineage: Lineage,
        giving: Arc<Giving>,
    ) -> Result<Self, Denial> {
        for grant in spec.grants.now().iter() {
            giving.table.register(&spec.tenant, grant).map_err(|_| not_counted(grant.cap()))?;
        }
        let switches = [Arc::clone(&account.revoked), Arc::default()];
        let preparing = spec.preparing.clone().unwrap_or_default();
        let denials = spec.denials.clone();
        let inner = Inner { spec, giving, account, in_flight: Arc::default(), switches, preparing };
        Ok(Self { inner: Arc::new(inner), lineage, deadline: None, caller: None, denials })
    }

    /// What the session was opened with.
    pub fn spec(&self) -> &SessionSpec {
        &self.inner.spec
    }

    /// The powers whose imports its guests may name.
    pub fn caps(&self) -> CapSet {
        self.inner.spec.importable.union(self.grants().caps())
    }

    /// What it holds now.
    pub fn grants(&self) -> Arc<GrantSet> {
        self.inner.spec.grants.now()
    }

    /// Whether it holds this very grant, and nobody revoked it.
    pub fn holds(&self, grant: &Arc<Grant>) -> bool {
        !grant.is_revoked() && self.grants().holds(grant)
    }

    /// The same of a grant that it held when a call began: a session that never lost any need not look for it.
    pub(crate) fn still_holds(&self, grant: &Arc<Grant>) -> bool {
        !grant.is_revoked() && (!self.inner.spec.grants.ever_lost() || self.grants().holds(grant))
    }

    /// How many runs lie between the host and this caller.
    pub fn depth(&self) -> u32 {
        self.lineage.depth
    }

    /// Where the calls of this caller come from.
    pub fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// When this caller's time is up.
    pub fn deadline(&self) -> Option<&Deadline> {
        self.deadline.as_ref()
    }

    /// The same session as the run that this call started.
    #[must_use]
    pub(crate) fn within(&self, call: CallId) -> Self {
        let (inner, lineage) = (Arc::clone(&self.inner), self.lineage.within(call));
        let (deadline, denials) = (self.deadline.clone(), self.denials.clone());
        Self { inner, lineage, deadline, caller: None, denials }
    }

    /// The same for a run that ends by then, and no later than its caller.
    #[must_use]
    pub(crate) fn ending_by(self, deadline: Deadline) -> Self {
        let sooner = match self.deadline {
            Some(callers) if callers.at() < deadline.at() => callers,
            _ => deadline,
        };
        Self { deadline: Some(sooner), ..self }
    }

    /// The same for a built-in command of this name.
    #[must_use]
    pub(crate) fn called(self, caller: Option<Arc<str>>) -> Self {
        Self { caller, ..self }
    }

    /// The same session for a tool that a program called: what it does is counted from `call` on, whatever other calls
    /// are made meanwhile, and is as deep as what the program itself starts.
    #[must_use]
    pub fn at(&self, call: CallId, depth: u32) -> Self {
        Self { lineage: self.lineage.at(call, depth), ..self.clone() }
    }

    /// The same session for one program of several: what is refused to it is told to this log.
    #[must_use]
    pub fn telling(&self, denials: Arc<DenialLog>) -> Self {
        Self { denials: Some(denials), ..self.clone() }
    }

    /// What counts of a verdict: where the session has a tape, what that says.
    pub(crate) fn judged(&self, facts: &CallFacts, cap: Cap, own: Option<Denial>) -> Result<(), CallError> {
        match (&self.inner.spec.tape, own) {
            (Some(tape), own) => tape.judged(&TapedCall::of(facts, cap), own),
            (None, Some(denial)) => Err(denial.into()),
            (None, None) => Ok(()),
        }
    }

    pub(crate) fn denials(&self) -> Option<&DenialLog> {
        self.denials.as_deref()
    }

    /// The built-in command that calls. A name that somebody else's module took is never one.
    pub fn caller(&self) -> Option<&Arc<str>> {
        self.caller.as_ref()
    }

    /// Ends every run of the session in flight; it performs nothing more.
    pub fn cancel(&self) {
        self.inner.switches[1].trip();
    }

    /// Whether neither the session was cancelled nor its principal revoked.
    pub fn is_live(&self) -> bool {
        !self.is_cancelled() && !self.is_revoked()
    }

    pub(crate) fn is_revoked(&self) -> bool {
        self.inner.switches[0].is_tripped()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.inner.switches[1].is_tripped()
    }

    /// A mark for what begins now: it is over once the principal is revoked, also if that is taken back.
    pub fn mark(&self) -> SwitchMark {
        self.inner.switches[0].mark()
    }

    /// Why what began at the mark must end, or nothing if it need not.
    pub fn lost_since(&self, mark: SwitchMark) -> Option<Denial> {
        if self.inner.switches[0].tripped_since(mark) {
            return Some(Denial::Revoked);
        }
        self.is_cancelled().then_some(Denial::Cancelled)
    }

    /// What ends a run of this session from outside.
    pub fn switches(&self) -> [Arc<Switch>; 2] {
        self.inner.switches.clone()
    }

    pub(crate) fn own_switches(&self) -> &[Arc<Switch>; 2] {
        &self.inner.switches
    }

    /// How long its runs waited for code to be compiled: time that is not theirs.
    pub fn preparing(&self) -> &Arc<Preparing> {
        &self.inner.preparing
    }

    /// How many runs the principal has in flight.
    pub fn in_flight(&self) -> u32 {
        self.inner.account.in_flight.of(Class::Run)
    }

    /// How many calls of a class this session has in flight.
    pub fn own_in_flight(&self, class: Class) -> u32 {
        self.inner.in_flight.of(class)
    }

    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.inner.account
    }

    pub(crate) fn giving(&self) -> &Giving {
        &self.inner.giving
    }

    pub(crate) fn counters(&self) -> &Arc<InFlight> {
        &self.inner.in_flight
    }
}
