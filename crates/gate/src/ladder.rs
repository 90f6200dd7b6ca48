//! The ladder. Its order is policy: a revoked principal learns nothing else, and a name is looked
//! up only for those who may use it.
//!
//! | rung | denial | decided by |
//! |---|---|---|
//! | 1 revoked | `revoked` | the principal's standing |
//! | 2 rate | `rate_limited` | the principal's standing |
//! | 3 granted | `denied` | the session's grants |
//! | 4 depth | `max_depth` | the session |
//! | 5 size | `too_large` | the operation's spec |
//! | 6 decode | `malformed` | the power |
//! | 7 policy | `command_not_granted`, `unknown_command`, … | the grant's constraint, then the power |
//! | 8 room | `too_many_processes`, `budget_exceeded` | the principal's standing, the purse |

use std::sync::Arc;

use drydock_contract::{Denial, Timestamp};

use crate::{
    Capability, Constraint, Operation, Permit, Session, capability::Refused, dispatch::Gate, rate::Rate,
};

/// How deep runs may start runs: a call at this depth passes, one deeper does not.
pub const DEPTH_MAX: u32 = 8;

/// The names of the rungs, in order.
pub const RUNGS: [&str; 8] = ["revoked", "rate", "granted", "depth", "size", "decode", "policy", "room"];

/// What the gate's own rungs may look at.
pub(crate) struct Climb<'a> {
    pub(crate) session: &'a Session,
    pub(crate) spec: &'a crate::CapSpec,
    pub(crate) operation: &'a Operation,
    pub(crate) payload_bytes: u64,
    pub(crate) now: Timestamp,
    pub(crate) rate: Rate,
}

type Rung = fn(&Climb<'_>) -> Result<(), Denial>;

/// The rungs that need nothing of the request but its size.
const LADDER: [Rung; 5] = [not_revoked, within_rate, granted, not_too_deep, not_too_large];

/// Climbs all eight rungs. A refusal carries the subject as far as it was read.
pub(crate) fn climb<'a, C: Capability>(
    gate: &'a Arc<Gate>,
    capability: &C,
    climb: &Climb<'a>,
    payload: &[u8],
) -> Result<(Permit<'a, C>, C::Ready), Refused> {
    LADDER.iter().try_for_each(|rung| rung(climb)).map_err(unread)?;
    let request = C::decode(climb.operation.name, payload).map_err(unread)?;

    let session = climb.session;
    let grants = &session.spec().grants;
    let subject = C::subject(&request);
    let within = |constraint: &Constraint| C::within(&request, constraint);
    let grant = grants
        .admitting(C::SPEC.cap, subject, climb.now, &within)
        .map_err(|why| Refused { subject: shorten(subject), denial: C::not_admitted(&request, why) })?;
    let ready = C::check(capability.policy(), session, request)?;

    let named = |denial| Refused { denial, subject: C::label(&ready) };
    if session.spec().purse.as_ref().is_some_and(|purse| purse.left() == 0) {
        return Err(named(Denial::BudgetExceeded("fuel")));
    }
    let slot = climb.operation.in_flight_max.map(|max| session.standing().take_slot(max));
    let slot = slot.transpose().map_err(named)?;
    // Last of all, so that a refused call uses nothing up. Somebody else may have been quicker.
    if !grant.take_use() {
        return Err(named(Denial::NotGranted { cap: C::SPEC.cap, why: ": the grant is used up" }));
    }
    Ok((Permit::issue(gate, session, slot), ready))
}

/// The first two rungs alone, for an operation that nobody offers.
pub(crate) fn climb_to_nowhere(climb: &Climb<'_>) -> Result<(), Denial> {
    LADDER[..2].iter().try_for_each(|rung| rung(climb))
}

/// At most as much of a guest's text as a legal name may have.
pub(crate) fn shorten(subject: &str) -> Arc<str> {
    subject[..subject.floor_char_boundary(64)].into()
}

fn unread(denial: Denial) -> Refused {
    Refused { denial, subject: "".into() }
}

fn not_revoked(climb: &Climb<'_>) -> Result<(), Denial> {
    if climb.session.standing().revoked.is_tripped() {
        return Err(Denial::Revoked);
    }
    Ok(())
}

fn within_rate(climb: &Climb<'_>) -> Result<(), Denial> {
    let Rate { calls_max, window_s } = climb.rate;
    if !climb.session.standing().rate.admit(climb.rate, climb.now) {
        return Err(Denial::RateLimited { calls_max, window_s });
    }
    Ok(())
}

fn granted(climb: &Climb<'_>) -> Result<(), Denial> {
    let cap = climb.spec.cap;
    climb.session.spec().grants.live(cap, climb.now).map_err(|why| Denial::NotGranted { cap, why })
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
