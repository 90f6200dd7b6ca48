//! A port of lines: newline-delimited JSON on a pair of byte streams, and nothing else on them.

use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

use drydock_contract::{ByteSink, ByteSource};

use super::{Heard, Port};
use crate::protocol::{Line, Lines, RunnerMessage, host_message, runner_line};

/// One read.
const READ_BYTES: usize = 64 << 10;
/// How much may wait to be written before nothing more is read.
const UNSENT_BYTES_MAX: usize = 64 << 20;

/// Lines over two streams.
pub struct LinePort {
    input: Box<dyn ByteSource>,
    output: Box<dyn ByteSink>,
    lines: Lines,
    buffer: Box<[u8]>,
    unsent: VecDeque<Vec<u8>>,
    unsent_bytes: usize,
    sent: usize,
    flushed: bool,
    closed: bool,
}

impl LinePort {
    /// Reads messages from `input` and writes them to `output`.
    pub fn new(input: Box<dyn ByteSource>, output: Box<dyn ByteSink>, lines: Lines) -> Self {
        Self {
            input,
            output,
            lines,
            buffer: vec![0; READ_BYTES].into(),
            unsent: VecDeque::new(),
            unsent_bytes: 0,
            sent: 0,
            flushed: true,
            closed: false,
        }
    }

    /// Nobody listens any more, so nobody will say anything worth hearing.
    fn close(&mut self) -> Poll<()> {
        self.closed = true;
        self.unsent.clear();
        self.unsent_bytes = 0;
        self.flushed = true;
        Poll::Ready(())
    }

    fn heard(&self, line: Line) -> Heard {
        match line {
            Line::TooLong(head) => Heard::TooLong(head, self.lines.bytes_max()),
            Line::Whole(line) => host_message(&line).map_or(Heard::Junk, Heard::Message),
        }
    }
}

impl Port for LinePort {
    fn send(&mut self, message: RunnerMessage) {
        let line = runner_line(&message);
        self.unsent_bytes += line.len();
        self.unsent.push_back(line);
        self.flushed = false;
    }

    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(line) = self.unsent.front() {
            match self.output.poll_write(cx, &line[self.sent..]) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(count)) if count > 0 => self.sent += count,
                Poll::Ready(_) => return self.close(),
            }
            if self.sent >= line.len() {
                self.unsent_bytes -= line.len();
                self.sent = 0;
                self.unsent.pop_front();
            }
        }
        if self.flushed {
            return Poll::Ready(());
        }
        match self.output.poll_flush(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => {
                self.flushed = true;
                Poll::Ready(())
            }
            Poll::Ready(Err(_)) => self.close(),
        }
    }

    fn poll_heard(&mut self, cx: &mut Context<'_>) -> Poll<Heard> {
        loop {
            let _ = self.poll_sent(cx);
            if self.unsent_bytes > UNSENT_BYTES_MAX {
                return Poll::Pending;
            }
            if let Some(line) = self.lines.next_line() {
                return Poll::Ready(self.heard(line));
            }
            if self.closed {
                return Poll::Ready(Heard::Closed);
            }
            match self.input.poll_read(cx, &mut self.buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0) | Err(_)) => {
                    self.closed = true;
                    if let Some(line) = self.lines.finish() {
                        return Poll::Ready(self.heard(line));
                    }
                }
                Poll::Ready(Ok(count)) => self.lines.push(&self.buffer[..count]),
            }
        }
    }
}
