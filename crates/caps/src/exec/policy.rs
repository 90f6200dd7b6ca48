//! Is there such a command, and does its input fit?

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_contract::{
    Denial,
    port::{Entry, Registry},
};
use drydock_gate::{Refused, Session};

use super::ExecStart;

/// A request that may be carried out: what the name stood for when it was checked is what runs,
/// whatever is registered meanwhile.
pub struct Ready {
    pub(super) entry: Entry,
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
    let Some(entry) = registry.lookup(&name, args.first().map(Vec::as_slice)) else {
        let subject = short(&name);
        return Err(Refused { denial: Denial::UnknownCommand(Arc::clone(&subject)), subject });
    };
    let limits = &session.spec().limits;
    // The environment lies beside the arguments in the guest's memory, and shares their limit.
    let own = env.iter().flatten();
    let argv: u64 = args.iter().chain(own).map(|arg| arg.len() as u64 + 1).sum();
    let parts =
        [("argv", argv, limits.argv_bytes_max), ("stdin", stdin.len() as u64, limits.stdin_bytes_max)];
    for (what, bytes, max) in parts {
        if bytes > max {
            return Err(Refused {
                denial: Denial::TooLarge { what, bytes, max },
                subject: entry.name.shared(),
            });
        }
    }
    Ok(Ready { entry, args, env: env.map(Arc::from), stdin, wall_max })
}

/// At most as much of a guest's text as a legal name may have.
pub(super) fn short(name: &str) -> Arc<str> {
    name[..name.floor_char_boundary(64)].into()
}
