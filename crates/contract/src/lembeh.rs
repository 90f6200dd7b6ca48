//! What stands behind the imports of a lembeh guest (seed 004): streams by number, and the control plane.
//!
//! The engine checks pointers, keeps the guest's heap and waits; whoever implements this has the handles. One that runs
//! for real reaches the world through the door it is handed, one that replays a transcript was handed none: the engine
//! cannot tell them apart.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use parking_lot::Mutex;

use crate::{Dispatch, Meter};

/// Why a call of the guest has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LembehEnd {
    /// The guest is told -1, and goes on.
    Refused,
    /// It wrote more than it may, and ends.
    OutputLimit,
    /// It read more than it may, and ends.
    InputLimit,
    /// Its replay came to a call that the transcript has not, and ends.
    Diverged,
    /// The call could not be written down, and it ends.
    Unrecorded,
}

/// A call of the guest that never came to its handle, because its pointers were wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LembehFault {
    /// `req_read`, with its handle and its capacity.
    Read(i32, i32),
    /// `res_write`, with its handle and its length.
    Write(i32, i32),
    /// `_ctl`.
    Ctl,
}

/// The streams and the control plane of one guest. Nothing here waits: what has to is polled.
pub trait LembehHost: Send {
    /// The run begins. The door leads to the gate in its name, and what is held for it is on this meter.
    fn begin(&mut self, door: Arc<dyn Dispatch>, meter: Arc<Meter>);

    /// `_ctl`: the response, which has at most `room` bytes.
    fn ctl(&mut self, cx: &mut Context<'_>, request: &[u8], room: usize) -> Result<Vec<u8>, LembehEnd>;

    /// `req_read`: how many bytes were put into the buffer, of which 0 is the end unless the buffer is empty. Where it
    /// fails the buffer is as it was.
    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        handle: i32,
        buffer: &mut [u8],
    ) -> Poll<Result<usize, LembehEnd>>;

    /// `res_write`: how many of the bytes were taken.
    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        handle: i32,
        bytes: &[u8],
    ) -> Poll<Result<usize, LembehEnd>>;

    /// `res_end`: no more is written to the handle.
    fn end(&mut self, cx: &mut Context<'_>, handle: i32) -> Result<(), LembehEnd>;

    /// `log`, cut to its limits already. Only a replay can refuse it.
    fn log(&mut self, topic: &[u8], message: &[u8]) -> Result<(), LembehEnd>;

    /// The guest was told -1, because it pointed outside of its memory.
    fn fault(&mut self, fault: LembehFault) -> Result<(), LembehEnd>;

    /// The guest is gone: whatever it started ends.
    fn finish(&mut self);
}

/// The host of a run, which whoever started it looks at when it is over.
pub type SharedLembeh = Arc<Mutex<dyn LembehHost>>;
