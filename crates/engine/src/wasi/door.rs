//! `/dev/drydock`: the tools of a run for a guest that can only speak WASI (decision 0055).
//!
//! What is written are requests ([`FrameReader`]), each begun as a call at the run's door as soon as it is
//! whole; what is read are answers in the order they come, each with its length before it. A read waits for
//! one, and finds the end where no call is open. The calls are the run's, as those of `env.tool_start`: bounded, on its
//! bill, dropped with it.

use drydock_abi::tool::{FrameEvent, FrameReader, answer_head};

use crate::{guest::Held, host::tool::Ended};

/// One opening of the device.
#[derive(Default)]
pub(crate) struct Door {
    frames: FrameReader,
    /// The bill for the request that is being written.
    pub(crate) held: Option<Held>,
    /// The answer that is being read.
    pub(crate) reading: Option<Reading>,
}

impl Door {
    /// Takes some of the bytes that are written: how many, and what they came to.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> (usize, Option<FrameEvent>) {
        self.frames.take(bytes)
    }

    /// Reads of the answer that is being read; how much, nothing if there is none.
    pub(crate) fn copy(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let (count, is_whole) = self.reading.as_mut()?.copy(buffer);
        if is_whole {
            self.reading = None;
        }
        Some(count)
    }
}

/// An answer of which some was read.
pub(crate) struct Reading {
    head: [u8; 4],
    ended: Ended,
    at: usize,
}

impl Reading {
    pub(crate) fn new(ended: Ended) -> Self {
        Self { head: answer_head(ended.answer().len()), ended, at: 0 }
    }

    /// Copies what fits; true when all of it was read.
    fn copy(&mut self, buffer: &mut [u8]) -> (usize, bool) {
        let answer = self.ended.answer();
        let mut copied = 0;
        let place = self.at.saturating_sub(self.head.len());
        for part in [self.head.get(self.at..).unwrap_or_default(), answer.get(place..).unwrap_or_default()] {
            let count = part.len().min(buffer.len() - copied);
            buffer[copied..copied + count].copy_from_slice(&part[..count]);
            copied += count;
        }
        self.at += copied;
        (copied, self.at == self.head.len() + answer.len())
    }
}
