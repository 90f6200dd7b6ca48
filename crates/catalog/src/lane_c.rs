//! Lane c: sources of a package become a module, by clang and wasm-ld in the sandbox.

use bytes::Bytes;
use drydock_embed::Dock;

use crate::{
    progress::Watcher,
    row::{Recipe, Row},
    unpack::Member,
};

/// Sources could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no builder in this program.
    #[error("lane c is not there yet")]
    LaneUnavailable,
    /// A compiler said no.
    #[error("{step} failed: {said}")]
    Failed {
        /// What was being done, such as `clang lapi.c`.
        step: String,
        /// What it said.
        said: String,
    },
}

impl BuildError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::LaneUnavailable => "lane_unavailable",
            Self::Failed { .. } => "build_failed",
        }
    }
}

/// The module that a recipe makes of these sources: what lies below the path inside of the row's source. The files
/// of `rows/NAME/` are [`own_files`](crate::own_files). The rows it needs are installed.
pub(crate) async fn build(
    _dock: &Dock,
    _row: &Row,
    _recipe: &Recipe,
    _sources: Vec<Member>,
    _watcher: &Watcher,
) -> Result<Bytes, BuildError> {
    Err(BuildError::LaneUnavailable)
}
