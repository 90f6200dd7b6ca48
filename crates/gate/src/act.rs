//! From a call that was let through to its end: the power acts, unless something ends it first, and the end is recorded
//! on every path.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use drydock_contract::{
    CallError, Reply, Streams, SwitchMark,
    port::{CallEnd, CallFacts, EndKind, Mode},
};

use crate::{
    Audited, Capability, Class, Gate, Grant, Permit, Session,
    account::Slot,
    permit::Issued,
    race::{Ends, race},
    reserved::Reserved,
};

/// A call that was let through and recorded.
pub(crate) struct Begun<'a> {
    pub(crate) facts: CallFacts,
    pub(crate) grant: Arc<Grant>,
    pub(crate) audited: Audited,
    pub(crate) slot: Slot,
    pub(crate) reserved: Reserved<'a>,
    pub(crate) umask: Mode,
    pub(crate) wants_typed: bool,
    pub(crate) mark: SwitchMark,
    pub(crate) class: Class,
}

/// Has the power act, unless something ends it first, and records the end.
pub(crate) async fn carry_out<'a, C: Capability>(
    power: &'a C,
    (gate, session): (&'a Arc<Gate>, &'a Session),
    begun: Begun<'a>,
    ready: C::Ready,
    streams: Streams,
) -> Result<Reply, CallError> {
    let Begun { facts, grant, audited, slot, mut reserved, umask, wants_typed, mark, class } = begun;
    reserved.begin();
    let is_leased = AtomicBool::new(false);
    let mut open = OpenCall { gate, facts, audited, is_leased: &is_leased, is_over: false };
    // Work that was cut off is dropped with this block: what it holds is free before anybody waits for a record.
    let done = {
        let (facts, grant) = (&open.facts, &grant);
        let issued = Issued { facts, grant, is_leased: &is_leased, audited, slot, umask, wants_typed, mark };
        let work = pin!(power.perform(Permit::issue(gate, session, issued), ready, streams));
        let ends = Ends { session, mark, grant, class };
        race(work, &ends, &*gate.clock).await
    };
    let done = done.unwrap_or_else(|cut| Err(cut.error(&grant, &open.facts)));
    let done = done.and_then(|reply| reserved.pay(&reply).map(|()| reply).map_err(CallError::from));
    if let Some(denial) = open.end(&done) {
        gate.record_late_denial(&open.facts, denial).await;
    }
    done
}

/// A call that has begun. Its end is recorded on every path, also if nobody waits for it any more.
struct OpenCall<'a> {
    gate: &'a Gate,
    facts: CallFacts,
    audited: Audited,
    /// Whether a lease has taken the end over.
    is_leased: &'a AtomicBool,
    is_over: bool,
}

impl OpenCall<'_> {
    /// Records the end. A denial is left to the caller, who waits until it is on disk.
    fn end(&mut self, done: &Result<Reply, CallError>) -> Option<&'static str> {
        self.is_over = true;
        // Whoever has the lease records the end.
        if self.is_leased.load(Ordering::Acquire) {
            return None;
        }
        match done {
            Err(CallError::Denied(denial)) => return Some(denial.code()),
            Err(CallError::Failed(fault)) => {
                self.gate.record_end(
                    &self.facts,
                    self.audited,
                    CallEnd::plain(EndKind::Failed(fault.code())),
                );
            }
            Ok(reply) if self.audited == Audited::Everything => {
                let ending = reply.ending.as_ref();
                let digested = match &reply.digested {
                    Some(bytes) => Some(self.gate.digester.reply(bytes)),
                    None if reply.typed.is_some() => None,
                    None => Some(self.gate.digester.reply(&reply.payload)),
                };
                let end = CallEnd {
                    kind: EndKind::Done,
                    outcome: ending.map(|it| it.outcome.clone()),
                    stream_bytes: ending.map(|it| it.stream_bytes),
                    reply: digested,
                };
                self.gate.record_end(&self.facts, self.audited, end);
            }
            Ok(_) => {}
        }
        None
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if !self.is_over && !self.is_leased.load(Ordering::Acquire) {
            self.gate.record_end(&self.facts, self.audited, CallEnd::plain(EndKind::Dropped));
        }
    }
}
