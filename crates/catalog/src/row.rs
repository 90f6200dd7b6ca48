//! One row of the catalog: what a program is, where its bytes come from, how it is called, and how it proves
//! that it works. Data and nothing else; [`read`](crate::read) makes it from TOML and checks it.
//!
//! ```toml
//! name = "lua"                       # what `drydock catalog add` takes
//! version = "5.5.1"
//! summary = "the Lua interpreter"
//! licence = "MIT"                    # an SPDX expression
//! lane = "c"                         # prebuilt: a module of somebody else; c: sources, built by clang in the sandbox
//! interrupt = "tick"                 # fuel (the default): instructions are counted; tick: a clock ends it
//! features = ["exceptions"]          # wasm features that its lane must have
//! needs = ["clang"]                  # rows that must be installed first
//! sha256 = "…"                       # of the module; must be there for prebuilt
//! env = ["NAME=value"]               # where the caller's environment has no such name
//!
//! [[commands]]                       # the names it registers; at least one
//! name = "lua"
//! argv0 = "lua"                      # what the program sees as argv[0], if not the name
//! argv = []                          # frozen arguments before the caller's
//! mode = "argv"
//!
//! [[sources]]                        # in order of preference
//! from = "crate:lua-src@551.1.0#lua-5.5.1"   # file:PATH, https://…, npm:…, pypi:…, crate:…; `#` and the path inside
//! sha256 = "…"                       # of the archive
//! bytes = 1234567                    # its size, if known
//!
//! [[dirs]]                           # tar files inside the archive that become read-only directories; or, with
//! #  file = "name"                   # one file alone in a directory
//! path = "package/gen/llvm-resources.tar"
//! at = "/usr"
//!
//! [limits]                           # of each run, where the caller says nothing
//! memory_mib = 512
//! wall_s = 60
//! fuel = 100_000_000_000
//!
//! [compile]                          # of the compile worker
//! memory_mib = 2600
//! wall_s = 240
//!
//! [recipe]                           # lane c only
//! sources = ["*.c"]                  # below the source's path inside
//! exclude = ["onelua.c"]
//! include = ["."]                    # directories for -I, below the same path
//! cflags = ["-O2"]
//! ldflags = ["-lsetjmp"]
//! extra = ["main.c"]                 # files of `rows/lua/`, compiled too (headers: found there)
//!
//! [snapshot]                         # how it is kept as it is after its initialisation; fields: SnapshotRecipe
//!
//! [[checks]]                         # at least one
//! argv = ["lua", "-e", "print(6*7)"] # or `line = "…"`, a line of the shell
//! stdin = ""
//! stdout = "42\n"
//! status = 0
//! files = { "a.txt" = "…" }          # in the working directory
//! ```

use std::collections::BTreeMap;

use drydock_contract::{
    ArgMode, CommandName, Digest,
    port::{Interruption, SnapshotRecipe, WasmFeatures},
};
use serde::Deserialize;

use crate::source::Source;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What `drydock catalog add` takes.
    pub name: CommandName,
    /// The program's own version.
    pub version: String,
    /// What it is, in a few words.
    pub summary: String,
    /// Its licence, as an SPDX expression.
    pub licence: String,
    /// How it becomes a module.
    pub lane: Lane,
    /// How a run that computes is brought back to the host.
    #[serde(default)]
    pub interrupt: Interruption,
    /// Wasm features that its lane must have.
    #[serde(default)]
    pub features: WasmFeatures,
    /// Rows that must be installed first.
    #[serde(default)]
    pub needs: Vec<CommandName>,
    /// The hash of the module.
    pub sha256: Option<Digest>,
    /// `NAME=value` entries for names that the caller's environment does not have.
    #[serde(default)]
    pub env: Vec<String>,
    /// The names it registers.
    pub commands: Vec<RowCommand>,
    /// Where its bytes come from, in order of preference.
    pub sources: Vec<RowSource>,
    /// Archives inside the archive that become read-only directories.
    #[serde(default)]
    pub dirs: Vec<RowDir>,
    /// Limits of each run, where the caller says nothing.
    #[serde(default)]
    pub limits: RowLimits,
    /// Limits of the compile worker.
    #[serde(default)]
    pub compile: CompileNeeds,
    /// How its sources are built.
    pub recipe: Option<Recipe>,
    /// How it is kept as it is after its initialisation.
    pub snapshot: Option<SnapshotRecipe>,
    /// How it proves that it works.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// Why it cannot be installed, if it cannot for now; then everything but its name may be read about it.
    pub unavailable: Option<String>,
}

/// How a row becomes a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// The package holds the module.
    Prebuilt,
    /// The package holds C sources, which clang builds in the sandbox.
    C,
}

impl Lane {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prebuilt => "prebuilt",
            Self::C => "c",
        }
    }
}

/// One name that a row registers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowCommand {
    /// The name.
    pub name: CommandName,
    /// What the program sees as its own name, if not that one.
    pub argv0: Option<String>,
    /// Arguments before the caller's.
    #[serde(default)]
    pub argv: Vec<String>,
    /// How it takes arguments.
    #[serde(default)]
    pub mode: ArgMode,
}

/// Where bytes come from, and the hash that the archive must have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowSource {
    /// The coordinate.
    pub from: Source,
    /// The hash of the archive; none where the source is the module itself.
    pub sha256: Option<Digest>,
    /// The size of the archive, for a bar of progress and a tighter limit.
    pub bytes: Option<u64>,
    /// The module is text inside that member: the so-manieth run of base64, counted from one.
    pub base64: Option<u32>,
}

/// A tar file inside the archive, unpacked and mounted read-only; or one file, alone in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowDir {
    /// Its path inside the archive.
    pub path: String,
    /// Where guests see it.
    pub at: String,
    /// The hash of that file.
    pub sha256: Digest,
    /// Its name in the directory, if it is not a tar file to be unpacked.
    pub file: Option<String>,
}

/// Limits of each run; none says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowLimits {
    /// Memory.
    pub memory_mib: Option<u32>,
    /// Wall clock.
    pub wall_s: Option<u32>,
    /// Instructions, where they are counted.
    pub fuel: Option<u64>,
}

/// What compiling the module for this machine takes; none is the usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompileNeeds {
    /// Memory of the worker.
    pub memory_mib: Option<u32>,
    /// Wall clock of the worker.
    pub wall_s: Option<u32>,
}

/// How C sources become a module. Paths are below the source's path inside the archive.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Globs of what is compiled.
    pub sources: Vec<String>,
    /// Globs of what is not, after all.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Directories for `-I`.
    #[serde(default)]
    pub include: Vec<String>,
    /// Flags of each compilation.
    #[serde(default)]
    pub cflags: Vec<String>,
    /// Flags of the link.
    #[serde(default)]
    pub ldflags: Vec<String>,
    /// Files of `rows/NAME/` that are compiled too.
    #[serde(default)]
    pub extra: Vec<String>,
}

/// A run whose answer is known. Either `argv` or `line` says what runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// A command of the row and its arguments.
    #[serde(default)]
    pub argv: Vec<String>,
    /// A line of the shell.
    pub line: Option<String>,
    /// What it reads.
    #[serde(default)]
    pub stdin: String,
    /// Files in its working directory.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// What it must write.
    pub stdout: String,
    /// How it must end.
    #[serde(default)]
    pub status: u8,
}

impl Row {
    /// Whether its licence asks something of whoever passes it on, so that it is shown before the first install.
    pub fn is_copyleft(&self) -> bool {
        // Where there is a choice, the choice is ours: every alternative must be copyleft.
        self.licence
            .split(" OR ")
            .all(|it| ["GPL-", "MPL-", "EPL-", "CDDL-"].iter().any(|at| it.contains(at)))
    }

    /// Whether it registers that name, or is called so.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name.as_str() == name || self.commands.iter().any(|it| it.name.as_str() == name)
    }
}
