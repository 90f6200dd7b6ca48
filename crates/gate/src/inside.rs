//! Commands that are no modules: the front end that opened a session answers them itself, with what
//! the session may do and nothing more. A shell offers `sh` this way to `xargs`, `find` and `env`.

use std::{sync::Arc, time::Duration};

use drydock_contract::{BoxFuture, Dispatch, Entropy, Outcome, Preparing, Streams, port::FileRules};

/// One such command.
pub struct InsideCommand {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// `NAME=value` entries.
    pub env: Arc<[Vec<u8>]>,
    /// How long it may take, where that is less than the session allows.
    pub wall_max: Option<Duration>,
    /// What holds for the files that it makes and writes.
    pub file_rules: FileRules,
    /// The built-in command that asks, if it is one. `make` may say which makefiles a text comes from.
    pub caller: Option<Arc<str>>,
    /// What it reads and writes.
    pub streams: Streams,
    /// The gate for whatever it starts, one level deeper.
    pub door: Arc<dyn Dispatch>,
    /// Where its randomness comes from.
    pub entropy: Entropy,
    /// Told while it waits for something that is nobody's time, such as an installation.
    pub preparing: Arc<Preparing>,
}

/// Whoever answers them. Asked only after the gate let the call through.
pub trait Inside: Send + Sync {
    /// Whether a name that nothing is registered under is one of these.
    fn offers(&self, name: &str) -> bool;

    /// Runs one to its end and hands its streams back.
    fn run(&self, command: InsideCommand) -> BoxFuture<'static, (Outcome, Streams)>;
}
