//! Proof that one call climbed the whole ladder.

use std::{
    marker::PhantomData,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use drydock_contract::{CallId, CapSet, Deadline, Dispatch, Entropy, SwitchMark, Waited, port::FileRules};

use crate::{
    AttemptLog, Capability, Gate, Grant, Lease, Session, account::Slot, act::OpenCall, dispatch::Door,
    lease::Leased,
};

/// Lets one call of the power `C` through. Dropping it gives the concurrency slot back, on every
/// path: an error, a panic, a cancelled future.
///
/// It cannot be made outside this crate, so no power can be used around the ladder:
///
/// ```compile_fail,E0451
/// use drydock_gate::{Capability, Permit};
/// fn forge<'a, C: Capability>(real: Permit<'a, C>) -> Permit<'a, C> {
///     Permit { ..real }
/// }
/// ```
///
/// ```compile_fail,E0624
/// use drydock_gate::{Capability, Permit};
/// fn forge<'a, C: Capability>(real: Permit<'a, C>) -> Permit<'a, C> {
///     Permit::issue(todo!(), todo!(), todo!())
/// }
/// ```
pub struct Permit<'a, C: Capability> {
    gate: &'a Arc<Gate>,
    session: &'a Session,
    open: &'a OpenCall<'a>,
    grant: &'a Arc<Grant>,
    caps: CapSet,
    file_rules: FileRules,
    wants_typed: bool,
    slot: Slot,
    mark: SwitchMark,
    of: PhantomData<fn() -> C>,
}

/// What a permit is issued for.
pub(crate) struct Issued<'a> {
    pub(crate) open: &'a OpenCall<'a>,
    pub(crate) grant: &'a Arc<Grant>,
    pub(crate) caps: CapSet,
    pub(crate) slot: Slot,
    pub(crate) file_rules: FileRules,
    pub(crate) wants_typed: bool,
    pub(crate) mark: SwitchMark,
}

impl<'a, C: Capability> Permit<'a, C> {
    pub(crate) fn issue(gate: &'a Arc<Gate>, session: &'a Session, issued: Issued<'a>) -> Self {
        let Issued { open, grant, caps, slot, file_rules, wants_typed, mark } = issued;
        let of = PhantomData;
        Self { gate, session, open, grant, caps, file_rules, wants_typed, slot, mark, of }
    }

    /// The mask of whoever asked.
    pub fn file_rules(&self) -> FileRules {
        self.file_rules
    }

    /// The session that asked.
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// Which call this is.
    pub fn call(&self) -> CallId {
        self.open.facts.call
    }

    /// The powers whose imports a guest may name that this call starts, as they were when it was let through.
    pub fn caps(&self) -> CapSet {
        self.caps
    }

    /// Whether whoever asked takes the answer as a value.
    pub fn wants_typed(&self) -> bool {
        self.wants_typed
    }

    /// Where the randomness of what this call starts comes from: its own, by the session's seed and its place among
    /// the calls of its parent.
    pub fn entropy(&self) -> Entropy {
        self.session.spec().entropy.for_call(self.call())
    }

    /// Whether the permit still holds: the session lives, and has the grant that let the call through. A stream asks
    /// before each chunk, so that a revocation works in the middle of one.
    pub fn still_valid(&self) -> bool {
        self.session.lost_since(self.mark).is_none() && self.session.still_holds(self.grant)
    }

    /// The gate for whatever this call starts, one level deeper.
    pub fn door(&self) -> Arc<dyn Dispatch> {
        Arc::new(Door { gate: Arc::clone(self.gate), session: self.session.within(self.call()) })
    }

    /// The same for a run that has so much time, and that is known by a name if it is a built-in command.
    pub fn door_within(&self, wall_max: Duration, caller: Option<Arc<str>>) -> Arc<dyn Dispatch> {
        let waited = Waited::from_now(Some(Arc::clone(self.session.preparing())));
        let deadline = Deadline::new(Instant::now(), wall_max, waited);
        let session = self.session.within(self.call()).ending_by(deadline).called(caller);
        Arc::new(Door { gate: Arc::clone(self.gate), session })
    }

    /// The session as what this call starts sees it: one level deeper.
    pub fn inner_session(&self) -> Session {
        self.session.within(self.call())
    }

    /// Where connections out of the house are told: before they are made, and for the record of the call's end.
    pub fn attempts(&self) -> Arc<AttemptLog> {
        Arc::clone(self.open.attempt_log(self.gate))
    }

    /// What outlives the call: the session, the slot and the switches, for a process, a listener or a stream. The
    /// call's record ends with the lease.
    pub fn into_lease(self) -> Lease {
        self.open.is_leased.store(true, Ordering::Release);
        let (gate, session) = (Arc::clone(self.gate), self.session.within(self.call()));
        let Self { open, grant, slot, mark, .. } = self;
        let (facts, audited) = (open.facts.clone(), open.audited);
        let open = Leased { facts, grant: Arc::clone(grant), audited, slot, mark };
        Lease::new(gate, session, open)
    }
}
