//! Who is asking, with what in hand.

use std::sync::Arc;

use drydock_contract::{
    CapSet, Entropy, GuestTime, Limits, Meter, Preparing, Principal, SteppedClock, Switch, Tools, port::Files,
};

use crate::{GrantSet, Inside, Purse, standing::Standing};

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
    /// Who.
    pub principal: Principal,
    /// Their powers.
    pub grants: GrantSet,
    /// The limits of each run.
    pub limits: Limits,
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
    /// Where a run's randomness comes from.
    pub entropy: Entropy,
    /// Fuel that all runs of the session share, or none for no bound but each run's own.
    pub purse: Option<Arc<Purse>>,
    /// The tools its programs may be granted, or none.
    pub tools: Option<Arc<dyn Tools>>,
    /// Commands the front end answers itself, or none.
    pub inside: Option<Arc<dyn Inside>>,
    /// What is waited for code to be compiled, if it is another session's wait too; none for one of its own.
    pub preparing: Option<Arc<Preparing>>,
}

impl SessionSpec {
    /// A session that may do nothing yet.
    pub fn new(principal: Principal) -> Self {
        Self {
            principal,
            grants: GrantSet::default(),
            limits: Limits::default(),
            builtin_memory_bytes_max: Limits::default().memory_bytes_max,
            default_limits: DefaultLimits::default(),
            memory: None,
            line_memory_bytes_max: 0,
            env: Arc::new([]),
            files: None,
            time: GuestTime::default(),
            clock: None,
            entropy: Entropy::default(),
            purse: None,
            tools: None,
            inside: None,
            preparing: None,
        }
    }
}

/// An open session. Cheap to clone; clones are the same session.
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
    depth: u32,
    /// The built-in command that calls; nobody else is known by a name.
    caller: Option<Arc<str>>,
}

struct Inner {
    spec: SessionSpec,
    caps: CapSet,
    standing: Arc<Standing>,
    cancelled: Arc<Switch>,
    preparing: Arc<Preparing>,
}

impl Session {
    pub(crate) fn open(spec: SessionSpec, standing: Arc<Standing>) -> Self {
        let caps = spec.grants.caps();
        let cancelled = Arc::default();
        let preparing = spec.preparing.clone().unwrap_or_default();
        Self { inner: Arc::new(Inner { spec, caps, standing, cancelled, preparing }), depth: 0, caller: None }
    }

    /// What the session was opened with.
    pub fn spec(&self) -> &SessionSpec {
        &self.inner.spec
    }

    /// The powers whose imports its guests may name.
    pub fn caps(&self) -> CapSet {
        self.inner.caps
    }

    /// How many runs lie between the host and this caller.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The same session, one run deeper.
    #[must_use]
    pub fn deeper(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), depth: self.depth.saturating_add(1), caller: None }
    }

    /// The same session, one run deeper, for a built-in command of this name.
    #[must_use]
    pub fn deeper_for(&self, caller: Arc<str>) -> Self {
        Self { caller: Some(caller), ..self.deeper() }
    }

    /// The built-in command that calls. A name that somebody else's module took is never one.
    pub fn caller(&self) -> Option<&Arc<str>> {
        self.caller.as_ref()
    }

    /// Ends every run of the session in flight.
    pub fn cancel(&self) {
        self.inner.cancelled.trip();
    }

    /// Whether neither the session was cancelled nor its principal revoked.
    pub fn is_live(&self) -> bool {
        !self.inner.cancelled.is_tripped() && !self.inner.standing.revoked.is_tripped()
    }

    /// What ends a run of this session from outside.
    pub fn switches(&self) -> [Arc<Switch>; 2] {
        [Arc::clone(&self.inner.standing.revoked), Arc::clone(&self.inner.cancelled)]
    }

    /// How long its runs waited for code to be compiled: time that is not theirs.
    pub fn preparing(&self) -> &Arc<Preparing> {
        &self.inner.preparing
    }

    /// How many runs the principal has in flight.
    pub fn in_flight(&self) -> u32 {
        self.inner.standing.in_flight()
    }

    pub(crate) fn standing(&self) -> &Arc<Standing> {
        &self.inner.standing
    }
}
