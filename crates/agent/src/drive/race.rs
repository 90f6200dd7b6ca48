//! Waiting, with an ear for who wants the end.

use std::{future::poll_fn, pin::pin, task::Poll};

use super::Driving;

impl Driving<'_> {
    /// Whether somebody asked for the end by now.
    pub(super) async fn is_cancelled(&mut self) -> bool {
        poll_fn(|cx| Poll::Ready(self.poll_cancelled(cx))).await
    }

    /// Whether somebody asked for the end; else whoever polls is woken when they do.
    pub(super) fn poll_cancelled(&mut self, cx: &mut std::task::Context<'_>) -> bool {
        let Some(cancelled) = &mut self.cancelled else { return true };
        let is_ready = cancelled.as_mut().poll(cx).is_ready();
        if is_ready {
            self.cancelled = None;
        }
        is_ready
    }

    /// The work's value; none where somebody wanted the end first. Then it is dropped, which cancels it at the gate.
    pub(super) async fn unless_cancelled<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            if self.poll_cancelled(cx) {
                return Poll::Ready(None);
            }
            work.as_mut().poll(cx).map(Some)
        })
        .await
    }
}
