//! Asking the world takes a turn, whether it answers at once or not: then what goes on meanwhile is the same when the
//! answer comes from a tape, which never keeps anybody waiting.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use drydock_contract::{BoxFuture, schedule};

/// Pending once for each time that it is asked, and woken from outside the session, as by the world.
#[derive(Default)]
pub(super) struct Turn(Option<BoxFuture<'static, ()>>);

impl Turn {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let waiting = self.0.get_or_insert_with(|| Box::pin(tokio::task::yield_now()));
        let polled = Pin::new(waiting).poll(cx);
        match polled {
            Poll::Ready(()) => self.0 = None,
            Poll::Pending => schedule::gives_thread_back(),
        }
        polled
    }
}

/// One turn.
pub(super) async fn turn() {
    held(tokio::task::yield_now()).await;
}

/// Waits for the world: nobody else of the session has a turn meanwhile, whatever wakes this.
pub(super) async fn held<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|cx| {
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            schedule::gives_thread_back();
        }
        polled
    })
    .await
}
