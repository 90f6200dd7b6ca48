//! Bytes between a command and something that only the shell has: a here-document, the text of a substitution.

use crate::ends::{Reader, Writer};
use drydock_contract::{ByteSink as _, Source};
use drydock_shell::door::{ReadEnd as _, ShellOutput, WriteEnd as _};
use std::task::{Context, Poll, ready};

const PIECE_BYTES: usize = 32 << 10;

/// From something of the shell's to a command.
pub(crate) struct Feed {
    source: Source,
    writer: Option<Writer>,
    /// Others read the same: the command gets what it asks for and no more.
    is_shared: bool,
    rest: Vec<u8>,
}

impl Feed {
    pub(crate) fn new(source: Source, writer: Writer) -> Self {
        let is_shared = matches!(source, Source::Stream(_));
        Self { source, writer: Some(writer), is_shared, rest: Vec::new() }
    }

    /// Moves what can move; ready when there is no more to do.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let Some(writer) = &self.writer else { return Poll::Ready(()) };
            if self.rest.is_empty() {
                let room = match self.is_shared {
                    false => PIECE_BYTES,
                    true => match ready!(writer.poll_wanted(cx)) {
                        Ok(wanted) => wanted.min(PIECE_BYTES),
                        Err(_) => return self.close(),
                    },
                };
                self.rest.resize(room, 0);
                let got = match self.source.poll_read(cx, &mut self.rest) {
                    Poll::Ready(Ok(got)) => got,
                    Poll::Ready(Err(_)) => 0,
                    Poll::Pending => {
                        self.rest.clear();
                        return Poll::Pending;
                    }
                };
                self.rest.truncate(got);
                if got == 0 {
                    return self.close();
                }
            }
            match ready!(writer.poll_write(cx, &self.rest)) {
                Ok(count) => drop(self.rest.drain(..count.min(self.rest.len()))),
                Err(_) => return self.close(),
            }
        }
    }

    fn close(&mut self) -> Poll<()> {
        self.writer = None;
        Poll::Ready(())
    }
}

/// From a command to something of the shell's.
pub(crate) struct Drain {
    reader: Option<Reader>,
    output: ShellOutput,
    rest: Vec<u8>,
}

impl Drain {
    pub(crate) fn new(reader: Reader, output: ShellOutput) -> Self {
        Self { reader: Some(reader), output, rest: Vec::new() }
    }

    /// Moves what can move; ready when the command has let its end go, and all is through.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let Some(reader) = &self.reader else { return Poll::Ready(()) };
            if self.rest.is_empty() {
                self.rest.resize(PIECE_BYTES, 0);
                let polled = reader.poll_read(cx, &mut self.rest);
                let got = match polled {
                    Poll::Ready(Ok(got)) => got,
                    Poll::Ready(Err(_)) => 0,
                    Poll::Pending => {
                        self.rest.clear();
                        return Poll::Pending;
                    }
                };
                self.rest.truncate(got);
                if got == 0 {
                    self.reader = None;
                    return Poll::Ready(());
                }
            }
            match ready!(self.output.poll_write(cx, &self.rest)) {
                Ok(count @ 1..) => drop(self.rest.drain(..count.min(self.rest.len()))),
                // The command is told that nobody reads any more.
                Ok(_) | Err(_) => self.reader = None,
            }
        }
    }
}
