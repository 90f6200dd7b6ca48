//! Where evaluation is, for messages, `set -x` and the variables that tell.

use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    /// `LINENO`.
    pub(crate) line: u32,
    /// `BASH_COMMAND`, where a text asks for it.
    pub(crate) command: Arc<str>,
    /// `$_`.
    pub(crate) last_word: String,
    /// Command substitutions around what is being evaluated.
    pub(crate) substitutions: u32,
}
