//! What an expression of `find` is made of.

use crate::glob::{Case, Glob};
use facts::Time;
use regex_lite::Regex;

/// An expression. Lists instead of pairs, so that a long one is not a deep one.
#[derive(Debug)]
pub(super) enum Expr {
    Is(bool),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// All are evaluated, the last one counts.
    List(Vec<Expr>),
    Test(Test),
    Act(Action),
}

/// `N`, `+N` or `-N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    Exactly(u64),
    More(u64),
    Less(u64),
}

impl Count {
    pub(super) fn fits(self, value: u64) -> bool {
        match self {
            Self::Exactly(number) => value == number,
            Self::More(number) => value > number,
            Self::Less(number) => value < number,
        }
    }
}

/// Which of a file's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamp {
    Accessed,
    Changed,
    Modified,
}

/// How the permissions are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bits {
    Exactly(u32),
    All(u32),
    Any(u32),
}

/// A question about a file.
#[derive(Debug)]
pub(super) enum Test {
    Name(Glob, Case),
    Path(Glob, Case),
    LinkText(Glob, Case),
    Regex(Regex),
    /// Letters of kinds, any of which will do.
    Kind(String),
    /// The same for what a link leads to.
    TargetKind(String),
    /// In units of so many bytes, rounded up.
    Size(Count, u64),
    Empty,
    /// Whole days that have passed.
    Days(Stamp, Count),
    Minutes(Stamp, Count),
    NewerThan(Stamp, Time),
    Mode(Bits),
    Links(Count),
    Inode(Count),
    Same {
        device: u64,
        inode: u64,
    },
    Owner(Count),
    Group(Count),
    /// The owner may read, write or run it.
    Owned(u32),
}

/// Something done to a file.
#[derive(Debug)]
pub(super) enum Action {
    /// The path and this end.
    Print {
        end: char,
        to: usize,
    },
    Printf {
        format: Vec<super::printf::Part>,
        to: usize,
    },
    Ls {
        to: usize,
    },
    Delete,
    Prune,
    Quit,
    /// One run for each file.
    Each {
        command: Vec<String>,
        place: Place,
    },
    /// One run for many files; the number of the batch it fills.
    Many {
        batch: usize,
    },
}

/// Where a child starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Here,
    /// In the directory of the file.
    Beside,
}

/// A command line that gathers files.
#[derive(Debug)]
pub(super) struct Batch {
    pub command: Vec<String>,
    pub place: Place,
}

/// Which symbolic links stand for their targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Never,
    Arguments,
    Always,
}

/// A command line that was read.
#[derive(Debug)]
pub(super) struct Plan {
    pub starts: Vec<String>,
    pub links: Links,
    pub depth_max: usize,
    pub depth_min: usize,
    /// What is in a directory comes before the directory.
    pub children_first: bool,
    pub expr: Expr,
    pub batches: Vec<Batch>,
    /// Files that actions print into; the first is stdout.
    pub outputs: Vec<String>,
}
