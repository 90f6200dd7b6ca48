//! `$name` and `${…}` in the tree.

use super::{Arith, Word};

/// `$name` or `${…}`.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: ParamName,
    pub(crate) index: Option<Subscript>,
    pub(crate) indirect: bool,
    pub(crate) op: ParamOp,
    /// As it was typed, for the mode that leaves unknown names alone.
    pub(crate) typed: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParamName {
    Var(String),
    Position(usize),
    Special(char),
}

#[derive(Debug)]
pub(crate) enum Subscript {
    All,
    Joined,
    At { key: Word, number: Arith },
}

#[derive(Debug)]
pub(crate) enum ParamOp {
    None,
    Length,
    Default {
        colon: bool,
        word: Word,
    },
    Assign {
        colon: bool,
        word: Word,
    },
    Error {
        colon: bool,
        word: Word,
    },
    Alternative {
        colon: bool,
        word: Word,
    },
    RemovePrefix {
        longest: bool,
        pattern: Word,
    },
    RemoveSuffix {
        longest: bool,
        pattern: Word,
    },
    Replace {
        how: Replace,
        pattern: Word,
        with: Word,
    },
    Case {
        how: CaseChange,
        all: bool,
        pattern: Option<Word>,
    },
    Substring {
        offset: Arith,
        length: Option<Arith>,
    },
    Transform(char),
    /// `${!prefix*}` and `${!prefix@}`.
    Names {
        joined: bool,
    },
    /// `${!name[@]}`.
    Keys {
        joined: bool,
    },
    /// What is no substitution: an error when it is reached.
    Bad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replace {
    First,
    All,
    Prefix,
    Suffix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseChange {
    Upper,
    Lower,
    Toggle,
}
