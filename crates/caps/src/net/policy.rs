//! What grants say of hosts: which are named, which addresses are opened, and what may be asked of them.

use std::sync::Arc;

use drydock_contract::{
    ArgumentRule, Cap, Denial, IfAbsent, Must, Pattern, Scalar, Terms,
    host::{METHOD, PATH, PRIVATE, SCHEME},
    port::Clock,
};
use drydock_egress::{HeaderMap, Method, PrivateRule, Target, is_below};
use drydock_gate::{NotAdmitted, Refused, Session};

use super::Fetch;
use crate::{
    program::short,
    rules::{TEXT_BYTES_MAX, text_keeps},
};

/// What a decision may look at: grants end at moments.
pub struct Policy {
    pub(super) clock: Arc<dyn Clock>,
}

/// A request that may be made.
pub struct Ready {
    pub(crate) method: Method,
    pub(crate) target: Target,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) decode: bool,
    /// Addresses that may be dialled though they are not public.
    pub(crate) opened: Vec<PrivateRule>,
    pub(crate) label: Arc<str>,
}

pub(super) fn check(policy: &Policy, session: &Session, request: Fetch) -> Result<Ready, Refused> {
    let named = session.grants().named_exactly(Cap::Net, policy.clock.now());
    let label = short(&request.subject);
    // A star names no address that is not public.
    if request.subject.starts_with(PRIVATE) && !named.contains(&request.subject) {
        return Err(Refused { denial: not_open(Cap::Net, &request.subject), subjects: label.into() });
    }
    let opened = named.iter().filter_map(|it| it.strip_prefix(PRIVATE)?.parse().ok()).collect();
    let Fetch { method, target, headers, body, timeout_ms, max_bytes, decode, .. } = request;
    Ok(Ready { method, target, headers, body, timeout_ms, max_bytes, decode, opened, label })
}

/// For a host that no grant names; for an address that is not public, which one grant opens.
pub(crate) fn not_open(cap: Cap, subject: &str) -> Denial {
    let why = if subject.starts_with(PRIVATE) { ": this address is not public" } else { "" };
    let host = Denial::subject(subject);
    Denial::HostNotGranted { cap, host, why, rules: Some(Arc::new([])) }
}

pub(super) fn not_admitted(request: &Fetch, why: NotAdmitted) -> Denial {
    let (why, rules) = match why {
        NotAdmitted::ByName => ("", Some(Arc::new([]) as Arc<[_]>)),
        NotAdmitted::ByTerms => (" with this method, scheme and path", exactly(request)),
    };
    Denial::HostNotGranted { cap: Cap::Net, host: Denial::subject(&request.subject), why, rules }
}

/// The rules that admit this request and none that asks for something else.
fn exactly(request: &Fetch) -> Option<Arc<[ArgumentRule]>> {
    let (target, path) = (&request.target, request.target.path());
    if path.len() > TEXT_BYTES_MAX {
        return None;
    }
    let texts = [(METHOD, request.method.as_str()), (SCHEME, target.scheme().as_str()), (PATH, path)];
    let rule = |(argument, text): (&str, &str)| {
        ArgumentRule::new(argument, Must::Equal(Scalar::Text(text.to_owned())))
    };
    Some(texts.map(rule).into())
}

pub(super) fn within(request: &Fetch, terms: &Terms) -> bool {
    terms.rules.iter().all(|rule| match (rule.argument.as_str(), &rule.must) {
        (METHOD, must) => text_keeps(request.method.as_str(), must),
        (SCHEME, must) => text_keeps(request.target.scheme().as_str(), must),
        // What lies below a path is not decided by its letters alone: servers decode it, and climb.
        (PATH, Must::StartWith(prefix)) => is_below(prefix, request.target.path()),
        (PATH, must) => text_keeps(request.target.path(), must),
        _ => rule.if_absent == IfAbsent::Allow,
    })
}

pub(super) fn judge_terms(terms: &Terms) -> Result<(), String> {
    for subject in terms.subjects.iter().flatten() {
        judge_subject(subject).map_err(|why| format!("field `subjects`: {why}"))?;
    }
    for rule in &terms.rules {
        let known = [METHOD, SCHEME, PATH].contains(&rule.argument.as_str());
        let rooted = match &rule.must {
            Must::StartWith(prefix) if rule.argument == PATH => prefix.starts_with('/'),
            _ => true,
        };
        if !known || !rooted {
            return Err(format!(
                "field `rules`: `{}`: a request has {METHOD}, {SCHEME} and {PATH}, which begins with a slash",
                rule.argument.escape_debug()
            ));
        }
    }
    Ok(())
}

pub(crate) fn judge_subject(subject: &Pattern) -> Result<(), String> {
    let text = subject.as_str();
    if let Some(opened) = text.strip_prefix(PRIVATE) {
        let rule: Result<PrivateRule, _> = opened.parse();
        return match (rule, subject.literal()) {
            // Only in the spelling that a request has: any other would never be met.
            (Ok(rule), Some(_)) if rule.to_string() == opened => Ok(()),
            _ => Err(format!(
                "`{}`: an address that is not public is opened by itself, such as {PRIVATE}127.0.0.1:8080",
                text.escape_debug()
            )),
        };
    }
    let port = |it: &str| it == "*" || it.parse::<u16>().is_ok_and(|port| port != 0);
    match text.rsplit_once(':') {
        _ if text == "*" => Ok(()),
        Some((host, end)) if !host.is_empty() && port(end) => Ok(()),
        _ => Err(format!(
            "`{}` names no host: write host:port, such as api.example.com:443 or *.example.com:443",
            text.escape_debug()
        )),
    }
}
