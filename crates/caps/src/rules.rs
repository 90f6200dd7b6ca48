//! Rules about arguments that are text, as commands have them and tools among others.

use drydock_contract::{Must, Scalar};

/// Rules that a denial proposes at most; for an argument list that takes more, nothing is proposed.
pub(crate) const PROPOSED_MAX: usize = 48;

/// The longest text that a rule can hold.
pub(crate) const TEXT_BYTES_MAX: usize = 4096;

/// Whether a text is what a rule says.
pub(crate) fn text_keeps(text: &str, must: &Must) -> bool {
    let is = |scalar: &Scalar| matches!(scalar, Scalar::Text(wanted) if wanted == text);
    match must {
        Must::Equal(scalar) => is(scalar),
        Must::OneOf(scalars) => scalars.iter().any(is),
        Must::StartWith(head) => text.starts_with(head),
        Must::HaveLengthAtMost(most) => text.chars().count() as u64 <= *most,
        // A text is no number, however much it looks like one: who reads it decides how.
        Must::LieBetween { .. } => false,
    }
}
