//! The tree a line is parsed into, once. Nothing in it is text that will be parsed again, except
//! arithmetic that holds a `$`, whose language has no commands.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

mod param;

use crate::arith::Expr;
pub(crate) use param::{CaseChange, Param, ParamName, ParamOp, Replace, Subscript};

/// Lists, one after another.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) items: Vec<Item>,
    /// At the top of a text: every name the text gives a value to, or takes one from.
    pub(crate) names: Vec<String>,
}

/// A stretch of the text something was parsed from; empty where nobody asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Where a compound command stands.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) span: Span,
}

/// One and-or list, and whether it runs beside what follows.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) list: Arc<AndOr>,
    pub(crate) background: bool,
    /// Whether a newline stands before it: where a discarded line ends.
    pub(crate) starts_line: bool,
    /// Where in its text it begins.
    pub(crate) start: usize,
    /// As typed, if it runs beside what follows.
    pub(crate) typed: Arc<str>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct AndOr {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Join, Pipeline)>,
}

/// What joins two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    And,
    Or,
}

/// How `time` tells of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timed {
    /// As `TIMEFORMAT` says, or bash.
    Own,
    /// `-p`: as POSIX says.
    Posix,
}

/// Stages joined by `|`.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) inverted: bool,
    pub(crate) timed: Option<Timed>,
    pub(crate) stages: Vec<Stage>,
}

/// One command of a pipeline; `both` is `|&` after it.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) command: Arc<Command>,
    pub(crate) both: bool,
}

#[derive(Debug)]
pub(crate) enum Command {
    Simple(Simple),
    Compound(Box<Compound>, Vec<Redirect>, Place),
    Function(Arc<Function>),
}

/// A named body.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) body: Arc<Command>,
    pub(crate) source: FunctionSource,
}

/// What a function's body was read from: enough to show it, and to read it again to the same tree.
#[derive(Debug)]
pub(crate) struct FunctionSource {
    /// The body as typed.
    pub(crate) text: String,
    /// Where in its text that begins.
    pub(crate) base: u32,
    /// Its first line and column, counted from 1.
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// Where its other lines begin, counted from the first byte of the body. Not each is a newline of the text:
    /// lines that a backslash continued were joined.
    pub(crate) lines: Box<[u32]>,
    /// Here-documents whose bodies stand behind it: `f() { cat <<E; }`.
    pub(crate) here: Box<[Arc<OnceLock<Here>>]>,
    /// Whether its commands are kept as typed.
    pub(crate) keeps_commands: bool,
}

/// Assignments, words and redirections.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assigns: Vec<Assign>,
    pub(crate) args: Vec<Arg>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// As typed, in a text that asks for `BASH_COMMAND`.
    pub(crate) typed: Arc<str>,
}

/// A word of a command, or an assignment to a declaring builtin.
#[derive(Debug)]
pub(crate) enum Arg {
    Word(Word),
    Assign(Assign),
}

/// `name=value`, `name[i]+=value`, `name=(…)`.
#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) name: String,
    pub(crate) index: Option<Subscript>,
    pub(crate) append: bool,
    pub(crate) value: AssignValue,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum AssignValue {
    Scalar(Word),
    Array(Vec<Element>),
}

/// One item of `(…)`.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) index: Option<Subscript>,
    pub(crate) append: bool,
    pub(crate) value: Word,
}

#[derive(Debug)]
pub(crate) enum Compound {
    Group(Script),
    Subshell(Arc<Script>),
    If {
        arms: Vec<(Script, Script)>,
        otherwise: Option<Script>,
    },
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    Select {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    ArithFor {
        start: Option<Arith>,
        test: Option<Arith>,
        step: Option<Arith>,
        clauses: Span,
        body: Script,
    },
    Loop {
        until: bool,
        test: Script,
        body: Script,
    },
    Case {
        subject: Word,
        arms: Vec<Arm>,
    },
    Arith(Arith),
    Cond(Cond),
    /// `coproc name command`: beside this shell, with a pipe to it and one from it.
    Coproc {
        name: String,
        command: Arc<Command>,
        typed: Arc<str>,
    },
}

/// One arm of `case`.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: Script,
    pub(crate) then: ArmEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArmEnd {
    Stop,
    FallThrough,
    TestNext,
}

/// Inside `[[ … ]]`.
#[derive(Debug)]
pub(crate) enum Cond {
    Not(Box<Cond>),
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
    Unary(char, Word),
    Binary(Word, CondOp, Word),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CondOp {
    Match,
    NoMatch,
    Regex,
    Less,
    Greater,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Newer,
    Older,
    SameFile,
}

/// One redirection.
#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) fd: Option<FdName>,
    pub(crate) kind: RedirectKind,
}

/// Which descriptor: a number, or a variable that gets one.
#[derive(Debug)]
pub(crate) enum FdName {
    Number(u32),
    Variable(String),
}

#[derive(Debug)]
pub(crate) enum RedirectKind {
    Read(Word),
    Write {
        target: Word,
        clobber: bool,
    },
    Append(Word),
    ReadWrite(Word),
    DupIn(Word),
    DupOut(Word),
    Both {
        target: Word,
        append: bool,
    },
    /// Filled in when its body is reached.
    Here(Arc<OnceLock<Here>>),
    HereString(Word),
}

/// A here-document: what it expands to, and as it was typed.
#[derive(Debug)]
pub(crate) struct Here {
    pub(crate) word: Word,
    pub(crate) delimiter: String,
    pub(crate) quoted: bool,
    pub(crate) strip_tabs: bool,
    pub(crate) raw: String,
}

/// A word: pieces side by side.
#[derive(Debug, Clone, Default)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// Typed without quotes; its pattern characters count.
    Text(String),
    /// Typed within quotes, or after a backslash.
    Quoted(String),
    /// The inside of `"…"`.
    Double(Vec<Piece>),
    /// `~` or `~name` at the start of a word.
    Tilde(String),
    Param(Arc<Param>),
    Command(Arc<Script>),
    /// `$(< file)`.
    FileText(Arc<Word>),
    Arith(Arc<Arith>),
    Process {
        script: Arc<Script>,
        writes: bool,
    },
}

/// Arithmetic: parsed already, or text with expansions in it.
#[derive(Debug)]
pub(crate) enum Arith {
    /// With its text, for messages.
    Parsed(Expr, Box<str>),
    Text(Word),
}

impl Word {
    pub(crate) fn of(pieces: Vec<Piece>) -> Self {
        Self { pieces, span: Span::default() }
    }

    pub(crate) fn quoted(text: impl Into<String>) -> Self {
        Self::of(vec![Piece::Quoted(text.into())])
    }

    /// The word's text, if it has no expansions.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut all = String::new();
        literal_of(&self.pieces, &mut all).then_some(all)
    }

    /// Whether expanding it has no effect but its text.
    pub(crate) fn runs_nothing(&self) -> bool {
        runs_nothing(&self.pieces)
    }

    /// The word with each `~` as it was typed.
    pub(crate) fn without_tildes(&self) -> Cow<'_, Self> {
        if !self.pieces.iter().any(|it| matches!(it, Piece::Tilde(_))) {
            return Cow::Borrowed(self);
        }
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Tilde(name) => Piece::Quoted(format!("~{name}")),
            other => other.clone(),
        });
        Cow::Owned(Self { pieces: pieces.collect(), span: self.span })
    }

    /// The word's text if it was typed without any quotes.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }
}

fn literal_of(pieces: &[Piece], all: &mut String) -> bool {
    pieces.iter().all(|piece| match piece {
        Piece::Text(text) | Piece::Quoted(text) => {
            all.push_str(text);
            true
        }
        Piece::Double(inner) => literal_of(inner, all),
        _ => false,
    })
}

fn runs_nothing(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| match piece {
        Piece::Text(_) | Piece::Quoted(_) | Piece::Tilde(_) => true,
        Piece::Double(inner) => runs_nothing(inner),
        Piece::Param(param) => matches!(param.op, ParamOp::None | ParamOp::Length),
        _ => false,
    })
}
