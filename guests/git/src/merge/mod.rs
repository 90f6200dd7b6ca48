//! Three-way merges: of texts, and of whole trees.

pub mod text;
pub mod tree;
