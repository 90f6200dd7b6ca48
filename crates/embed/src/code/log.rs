//! Console lines out of a guest's stderr: each a length and that many bytes, so that they survive its end.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_codemode::{
    protocol::RuntimeOptions,
    runner::{Console, LogBuffer},
};
use drydock_contract::ByteSink;
use parking_lot::Mutex;

/// Bytes of one line that are kept until it is whole. UTF-8 takes at most three for a UTF-16 unit.
const LINE_BYTES_MAX: usize = 4 << 20;

/// Where the lines go.
pub(super) struct Log(Arc<Mutex<State>>);

struct State {
    lines: LogBuffer,
    head: Vec<u8>,
    line: Vec<u8>,
    /// Bytes of the line that have not come yet.
    left: usize,
    line_bytes_max: usize,
    console: Option<Console>,
}

impl Log {
    pub(super) fn new(options: &RuntimeOptions, console: Option<Console>) -> Self {
        let line_bytes_max = options.log_units_max().saturating_mul(3).clamp(64, LINE_BYTES_MAX);
        Self(Arc::new(Mutex::new(State {
            lines: LogBuffer::new(options),
            head: Vec::new(),
            line: Vec::new(),
            left: 0,
            line_bytes_max,
            console,
        })))
    }

    /// The end that a guest writes to.
    pub(super) fn sink(&self) -> Box<dyn ByteSink> {
        Box::new(LogSink(Arc::clone(&self.0)))
    }

    /// What was logged, half a line included.
    pub(super) fn into_lines(self) -> LogBuffer {
        let mut state = self.0.lock();
        if state.left > 0 {
            state.end_line();
        }
        state.lines.clone()
    }
}

impl State {
    fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left == 0 {
                let count = bytes.len().min(4 - self.head.len());
                self.head.extend_from_slice(&bytes[..count]);
                bytes = &bytes[count..];
                if let Ok(head) = <[u8; 4]>::try_from(self.head.as_slice()) {
                    self.head.clear();
                    self.left = u32::from_le_bytes(head) as usize;
                    if self.left == 0 {
                        self.end_line();
                    }
                }
                continue;
            }
            let count = bytes.len().min(self.left);
            let room = self.line_bytes_max.saturating_sub(self.line.len()).min(count);
            // A full log costs nothing more, however much is said.
            if !self.lines.is_full() {
                self.line.extend_from_slice(&bytes[..room]);
            }
            self.left -= count;
            bytes = &bytes[count..];
            if self.left == 0 {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.left = 0;
        let kept = self.lines.push(String::from_utf8_lossy(&line));
        if let (Some(kept), Some(console)) = (kept, &self.console) {
            console.tell(kept);
        }
    }
}

struct LogSink(Arc<Mutex<State>>);

impl ByteSink for LogSink {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.lock().take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(lines: &[&str]) -> Vec<u8> {
        let frame = |line: &&str| [&(line.len() as u32).to_le_bytes()[..], line.as_bytes()].concat();
        lines.iter().flat_map(frame).collect()
    }

    #[test]
    fn lines_are_found_however_the_bytes_are_cut() {
        let bytes = framed(&["one", "", "zwei\nhalf", "drei"]);
        for cut in 0..=bytes.len() {
            let log = Log::new(&RuntimeOptions::default(), None);
            log.0.lock().take(&bytes[..cut]);
            log.0.lock().take(&bytes[cut..]);
            assert_eq!(log.into_lines().into_lines(), ["one", "", "zwei\nhalf", "drei"], "{cut}");
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_kept_and_a_lie_about_its_length_costs_nothing() {
        let log = Log::new(&RuntimeOptions::default(), None);
        log.0.lock().take(&[0xff, 0xff, 0xff, 0xff, b'h', b'i']);
        assert_eq!(log.into_lines().into_lines(), ["hi"]);
    }

    #[test]
    fn lines_are_told_when_they_are_whole_and_as_they_are_kept() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&heard);
        let console = Console::new(move |line| hears.lock().push(line.to_owned()));
        let options = RuntimeOptions { max_log_chars: 5.0, ..RuntimeOptions::default() };
        let log = Log::new(&options, Some(console));
        let bytes = framed(&["one", "three", "lost"]);
        log.0.lock().take(&bytes[..6]);
        assert!(heard.lock().is_empty());
        log.0.lock().take(&bytes[6..7]);
        assert_eq!(*heard.lock(), ["one"]);
        log.0.lock().take(&bytes[7..]);
        assert_eq!(*heard.lock(), ["one", "th"]);
        assert_eq!(log.into_lines().into_lines(), ["one", "th"]);
    }

    #[test]
    fn a_full_log_keeps_nothing_more() {
        let options = RuntimeOptions { max_log_lines: 1.0, ..RuntimeOptions::default() };
        let log = Log::new(&options, None);
        log.0.lock().take(&framed(&["kept"]));
        assert!(!log.0.lock().lines.is_cut());
        log.0.lock().take(&framed(&["lost"]));
        let lines = log.into_lines();
        assert!(lines.is_cut());
        assert_eq!(lines.into_lines(), ["kept"]);
    }
}
