//! What a value is called in messages, and how it is shown there.

use super::Value;

impl Value {
    /// The name of its type.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Num(_) | Self::Lit(_) => "number",
            Self::Str(_) => "string",
            Self::Arr(_) => "array",
            Self::Obj(_) => "object",
        }
    }

    /// Where its type stands in jq's order.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(false) => 1,
            Self::Bool(true) => 2,
            Self::Num(_) | Self::Lit(_) => 3,
            Self::Str(_) => 4,
            Self::Arr(_) => 5,
            Self::Obj(_) => 6,
        }
    }

    /// Its JSON, cut to less than `bytes_max` bytes as jq cuts it.
    pub fn shown(&self, bytes_max: usize) -> String {
        let text = crate::write::compact(self);
        if text.len() < bytes_max {
            return text;
        }
        let end = (0..=bytes_max - 4).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        format!("{}...", &text[..end])
    }

    /// `kind (value)`, as most messages have it.
    pub fn described(&self) -> String {
        format!("{} ({})", self.kind(), self.shown(SHOWN_BYTES_MAX))
    }
}

/// How much of a value a message shows, with the byte that C needs for its end.
pub(super) const SHOWN_BYTES_MAX: usize = 15;
