//! GNU make's everyday language: variables, rules, patterns, conditions, functions; and the recipes, one
//! after the other, each as a line for the session's shell.
//!
//! Not here: archives as targets, `vpath` and `VPATH`, `load`, second expansion, `.WAIT`.
#![allow(missing_docs, reason = "nobody links against a guest but its own tests")]

pub mod build;
pub mod cli;
pub mod expand;
pub mod foreign;
pub mod function;
pub mod implicit;
pub mod read;
pub mod recipe;
pub mod rule;
pub mod text;
pub mod variable;

/// What ends everything: a message as make writes it, without `make: *** `.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// `Makefile:3: ` or nothing, which means make itself.
    pub place: String,
    pub text: String,
}

impl Stop {
    /// Of make itself.
    pub fn new(text: impl Into<String>) -> Self {
        Self { place: String::new(), text: text.into() }
    }
}

/// What something comes to.
pub type Done<T = ()> = Result<T, Stop>;
