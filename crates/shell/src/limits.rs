//! What a line may cost. Every limit ends in a clear error.

pub use drydock_abi::shell::ShellLimits;

use super::syntax::ParseLimits;

/// How many times the longest text a tree may take: twice what a dense script needs.
const TREE_TEXTS_MAX: usize = 64;

impl From<&ShellLimits> for ParseLimits {
    fn from(limits: &ShellLimits) -> Self {
        Self {
            text_bytes_max: limits.text_bytes_max,
            depth_max: limits.parse_depth_max,
            brace_words_max: limits.words_max,
            tree_bytes_max: TREE_TEXTS_MAX * limits.text_bytes_max,
        }
    }
}
