//! The ladder. Its order is policy: a revoked principal learns nothing else, and a name is looked
//! up only for those who may use it.
//!
//! | rung | denial | decided by |
//! |---|---|---|
//! | 1 revoked | `revoked`, `cancelled` | the principal's account, the session |
//! | 2 rate | `rate_limited` | the principal's account |
//! | 3 granted | `denied` | the session's grants |
//! | 4 depth | `max_depth` | the session |
//! | 5 size | `too_large` | the operation's spec |
//! | 6 decode | `malformed` | the power |
//! | 7 policy | `command_not_granted`, `unknown_command`, … | the grant's constraint, then the power |
//! | 8 room | `too_many_processes`, `budget_exceeded` | the accounts' counters, the budget |

use std::{any::Any, sync::Arc};

use drydock_contract::{
    Budget, Denial, SUBJECT_BYTES_MAX, Terms, Timestamp, Unit,
    port::{Digested, Ledger, Subjects},
};

use crate::{
    Capability, Grant, GrantSet, Operation, Session, account::Slot, capability::Refused, digest::Digester,
    rate::Rate,
};

/// How deep runs may start runs: a call at this depth passes, one deeper does not.
pub const DEPTH_MAX: u32 = 8;

/// The names of the rungs, in order.
pub const RUNGS: [&str; 8] = ["revoked", "rate", "granted", "depth", "size", "decode", "policy", "room"];

/// What the gate's own rungs may look at.
pub(crate) struct Climb<'a> {
    pub(crate) session: &'a Session,
    /// What the session holds at this moment: the whole climb goes by it.
    pub(crate) grants: Arc<GrantSet>,
    pub(crate) spec: &'a crate::CapSpec,
    pub(crate) operation: &'a Operation,
    pub(crate) payload_bytes: u64,
    pub(crate) now: Timestamp,
    pub(crate) rate: Rate,
    pub(crate) ledger: Option<&'a dyn Ledger>,
    pub(crate) tenant_in_flight_max: u32,
}

/// What came to the top.
pub(crate) struct Through<C: Capability> {
    pub(crate) ready: C::Ready,
    pub(crate) slot: Option<Slot>,
    pub(crate) grant: Arc<Grant>,
    pub(crate) request: Option<Digested>,
}

/// A request as it came.
pub(crate) struct Asked<'a> {
    pub(crate) payload: &'a [u8],
    pub(crate) typed: Option<Box<dyn Any + Send>>,
    /// What makes digests, where the call is recorded.
    pub(crate) digester: Option<&'a Digester>,
}

type Rung = fn(&Climb<'_>) -> Result<(), Denial>;

/// The rungs that need nothing of the request but its size.
const LADDER: [Rung; 5] = [not_revoked, within_rate, granted, not_too_deep, not_too_large];

/// Climbs all eight rungs. A refusal carries the subject as far as it was read.
pub(crate) fn climb<C: Capability>(
    capability: &C,
    climb: &Climb<'_>,
    asked: Asked<'_>,
) -> Result<Through<C>, Refused> {
    let Asked { payload, typed, digester } = asked;
    let decode = |typed: Option<Box<dyn Any + Send>>| match typed {
        None => C::decode(climb.operation.name, payload),
        Some(value) => C::decode_typed(climb.operation.name, value)
            .ok_or_else(|| Denial::Malformed("it is no request of this operation".into())),
    };
    if let Err(denial) = LADDER.iter().try_for_each(|rung| rung(climb)) {
        return Err(read_for::<C>(climb, || decode(typed).ok(), denial));
    }
    let request = decode(typed).map_err(unread)?;

    let session = climb.session;
    let subject = C::subject(&request);
    let more = C::more_subjects(&request);
    let within = |terms: &Terms| more.iter().all(|it| terms.name(it)) && C::within(&request, terms);
    let grant = climb.grants.admitting(C::SPEC.cap, subject, climb.now, &within).map_err(|why| Refused {
        subjects: named(subject, &more, shorten),
        denial: C::not_admitted(&request, why),
    })?;
    let digest = digester.map(|it| it.request::<C>(&request, payload, climb.payload_bytes));
    let ready = C::check(capability.policy(), session, request)?;

    let named = |denial| Refused { denial, subjects: C::subjects(&ready) };
    let slot = room(climb, grant, || C::subjects(&ready)).map_err(named)?;
    Ok(Through { grant: Arc::clone(grant), ready, slot, request: digest })
}

/// The last rung: a place in the counters, what the budget must have, a use of the grant. All of it or nothing.
fn room(climb: &Climb<'_>, grant: &Grant, subjects: impl Fn() -> Subjects) -> Result<Option<Slot>, Denial> {
    let session = climb.session;
    let take = |max| {
        let (account, class) = (session.account(), climb.operation.class);
        account.take_slot(session.counters(), class, max, climb.tenant_in_flight_max)
    };
    if session.spec().budget.as_ref().is_some_and(|it| it.left(Unit::Fuel) == Some(0)) {
        return Err(Denial::BudgetExceeded("fuel"));
    }
    let slot = climb.operation.in_flight_max.map(take).transpose()?;
    let reserved = Reserved::take(session.spec().budget.as_deref(), climb.payload_bytes)?;
    // Last of all, so that a refused call uses nothing up. Somebody else may have been quicker.
    if !grant.take_use() {
        return Err(Denial::NotGranted {
            cap: climb.spec.cap,
            subjects: subjects(),
            why: ": the grant is used up",
        });
    }
    reserved.spend();
    Ok(slot)
}

/// What a call takes of its budget before it acts; given back unless it was spent.
struct Reserved<'a>(Option<(&'a Budget, u64)>);

impl<'a> Reserved<'a> {
    fn take(budget: Option<&'a Budget>, bytes: u64) -> Result<Self, Denial> {
        let Some(budget) = budget else { return Ok(Self(None)) };
        if !budget.reserve(Unit::Calls, 1) {
            return Err(Denial::BudgetExceeded("calls"));
        }
        if !budget.reserve(Unit::Bytes, bytes) {
            budget.settle(Unit::Calls, 1);
            return Err(Denial::BudgetExceeded("bytes"));
        }
        Ok(Self(Some((budget, bytes))))
    }

    fn spend(mut self) {
        self.0 = None;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if let Some((budget, bytes)) = self.0.take() {
            budget.settle(Unit::Calls, 1);
            budget.settle(Unit::Bytes, bytes);
        }
    }
}

/// The first two rungs alone, for an operation that nobody offers.
pub(crate) fn climb_to_nowhere(climb: &Climb<'_>) -> Result<(), Denial> {
    LADDER[..2].iter().try_for_each(|rung| rung(climb))
}

/// At most as much of a guest's text as a record holds.
pub(crate) fn shorten(subject: &str) -> Arc<str> {
    subject[..subject.floor_char_boundary(SUBJECT_BYTES_MAX)].into()
}

/// Somebody without any grant of the power is told, and has it on record, which one would have helped. That takes the
/// subject, which is in the request they made.
fn read_for<C: Capability>(
    climb: &Climb<'_>,
    read: impl FnOnce() -> Option<C::Request>,
    denial: Denial,
) -> Refused {
    let Denial::NotGranted { cap, why, .. } = denial else { return unread(denial) };
    let fits = not_too_large(climb).is_ok();
    let request = fits.then(read).flatten();
    let Some(request) = request else { return unread(denial) };
    let (subject, more) = (C::subject(&request), C::more_subjects(&request));
    let denial = Denial::NotGranted { cap, subjects: named(subject, &more, Denial::subject), why };
    Refused { denial, subjects: named(subject, &more, shorten) }
}

/// The names of a request, each cut as `cut` does.
fn named(subject: &str, more: &[&str], cut: fn(&str) -> Arc<str>) -> Subjects {
    match more {
        [] => Subjects::One(cut(subject)),
        more => Subjects::Many([subject].iter().chain(more).map(|it| cut(it)).collect()),
    }
}

fn unread(denial: Denial) -> Refused {
    Refused { denial, subjects: Subjects::none() }
}

fn not_revoked(climb: &Climb<'_>) -> Result<(), Denial> {
    if climb.session.is_revoked() {
        return Err(Denial::Revoked);
    }
    if climb.session.is_cancelled() {
        return Err(Denial::Cancelled);
    }
    Ok(())
}

fn within_rate(climb: &Climb<'_>) -> Result<(), Denial> {
    let Rate { calls_max, window_s } = climb.rate;
    let account = climb.session.account();
    let shared = climb.ledger.map(|it| (it, &*account.who));
    if !account.rate.admit(climb.rate, climb.now, shared) {
        return Err(Denial::RateLimited { calls_max, window_s });
    }
    Ok(())
}

fn granted(climb: &Climb<'_>) -> Result<(), Denial> {
    let cap = climb.spec.cap;
    let not_granted = |why| Denial::NotGranted { cap, subjects: Subjects::none(), why };
    climb.grants.live(cap, climb.now).map_err(not_granted)
}

fn not_too_deep(climb: &Climb<'_>) -> Result<(), Denial> {
    let depth = climb.session.depth();
    if depth > DEPTH_MAX {
        return Err(Denial::MaxDepth { depth, max: DEPTH_MAX });
    }
    Ok(())
}

fn not_too_large(climb: &Climb<'_>) -> Result<(), Denial> {
    let (bytes, max) = (climb.payload_bytes, climb.operation.request_bytes_max);
    if bytes > max {
        return Err(Denial::TooLarge { what: "request", bytes, max });
    }
    Ok(())
}
