//! Where an evaluator stands among the evaluators of its shell: its calls and its subshells are numbered by it, and
//! its randomness is derived from it, whatever else of the line runs meanwhile.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use drydock_contract::CallId;

/// One evaluator: a shell, or a subshell of one. What is cloned is the same evaluator.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    span: u64,
    /// How many calls and subshells it made, and how many numbers it drew.
    made: Arc<AtomicU64>,
}

impl Origin {
    /// A number that this evaluator gives nothing else, and no other evaluator of the shell gives anything.
    pub(crate) fn next(&self) -> u64 {
        CallId(self.span).child(self.made.fetch_add(1, Ordering::Relaxed)).0
    }

    /// A subshell's.
    pub(crate) fn child(&self) -> Self {
        Self { span: self.next(), made: Arc::default() }
    }

    pub(crate) fn span(&self) -> u64 {
        self.span
    }

    /// How many numbers it gave.
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// The evaluator that gave so many numbers already, in another process perhaps.
    pub(crate) fn resumed(span: u64, made: u64) -> Self {
        Self { span, made: Arc::new(AtomicU64::new(made)) }
    }
}
