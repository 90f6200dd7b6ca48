//! POSIX patterns, basic and extended, in the syntax of Rust's regular expressions.
//!
//! Pure. The result means the same for every line without a line feed in it, except that a match
//! found by alternatives is the first that fits and not the longest; `matching` looks further where
//! that shows. Back-references have no translation and are an error.

mod bracket;
mod posix;
#[cfg(test)]
mod tests;

pub use posix::{Flavor, translate};

/// Why a pattern has no translation, in GNU's words where GNU has them.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum SyntaxError {
    BackReference,
    Brace,
    BraceContent,
    Bracket,
    Class,
    OpenGroup,
    CloseGroup,
    Range,
    TooBig,
    TrailingBackslash,
}

impl SyntaxError {
    /// The message.
    pub fn text(self) -> &'static str {
        match self {
            Self::BackReference => {
                "back-references are not supported here; use an alternation or -P without them"
            }
            Self::Brace => "Unmatched \\{",
            Self::BraceContent => "Invalid content of \\{\\}",
            Self::Bracket => "Unmatched [, [^, [:, [., or [=",
            Self::Class => "Invalid character class name",
            Self::OpenGroup => "Unmatched ( or \\(",
            Self::CloseGroup => "Unmatched ) or \\)",
            Self::Range => "Invalid range end",
            Self::TooBig => "Regular expression too big",
            Self::TrailingBackslash => "Trailing backslash",
        }
    }
}
