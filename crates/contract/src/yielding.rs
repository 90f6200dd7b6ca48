//! Letting others have the thread, without knowing who runs the threads.

use std::{future::poll_fn, task::Poll};

/// Returns when everything else that is ready on this thread had its turn.
///
/// A runtime's own way may wait longer: tokio's puts whoever yields behind the next look at timers and sockets, which
/// between tasks that keep the thread busy is dozens of turns away.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
