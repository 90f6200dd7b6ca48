//! Whether somebody has lost interest, asked from within a poll.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::Switch;
use event_listener::EventListener;

/// Whether the signal is tripped; if not, the task is woken when it is. No signal never is.
pub(crate) fn is_tripped(
    signal: Option<&Arc<Switch>>,
    listener: &mut Option<EventListener>,
    cx: &mut Context<'_>,
) -> bool {
    let Some(signal) = signal else { return false };
    loop {
        if signal.is_tripped() {
            return true;
        }
        match listener {
            None => *listener = Some(signal.listen()),
            Some(heard) => match Pin::new(heard).poll(cx) {
                Poll::Ready(()) => *listener = None,
                Poll::Pending => return false,
            },
        }
    }
}
