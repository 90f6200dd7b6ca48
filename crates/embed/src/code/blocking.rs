//! Files that programs leave to the next one are read, checked and synced on a thread that may wait for a disk.

use std::io;

/// Does it elsewhere, and waits without holding the thread.
pub(super) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
