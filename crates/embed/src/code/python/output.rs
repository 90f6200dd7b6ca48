//! What a Python program writes: handed on or kept as bytes, and cut into lines for the protocol's log.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_codemode::{
    protocol::RuntimeOptions,
    runner::{Console, LogBuffer},
};
use drydock_contract::{ByteSink, Sink, StreamFile};
use parking_lot::Mutex;

/// Half a line that is kept until its end comes.
const LINE_BYTES_MAX: usize = 1 << 20;

/// The lines of both outputs, in the order they were ended.
pub(super) struct Lines {
    log: LogBuffer,
    console: Option<Console>,
}

impl Lines {
    pub(super) fn new(options: &RuntimeOptions, console: Option<Console>) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { log: LogBuffer::new(options), console }))
    }

    fn push(&mut self, line: &[u8]) {
        let kept = self.log.push(String::from_utf8_lossy(line));
        if let (Some(kept), Some(console)) = (kept, &self.console) {
            console.tell(kept);
        }
    }

    /// The log so far.
    pub(super) fn log(&self) -> LogBuffer {
        self.log.clone()
    }
}

/// One output of a program.
pub(super) struct Output {
    /// Where its bytes go; none if they are kept.
    to: Option<Sink>,
    kept: Arc<Mutex<Vec<u8>>>,
    lines: Arc<Mutex<Lines>>,
    half: Vec<u8>,
}

impl Output {
    /// An output that goes to `to`, or is kept in `kept`.
    pub(super) fn new(to: Option<Sink>, kept: &Arc<Mutex<Vec<u8>>>, lines: &Arc<Mutex<Lines>>) -> Self {
        Self { to, kept: Arc::clone(kept), lines: Arc::clone(lines), half: Vec::new() }
    }

    fn split(&mut self, bytes: &[u8]) {
        let mut lines = self.lines.lock();
        if lines.log.is_full() && !bytes.is_empty() {
            // It only learns that something was cut; a full log costs nothing more.
            lines.push(b"");
            return;
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_BYTES_MAX.saturating_sub(self.half.len()).min(part.len());
            self.half.extend_from_slice(part.get(..room).unwrap_or_default());
            if part.last() == Some(&b'\n') {
                if self.half.last() == Some(&b'\n') {
                    self.half.pop();
                }
                lines.push(&std::mem::take(&mut self.half));
            }
        }
    }
}

impl ByteSink for Output {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = match &mut self.to {
            None => {
                self.kept.lock().extend_from_slice(bytes);
                bytes.len()
            }
            Some(sink) => match sink.poll_write(cx, bytes) {
                Poll::Ready(Ok(wrote)) => wrote.min(bytes.len()),
                other => return other,
            },
        };
        self.split(bytes.get(..wrote).unwrap_or_default());
        Poll::Ready(Ok(wrote))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.to.as_mut().map_or(Poll::Ready(Ok(())), |sink| sink.poll_flush(cx))
    }

    fn columns(&self) -> Option<u16> {
        self.to.as_ref().and_then(Sink::columns)
    }

    fn file(&self) -> Option<StreamFile> {
        self.to.as_ref().and_then(Sink::file)
    }
}

impl Drop for Output {
    /// The last line need not have an end.
    fn drop(&mut self) {
        if !self.half.is_empty() {
            self.lines.lock().push(&self.half);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outputs_are_cut_into_lines_in_the_order_they_end() {
        let lines = Lines::new(&RuntimeOptions::default(), None);
        let kept = Arc::default();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let mut out = Output::new(None, &kept, &lines);
        let mut err = Output::new(None, &Arc::default(), &lines);
        for (which, text) in [(0, "a"), (1, "x\n"), (0, "b\n\nc"), (1, "y")] {
            let output = if which == 0 { &mut out } else { &mut err };
            assert!(output.poll_write(&mut cx, text.as_bytes()).is_ready());
        }
        drop((out, err));
        assert_eq!(lines.lock().log().into_lines(), ["x", "ab", "", "c", "y"]);
        assert_eq!(*kept.lock(), b"ab\n\nc");
    }

    #[test]
    fn a_full_log_keeps_nothing_and_knows_it() {
        let options = RuntimeOptions { max_log_lines: 1.0, ..RuntimeOptions::default() };
        let lines = Lines::new(&options, None);
        let mut out = Output::new(None, &Arc::default(), &lines);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let _ = out.poll_write(&mut cx, b"one\n");
        assert!(!lines.lock().log().is_cut());
        let _ = out.poll_write(&mut cx, b"two\n");
        assert!(lines.lock().log().is_cut());
        assert_eq!(lines.lock().log().into_lines(), ["one"]);
    }
}
