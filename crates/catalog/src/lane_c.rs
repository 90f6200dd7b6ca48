//! Lane c: C sources become a module, by clang and wasm-ld in the sandbox.
//!
//! Nothing is compiled natively, and nothing is compiled twice: the same sources, flags and compiler give the module
//! that they gave before. The compiler sees the project's own files and its `/usr`, and nothing of the host.

mod compile;
mod memo;
mod module;
mod project;
mod recipe;

use bytes::Bytes;
use drydock_contract::{BadCommandName, CallError, Digest, port::FileError};
use drydock_embed::{BadSetup, Dock};

use crate::{
    progress::Watcher,
    row::{Recipe, Row},
    unpack::Member,
};

pub use compile::Built;
pub use module::needs_exceptions;
pub use project::Project;

/// Sources could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// This lane cannot be had here, and why.
    #[error("{0}")]
    LaneUnavailable(String),
    /// Nobody knows how to build that.
    #[error("`{0}` is no language that is built here: c, c++, js, ts")]
    UnsupportedLanguage(String),
    /// A dependency cannot be had.
    #[error(
        "the dependency `{0}` cannot be had: C takes libraries of the sysroot, such as m; packages need the network"
    )]
    InvalidDependency(String),
    /// There is nothing to build.
    #[error("the source is empty")]
    EmptySource,
    /// A compiler said no.
    #[error("{step} failed:\n{said}")]
    Failed {
        /// What was being done, such as `lapi.c`.
        step: String,
        /// What it said.
        said: String,
    },
    /// A limit ended it.
    #[error("{step} was ended by a limit: {limit}")]
    Limit {
        /// What was being done.
        step: String,
        /// The limit's code.
        limit: &'static str,
    },
    /// The sources take more room than a build may have.
    #[error("the sources do not fit: {0}")]
    TooLarge(FileError),
    /// The gate refuses the compiler.
    #[error("the compiler could not be started")]
    Start(#[source] Box<CallError>),
    /// The session cannot be set up like this.
    #[error(transparent)]
    Setup(#[from] BadSetup),
    /// What was built before, or is built now, cannot be kept.
    #[error("the module could not be kept")]
    Keep(#[source] drydock_embed::store::PutArtifactError),
}

impl From<BadCommandName> for BuildError {
    fn from(bad: BadCommandName) -> Self {
        Self::Setup(bad.into())
    }
}

impl BuildError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::LaneUnavailable(_) => "lane_unavailable",
            Self::UnsupportedLanguage(_) => "unsupported_lang",
            Self::InvalidDependency(_) => "invalid_deps",
            Self::EmptySource => "empty_source",
            Self::Failed { .. } => "build_failed",
            Self::Limit { limit, .. } => limit,
            Self::TooLarge(_) => "too_large",
            Self::Start(error) => error.code(),
            Self::Setup(_) => "internal_error",
            Self::Keep(error) => error.code(),
        }
    }
}

/// Builds a project, or finds what it was built to before.
pub async fn build_project(dock: &Dock, project: &Project, watcher: &Watcher) -> Result<Built, BuildError> {
    let compiler = compile::compiler(dock)?;
    let key = project.key(&compiler);
    if let Some(module) = memo::look_up(dock.home(), key) {
        return Ok(Built { sha256: Digest::of(&module), module, said: String::new(), again: true });
    }
    let built = compile::run(dock, project, watcher).await?;
    memo::keep(dock.home(), key, &built.module).map_err(BuildError::Keep)?;
    Ok(built)
}

/// The module that a recipe makes of these sources: what lies below the path inside of the row's source. The files
/// of `rows/NAME/` are [`own_files`](crate::own_files). The rows it needs are installed.
pub(crate) async fn build(
    dock: &Dock,
    row: &Row,
    recipe: &Recipe,
    sources: Vec<Member>,
    watcher: &Watcher,
) -> Result<Bytes, BuildError> {
    let project = recipe::project(row.name.as_str(), recipe, sources)?;
    Ok(build_project(dock, &project, watcher).await?.module)
}
