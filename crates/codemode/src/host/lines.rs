//! A transport of lines: newline-delimited JSON over a pair of byte streams.
//!
//! Who started the program at the other end brings the streams, and a way to end it.

use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

use drydock_contract::{ByteSink, ByteSource};

use super::{Event, Transport, TransportError};
use crate::{
    ExecuteResult,
    protocol::{HostMessage, Line, Lines, host_line, runner_message},
};

/// One read.
const READ_BYTES: usize = 64 << 10;

/// How much may wait to be written before nothing more is read.
const UNSENT_BYTES_MAX: usize = 64 << 20;

/// Lines over two streams.
pub struct LineTransport {
    input: Box<dyn ByteSource>,
    output: Box<dyn ByteSink>,
    end: Box<dyn FnMut() + Send>,
    lines: Lines,
    buffer: Box<[u8]>,
    unsent: VecDeque<Vec<u8>>,
    unsent_bytes: usize,
    /// How much of the first unsent line is gone already.
    sent: usize,
    flushed: bool,
    closed: Option<String>,
}

impl LineTransport {
    /// Reads the runner's stdout and writes its stdin; `end` ends the runner, at most once needed.
    pub fn new(
        input: Box<dyn ByteSource>,
        output: Box<dyn ByteSink>,
        lines: Lines,
        end: Box<dyn FnMut() + Send>,
    ) -> Self {
        Self {
            input,
            output,
            end,
            lines,
            buffer: vec![0; READ_BYTES].into(),
            unsent: VecDeque::new(),
            unsent_bytes: 0,
            sent: 0,
            flushed: true,
            closed: None,
        }
    }

    /// Whether it can carry another session.
    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> std::io::Result<()> {
        while let Some(line) = self.unsent.front() {
            match self.output.poll_write(cx, &line[self.sent..]) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(0)) => return Err(std::io::ErrorKind::WriteZero.into()),
                Poll::Ready(count) => self.sent += count?,
            }
            if self.sent >= line.len() {
                self.unsent_bytes -= line.len();
                self.sent = 0;
                self.unsent.pop_front();
            }
        }
        if !self.flushed
            && let Poll::Ready(flushed) = self.output.poll_flush(cx)
        {
            flushed?;
            self.flushed = true;
        }
        Ok(())
    }

    fn close(&mut self, reason: String) -> Poll<Event> {
        self.unsent.clear();
        self.unsent_bytes = 0;
        self.closed = Some(reason.clone());
        Poll::Ready(Event::Closed(reason))
    }

    fn event(&self, line: Line) -> Event {
        match line {
            Line::TooLong(head) => Event::TooLong(head, self.lines.bytes_max()),
            Line::Whole(line) => runner_message(&line).map_or(Event::Junk, Event::Message),
        }
    }
}

impl Transport for LineTransport {
    fn send(&mut self, message: HostMessage) -> Result<(), TransportError> {
        if let Some(reason) = &self.closed {
            return Err(TransportError(reason.clone()));
        }
        let line = host_line(&message);
        self.unsent_bytes += line.len();
        self.unsent.push_back(line);
        self.flushed = false;
        Ok(())
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        loop {
            if self.closed.is_none()
                && let Err(error) = self.poll_write(cx)
            {
                return self.close(format!("could not write to the runner: {error}"));
            }
            if self.is_congested() {
                // A runner that asks and does not listen waits until it does.
                return Poll::Pending;
            }
            if let Some(line) = self.lines.next_line() {
                return Poll::Ready(self.event(line));
            }
            if let Some(reason) = &self.closed {
                return Poll::Ready(Event::Closed(reason.clone()));
            }
            match self.input.poll_read(cx, &mut self.buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0)) => {
                    let last = self.lines.finish();
                    let closed = self.close("the runner has ended".into());
                    return last.map_or(closed, |line| Poll::Ready(self.event(line)));
                }
                Poll::Ready(Ok(count)) => self.lines.push(&self.buffer[..count]),
                Poll::Ready(Err(error)) => {
                    return self.close(format!("could not read from the runner: {error}"));
                }
            }
        }
    }

    fn is_congested(&self) -> bool {
        self.unsent_bytes > UNSENT_BYTES_MAX
    }

    fn terminate(&mut self) {
        self.closed.get_or_insert_with(|| "the runner was ended".into());
        (self.end)();
    }

    fn dispose(&mut self, _: Option<&ExecuteResult>) {
        (self.end)();
    }
}
