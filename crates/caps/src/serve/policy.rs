//! May it listen there, under that name, and is there such a handler? Beyond loopback an address has to be named by itself:
//! a star names no address that others reach.

use std::sync::Arc;

use bytes::Bytes;
use drydock_abi::serve::Protocol;
use drydock_contract::{Cap, Denial, SUBJECT_BYTES_MAX, Terms, port::Clock};
use drydock_gate::{Refused, Session};

use super::request::{Accept, Ask, Asked, Listen, Request};
use crate::{
    instance::Shelf,
    program::short,
    serving::{Found, Handler, Name, Names, Serving},
};

/// A name that is in use.
pub const SERVE_ID_TAKEN: &str = "serve_id_taken";

/// What a decision may look at.
pub struct Policy {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) shelf: Arc<Shelf>,
    pub(super) names: Arc<Names>,
}

/// A request that may be carried out.
pub struct Ready {
    pub(super) label: Arc<str>,
    pub(super) act: Act,
}

pub(super) enum Act {
    Listen(Box<ListenReady>),
    Accept(Accept),
    Ask(Arc<Serving>, core::net::IpAddr, Bytes),
}

pub(super) struct ListenReady {
    pub(super) protocol: Protocol,
    pub(super) serve_id: String,
    pub(super) handler: Found,
    pub(super) name: Name,
    pub(super) client_calls_max: u32,
}

pub(super) fn check(policy: &Policy, session: &Session, request: Request) -> Result<Ready, Refused> {
    let Request { subject, asked } = request;
    let act = match asked {
        Asked::Listen(listen) => may_listen(policy, session, &subject, listen).map(Act::Listen),
        Asked::Accept(accept) => Ok(Act::Accept(accept)),
        Asked::Ask(Ask { serving, client, bytes }) => Ok(Act::Ask(serving, client, bytes)),
    };
    match act {
        Ok(act) => Ok(Ready { label: subject, act }),
        Err(denial) => Err(Refused { denial, subjects: subject.into() }),
    }
}

fn may_listen(
    policy: &Policy,
    session: &Session,
    subject: &str,
    listen: Listen,
) -> Result<Box<ListenReady>, Denial> {
    let Listen { protocol, address, serve_id, handler, client_calls_max } = listen;
    let named = || session.grants().named_exactly(Cap::Serve, policy.clock.now());
    if !address.ip().to_canonical().is_loopback() && !named().iter().any(|it| it == subject) {
        let why = ": others reach this address, so a grant has to name it by itself";
        return Err(Denial::NotGranted { cap: Cap::Serve, subjects: Denial::subject(subject).into(), why });
    }
    let fits = |it: char| !it.is_control() && !it.is_whitespace();
    if serve_id.is_empty() || serve_id.len() > SUBJECT_BYTES_MAX || !serve_id.chars().all(fits) {
        return Err(Denial::Malformed("a listener's name is a text without blanks, and not empty".into()));
    }
    let handler = match handler {
        Handler::Module(digest) => {
            let missing = || Denial::Malformed(format!("no module {digest} was handed over"));
            Found::Module(policy.shelf.module(digest).ok_or_else(missing)?)
        }
        Handler::Command { name, args } => Found::Command { name, args },
    };
    let taken = || Denial::ByPower {
        cap: Cap::Serve,
        code: SERVE_ID_TAKEN,
        why: format!(
            "something listens as `{}` already; give this one another name",
            short(&serve_id).escape_debug()
        ),
    };
    let name = policy.names.take(&session.spec().tenant, &serve_id).ok_or_else(taken)?;
    Ok(Box::new(ListenReady { protocol, serve_id, handler, name, client_calls_max }))
}

pub(super) fn judge_terms(terms: &Terms) -> Result<(), String> {
    for subject in terms.subjects.iter().flatten() {
        let text = subject.as_str();
        if !["http:", "tcp:", "*"].iter().any(|it| text.starts_with(it)) {
            return Err(format!(
                "field `subjects`: `{text}` names no listener: write http:127.0.0.1:8080 or tcp:127.0.0.1:9000"
            ));
        }
    }
    match terms.rules.is_empty() {
        true => Ok(()),
        false => Err("field `rules`: a listener has no arguments to have rules about".into()),
    }
}
