//! The two halves of a connection, for as long as what let it be made still holds. Whoever waits at one is woken when that
//! may be over.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_contract::{BoxFuture, ByteSink, ByteSource};
use drydock_egress::{RawConnection, RawSink, RawSource};
use drydock_gate::Lease;

/// One half.
pub(crate) struct Leased<T> {
    half: T,
    lease: Arc<Lease>,
    /// Ready when somebody was revoked or cancelled, or a grant is gone; none before anybody waits.
    news: Option<[BoxFuture<'static, ()>; 2]>,
}

/// Both halves hold the lease: the record is open until the last of them is gone.
pub(crate) fn leased(made: RawConnection, lease: Lease) -> (Leased<RawSource>, Leased<RawSink>) {
    let lease = Arc::new(lease);
    let source = Leased { half: made.source, lease: Arc::clone(&lease), news: None };
    (source, Leased { half: made.sink, lease, news: None })
}

impl<T> Leased<T> {
    fn check(&self) -> io::Result<()> {
        if self.lease.still_valid() { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }

    /// Whoever waits hears of its end.
    fn unless_lost<R>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if polled.is_ready() {
            return polled;
        }
        loop {
            let lease = &self.lease;
            let listen = || lease.switches().map(|it| Box::pin(it.listen()) as BoxFuture<'static, ()>);
            let news = self.news.get_or_insert_with(listen);
            let is_news = news.iter_mut().any(|it| it.as_mut().poll(cx).is_ready());
            // Looked at after it was listened for: nothing comes in between.
            self.check()?;
            if !is_news {
                return Poll::Pending;
            }
            self.news = None;
        }
    }
}

impl ByteSource for Leased<RawSource> {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        let polled = self.half.poll_read(cx, buffer);
        self.unless_lost(cx, polled)
    }
}

impl ByteSink for Leased<RawSink> {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        let polled = self.half.poll_write(cx, bytes);
        self.unless_lost(cx, polled)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.half.poll_flush(cx)
    }
}
