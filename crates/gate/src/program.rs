//! Programs of code mode: what starts one brings the work itself, and the gate decides whether it is done.
//!
//! A program is text, its language a name, and what runs it stands behind a closure: this crate knows no runtime.

use std::{any::Any, sync::Arc};

use bytes::Bytes;
use drydock_contract::{BoxFuture, Entropy, Outcome};

use crate::Session;

/// A program that is to be started. Travels typed: only a host starts programs.
pub struct ProgramStart {
    /// Its language, which is what a grant names.
    pub language: Arc<str>,
    /// Its text, for the record's digest.
    pub text: Arc<str>,
    /// Runs it.
    pub run: Box<dyn FnOnce(StartedProgram) -> BoxFuture<'static, ProgramEnd> + Send>,
}

/// What a program is started with.
pub struct StartedProgram {
    /// The session as the program's own calls see it: one run deeper.
    pub session: Session,
    /// Where its randomness comes from.
    pub entropy: Entropy,
}

/// What is left of a program.
pub struct ProgramEnd {
    /// Its result, for whoever started it.
    pub result: Box<dyn Any + Send>,
    /// How it ended, for the record.
    pub outcome: Outcome,
    /// What the record's digest of the result is made of; nothing where there is none.
    pub digested: Option<Bytes>,
}
