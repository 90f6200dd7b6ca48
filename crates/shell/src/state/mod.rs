//! The state of a shell, made of parts that can be read alone. A subshell is a fork of each: what it may change it gets as
//! its own, and what is long is shared with its parent until one of them writes.

mod computed;
mod definitions;
mod dirs;
mod frame;
mod history;
mod identity;
mod jobs;
mod nested_in;
mod results;
mod rlimits;
mod shared;
mod trace;
mod traps;
mod unknown;
mod work;

use std::sync::Arc;

pub(crate) use computed::Computed;
pub(crate) use definitions::{Definitions, Hashed};
pub(crate) use dirs::Dirs;
pub(crate) use frame::{CallSite, Frame};
pub(crate) use history::History;
pub(crate) use identity::Identity;
pub(crate) use jobs::{Job, Jobs, ProcessJob};
pub(crate) use nested_in::NestedIn;
pub(crate) use results::{Limited, PipeStatus, Results};
pub(crate) use rlimits::{Rlimit, Rlimits};
pub(crate) use shared::Shared;
pub(crate) use trace::Trace;
pub(crate) use traps::{Trap, Traps};
pub(crate) use unknown::UnknownNames;

use super::{
    fd::{Descriptors, Fd},
    options::Options,
    vars::Vars,
};

/// How evaluation leaves where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flow {
    Break(u32),
    Continue(u32),
    Return(i32),
    Exit(i32),
    /// An error that costs the rest of the line.
    Discard,
    /// A limit: nothing more of this `run` is evaluated.
    Abort,
}

pub(crate) type Eval<T> = Result<T, Flow>;

/// A shell or a subshell, as the evaluator has it.
pub(crate) struct Env {
    pub(crate) shared: Arc<Shared>,
    pub(crate) identity: Identity,
    pub(crate) vars: Vars,
    pub(crate) computed: Computed,
    pub(crate) unknown: UnknownNames,
    pub(crate) definitions: Arc<Definitions>,
    pub(crate) options: Options,
    pub(crate) frame: Frame,
    pub(crate) trace: Trace,
    pub(crate) dirs: Dirs,
    pub(crate) fds: Descriptors,
    /// `$?`.
    pub(crate) status: i32,
    pub(crate) results: Results,
    pub(crate) jobs: Jobs,
    pub(crate) traps: Traps,
    pub(crate) rlimits: Arc<Rlimits>,
    pub(crate) history: Arc<History>,
    /// The command that started this shell, if one did.
    pub(crate) nested: Option<NestedIn>,
}

impl Env {
    /// A subshell.
    pub(crate) fn fork(&self) -> Self {
        let identity = self.identity.fork(&self.shared);
        Self {
            shared: Arc::clone(&self.shared),
            computed: self.computed.fork(&identity.origin),
            identity,
            vars: self.vars.clone(),
            unknown: self.unknown.clone(),
            definitions: Arc::clone(&self.definitions),
            options: self.options,
            frame: self.frame.fork(),
            trace: self.trace.clone(),
            dirs: self.dirs.clone(),
            fds: self.fds.fork(),
            status: self.status,
            results: self.results.clone(),
            jobs: self.jobs.fork(),
            traps: self.traps.fork(&self.options),
            rlimits: Arc::clone(&self.rlimits),
            history: Arc::clone(&self.history),
            nested: self.nested.clone(),
        }
    }

    /// An empty shell to stand in while the real one is elsewhere: nothing of it but who it is.
    pub(crate) fn hollow(&self) -> Self {
        Self {
            identity: self.identity.clone(),
            vars: Vars::new(0),
            computed: self.computed.clone(),
            unknown: self.unknown.hollow(),
            options: self.options,
            traps: self.traps.hollow(),
            ..Self::bare(Arc::clone(&self.shared))
        }
    }

    /// A shell without anything: no variables, no descriptors.
    pub(crate) fn bare(shared: Arc<Shared>) -> Self {
        Self {
            vars: Vars::new(shared.limits.variable_bytes_max),
            computed: Computed::starting(shared.clock.now()),
            shared,
            identity: Identity::default(),
            unknown: UnknownNames::default(),
            definitions: Arc::default(),
            options: Options::default(),
            frame: Frame::default(),
            trace: Trace::default(),
            dirs: Dirs::default(),
            fds: Descriptors::default(),
            status: 0,
            results: Results::default(),
            jobs: Jobs::default(),
            traps: Traps::default(),
            rlimits: Arc::default(),
            history: Arc::default(),
            nested: None,
        }
    }

    /// Forgets what belonged to a line that ended.
    pub(crate) fn after_line(&mut self) {
        self.jobs.list.clear();
        self.jobs.processes.clear();
        self.frame.after_line();
        self.traps.is_running = false;
        while self.fds.take_process(0).is_some() {}
        while self.vars.depth() > 1 {
            self.vars.pop_scope();
        }
    }

    /// The definitions, to change them.
    pub(crate) fn define(&mut self) -> &mut Definitions {
        Arc::make_mut(&mut self.definitions)
    }

    pub(crate) fn fd(&self, number: u32) -> Option<Fd> {
        self.fds.get(number).cloned()
    }
}
