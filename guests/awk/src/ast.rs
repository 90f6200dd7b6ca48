//! A program that was read, with all names resolved.

use crate::pattern::Pattern;
use crate::value::Text;
use std::rc::Rc;

/// A whole program.
#[derive(Debug, Default)]
pub struct Program {
    pub begin: Vec<Vec<Stmt>>,
    pub end: Vec<Vec<Stmt>>,
    pub begin_file: Vec<Vec<Stmt>>,
    pub end_file: Vec<Vec<Stmt>>,
    pub rules: Vec<Rule>,
    pub functions: Vec<Function>,
    /// The names of the global variables, by number.
    pub globals: Vec<String>,
    /// How many ranges there are.
    pub ranges: usize,
}

#[derive(Debug)]
pub struct Rule {
    pub pattern: Match,
    /// `None` prints the record.
    pub body: Option<Vec<Stmt>>,
}

#[derive(Debug)]
pub enum Match {
    Always,
    If(Expr),
    Range { from: Expr, to: Expr, number: usize },
}

#[derive(Debug, Default)]
pub struct Function {
    pub name: String,
    /// Of each parameter, whether it is used as an array.
    pub arrays: Vec<bool>,
    pub body: Vec<Stmt>,
    pub defined: bool,
}

#[derive(Debug)]
pub enum Stmt {
    Expr(Expr),
    Print { values: Vec<Expr>, to: Option<(Redirect, Expr)> },
    Printf { values: Vec<Expr>, to: Option<(Redirect, Expr)> },
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    Do(Box<Stmt>, Expr),
    For(Option<Box<Stmt>>, Option<Expr>, Option<Box<Stmt>>, Box<Stmt>),
    ForIn(Place, ArrayRef, Box<Stmt>),
    Switch(Expr, Vec<(Option<Case>, Vec<Stmt>)>),
    Block(Vec<Stmt>),
    Break,
    Continue,
    Next,
    NextFile,
    Exit(Option<Expr>),
    Return(Option<Expr>),
    Delete(ArrayRef, Option<Vec<Expr>>),
}

#[derive(Debug)]
pub enum Case {
    Value(Expr),
    Regex(Rc<Pattern>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirect {
    Write,
    Append,
    Pipe,
}

#[derive(Debug, Clone)]
pub enum Var {
    Global(usize),
    Local(usize),
    Special(Special),
}

/// Variables that mean something to awk itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    Nf,
    Nr,
    Fnr,
    Fs,
    Ofs,
    Ors,
    Rs,
    Rt,
    FileName,
    Subsep,
    Rstart,
    Rlength,
    Convfmt,
    Ofmt,
    Argc,
    IgnoreCase,
    Fpat,
    FieldWidths,
    Errno,
}

/// Their names, in the order of [`Special`].
pub(crate) const SPECIALS: &[(&str, Special)] = &[
    ("NF", Special::Nf),
    ("NR", Special::Nr),
    ("FNR", Special::Fnr),
    ("FS", Special::Fs),
    ("OFS", Special::Ofs),
    ("ORS", Special::Ors),
    ("RS", Special::Rs),
    ("RT", Special::Rt),
    ("FILENAME", Special::FileName),
    ("SUBSEP", Special::Subsep),
    ("RSTART", Special::Rstart),
    ("RLENGTH", Special::Rlength),
    ("CONVFMT", Special::Convfmt),
    ("OFMT", Special::Ofmt),
    ("ARGC", Special::Argc),
    ("IGNORECASE", Special::IgnoreCase),
    ("FPAT", Special::Fpat),
    ("FIELDWIDTHS", Special::FieldWidths),
    ("ERRNO", Special::Errno),
];

/// An array, or an element that is one.
#[derive(Debug, Clone)]
pub enum ArrayRef {
    Global(usize),
    Local(usize),
    Element(Box<ArrayRef>, Rc<Vec<Expr>>),
}

/// What can be assigned to.
#[derive(Debug)]
pub enum Place {
    Var(Var),
    Field(Box<Expr>),
    Element(ArrayRef, Rc<Vec<Expr>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    Less,
    LessEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Before,
    After,
}

#[derive(Debug)]
pub enum Expr {
    Num(f64),
    Str(Text),
    Regex(Rc<Pattern>),
    Var(Var),
    Field(Box<Expr>),
    Element(ArrayRef, Rc<Vec<Expr>>),
    /// In parentheses; several only before `in` and in `print`.
    Group(Vec<Expr>),
    Assign(Box<Place>, Box<Expr>),
    AssignOp(Box<Place>, Op, Box<Expr>),
    /// `++` and `--`, before or after.
    Step(Box<Place>, f64, Moment),
    If(Box<(Expr, Expr, Expr)>),
    And(Box<(Expr, Expr)>),
    Or(Box<(Expr, Expr)>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Plus(Box<Expr>),
    Binary(Op, Box<(Expr, Expr)>),
    Compare(Compare, Box<(Expr, Expr)>),
    Match(Box<(Expr, Expr)>, bool),
    Concat(Vec<Expr>),
    In(Vec<Expr>, ArrayRef),
    Call(usize, Vec<Expr>),
    Builtin(Builtin, Vec<Expr>),
    Getline(Source, Option<Box<Place>>),
}

#[derive(Debug)]
pub enum Source {
    Main,
    File(Box<Expr>),
    Command(Box<Expr>),
}

macro_rules! builtins {
    ($($variant:ident $name:literal $min:literal $max:literal,)*) => {
        /// The functions that awk has.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Builtin { $($variant,)* }

        /// Their names, and how many arguments each takes.
        pub const BUILTINS: &[(&str, Builtin, usize, usize)] = &[$(($name, Builtin::$variant, $min, $max),)*];
    };
}

builtins! {
    And "and" 2 99,
    Asort "asort" 1 3,
    Asorti "asorti" 1 3,
    Atan2 "atan2" 2 2,
    Close "close" 1 2,
    Compl "compl" 1 1,
    Cos "cos" 1 1,
    Exp "exp" 1 1,
    Fflush "fflush" 0 1,
    Gensub "gensub" 3 4,
    Gsub "gsub" 2 3,
    Index "index" 2 2,
    Int "int" 1 1,
    IsArray "isarray" 1 1,
    Length "length" 0 1,
    Log "log" 1 1,
    LeftShift "lshift" 2 2,
    Match "match" 2 3,
    MakeTime "mktime" 1 2,
    Or "or" 2 99,
    PatSplit "patsplit" 2 4,
    Rand "rand" 0 0,
    RightShift "rshift" 2 2,
    Sin "sin" 1 1,
    Split "split" 2 4,
    Sprintf "sprintf" 1 999,
    Sqrt "sqrt" 1 1,
    Srand "srand" 0 1,
    FormatTime "strftime" 0 3,
    StrToNum "strtonum" 1 1,
    Sub "sub" 2 3,
    Substr "substr" 2 3,
    System "system" 1 1,
    Now "systime" 0 0,
    ToLower "tolower" 1 1,
    ToUpper "toupper" 1 1,
    TypeOf "typeof" 1 1,
    Xor "xor" 2 99,
}
