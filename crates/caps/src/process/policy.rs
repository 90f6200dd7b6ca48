//! Is the process the session's own, and does it run the command that the grant was asked about?

use std::{sync::Arc, time::Duration};

use drydock_contract::Denial;
use drydock_gate::{Refused, Session, process::ProcessSpawn};

use super::request::{Asked, Request};
use crate::{
    processes::{Entry, Processes},
    program::short,
};

/// A request that may be carried out.
pub struct Ready {
    pub(super) command: Arc<str>,
    pub(super) act: Act,
}

pub(super) enum Act {
    Spawn(ProcessSpawn),
    Await(Arc<Entry>, Duration),
    Kill(Arc<Entry>),
}

pub(super) fn check(table: &Processes, session: &Session, request: Request) -> Result<Ready, Refused> {
    let command = short(request.subject());
    let own = |number: u64, command: &str| {
        let missing = || {
            let shown = short(command);
            Denial::Malformed(format!(
                "this session has no process {number} of command `{}`",
                shown.escape_debug()
            ))
        };
        table.own(session, number, command).ok_or_else(missing)
    };
    let act = match request.asked {
        Asked::Spawn(spawn) => Ok(Act::Spawn(spawn)),
        Asked::Await(wait) => own(wait.number, &wait.command).map(|it| Act::Await(it, wait.wall_max)),
        Asked::Kill(kill) => own(kill.number, &kill.command).map(Act::Kill),
        Asked::Bad(denial) => Err(denial),
    };
    match act {
        Ok(act) => Ok(Ready { command, act }),
        Err(denial) => Err(Refused { denial, subjects: command.into() }),
    }
}
