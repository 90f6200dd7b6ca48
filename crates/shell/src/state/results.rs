//! What commands left behind besides `$?`.

use std::sync::{
    Arc,
    atomic::{AtomicI32, Ordering},
};

/// `PIPESTATUS`. Most pipelines have one stage, and their status needs no memory of its own.
#[derive(Debug, Clone, Default)]
pub(crate) enum PipeStatus {
    #[default]
    None,
    One(i32),
    Many(Arc<[i32]>),
}

impl PipeStatus {
    pub(crate) fn as_slice(&self) -> &[i32] {
        match self {
            Self::None => &[],
            Self::One(status) => std::slice::from_ref(status),
            Self::Many(all) => all,
        }
    }
}

#[derive(Clone, Default)]
pub(crate) struct Results {
    pub(crate) pipe_status: PipeStatus,
    /// The status of the last command substitution of the command being expanded.
    pub(crate) substituted: Option<i32>,
    /// An arithmetic error costs a line, and the shell not even under `-e`.
    pub(crate) forgiven: bool,
    /// The stage of a pipeline that this belongs to.
    pub(crate) limited: Limited,
}

/// Whether a limit ended a command of a stage of a pipeline that nobody looked at: its status, or 0.
#[derive(Clone, Default)]
pub(crate) struct Limited {
    status: Arc<AtomicI32>,
    /// How often `tested` was counted when the stage began: above that, the stage itself looks.
    tested: u32,
}

impl Limited {
    /// For a stage that begins where `tested` stands so.
    pub(crate) fn new(tested: u32) -> Self {
        Self { status: Arc::default(), tested }
    }

    pub(crate) fn note(&self, status: i32, tested: u32) {
        if tested <= self.tested {
            self.status.store(status, Ordering::Relaxed);
        }
    }

    pub(crate) fn status(&self) -> i32 {
        self.status.load(Ordering::Relaxed)
    }
}
