//! What is asked: a process, its end, or to end it. Travels typed; the command that a process runs is read from the request
//! that will be made for it, because that is what a grant names.

use std::any::Any;

use drydock_abi::exec::{COMMAND, START, decode_command, decode_request};
use drydock_contract::Denial;
use drydock_gate::process::{AWAIT, KILL, ProcessAwait, ProcessKill, ProcessSpawn, SPAWN};

/// A request, and the command that it is about.
pub struct Request {
    command: String,
    pub(super) asked: Asked,
}

pub(super) enum Asked {
    Spawn(ProcessSpawn),
    Await(ProcessAwait),
    Kill(ProcessKill),
    /// No command can be read from it.
    Bad(Denial),
}

impl Request {
    pub(super) fn subject(&self) -> &str {
        &self.command
    }

    /// What will be asked for, as it will be asked.
    pub(super) fn digested(&self) -> Option<[&[u8]; 2]> {
        match &self.asked {
            Asked::Spawn(spawn) => Some([spawn.operation.as_bytes(), &spawn.request]),
            Asked::Await(_) | Asked::Kill(_) | Asked::Bad(_) => Some([self.command.as_bytes(), &[]]),
        }
    }
}

pub(super) fn decode(operation: &str, value: Box<dyn Any + Send>) -> Option<Request> {
    let (command, asked) = match operation {
        SPAWN => {
            let spawn = *value.downcast::<ProcessSpawn>().ok()?;
            match command_of(&spawn) {
                Ok(command) => (command, Asked::Spawn(spawn)),
                Err(bad) => (String::new(), Asked::Bad(Denial::Malformed(bad))),
            }
        }
        AWAIT => {
            let wait = *value.downcast::<ProcessAwait>().ok()?;
            (wait.command.to_string(), Asked::Await(wait))
        }
        KILL => {
            let kill = *value.downcast::<ProcessKill>().ok()?;
            (kill.command.to_string(), Asked::Kill(kill))
        }
        _ => return None,
    };
    Some(Request { command, asked })
}

/// The command that a process would run.
fn command_of(spawn: &ProcessSpawn) -> Result<String, String> {
    match spawn.operation {
        START => decode_request(&spawn.request).map(|it| it.name.into()).map_err(|bad| bad.to_string()),
        COMMAND => {
            decode_command(&spawn.request).map(|it| it.request.name.into()).map_err(|bad| bad.to_string())
        }
        other => Err(format!("a process cannot be made of `{}`", other.escape_debug())),
    }
}
