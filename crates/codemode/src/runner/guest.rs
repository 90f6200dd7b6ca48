//! What runs a program. Behind it is a fresh guest each time, and nothing that survives one.

use std::sync::Arc;

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
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Its result, nothing for `undefined`; or why there is none. The failure of a tool that nobody
    /// caught is the very failure the tool had; nothing a program can write becomes a code.
    pub outcome: Result<Option<Json>, Failure>,
    /// What it logged. Kept short while it runs with a [`LogBuffer`](super::LogBuffer).
    pub logs: Vec<String>,
}

/// Runs programs.
pub trait Guest: Send + Sync {
    /// Runs one. Calls of tools go to `tools`. The program's own time is the guest's to enforce; when
    /// `cancel` trips it must end soon, or its future is dropped, and its logs with it.
    fn run(&self, program: Program, tools: Arc<dyn Tools>, cancel: Arc<Switch>) -> BoxFuture<'_, Finished>;
}
