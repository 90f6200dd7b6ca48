//! What a tool knows of the call it answers.

use std::sync::Arc;

use drydock_contract::Switch;

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The namespace.
    pub provider_name: Arc<str>,
    /// The name in the guest.
    pub safe_tool_name: Arc<str>,
    /// The name its owner gave it.
    pub original_tool_name: Arc<str>,
    /// Which call this is: whatever it starts is numbered after it.
    pub span: u64,
    /// How deep whatever it starts is: one run deeper than the program that called.
    pub depth: u32,
    /// Tells when nobody waits for the result any more.
    pub signal: Abandoned,
}

/// Whether a call was given up: its program timed out, was cancelled or ended without waiting. The
/// tool's own future is dropped then; this is for whatever it set in motion elsewhere.
#[derive(Debug, Clone)]
pub struct Abandoned(pub(crate) Arc<Switch>);

impl Abandoned {
    /// Whether it was.
    pub fn is_tripped(&self) -> bool {
        self.0.is_tripped()
    }

    /// Ends when it was.
    pub async fn tripped(&self) {
        while !self.0.is_tripped() {
            let listener = self.0.listen();
            if self.0.is_tripped() {
                return;
            }
            listener.await;
        }
    }
}

/// Trips the signal unless the call ended by itself.
pub(super) struct TripOnDrop(Option<Arc<Switch>>);

impl TripOnDrop {
    pub(super) fn new(switch: Arc<Switch>) -> Self {
        Self(Some(switch))
    }

    pub(super) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for TripOnDrop {
    fn drop(&mut self) {
        if let Some(switch) = &self.0 {
            switch.trip();
        }
    }
}
