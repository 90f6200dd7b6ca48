//! A program ready to run: nodes in one list, names turned into distances.
//!
//! Variables, closures and labels live on a chain of links; `hops` says how many links lie between
//! a node and the one it means. Functions are found by their place in a table.

use crate::natives::{Format, Native};
use crate::syntax::ast::{Assignment, Operator};
use crate::value::{Text, Value};

/// A node's place in the list.
pub type Id = u32;

/// What is to be done.
pub enum Node {
    Identity,
    Empty,
    Const(Value),
    Field(Text),
    Iterate,
    Index(Id, Id),
    Slice(Id, Option<Id>, Option<Id>),
    Pipe(Id, Id),
    Comma(Box<[Id]>),
    Array(Id),
    Object(Box<[(Id, Option<Id>)]>),
    Negate(Id),
    Binary(Operator, Id, Id),
    And(Id, Id),
    Or(Id, Id),
    Alternative(Id, Id),
    If(Id, Id, Id),
    Try(Id, Option<Id>),
    Text(Format, Box<[TextPart]>),
    Format(Format),
    Var(u32),
    Fold(Box<Fold>),
    Bind(Id, Box<Binder>, Id),
    Label(Id),
    Break(u32),
    Call(Box<Call>),
    /// A parameter that is a filter.
    Arg(u32),
    /// A function of values. With `true`, the last argument varies slowest.
    Native(Native, Box<[Id]>, bool),
    Special(Special, Box<[Id]>),
    Assign(Assignment, Id, Id),
}

/// A piece of a string.
pub enum TextPart {
    Plain(Box<str>),
    Inserted(Id),
}

/// `reduce` or `foreach`.
pub struct Fold {
    pub source: Id,
    pub binder: Binder,
    pub init: Id,
    pub update: Id,
    /// `None` for `reduce`.
    pub extract: Option<Id>,
}

/// What `as` binds: one pattern, or alternatives that all end in the same variables.
pub struct Binder {
    pub alternatives: Box<[Alternative]>,
}

/// A pattern. With several, `kept` says for each variable how far back its link is, if it has one.
pub struct Alternative {
    pub pattern: Pattern,
    pub kept: Option<Box<[Option<u32>]>>,
}

/// Each variable in a pattern adds one link.
pub enum Pattern {
    Variable,
    Array(Box<[Pattern]>),
    Object(Box<[FieldPattern]>),
}

/// A field of an object pattern.
pub struct FieldPattern {
    /// The value itself is bound, too.
    pub binds: bool,
    pub key: Id,
    pub value: Option<Pattern>,
}

/// A call of a defined function.
pub struct Call {
    pub function: u32,
    /// From here to the links the function was defined among.
    pub hops: u32,
    pub args: Box<[Id]>,
}

/// A defined function.
pub struct Function {
    pub body: Id,
    /// Which parameters are values.
    pub params: Box<[bool]>,
}

/// Functions that take filters, make many outputs, or reach outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    Recurse,
    Range,
    First,
    Last,
    Limit,
    Skip,
    Nth,
    Until,
    While,
    Repeat,
    Any,
    All,
    IsEmpty,
    Path,
    Paths,
    Delete,
    Pick,
    Walk,
    SortBy,
    GroupBy,
    UniqueBy,
    MinBy,
    MaxBy,
    Add,
    Input,
    Inputs,
    Debug,
    Stderr,
    InputFilename,
    InputLine,
    Halt,
    HaltError,
    Error,
    GetPath,
    Substitute,
    ToStream,
}

/// A whole program.
#[derive(Default)]
pub struct Program {
    pub nodes: Vec<Node>,
    pub functions: Vec<Function>,
    /// Whether a node has at most one output.
    pub single: Vec<bool>,
    pub main: Id,
}

impl Program {
    /// The node at a place.
    #[inline]
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// Whether it has at most one output.
    #[inline]
    pub fn is_single(&self, id: Id) -> bool {
        self.single[id as usize]
    }
}
