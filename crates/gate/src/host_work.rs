//! Work that a front end does in the host, in a session's name and with no power behind it: a line of a shell, whose
//! builtins and redirections are no calls.
//!
//! It climbs the two rungs that every caller climbs, and is on record as a call is: its beginning, its end, and that
//! it was refused. What it starts are calls of their own, below it.

use std::sync::Arc;

use drydock_contract::{
    CallError, CallId, Cap, Denial, Fault, Outcome, SwitchMark,
    port::{AuditEvent, AuditRecord, CallEnd, CallFacts, EndKind, Subjects},
};

use crate::{Audited, Gate, Session};

/// Such work, from its beginning to its end. Dropped, it is on record as that.
pub struct HostWork {
    gate: Arc<Gate>,
    facts: CallFacts,
    mark: SwitchMark,
    is_over: bool,
}

impl Gate {
    /// Begins such work, unless whoever it is for is revoked or asks too often. Its id is that of the session's
    /// lineage, so that what it starts hangs from it.
    pub async fn begin_work(
        self: &Arc<Self>,
        session: &Session,
        operation: &'static str,
        parent: CallId,
    ) -> Result<HostWork, CallError> {
        self.begin_work_on(session, operation, parent, Subjects::none()).await
    }

    /// The same about something that has a name.
    pub async fn begin_work_on(
        self: &Arc<Self>,
        session: &Session,
        operation: &'static str,
        parent: CallId,
        subjects: Subjects,
    ) -> Result<HostWork, CallError> {
        let mark = session.mark();
        let lineage = session.lineage();
        let facts = CallFacts {
            who: Arc::clone(&session.account().who),
            trace: lineage.trace,
            call: lineage.call,
            parent,
            operation,
            subjects,
            grant: None,
            request: None,
        };
        let (at, denial) = self.first_rungs(session).await?;
        match session.judged(&facts, Cap::Exec, denial) {
            Ok(()) => {}
            Err(CallError::Denied(denial)) => return Err(self.refuse(session, at, facts, denial).await),
            Err(other) => return Err(other),
        }
        let record = AuditRecord { at, call: facts.clone(), event: AuditEvent::Begun };
        if let Some(record) = self.record_begin(session, record)? {
            self.audit.begun_later(session.account(), record).await.map_err(Fault::Unrecorded)?;
        }
        Ok(HostWork { gate: Arc::clone(self), facts, mark, is_over: false })
    }
}

impl HostWork {
    /// The moment it began, by which its session is asked whether it must end.
    pub fn mark(&self) -> SwitchMark {
        self.mark
    }

    /// It came to its end, or was brought to it: the record says how.
    pub fn end(mut self, outcome: Outcome) {
        self.is_over = true;
        let end = CallEnd { outcome: Some(outcome), ..CallEnd::plain(EndKind::Done) };
        self.gate.record_end(&self.facts, Audited::Everything, end);
    }

    /// It was ended because whoever it was for lost their rights: on disk before anybody is told.
    pub async fn refused(mut self, denial: Denial) {
        self.is_over = true;
        self.gate.record_late_denial(&self.facts, denial.code(), None).await;
    }
}

impl Drop for HostWork {
    fn drop(&mut self) {
        if !self.is_over {
            let end = CallEnd::plain(EndKind::Dropped);
            self.gate.record_end(&self.facts, Audited::Everything, end);
        }
    }
}
