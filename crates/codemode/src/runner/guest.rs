//! What runs a program. Behind it is a fresh guest each time, and nothing that survives one.

use std::{fmt, sync::Arc};

use drydock_contract::{BoxFuture, Switch, Tools};

use crate::protocol::{Failure, Json, Manifest, RuntimeOptions};

/// A program and what it may have.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The text, as it was sent.
    pub code: Arc<str>,
    /// The namespaces it sees: one function for each key of `tools`.
    pub providers: Arc<[Manifest]>,
    /// Its limits.
    pub options: RuntimeOptions,
    /// What it sees as `args`.
    pub args: Option<Json>,
    /// Who hears its console lines as they are written.
    pub console: Option<Console>,
    /// The path by which it imports files beside it. It then has the globals of the web too; without, only
    /// those of the protocol, and nothing can be imported.
    pub file: Option<Arc<str>>,
}

/// Hears each console line that is kept, in order, when it is written. Called in the guest's own turn, so it
/// must not wait for long.
#[derive(Clone)]
pub struct Console(Arc<dyn Fn(&str) + Send + Sync>);

impl Console {
    /// Calls `hear` with each line.
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    /// Tells one line.
    pub fn tell(&self, line: &str) {
        (self.0)(line);
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Console")
    }
}

impl PartialEq for Console {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Its result, nothing for `undefined`; or why there is none. The failure of a tool that nobody
    /// caught is the very failure the tool had; nothing a program can write becomes a code.
    pub outcome: Result<Option<Json>, Failure>,
    /// What it logged. Kept short while it runs with a [`LogBuffer`](super::LogBuffer).
    pub logs: Vec<String>,
    /// Whether it logged more than was kept.
    pub logs_cut: bool,
}

impl Finished {
    /// A program that left no logs.
    pub fn without_logs(outcome: Result<Option<Json>, Failure>) -> Self {
        Self { outcome, logs: Vec::new(), logs_cut: false }
    }
}

/// Runs programs.
pub trait Guest: Send + Sync {
    /// Runs one. Calls of tools go to `tools`. The program's own time is the guest's to enforce; when
    /// `cancel` trips it must end soon, or its future is dropped, and its logs with it.
    fn run(&self, program: Program, tools: Arc<dyn Tools>, cancel: Arc<Switch>) -> BoxFuture<'_, Finished>;
}
