//! From a call that was let through to its end: the power acts, unless something ends it first, and the end is recorded
//! on every path.

use core::net::SocketAddr;
use std::{
    fmt,
    pin::pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use drydock_contract::{
    CallError, CapSet, Fault, Reply, Streams, SwitchMark,
    port::{Attempt, CallEnd, CallFacts, EndKind, FileRules, Subjects},
};
use parking_lot::Mutex;

use crate::{
    Audited, Capability, Class, Gate, Grant, Permit, Session,
    account::Slot,
    permit::Issued,
    race::{Ends, race},
    reserved::Reserved,
};

/// A call that was let through and recorded.
pub(crate) struct Begun<'a> {
    pub(crate) open: OpenCall<'a>,
    pub(crate) grant: Arc<Grant>,
    pub(crate) caps: CapSet,
    pub(crate) slot: Slot,
    pub(crate) reserved: Reserved<'a>,
    pub(crate) file_rules: FileRules,
    pub(crate) wants_typed: bool,
    pub(crate) mark: SwitchMark,
    pub(crate) class: Class,
}

/// Has the power act, unless something ends it first, and records the end.
pub(crate) fn carry_out<'a, C: Capability>(
    power: &'a C,
    (gate, session): (&'a Arc<Gate>, &'a Session),
    begun: Begun<'a>,
    ready: C::Ready,
    streams: Streams,
) -> impl Future<Output = Result<Reply, CallError>> + Send + 'a {
    // Taken apart here, so that the future holds each part once: it is moved with all that it holds.
    let Begun { mut open, grant, caps, slot, mut reserved, file_rules, wants_typed, mark, class } = begun;
    reserved.begin();
    async move {
        // Work that was cut off is dropped with this block: what it holds is free before anybody waits for a record.
        let done = if let Some(denial) = session.lost_since(mark) {
            // It was let through, and lost its rights before anybody asked for its answer.
            Ok(Err(denial.into()))
        } else {
            let (open, grant) = (&open, &grant);
            let issued = Issued { open, grant, caps, slot, file_rules, wants_typed, mark };
            let work = pin!(power.perform(Permit::issue(gate, session, issued), ready, streams));
            let ends = Ends { session, mark, grant, class };
            race(work, &ends, &*gate.clock).await
        };
        let done = done.unwrap_or_else(|cut| Err(cut.error(&grant, &open.facts)));
        let done = done.and_then(|reply| reserved.pay(&reply).map(|()| reply).map_err(CallError::from));
        if let (Err(CallError::Denied(denial)), Some(log)) = (&done, session.denials()) {
            log.keep(denial);
        }
        if let Some(denial) = open.end(&done) {
            Box::pin(gate.record_late_denial(&open.facts, denial, open.attempts())).await;
        }
        done
    }
}

/// A call that has begun. Its end is recorded on every path, also if nobody waits for it any more.
pub(crate) struct OpenCall<'a> {
    gate: &'a Gate,
    pub(crate) facts: CallFacts,
    pub(crate) audited: Audited,
    /// Whether a lease has taken the end over.
    pub(crate) is_leased: AtomicBool,
    /// Made by the first connection that it tells of.
    attempts: OnceLock<Arc<AttemptLog>>,
    /// From when its beginning was recorded until its end is.
    is_open: bool,
}

impl<'a> OpenCall<'a> {
    /// A call whose beginning is not on record yet.
    pub(crate) fn new(gate: &'a Gate, facts: CallFacts, audited: Audited) -> Self {
        let (is_leased, attempts) = (AtomicBool::new(false), OnceLock::new());
        Self { gate, facts, audited, is_leased, attempts, is_open: false }
    }

    /// Where connections are told.
    pub(crate) fn attempt_log(&self, gate: &Arc<Gate>) -> &Arc<AttemptLog> {
        self.attempts.get_or_init(|| {
            let (gate, facts) = (Arc::clone(gate), self.facts.clone());
            Arc::new(AttemptLog { gate, facts, audited: self.audited, over: Mutex::default() })
        })
    }

    fn attempts(&self) -> Option<Arc<[Attempt]>> {
        self.attempts.get().map(|log| log.over.lock().as_slice().into())
    }

    fn plainly(&self, kind: EndKind) -> CallEnd {
        CallEnd { attempts: self.attempts(), ..CallEnd::plain(kind) }
    }

    /// Its beginning is on record, so its end will be.
    pub(crate) fn begin(&mut self) {
        self.is_open = true;
    }

    /// Records the end. A denial is left to the caller, who waits until it is on disk.
    fn end(&mut self, done: &Result<Reply, CallError>) -> Option<&'static str> {
        self.is_open = false;
        // Whoever has the lease records the end.
        if self.is_leased.load(Ordering::Acquire) {
            return None;
        }
        match done {
            Err(CallError::Denied(denial)) => return Some(denial.code()),
            Err(CallError::Failed(fault)) => {
                self.gate.record_end(&self.facts, self.audited, self.plainly(EndKind::Failed(fault.code())));
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
                    attempts: self.attempts(),
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
        if self.is_open && !self.is_leased.load(Ordering::Acquire) {
            self.gate.record_end(&self.facts, self.audited, self.plainly(EndKind::Dropped));
        }
    }
}

/// The connections of one call. Each is on record before it is made, and is in the record of the call's end: on every path,
/// also where nobody waits for it any more.
pub struct AttemptLog {
    gate: Arc<Gate>,
    facts: CallFacts,
    audited: Audited,
    /// Those that are over.
    over: Mutex<Vec<Attempt>>,
}

/// Under which operation the beginning of a connection is recorded; its end is in the record of the call's.
const DIALLED: &str = "egress.dial";

/// Connections of one call that its record has; a call makes no more by itself.
const ATTEMPTS_MAX: usize = 64;

impl AttemptLog {
    /// Those that are over.
    pub fn told(&self) -> Vec<Attempt> {
        self.over.lock().clone()
    }

    /// One more is about to be made, to this address of this host. An error means that it must not be: there is no record
    /// of it.
    pub fn begins(&self, host: &str, address: SocketAddr) -> Result<(), Fault> {
        if self.audited != Audited::Everything {
            return Ok(());
        }
        let subjects = Subjects::from([host.into(), address.to_string().into()]);
        let facts = CallFacts { operation: DIALLED, subjects, request: None, ..self.facts.clone() };
        self.gate.record_attempt(facts)
    }

    /// One more is over.
    pub fn ended(&self, attempt: Attempt) {
        let mut all = self.over.lock();
        if all.len() < ATTEMPTS_MAX {
            all.push(attempt);
        }
    }
}

impl fmt::Debug for AttemptLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttemptLog").field("over", &self.over).finish_non_exhaustive()
    }
}
