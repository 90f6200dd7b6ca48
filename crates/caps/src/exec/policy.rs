//! Is there such a command, and does its input fit?

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_contract::{
    Denial,
    port::{Entry, Registry},
};
use drydock_gate::{Inside, Refused, Session};

use super::ExecStart;
use crate::program::{self, short};

/// What a name stands for.
pub(super) enum Target {
    /// A registered module.
    Module(Entry),
    /// A command of the front end itself.
    Inside(Arc<dyn Inside>, Arc<str>),
    /// A file of the session, by its path.
    File(String),
}

impl Target {
    pub(super) fn name(&self) -> Arc<str> {
        match self {
            Self::Module(entry) => entry.name.shared(),
            Self::Inside(_, name) => Arc::clone(name),
            Self::File(path) => short(path),
        }
    }
}

/// A request that may be carried out: what the name stood for when it was checked is what runs,
/// whatever is registered meanwhile.
pub struct Ready {
    pub(super) target: Target,
    pub(super) args: Vec<Vec<u8>>,
    pub(super) env: Option<Arc<[Vec<u8>]>>,
    pub(super) stdin: Bytes,
    pub(super) wall_max: Option<Duration>,
}

pub(super) fn check(
    registry: &dyn Registry,
    session: &Session,
    request: ExecStart,
) -> Result<Ready, Refused> {
    let ExecStart { name, args, env, stdin, wall_max } = request;
    let inside = session.spec().inside.as_ref().filter(|it| it.offers(&name));
    let target = match (registry.lookup(&name, args.first().map(Vec::as_slice)), inside) {
        (Some(entry), _) => Target::Module(entry),
        (None, Some(inside)) => Target::Inside(Arc::clone(inside), short(&name)),
        (None, None) if program::is_path(&name) && session.spec().files.is_some() => Target::File(name),
        (None, None) => {
            let subject = short(&name);
            return Err(Refused { denial: Denial::UnknownCommand(Arc::clone(&subject)), subject });
        }
    };
    let limits = &session.spec().limits;
    // The environment lies beside the arguments in the guest's memory, and shares their limit.
    let own = env.iter().flatten();
    let argv: u64 = args.iter().chain(own).map(|arg| arg.len() as u64 + 1).sum();
    let parts =
        [("argv", argv, limits.argv_bytes_max), ("stdin", stdin.len() as u64, limits.stdin_bytes_max)];
    for (what, bytes, max) in parts {
        if bytes > max {
            return Err(Refused { denial: Denial::TooLarge { what, bytes, max }, subject: target.name() });
        }
    }
    Ok(Ready { target, args, env: env.map(Arc::from), stdin, wall_max })
}
