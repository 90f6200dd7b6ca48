//! Work that may wait for a disk, or takes long, on a thread that may do so.

use drydock_contract::Fault;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Does it elsewhere, and waits without holding the thread. If nobody waits any more, it is done all the same.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|panic| Fault::Internal(format!("work on another thread failed: {panic}")))
}

/// The same of what seldom takes more than a millisecond. A runtime of one thread was made for one thing at a time, such
/// as one line of the command line: starting a thread would take it longer than the work.
pub(crate) async fn off_thread_of_many<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    match Handle::try_current().map(|it| it.runtime_flavor()) {
        Ok(RuntimeFlavor::CurrentThread) => Ok(work()),
        _ => off_thread(work).await,
    }
}
