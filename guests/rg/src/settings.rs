//! What the command line asked for.

/// What is printed of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    #[default]
    Lines,
    Count,
    CountMatches,
    WithMatch,
    WithoutMatch,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Case {
    #[default]
    Sensitive,
    Insensitive,
    Smart,
}

/// What was asked for.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct Settings {
    pub patterns: Vec<String>,
    pub paths: Vec<String>,
    pub mode: Mode,
    pub case: Case,
    pub fixed: bool,
    pub words: bool,
    pub whole_lines: bool,
    pub invert: bool,
    pub multiline: bool,
    pub dot_all: bool,
    pub crlf: bool,
    pub null_data: bool,
    pub unicode: bool,
    pub before: usize,
    pub after: usize,
    pub passthru: bool,
    pub separator: Option<Vec<u8>>,
    pub field_match: Option<Vec<u8>>,
    pub field_context: Option<Vec<u8>>,
    pub line_numbers: Option<bool>,
    pub columns: bool,
    pub byte_offsets: bool,
    pub names: Option<bool>,
    pub heading: bool,
    pub per_match: bool,
    pub only_matching: bool,
    pub replace: Option<Vec<u8>>,
    pub include_zero: bool,
    pub quiet: bool,
    /// Each line is written at once.
    pub line_buffered: bool,
    pub null: bool,
    pub trim: bool,
    pub stats: bool,
    pub colors: bool,
    pub count_max: Option<u64>,
    pub columns_max: Option<u64>,
    pub preview: bool,
    pub stop_on_nonmatch: bool,
    pub text: bool,
    pub binary: bool,
    pub list_files: bool,
    pub list_types: bool,
    pub globs: Vec<(String, bool)>,
    pub types: Vec<String>,
    pub types_not: Vec<String>,
    pub types_added: Vec<String>,
    pub types_cleared: Vec<String>,
    pub ignore_files: Vec<String>,
    pub hidden: bool,
    pub follow: bool,
    pub ignore: Ignore,
    pub depth_max: Option<usize>,
    pub size_max: Option<u64>,
    pub reverse_order: bool,
    pub messages: bool,
}

/// Which files that say what to leave out are obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ignore {
    pub dot: bool,
    pub vcs: bool,
    pub parents: bool,
    pub exclude: bool,
    pub listed: bool,
    pub only_in_repositories: bool,
}

impl Default for Ignore {
    fn default() -> Self {
        Self { dot: true, vcs: true, parents: true, exclude: true, listed: true, only_in_repositories: true }
    }
}

impl Ignore {
    /// None of them.
    pub(crate) const NOTHING: Self = Self {
        dot: false,
        vcs: false,
        parents: false,
        exclude: false,
        listed: false,
        only_in_repositories: true,
    };
}
