//! What stands behind the hub: whoever begins and cancels what futures wait for.

use drydock_abi::lembeh::{CapSelector, Envelope, Trace};

/// What a selector promises before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// The longest value it answers with. So much room is kept for it, and a longer value is a failure.
    pub value_bytes_max: u32,
}

/// How a start went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// It goes on; [`Hub::complete`](crate::Hub::complete) will say how it ended.
    Pending,
    /// It is over, and its value was written.
    Done,
}

/// Why a future failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The stable symbol.
    pub trace: Trace,
    /// What a person reads.
    pub msg: &'static str,
    /// Whatever is to be added. Left out where there is no room for it.
    pub cause: Vec<u8>,
}

impl Failure {
    /// The trace as a guest reads it.
    pub(crate) fn envelope(&self) -> Envelope<'_> {
        Envelope { trace: self.trace.code(), msg: self.msg, cause: &self.cause }
    }
}

impl From<Trace> for Failure {
    fn from(trace: Trace) -> Self {
        Self { trace, msg: trace.message(), cause: Vec::new() }
    }
}

/// Begins what futures wait for. It has no way back into the hub, so nothing it does can happen between two
/// events that belong together.
pub trait Powers {
    /// Whether the session has this selector: `t_cap_missing`, `t_cap_denied`, `t_async_unknown_selector` or
    /// `t_async_unsupported` if not. Must not begin anything.
    fn offer(&self, kind: &str, name: &str, selector: &str) -> Result<Offer, Trace>;

    /// Begins. Called once for a future, after its ACK. What is already over writes its value.
    fn start(
        &mut self,
        future_id: u64,
        call: &CapSelector<'_>,
        value: &mut Vec<u8>,
    ) -> Result<Begun, Failure>;

    /// Ends what is pending, at once. Called at most once for a future, before the guest can read that it was
    /// cancelled; nothing of it may be left when this returns.
    fn cancel(&mut self, future_id: u64);
}
