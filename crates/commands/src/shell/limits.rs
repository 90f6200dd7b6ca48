//! What a line may cost. Every limit ends in a clear error.

use std::sync::Arc;

use super::syntax::ParseLimits;

/// How many times the longest text a tree may take: twice what a dense script needs.
const TREE_TEXTS_MAX: usize = 64;

/// Bounds on text, depth, work and memory of one line.
#[derive(Clone)]
pub struct ShellLimits {
    /// Longest text of one `run`.
    pub text_bytes_max: usize,
    /// Constructs inside one another in the text.
    pub parse_depth_max: u32,
    /// Functions, `eval` and `source` inside one another.
    pub call_depth_max: u32,
    /// Subshells inside one another.
    pub subshell_depth_max: u32,
    /// Stages of one pipeline.
    pub stages_max: usize,
    /// Subshells, stages and jobs alive at once.
    pub tasks_max: usize,
    /// Commands and loop rounds of one `run`.
    pub steps_max: u64,
    /// All variables together.
    pub variable_bytes_max: usize,
    /// One expanded word, one command substitution.
    pub expansion_bytes_max: usize,
    /// Words of one command, after expansion.
    pub words_max: usize,
    /// Names one glob may look at.
    pub glob_names_max: usize,
    /// Stage records kept.
    pub records_max: usize,
    /// Asked now and then, and when a command was cancelled: why the line must end, if it must. An
    /// empty reason ends it without a word.
    pub expired: Option<Arc<dyn Fn() -> Option<String> + Send + Sync>>,
}

impl Default for ShellLimits {
    fn default() -> Self {
        Self {
            text_bytes_max: 1 << 20,
            parse_depth_max: 100,
            call_depth_max: 1_000,
            subshell_depth_max: 64,
            stages_max: 1_000,
            tasks_max: 2_000,
            steps_max: 50_000_000,
            variable_bytes_max: 64 << 20,
            expansion_bytes_max: 16 << 20,
            words_max: 200_000,
            glob_names_max: 100_000,
            records_max: 10_000,
            expired: None,
        }
    }
}

impl ShellLimits {
    pub(crate) fn parse(&self) -> ParseLimits {
        ParseLimits {
            text_bytes_max: self.text_bytes_max,
            depth_max: self.parse_depth_max,
            brace_words_max: self.words_max,
            tree_bytes_max: TREE_TEXTS_MAX * self.text_bytes_max,
        }
    }
}
