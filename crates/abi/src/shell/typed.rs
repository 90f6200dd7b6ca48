//! The words of a text that somebody is typing.

use serde::{Deserialize, Serialize};

use super::answer::few;

/// Most words that are told of.
pub const TYPED_WORDS_MAX: usize = 16_384;

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WordRole {
    /// Part of the syntax: `if`, `{`.
    Keyword,
    /// The name of a command.
    Command,
    /// The same, where only running it tells which: it has quotes or expansions.
    Computed,
    /// Any other.
    Argument,
}

/// One word, and where it stands in the bytes of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypedWord {
    /// Its first byte.
    pub start: u32,
    /// The byte behind its last.
    pub end: u32,
    /// What it is.
    pub role: WordRole,
}

/// All of them, as far as the text could be read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TypedWords {
    /// By where they begin; one may have others within.
    #[serde(deserialize_with = "few::<TYPED_WORDS_MAX, _, _>")]
    pub words: Vec<TypedWord>,
    /// The word that the next character would belong to: where it begins, which may be the end of the text, and what it
    /// is.
    pub last: Option<(u32, WordRole)>,
}
