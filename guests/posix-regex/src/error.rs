//! What can be wrong with a pattern, in GNU's words where GNU has them.

/// Why a pattern means nothing.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum SyntaxError {
    BackReference,
    Brace,
    BraceContent,
    Bracket,
    Class,
    OpenGroup,
    CloseGroup,
    Preceding,
    Range,
    TooBig,
    TrailingBackslash,
}

impl SyntaxError {
    /// The message.
    pub fn text(self) -> &'static str {
        match self {
            Self::BackReference => "Invalid back reference",
            Self::Brace => "Unmatched \\{",
            Self::BraceContent => "Invalid content of \\{\\}",
            Self::Bracket => "Unmatched [, [^, [:, [., or [=",
            Self::Class => "Invalid character class name",
            Self::OpenGroup => "Unmatched ( or \\(",
            Self::CloseGroup => "Unmatched ) or \\)",
            Self::Preceding => "Invalid preceding regular expression",
            Self::Range => "Invalid range end",
            Self::TooBig => "Regular expression too big",
            Self::TrailingBackslash => "Trailing backslash",
        }
    }
}
