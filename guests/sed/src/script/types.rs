//! A script that was read.

use posix_regex::Regex;
use std::collections::HashMap;
use std::rc::Rc;

/// How scripts are to be read.
#[derive(Debug, Default, Clone, Copy)]
pub struct Dialect {
    pub extended: bool,
    pub posix: bool,
    pub sandbox: bool,
    pub null_data: bool,
}

/// All commands in order; blocks are jumps.
#[derive(Debug, Default)]
pub struct Script {
    pub commands: Vec<Command>,
    /// The script began with `#n`.
    pub quiet: bool,
    /// The files that `w` writes, made before the first line is read.
    pub outputs: Vec<Vec<u8>>,
}

#[derive(Debug)]
pub struct Command {
    pub range: Option<Range>,
    pub negated: bool,
    pub action: Action,
}

impl Command {
    /// `0r FILE`.
    pub(crate) fn is_before_all(&self) -> bool {
        matches!(&self.range, Some(Range { start: Address::Zero, end: None }))
    }
}

/// Which lines a command is for.
#[derive(Debug)]
pub struct Range {
    pub start: Address,
    pub end: Option<End>,
}

#[derive(Debug)]
pub enum Address {
    Line(u64),
    /// `first~step`.
    Every {
        first: u64,
        step: u64,
    },
    Last,
    /// `None` is the last one that was used.
    Matches(Option<Rc<Regex>>),
    /// Before the first line: `0,/re/`.
    Zero,
}

#[derive(Debug)]
pub enum End {
    At(Address),
    /// `+N`.
    After(u64),
    /// `~N`.
    Multiple(u64),
}

#[derive(Debug)]
pub enum Action {
    /// `{`: when the lines do not match, go on after the block.
    Block {
        end: usize,
    },
    /// `}`, `:label` and comments.
    Nothing,
    Equals,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    Branch(Option<usize>),
    BranchIfDone(Option<usize>),
    BranchIfNotDone(Option<usize>),
    Delete,
    DeleteFirst,
    FileName,
    Get(Copy),
    Hold(Copy),
    List(Option<usize>),
    Next,
    NextAppend,
    Print,
    PrintFirst,
    Quit(i32),
    QuitSilently(i32),
    ReadFile(Vec<u8>),
    ReadLine(Vec<u8>),
    Substitute(Box<Substitution>),
    Swap,
    Translate(Box<Translation>),
    Write(Target),
    WriteFirst(Target),
    Zap,
}

/// Whether a copy replaces what was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copy {
    Replace,
    Append,
}

/// Where `w` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Stdout,
    Stderr,
    /// The number in [`Script::outputs`].
    File(usize),
}

#[derive(Debug)]
pub struct Substitution {
    /// `None` is the last one that was used.
    pub regex: Option<Rc<Regex>>,
    pub replacement: Vec<Piece>,
    /// The replacement refers to groups.
    pub groups: bool,
    pub global: bool,
    /// Replace this one, counted from 1, and not those before it.
    pub number: usize,
    pub print: usize,
    pub write: Option<Target>,
}

/// A part of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    Text(Vec<u8>),
    /// 0 is the whole match.
    Group(usize),
    Case(Case),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// `\U`
    Upper,
    /// `\L`
    Lower,
    /// `\u`
    UpperNext,
    /// `\l`
    LowerNext,
    /// `\E`
    End,
}

/// `y`: a table for ASCII, and the rest by name.
#[derive(Debug)]
pub struct Translation {
    pub ascii: [u8; 128],
    /// Whether `ascii` is all there is.
    pub plain: bool,
    pub others: HashMap<char, char>,
}
