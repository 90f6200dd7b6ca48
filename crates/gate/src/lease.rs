//! A call that goes on after its answer: processes, listeners, streams.
//!
//! A lease keeps what the permit had: the session, the place in its counters, and the switches that end it. Its
//! record is open until it ends or is dropped.

use std::sync::Arc;

use drydock_contract::{
    CallId, Dispatch, Switch, SwitchMark,
    port::{CallEnd, CallFacts, EndKind},
};

use crate::{Audited, Gate, Grant, Session, account::Slot, dispatch::Door};

/// What a call holds that outlives its answer. Only a [`Permit`](crate::Permit) becomes one.
pub struct Lease {
    gate: Arc<Gate>,
    session: Session,
    open: Leased,
    ended: bool,
}

/// What a permit had.
pub(crate) struct Leased {
    pub(crate) facts: CallFacts,
    pub(crate) grant: Arc<Grant>,
    pub(crate) audited: Audited,
    #[expect(dead_code, reason = "held for as long as the lease, and given back by its own drop")]
    pub(crate) slot: Slot,
    pub(crate) mark: SwitchMark,
}

impl Lease {
    pub(crate) fn new(gate: Arc<Gate>, session: Session, open: Leased) -> Self {
        Self { gate, session, open, ended: false }
    }

    /// The session it belongs to, as what was started sees it.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The call that it was made by.
    pub fn call(&self) -> CallId {
        self.open.facts.call
    }

    /// What ends it from outside.
    pub fn switches(&self) -> [Arc<Switch>; 2] {
        self.session.switches()
    }

    /// Whether it still holds: the session lived all the time, and has the grant that let the call through. Once it
    /// does not it never does again, also where a revocation is taken back.
    pub fn still_valid(&self) -> bool {
        self.session.lost_since(self.open.mark).is_none() && self.session.still_holds(&self.open.grant)
    }

    /// Whether the grant is gone that let the call through. The run that it started, which another grant let through, does
    /// not hear of that: whoever holds the lease ends it.
    pub fn lost_grant(&self) -> bool {
        !self.session.still_holds(&self.open.grant)
    }

    /// The gate for whatever was started.
    pub fn door(&self) -> Arc<dyn Dispatch> {
        Arc::new(Door { gate: Arc::clone(&self.gate), session: self.session.clone() })
    }

    /// It is over, and ended so; the record says it.
    pub fn end(mut self, end: CallEnd) {
        self.ended = true;
        self.gate.record_end(&self.open.facts, self.open.audited, end);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.ended {
            self.gate.record_end(&self.open.facts, self.open.audited, CallEnd::plain(EndKind::Dropped));
        }
    }
}
