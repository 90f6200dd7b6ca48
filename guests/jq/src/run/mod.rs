//! Runs a program: a walk over its nodes that hands each output to a callback.
//!
//! What has at most one output runs without callbacks ([`one`]), and in a loop where it stands last,
//! so that such recursion needs no stack. All other recursion is counted and ends as an error.

mod access;
mod assign;
mod bind;
mod each;
mod env;
mod exit;
mod fold;
mod one;
mod operate;
mod path;
mod place;
mod repeat;
mod special;
mod special_path;
mod substitute;
#[cfg(test)]
mod tests;

pub use access::{delete_paths, get_path, index, set_path, slice_bounds};
pub use env::Env;
pub use exit::{Exit, Flow};
pub use operate::{add, arithmetic};

use crate::compile::node::{Id, Program};
use crate::value::Value;
use std::cell::Cell;

/// Calls inside calls beyond this would exhaust the stack: a guest's, or that of an unoptimised test.
const DEPTH_MAX: u32 = if cfg!(debug_assertions) { 60 } else { 900 };

/// What a program can reach outside of itself.
pub trait World {
    /// The next input; `None` after the last.
    fn input(&self) -> Option<Result<Value, String>>;
    /// The name of the current input's file.
    fn file(&self) -> Option<String>;
    /// How many lines of it have been read.
    fn line(&self) -> usize;
    /// Something for standard error.
    fn complain(&self, bytes: &[u8]);
}

/// One program with its surroundings.
pub struct Run<'p> {
    program: &'p Program,
    world: &'p dyn World,
    labels: Cell<u32>,
    depth: Cell<u32>,
}

/// Where outputs go.
pub type Out<'o> = &'o mut dyn FnMut(Value) -> Flow;

impl<'p> Run<'p> {
    /// Ready to run.
    pub fn new(program: &'p Program, world: &'p dyn World) -> Self {
        Self { program, world, labels: Cell::new(0), depth: Cell::new(0) }
    }

    /// Hands every output for `input` to `out`.
    pub fn run(&self, input: Value, out: Out<'_>) -> Flow {
        self.depth.set(0);
        self.each(self.program.main, &Env::ROOT, input, out)
    }

    fn label(&self) -> u32 {
        self.labels.set(self.labels.get() + 1);
        self.labels.get()
    }

    /// Runs `inner` one call deeper.
    #[inline]
    fn deeper<T>(&self, inner: impl FnOnce() -> Result<T, Exit>) -> Result<T, Exit> {
        let depth = self.depth.get();
        if depth >= DEPTH_MAX {
            return Err(Exit::error("Maximum recursion depth exceeded"));
        }
        self.depth.set(depth + 1);
        let result = inner();
        self.depth.set(depth);
        result
    }

    /// All outputs of a node.
    fn all<'e>(&self, id: Id, env: &'e Env<'e>, input: Value) -> Result<Vec<Value>, Exit> {
        let mut items = Vec::new();
        self.each(id, env, input, &mut |value| {
            items.push(value);
            Ok(())
        })?;
        Ok(items)
    }
}
