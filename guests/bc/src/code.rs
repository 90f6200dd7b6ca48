//! What a program is compiled to: code for a machine with a stack.
//!
//! Running it needs no recursion of ours, so that a deep recursion of the program's is bounded by a
//! number and not by the guest's stack.

/// Where a value is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Variable(String),
    /// Its index is on the stack.
    Element(String),
    InputBase,
    OutputBase,
    Scale,
    Last,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Read in the input base of the moment.
    Constant(String),
    Get(Place),
    /// Stores the top and leaves it.
    Set(Place),
    /// Adds to a place and leaves its new value, or its old one.
    Step {
        place: Place,
        by: i64,
        old: bool,
    },
    /// The top once more.
    Copy,
    Drop,
    Math(char),
    Compare(&'static str),
    Negate,
    Not,
    /// One or zero, by whether the top is not zero.
    Truth,
    Jump(usize),
    JumpIfZero(usize),
    JumpIfNot(usize),
    Call {
        name: String,
        args: Vec<Argument>,
    },
    Builtin(Builtin),
    /// How many elements an array has.
    ArrayLength(String),
    Return,
    PrintValue,
    PrintItem,
    PrintText(String),
    /// With backslash escapes.
    PrintEscaped(String),
    Halt,
}

/// A value on the stack, or a whole array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    Value,
    Array(String),
}

/// Functions of the language itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    Length,
    Scale,
    SquareRoot,
    Read,
}

/// A function of the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    pub params: Vec<Local>,
    pub autos: Vec<Local>,
    pub code: Vec<Op>,
}

/// A name that is the function's own while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Local {
    Variable(String),
    Array(String),
}

/// What the parser hands over, one after the other.
#[derive(Debug, PartialEq)]
pub enum Item {
    Run(Vec<Op>),
    Define(String, Function),
    /// Read, not run: whatever comes after it does not matter.
    Quit,
    /// What is wrong, and on which line; the rest of the line is skipped.
    Wrong(usize, String),
}
