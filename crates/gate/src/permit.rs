//! Proof that one call climbed the whole ladder.

use std::{marker::PhantomData, sync::Arc};

use drydock_contract::{Dispatch, port::Mode};

use crate::{Capability, Gate, Session, dispatch::Door, standing::Slot};

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
/// use drydock_gate::{Capability, Gate, Permit, Session};
/// use std::sync::Arc;
/// fn forge<'a, C: Capability>(gate: &'a Arc<Gate>, session: &'a Session) -> Permit<'a, C> {
///     Permit::issue(gate, session, None)
/// }
/// ```
pub struct Permit<'a, C: Capability> {
    gate: &'a Arc<Gate>,
    session: &'a Session,
    umask: Mode,
    _slot: Option<Slot>,
    of: PhantomData<fn() -> C>,
}

impl<'a, C: Capability> Permit<'a, C> {
    pub(crate) fn issue(gate: &'a Arc<Gate>, session: &'a Session, slot: Option<Slot>) -> Self {
        Self { gate, session, umask: Mode::UMASK, _slot: slot, of: PhantomData }
    }

    /// For a caller with a mask of its own.
    pub(crate) fn under(self, umask: Mode) -> Self {
        Self { umask, ..self }
    }

    /// The mask of whoever asked.
    pub fn umask(&self) -> Mode {
        self.umask
    }

    /// The session that asked.
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// Whether the permit still holds. A stream asks before each chunk, so that a revocation works
    /// in the middle of one.
    pub fn still_valid(&self) -> bool {
        self.session.is_live()
    }

    /// The gate for whatever this call starts, one level deeper.
    pub fn door(&self) -> Arc<dyn Dispatch> {
        Arc::new(Door { gate: Arc::clone(self.gate), session: self.session.deeper() })
    }

    /// The same for a built-in command, which is known by its name behind it.
    pub fn door_for(&self, caller: Arc<str>) -> Arc<dyn Dispatch> {
        Arc::new(Door { gate: Arc::clone(self.gate), session: self.session.deeper_for(caller) })
    }
}
