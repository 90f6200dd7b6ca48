//! The door: all a shell has of the outside.
//!
//! Commands are started here, with their arguments, environment and streams; pipes between them, files and the time
//! come from here. Nothing else of this room reaches anything. Waiting has no method of its own: whatever is
//! not done yet answers `Pending` and wakes, so whoever polls the shell waits for all of it at once.
//!
//! Whoever stands behind it may live in this process ([`CallingCommands`]) or outside of the sandbox that the shell runs in.

mod calling;
mod ends;
mod file;
mod stage;
mod tree;

use std::{sync::Arc, time::Duration};

use drydock_contract::{
    BoxFuture,
    port::{Clock, TreePath},
};

pub use calling::CallingCommands;
pub use ends::{LineEnds, NumberedEnd, ReadEnd, WriteEnd};
pub use file::{PipeEnds, ShellFile};
pub use stage::{Ended, NotRun, StageInput, StageNumbered, StageOutput, StageStreams, Start};
pub use tree::{FilesTree, Tree};

pub use crate::fd::ShellOutput;

/// Starts commands. A shell that a command started is given another one, a level deeper.
pub trait Commands: Send + Sync {
    /// Runs a command from its start to its end. Dropping the future ends the command.
    fn start<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Ended>;

    /// What is left of the time that whoever started this shell allows it, where that is less than the line has.
    fn time_left(&self) -> Option<Duration> {
        None
    }
}

/// What a shell asks of the outside, besides starting commands.
pub trait Door: Commands {
    /// The files that redirections, globs and tests see.
    fn tree(&self) -> Arc<dyn Tree>;

    /// The time.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Whether a name is a command that may be run.
    fn has_command(&self, name: &str) -> bool;

    /// The names of the commands that may be run, as far as they may be known: what `/bin/*` and completion list.
    fn command_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// What to say of a name that is no command, after the name and a colon.
    fn not_found(&self, _name: &str) -> String {
        "command not found".to_owned()
    }

    /// Whether the line in flight changed what an open file is, or what leads to it under this name. Whoever cannot
    /// tell says yes: then no script is run that might be of the line's own making.
    fn was_changed(&self, _path: &TreePath, _open: &dyn ShellFile) -> bool {
        true
    }

    /// Asked now and then, and when a command was cancelled: why the line must end, if it must. An empty reason
    /// ends it without a word.
    fn expired(&self) -> Option<String> {
        None
    }

    /// The shell has a trap for Ctrl-C, or has none any more: whoever is told of one hands it on ([`Interrupter`](crate::Interrupter)).
    fn catches_interrupt(&self, _catches: bool) {}

    /// The shell has done a slice of its own work. Whoever keeps a clock that is not the real one lets time pass for who
    /// sleeps; where all of the session is polled by one schedule, that does so itself.
    fn slice_done(&self) {}

    /// Ends when so much time has passed; none where nobody here can tell, or there are too many.
    fn timer(&self, _after: Duration) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// A pipe between two stages. The default lies in the shell's own memory; a door whose commands run elsewhere
    /// has its own, so that what flows between two commands need not pass through the shell. None: there are too many.
    fn pipe(&self) -> Option<(Arc<dyn ReadEnd>, Arc<dyn WriteEnd>)> {
        let (reader, writer) = drydock_contract::pipe();
        Some((Arc::new(reader), Arc::new(writer)))
    }
}
