//! Which hosts a page may come from: those that a grant of `browse` names, and the same for every hop of a redirect.

use std::sync::Arc;

use drydock_contract::{Cap, Denial, Terms, host::PRIVATE};
use drydock_egress::{PrivateRule, Target};
use drydock_gate::{Refused, Session};

use super::Request;
use crate::{
    broker::Policy,
    net::{judge_subject, not_open, subject_of},
    program::short,
};

/// A page that may be asked for.
pub struct Ready {
    pub(crate) target: Target,
    /// Addresses that may be dialled though they are not public.
    pub(crate) opened: Vec<PrivateRule>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) bounds: Bounds,
    pub(crate) label: Arc<str>,
}

/// How much of it is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) text_bytes_max: u32,
    pub(crate) links_max: u32,
}

pub(super) fn check(policy: &Policy, session: &Session, request: Request) -> Result<Ready, Refused> {
    let Request { target, subject, timeout_ms, bounds, .. } = request;
    let label = short(&subject);
    let refused = |denial| Refused { denial, subjects: Arc::clone(&label).into() };
    let opened = opened(policy, session, &subject).map_err(refused)?;
    Ok(Ready { target, opened, timeout_ms, bounds, label })
}

/// Whether a redirect may lead there, and which addresses are open.
pub(crate) fn follow(
    policy: &Policy,
    session: &Session,
    target: &Target,
) -> Result<Vec<PrivateRule>, Denial> {
    let subject = subject_of(target);
    if !session.grants().would_admit(Cap::Browse, &subject, policy.clock.now()) {
        return Err(not_granted(&subject));
    }
    opened(policy, session, &subject)
}

fn opened(policy: &Policy, session: &Session, subject: &str) -> Result<Vec<PrivateRule>, Denial> {
    let named = session.grants().named_exactly(Cap::Browse, policy.clock.now());
    // A star names no address that is not public.
    if subject.starts_with(PRIVATE) && !named.iter().any(|it| it == subject) {
        return Err(not_open(Cap::Browse, subject));
    }
    Ok(named.iter().filter_map(|it| it.strip_prefix(PRIVATE)?.parse().ok()).collect())
}

pub(super) fn not_granted(subject: &str) -> Denial {
    let host = Denial::subject(subject);
    Denial::HostNotGranted { cap: Cap::Browse, host, why: "", rules: Some(Arc::new([])) }
}

pub(super) fn judge_terms(terms: &Terms) -> Result<(), String> {
    for subject in terms.subjects.iter().flatten() {
        judge_subject(subject).map_err(|why| format!("field `subjects`: {why}"))?;
    }
    match terms.rules.is_empty() {
        true => Ok(()),
        false => Err("field `rules`: a request of `browse` has none".into()),
    }
}
