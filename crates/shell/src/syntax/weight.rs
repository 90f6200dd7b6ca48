//! What a tree takes, counted while it grows: text that is all joints makes a tree of hundreds of times
//! its length, so the length of the text alone bounds nothing.
//!
//! The figures are the sizes of the nodes, and a guess for each allocation. They need not be exact;
//! the limit holds for the sum, so what counts is that no node is free of charge.

use super::{Parsed, Parser};

/// What an allocation costs beside its bytes.
const ALLOCATION_BYTES: usize = 32;

/// An expression of arithmetic, for each byte of its text.
const EXPRESSION_BYTES: usize = 48;

impl Parser<'_> {
    /// Counts `count` nodes of a kind, each with what it holds; fails where that is too much.
    pub(super) fn grow<Node>(&mut self, count: usize) -> Parsed<()> {
        self.grow_by(count.saturating_mul(size_of::<Node>() + ALLOCATION_BYTES))
    }

    /// Counts arithmetic.
    pub(super) fn grow_arith(&mut self, text_bytes: usize) -> Parsed<()> {
        self.grow_by(text_bytes.saturating_mul(EXPRESSION_BYTES))
    }

    fn grow_by(&mut self, bytes: usize) -> Parsed<()> {
        self.tree_bytes = self.tree_bytes.saturating_add(bytes);
        if self.tree_bytes <= self.limits.tree_bytes_max {
            return Ok(());
        }
        let max = self.limits.tree_bytes_max >> 20;
        Err(self.error(format!(
            "the text up to here has so many commands and words that they take more than {max} MiB; split it"
        )))
    }

    /// Reads a text inside this one, on the same account.
    pub(super) fn inner<T>(
        &mut self,
        text: &str,
        depth: u32,
        read: impl FnOnce(&mut Parser<'_>) -> Parsed<T>,
    ) -> Parsed<T> {
        let mut inner = Parser::new(text, self.limits, depth);
        inner.tree_bytes = self.tree_bytes;
        let result = read(&mut inner);
        self.tree_bytes = inner.tree_bytes;
        result
    }
}
