//! Ctrl-C, heard from the moment somebody listens: a signal that comes before the first wait is not lost,
//! and does not end the process.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Presses of Ctrl-C.
pub(crate) struct Interrupts(Option<Signal>);

impl Interrupts {
    /// Listens from now on. Where that cannot be, nothing is ever heard, and the signal does what it does.
    pub(crate) fn listen() -> Self {
        Self(signal(SignalKind::interrupt()).ok())
    }

    /// The next one.
    pub(crate) async fn next(&mut self) {
        let heard = match &mut self.0 {
            Some(signal) => signal.recv().await,
            None => None,
        };
        if heard.is_none() {
            std::future::pending::<()>().await;
        }
    }
}
