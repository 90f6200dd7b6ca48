//! Which hosts grants name, and which addresses they open though those are not public.

use std::sync::Arc;

use drydock_contract::{Cap, Terms, host::PRIVATE, port::Clock};
use drydock_egress::{PrivateRule, Target};
use drydock_gate::{Refused, Session};

use super::Connect;
use crate::{net, program::short};

/// What a decision may look at: grants end at moments.
pub struct Policy {
    pub(super) clock: Arc<dyn Clock>,
}

/// A connection that may be made.
pub struct Ready {
    pub(super) target: Target,
    pub(super) prefer_ipv6: bool,
    pub(super) timeout_ms: u64,
    /// Addresses that may be dialled though they are not public.
    pub(super) opened: Vec<PrivateRule>,
    pub(super) label: Arc<str>,
}

pub(super) fn check(policy: &Policy, session: &Session, request: Connect) -> Result<Ready, Refused> {
    let named = session.grants().named_exactly(Cap::Tcp, policy.clock.now());
    let label = short(&request.subject);
    // A star names no address that is not public.
    if request.subject.starts_with(PRIVATE) && !named.contains(&request.subject) {
        return Err(Refused { denial: net::not_open(&request.subject), subjects: label.into() });
    }
    let opened = named.iter().filter_map(|it| it.strip_prefix(PRIVATE)?.parse().ok()).collect();
    let Connect { target, prefer_ipv6, timeout_ms, .. } = request;
    Ok(Ready { target, prefer_ipv6, timeout_ms, opened, label })
}

pub(super) fn judge_terms(terms: &Terms) -> Result<(), String> {
    for subject in terms.subjects.iter().flatten() {
        net::judge_subject(subject).map_err(|why| format!("field `subjects`: {why}"))?;
    }
    match terms.rules.is_empty() {
        true => Ok(()),
        false => Err("field `rules`: a connection has no arguments to have rules about".into()),
    }
}
