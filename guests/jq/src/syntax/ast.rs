//! A program as it is written, names not looked up yet.

use crate::value::Value;

/// An expression.
#[derive(Debug)]
pub enum Ast {
    Identity,
    /// `..`
    Recurse,
    Literal(Value),
    /// A string with expressions inside, each put in by the format named.
    Text(Option<String>, Vec<Part>),
    /// `@name` on its own.
    Format(String),
    /// `target[key]`, `target.name`
    Index(Box<Ast>, Box<Ast>),
    /// `target[from:to]`
    Slice(Box<Ast>, Option<Box<Ast>>, Option<Box<Ast>>),
    /// `target[]`
    Iterate(Box<Ast>),
    Array(Option<Box<Ast>>),
    /// Keys and values; without a value, it is looked up in the input under the key.
    Object(Vec<(Ast, Option<Ast>)>),
    Negate(Box<Ast>),
    Pipe(Vec<Ast>),
    Comma(Vec<Ast>),
    Binary(Operator, Box<Ast>, Box<Ast>),
    And(Box<Ast>, Box<Ast>),
    Or(Box<Ast>, Box<Ast>),
    Alternative(Box<Ast>, Box<Ast>),
    Assign(Assignment, Box<Ast>, Box<Ast>),
    If(Box<Ast>, Box<Ast>, Option<Box<Ast>>),
    Try(Box<Ast>, Option<Box<Ast>>),
    Reduce(Box<Ast>, Vec<Pattern>, Box<Ast>, Box<Ast>),
    Foreach(Box<Ast>, Vec<Pattern>, Box<Ast>, Box<Ast>, Option<Box<Ast>>),
    /// `source as patterns | body`
    Bind(Box<Ast>, Vec<Pattern>, Box<Ast>),
    Label(String, Box<Ast>),
    Break(String, usize),
    Define(Box<Definition>, Box<Ast>),
    /// A function's name and arguments, and where the call stands.
    Call(String, Vec<Ast>, usize),
    Variable(String, usize),
    /// `$__loc__`: the line.
    Location(usize),
}

/// A piece of a string.
#[derive(Debug)]
pub enum Part {
    Plain(String),
    Inserted(Ast),
}

/// What computes with two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// What `=` and its relatives do with the old value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignment {
    /// `=`
    Set,
    /// `|=`
    Update,
    /// `+=` and so on
    Compute(Operator),
    /// `//=`
    Default,
}

/// What a value is taken apart by.
#[derive(Debug)]
pub enum Pattern {
    Variable(String),
    Array(Vec<Pattern>),
    Object(Vec<FieldPattern>),
}

/// One field of an object pattern.
#[derive(Debug)]
pub struct FieldPattern {
    /// `$name` stands for the key and for a variable of that name.
    pub variable: Option<String>,
    pub key: Ast,
    pub value: Option<Pattern>,
}

/// `def name(params): body;`
#[derive(Debug)]
pub struct Definition {
    pub name: String,
    pub params: Vec<Param>,
    pub body: Ast,
}

/// A parameter: a filter, or with `$` a value.
#[derive(Debug)]
pub struct Param {
    pub name: String,
    pub is_value: bool,
}

/// `import "path" as name;`, `import "path" as $name;`, `include "path";`
#[derive(Debug)]
pub struct Import {
    pub path: String,
    /// Nothing for `include`; with a leading `$` for data.
    pub name: Option<String>,
    /// Where to look, relative to the file that imports.
    pub search: Option<String>,
    /// `optional` is ours to ignore; jq keeps the metadata for `modulemeta`.
    pub meta: Option<Value>,
}

/// A file of the language: a program, or a module without one.
#[derive(Debug)]
pub struct Module {
    pub meta: Option<Value>,
    pub imports: Vec<Import>,
    pub definitions: Vec<Definition>,
    pub body: Option<Ast>,
}
