//! The three streams that every guest has: 0 is read, 1 and 2 are written.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{LembehEnd, Meter, Sink, Source, Streams};

/// What the guest itself may read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLimits {
    /// Bytes of its input; beyond it the run ends.
    pub stdin_bytes_max: u64,
    /// Bytes of its output; beyond it the run ends.
    pub stdout_bytes_max: u64,
    /// Bytes of its log; beyond it the run ends, or what `log` says is dropped.
    pub stderr_bytes_max: u64,
}

impl Default for StreamLimits {
    fn default() -> Self {
        let mib = 1 << 20;
        Self { stdin_bytes_max: 1024 * mib, stdout_bytes_max: 64 * mib, stderr_bytes_max: mib }
    }
}

/// One that is written.
struct Output {
    sink: Sink,
    left: u64,
    is_open: bool,
}

/// All three.
pub(super) struct Standard {
    stdin: Source,
    stdin_left: u64,
    /// The end was seen, and stays.
    has_ended: bool,
    outputs: [Output; 2],
}

impl Standard {
    pub(super) fn new(streams: Streams, limits: StreamLimits) -> Self {
        let output = |sink, left| Output { sink, left, is_open: true };
        Self {
            stdin: streams.stdin,
            stdin_left: limits.stdin_bytes_max,
            has_ended: false,
            outputs: [
                output(streams.stdout, limits.stdout_bytes_max),
                output(streams.stderr, limits.stderr_bytes_max),
            ],
        }
    }

    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<Result<usize, LembehEnd>> {
        if self.has_ended || buffer.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let most = usize::try_from(self.stdin_left).unwrap_or(usize::MAX).min(buffer.len());
        let mut one = [0];
        // At the limit one more byte tells an input that is too long from one that just fits.
        let place = if most == 0 { &mut one[..] } else { &mut buffer[..most] };
        let count = std::task::ready!(self.stdin.poll_read(cx, place)).map_err(|_| LembehEnd::Refused);
        Poll::Ready(count.and_then(|count| match count.min(place.len()) {
            0 => {
                self.has_ended = true;
                Ok(0)
            }
            _ if most == 0 => Err(LembehEnd::InputLimit),
            count => {
                self.stdin_left -= count as u64;
                Ok(count)
            }
        }))
    }

    /// Writes to 1 or 2.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        handle: i32,
        bytes: &[u8],
        meter: &Arc<Meter>,
    ) -> Poll<Result<usize, LembehEnd>> {
        let Some(output) = self.output(handle).filter(|it| it.is_open) else {
            return Poll::Ready(Err(LembehEnd::Refused));
        };
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let most = usize::try_from(output.left).unwrap_or(usize::MAX).min(bytes.len());
        if most == 0 {
            return Poll::Ready(Err(LembehEnd::OutputLimit));
        }
        let bytes = &bytes[..most];
        // What is captured stays until the run is over, on its bill.
        if matches!(output.sink, Sink::Capture(_)) && !meter.try_hold(bytes.len() as u64) {
            return Poll::Ready(Err(LembehEnd::OutputLimit));
        }
        match std::task::ready!(output.sink.poll_write(cx, bytes)) {
            Ok(count) if count > 0 => {
                let count = count.min(bytes.len());
                output.left -= count as u64;
                Poll::Ready(Ok(count))
            }
            _ => Poll::Ready(Err(LembehEnd::Refused)),
        }
    }

    /// Ends 1 or 2.
    pub(super) fn end(&mut self, handle: i32) {
        if let Some(output) = self.output(handle) {
            output.is_open = false;
        }
    }

    /// The streams, for whoever handed them over.
    pub(super) fn take(&mut self) -> Streams {
        let [stdout, stderr] = &mut self.outputs;
        Streams {
            stdin: std::mem::take(&mut self.stdin),
            stdout: std::mem::take(&mut stdout.sink),
            stderr: std::mem::take(&mut stderr.sink),
            ..Streams::default()
        }
    }

    fn output(&mut self, handle: i32) -> Option<&mut Output> {
        self.outputs.get_mut(usize::try_from(handle).ok()?.checked_sub(1)?)
    }
}
