//! Asking the world takes a turn, whether it answers at once or not: then what goes on meanwhile is the same when the
//! answer comes from a tape, which never keeps anybody waiting.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use drydock_contract::BoxFuture;

/// Pending once for each time that it is asked, and woken from outside the session, as by the world.
#[derive(Default)]
pub(super) struct Turn(Option<BoxFuture<'static, ()>>);

impl Turn {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let waiting = self.0.get_or_insert_with(|| Box::pin(tokio::task::yield_now()));
        let polled = Pin::new(waiting).poll(cx);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}
