//! What is behind the routes, one file for each kind of thing.

pub(crate) mod agents;
pub(crate) mod extension;
mod kept;
pub(crate) mod kv;
pub(crate) mod look;
pub(crate) mod manage;
pub(crate) mod mcp;
pub(crate) mod process;
pub(crate) mod queue;
pub(crate) mod reviews;
pub(crate) mod sandbox;
pub(crate) mod secret;
pub(crate) mod workspace;

use crate::error::ApiError;

/// Does what may wait for a disk on a thread that may.
pub(crate) async fn off_thread<T: Send + 'static, E: Into<ApiError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(Into::into),
        Err(error) => Err(ApiError::internal(&error)),
    }
}
