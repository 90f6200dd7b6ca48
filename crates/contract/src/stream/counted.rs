//! A sink that knows when nobody reads any more.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll},
};

use super::{ByteSink, Sink, StreamFile};

/// How often somebody wrote to nobody. A clone is the same count.
#[derive(Debug, Clone, Default)]
pub struct BrokenWrites(Arc<AtomicU32>);

impl BrokenWrites {
    /// So often until now.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// The sink, counted. One whose bytes nobody was to see anyway stays what it is.
    pub fn counted(&self, sink: Sink) -> Sink {
        match sink {
            Sink::Discard => Sink::Discard,
            sink => Sink::Stream(Box::new(Counted { sink, broken: self.clone() })),
        }
    }
}

struct Counted {
    sink: Sink,
    broken: BrokenWrites,
}

impl ByteSink for Counted {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let answer = self.sink.poll_write(cx, bytes);
        if let Poll::Ready(Err(error)) = &answer
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            self.broken.0.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.sink.poll_flush(cx)
    }

    fn columns(&self) -> Option<u16> {
        self.sink.columns()
    }

    fn file(&self) -> Option<StreamFile> {
        self.sink.file()
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    #[test]
    fn only_writes_to_nobody_are_counted() {
        let mut cx = Context::from_waker(Waker::noop());
        let broken = BrokenWrites::default();
        let (reader, writer) = super::super::pipe();
        let mut sink = broken.counted(Sink::Stream(Box::new(writer)));
        assert!(matches!(sink.poll_write(&mut cx, b"x"), Poll::Ready(Ok(1))));
        assert_eq!(broken.count(), 0);
        drop(reader);
        for expected in 1..4 {
            assert!(matches!(sink.poll_write(&mut cx, b"x"), Poll::Ready(Err(_))));
            assert_eq!(broken.count(), expected);
        }
        assert!(matches!(broken.counted(Sink::Discard), Sink::Discard));
    }
}
