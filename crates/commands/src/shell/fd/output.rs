//! Somewhere to write that several commands share: stages of a pipeline, background jobs.
//!
//! A sink may begin a write and answer later, and it remembers one waiter only. So what was begun is
//! kept here until it is through, whoever polls finishes it, and all who wait are told: no writer is
//! given the count of another, and none waits for a wake that went to somebody who left.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll, Wake, Waker, ready},
};

use drydock_contract::{Sink, schedule};
use parking_lot::Mutex;

/// Most bytes taken from one writer at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Everyone who waits for the sink.
#[derive(Default)]
struct Waiting(Mutex<Vec<Waker>>);

impl Waiting {
    fn add(&self, waker: &Waker) {
        let mut all = self.0.lock();
        if !all.iter().any(|it| it.will_wake(waker)) {
            all.push(waker.clone());
        }
    }
}

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        let all = std::mem::take(&mut *self.0.lock());
        for waker in all {
            waker.wake();
        }
    }
}

struct State {
    sink: Sink,
    /// Bytes the sink was given and has not answered for.
    begun: Vec<u8>,
}

/// Somewhere to write, shared.
pub(crate) struct Output {
    state: Mutex<State>,
    waiting: Arc<Waiting>,
}

impl Output {
    pub(crate) fn new(sink: Sink) -> Self {
        Self { state: Mutex::new(State { sink, begun: Vec::new() }), waiting: Arc::default() }
    }

    pub(super) fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.state.lock();
        ready!(self.finish(&mut state, cx))?;
        let waker = Waker::from(Arc::clone(&self.waiting));
        match state.sink.poll_write(&mut Context::from_waker(&waker), bytes) {
            Poll::Ready(done) => Poll::Ready(done),
            Poll::Pending => {
                let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
                state.begun.extend_from_slice(piece);
                schedule::goes_on();
                Poll::Ready(Ok(piece.len()))
            }
        }
    }

    pub(super) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.state.lock();
        ready!(self.finish(&mut state, cx))?;
        state.sink.poll_flush(cx)
    }

    /// Waits until nothing is under way.
    fn finish(&self, state: &mut State, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waker = Waker::from(Arc::clone(&self.waiting));
        while !state.begun.is_empty() {
            self.waiting.add(cx.waker());
            let State { sink, begun } = &mut *state;
            match sink.poll_write(&mut Context::from_waker(&waker), begun) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(count)) if count > 0 => {
                    let count = count.min(begun.len());
                    begun.drain(..count);
                }
                Poll::Ready(answer) => {
                    begun.clear();
                    Arc::clone(&self.waiting).wake();
                    return Poll::Ready(answer.and(Err(io::ErrorKind::WriteZero.into())));
                }
            }
            if begun.is_empty() {
                Arc::clone(&self.waiting).wake();
                schedule::goes_on();
            }
        }
        Poll::Ready(Ok(()))
    }

    pub(super) fn columns(&self) -> Option<u16> {
        self.state.lock().sink.columns()
    }

    pub(crate) fn take(&self) -> Sink {
        std::mem::take(&mut self.state.lock().sink)
    }
}
