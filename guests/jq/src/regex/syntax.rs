//! A pattern as a tree.

use super::class::Class;

/// A part of a pattern.
pub(super) enum Node {
    Empty,
    Char(char, bool),
    Class(Class),
    /// Any character; line ends too if so.
    Any(bool),
    Assert(Assert),
    All(Vec<Node>),
    Either(Vec<Node>),
    /// A group with a number.
    Group(usize, Box<Node>),
    Atomic(Box<Node>),
    /// Whether it looks back, and whether it must not match.
    Look {
        behind: bool,
        negative: bool,
        inner: Box<Node>,
    },
    Backreference(Vec<usize>, bool),
    Repeat {
        inner: Box<Node>,
        min: u32,
        max: Option<u32>,
        kind: Kind,
    },
    /// `\K`: the match begins here.
    Keep,
}

/// How a repetition gives way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Greedy,
    Lazy,
    Possessive,
}

/// What a place must be.
#[derive(Clone, Copy)]
pub(super) enum Assert {
    TextStart,
    TextEnd,
    /// The end, or before a last line end.
    LastEnd,
    WordEdge,
    NoWordEdge,
    SearchStart,
}

/// A pattern with the names of its groups.
pub(super) struct Parsed {
    pub root: Node,
    pub names: Vec<Option<String>>,
}
