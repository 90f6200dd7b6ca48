//! A bounded pipe. The last writer gone is the end for readers; the last reader gone is a broken
//! pipe for writers, which is how `yes | head -1` ends.

use std::{
    collections::VecDeque,
    io,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use parking_lot::Mutex;

/// What a pipe holds before its writer waits.
const BYTES_MAX: usize = 64 << 10;

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    no_reader: bool,
    no_writer: bool,
    readers: Vec<Waker>,
    writers: Vec<Waker>,
}

/// The end to read from.
pub(crate) struct Reader(Arc<Mutex<State>>);

/// The end to write to.
pub(crate) struct Writer(Arc<Mutex<State>>);

/// A new pipe.
pub(crate) fn pipe() -> (Reader, Writer) {
    let state = Arc::new(Mutex::new(State::default()));
    (Reader(Arc::clone(&state)), Writer(state))
}

fn wake(wakers: &mut Vec<Waker>) {
    for waker in wakers.drain(..) {
        waker.wake();
    }
}

fn wait(wakers: &mut Vec<Waker>, cx: &Context<'_>) {
    drydock_contract::schedule::waits_inside();
    if !wakers.iter().any(|it| it.will_wake(cx.waker())) {
        wakers.push(cx.waker().clone());
    }
}

impl Reader {
    pub(super) fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock();
        if state.bytes.is_empty() {
            if state.no_writer {
                return Poll::Ready(Ok(0));
            }
            wait(&mut state.readers, cx);
            return Poll::Pending;
        }
        let count = io::Read::read(&mut state.bytes, buffer)?;
        wake(&mut state.writers);
        Poll::Ready(Ok(count))
    }

    pub(super) fn unread(&self, bytes: &[u8]) {
        let mut state = self.0.lock();
        for byte in bytes.iter().rev() {
            state.bytes.push_front(*byte);
        }
        if !bytes.is_empty() {
            wake(&mut state.readers);
        }
    }
}

impl Writer {
    pub(super) fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock();
        if state.no_reader {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = BYTES_MAX.saturating_sub(state.bytes.len());
        if room == 0 {
            wait(&mut state.writers, cx);
            return Poll::Pending;
        }
        let count = room.min(bytes.len());
        state.bytes.extend(&bytes[..count]);
        wake(&mut state.readers);
        Poll::Ready(Ok(count))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.no_reader = true;
        state.bytes = VecDeque::new();
        wake(&mut state.writers);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.no_writer = true;
        wake(&mut state.readers);
    }
}
