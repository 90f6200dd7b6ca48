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
//! | 7 policy | `command_not_granted`, `review_needed`, `unknown_command`, … | the grant's constraint, then the power |
//! | 8 room | `too_many_processes`, `budget_exceeded` | the accounts' counters, the budget |

use std::sync::Arc;

use drydock_contract::{
    Denial, SUBJECT_BYTES_MAX, Terms, Timestamp, Typed,
    port::{Digested, Subjects},
};

use crate::{
    Capability, Grant, GrantSet, NotAdmitted, Operation, Session,
    account::Slot,
    capability::Refused,
    digest::Digester,
    grant::Unadmitted,
    rate::{Counted, Leasing, Rate},
    reserved::Reserved,
    uses::{KeptUses, NoUse},
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
    /// Where more calls are leased, if several processes share them.
    pub(crate) leasing: Option<Leasing<'a>>,
    pub(crate) tenant_in_flight_max: u32,
}

/// What came to the top.
pub(crate) struct Through<'a, C: Capability> {
    pub(crate) ready: C::Ready,
    pub(crate) slot: Slot,
    pub(crate) reserved: Reserved<'a>,
    pub(crate) grant: Arc<Grant>,
    /// A use of the grant is still to be leased, and then to be taken.
    pub(crate) use_due: Option<Arc<KeptUses>>,
    pub(crate) request: Option<Digested>,
}

/// What ended a climb before the top.
pub(crate) enum Stop<R> {
    /// Policy said no.
    Refused(R),
    /// Nobody can say before more calls were leased. The request is still whole.
    Unleased,
}

impl From<Denial> for Stop<Denial> {
    fn from(denial: Denial) -> Self {
        Self::Refused(denial)
    }
}

impl From<Refused> for Stop<Refused> {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// A request as it came.
pub(crate) struct Asked<'a> {
    pub(crate) payload: &'a [u8],
    /// Taken out when it is decoded.
    pub(crate) typed: &'a mut Option<Typed>,
    /// What makes digests, where the call is recorded.
    pub(crate) digester: Option<&'a Digester>,
}

type Rung = fn(&Climb<'_>) -> Result<(), Stop<Denial>>;

/// The rungs that need nothing of the request but its size.
const LADDER: [Rung; 5] = [not_revoked, within_rate, granted, not_too_deep, not_too_large];

/// Climbs all eight rungs. A refusal carries the subject as far as it was read.
pub(crate) fn climb<'a, C: Capability>(
    capability: &C,
    climb: &Climb<'a>,
    asked: Asked<'_>,
) -> Result<Through<'a, C>, Stop<Refused>> {
    let Asked { payload, typed, digester } = asked;
    let decode = |typed: &mut Option<Typed>| match typed.take() {
        None => C::decode(climb.operation.name, payload),
        Some(typed) => C::decode_typed(climb.operation.name, typed.value)
            .ok_or_else(|| Denial::Malformed("it is no request of this operation".into())),
    };
    match LADDER.iter().try_for_each(|rung| rung(climb)) {
        Ok(()) => {}
        Err(Stop::Unleased) => return Err(Stop::Unleased),
        Err(Stop::Refused(denial)) => return Err(read_for::<C>(climb, || decode(typed).ok(), denial).into()),
    }
    let request = decode(typed).map_err(unread)?;

    let session = climb.session;
    let subject = C::subject(&request);
    let more = C::more_subjects(&request);
    let within = |terms: &Terms| more.iter().all(|it| terms.name(it)) && C::within(&request, terms);
    let grant = climb.grants.admitting(C::SPEC.cap, subject, climb.now, &within).map_err(|why| Refused {
        subjects: named(subject, &more, shorten),
        denial: match why {
            Unadmitted::Refused(why) => C::not_admitted(&request, why),
            Unadmitted::WantsReview(grant) => review_needed::<C>(&request, grant),
        },
    })?;
    let digest = digester.map(|it| it.request::<C>(&request, payload, climb.payload_bytes));
    let ready = C::check(capability.policy(), session, request)?;

    let named = |denial| Refused { denial, subjects: C::subjects(&ready) };
    let (slot, reserved) = room::<C>(climb).map_err(named)?;
    // Last of all, so that a refused call uses nothing up. Somebody else may have been quicker.
    let use_due = match grant.take_use() {
        Ok(()) => None,
        Err(NoUse::Unleased(kept)) => Some(kept),
        Err(NoUse::UsedUp) => return Err(named(used_up::<C>(&ready)).into()),
    };
    Ok(Through { grant: Arc::clone(grant), ready, slot, reserved, use_due, request: digest })
}

/// The denial for a request that only a grant admits which wants a person's word first: with the same grant for this request
/// alone, as its power says what it asks for.
fn review_needed<C: Capability>(request: &C::Request, grant: &Grant) -> Denial {
    let subjects = named(C::subject(request), &C::more_subjects(request), Denial::subject);
    let exactly = C::not_admitted(request, NotAdmitted::ByTerms).remedy();
    let grant = exactly.and_then(|it| grant.reviewed(it)).map(Arc::new);
    Denial::ReviewNeeded { cap: C::SPEC.cap, subjects, grant }
}

/// The denial for a grant whose last use was taken meanwhile.
pub(crate) fn used_up<C: Capability>(ready: &C::Ready) -> Denial {
    Denial::NotGranted { cap: C::SPEC.cap, subjects: C::subjects(ready), why: Denial::GRANT_USED_UP }
}

/// The last rung: a place in the counters, and what the budget must have. All of it or nothing.
fn room<'a, C: Capability>(climb: &Climb<'a>) -> Result<(Slot, Reserved<'a>), Denial> {
    let (session, operation) = (climb.session, climb.operation);
    let budget = session.spec().budget.as_deref();
    let reserved = Reserved::take(budget, climb.payload_bytes, C::REPLY_BYTES_MAX)?;
    let principal_max = operation.in_flight_max.unwrap_or(u32::MAX);
    let tenant_max = climb.tenant_in_flight_max;
    let slot = session.account().take_slot(session.counters(), operation.class, principal_max, tenant_max)?;
    Ok((slot, reserved))
}

/// The first two rungs alone, for an operation that nobody offers.
pub(crate) fn climb_to_nowhere(climb: &Climb<'_>) -> Result<(), Stop<Denial>> {
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

fn not_revoked(climb: &Climb<'_>) -> Result<(), Stop<Denial>> {
    if climb.session.is_revoked() {
        return Err(Denial::Revoked.into());
    }
    if climb.session.is_cancelled() {
        return Err(Denial::Cancelled.into());
    }
    Ok(())
}

fn within_rate(climb: &Climb<'_>) -> Result<(), Stop<Denial>> {
    let Rate { calls_max, window_s } = climb.rate;
    let account = climb.session.account();
    match account.rate.count(climb.rate, climb.now, climb.leasing.is_some()) {
        Counted::Yes => Ok(()),
        Counted::YesAndLow => {
            if let Some(leasing) = climb.leasing {
                leasing.ahead(account, climb.now);
            }
            Ok(())
        }
        Counted::Unleased => Err(Stop::Unleased),
        Counted::Full => Err(Denial::RateLimited { calls_max, window_s }.into()),
    }
}

fn granted(climb: &Climb<'_>) -> Result<(), Stop<Denial>> {
    let cap = climb.spec.cap;
    let not_granted = |why| Denial::NotGranted { cap, subjects: Subjects::none(), why }.into();
    climb.grants.live(cap, climb.now).map_err(not_granted)
}

fn not_too_deep(climb: &Climb<'_>) -> Result<(), Stop<Denial>> {
    let depth = climb.session.depth();
    if depth > DEPTH_MAX {
        return Err(Denial::MaxDepth { depth, max: DEPTH_MAX }.into());
    }
    Ok(())
}

fn not_too_large(climb: &Climb<'_>) -> Result<(), Stop<Denial>> {
    let (bytes, max) = (climb.payload_bytes, climb.operation.request_bytes_max);
    if bytes > max {
        return Err(Denial::TooLarge { what: "request", bytes, max }.into());
    }
    Ok(())
}
