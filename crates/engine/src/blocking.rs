//! Work that may wait for a disk, or takes long, on a thread that may do so.

use drydock_contract::Fault;

/// Does it elsewhere, and waits without holding the thread. If nobody waits any more, it is done all the same.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|panic| Fault::Internal(format!("work on another thread failed: {panic}")))
}
