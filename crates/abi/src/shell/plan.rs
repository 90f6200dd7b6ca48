//! What a text would do.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Touch {
    Reads,
    Writes,
    Appends,
}

/// One command of the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCommand {
    /// Its name, or what is typed where the name is computed.
    pub name: String,
    /// Its arguments as typed, expansions shown as `$…`.
    pub args: Vec<String>,
    /// It is the shell's own: it needs no grant.
    pub builtin: bool,
    /// It is a function of the text.
    pub function: bool,
    /// It is an alias of the text.
    pub alias: bool,
    /// The command that starts it, where that is not the shell: `xargs`, `find`, `timeout`, `env`.
    pub started_by: Option<String>,
    /// Which pipeline of the text it belongs to, counted from 0.
    pub pipeline: usize,
    /// Where it stands.
    pub line: u32,
    /// Where it stands.
    pub column: u32,
}

/// What a text would do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Plan {
    /// Every command in it, in the order of the text, whether or not it would be reached.
    pub commands: Vec<PlannedCommand>,
    /// Paths of redirections, and those the arguments of well-known commands name; a computed one is
    /// shown as typed.
    pub files: Vec<(Touch, String)>,
    /// Names that need a grant of `exec`.
    pub grants: BTreeSet<String>,
    /// Something is computed that this cannot know: a name, or a path.
    pub open_ended: bool,
    /// It parses text that is no part of it and no file: `eval`, `source`, `bash -c`, aliases.
    pub evaluates: bool,
    /// Scripts it would run: refused if the text itself wrote them.
    pub scripts: BTreeSet<String>,
    /// Places of the network it would open, by bash's name for them. A shell here has none.
    pub network: BTreeSet<String>,
}
