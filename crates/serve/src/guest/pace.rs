//! What is sent, within its time and its room: who reads slowly or not at all loses its connection and nobody else's. Reading
//! has bounds of its own, where it is read.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use drydock_embed::RESPONSE_BYTES_MAX;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep},
};

use super::GuestBounds;

/// A stream that fails as timed out where writing to it makes no progress for a while, or takes too long until all of it is
/// written.
pub(super) struct Paced<S> {
    stream: S,
    pause_max: Duration,
    write_max: Duration,
    /// When what is not yet all written was begun.
    begun: Option<Instant>,
    /// There while nothing can be written.
    alarm: Option<Pin<Box<Sleep>>>,
}

impl<S> Paced<S> {
    pub(super) fn new(stream: S, bounds: &GuestBounds) -> Self {
        let &GuestBounds { write_pause_max: pause_max, write_max, .. } = bounds;
        Self { stream, pause_max, write_max, begun: None, alarm: None }
    }
}

impl<S: AsyncWrite + Unpin> Paced<S> {
    fn write(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let now = Instant::now();
        let end = *self.begun.get_or_insert(now) + self.write_max;
        // Progress alone is not enough: a byte a second is progress, too.
        if now >= end {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let written = write(Pin::new(&mut self.stream), cx);
        if written.is_ready() {
            self.alarm = None;
            return written;
        }
        let until = end.min(now + self.pause_max);
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        ready!(alarm.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, |stream, cx| stream.poll_write_vectored(cx, parts))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Whoever writes flushes once all is written: what comes then is another response, with its own time.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.begun = None;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Room for the responses of all connections of a listener.
pub(super) struct Room {
    bytes: Arc<Semaphore>,
    /// What the longest response takes.
    longest: u32,
    wait_max: Duration,
}

impl Room {
    pub(super) fn new(bounds: &GuestBounds) -> Self {
        let bytes = bounds.responses_bytes_max.max(1);
        let longest = u32::try_from(bytes).unwrap_or(u32::MAX).min(RESPONSE_BYTES_MAX as u32);
        Self { bytes: Arc::new(Semaphore::new(bytes)), longest, wait_max: bounds.write_max }
    }

    /// Waits for room for a response that nobody knows yet: the guest is asked once there is some. `None` where there was none
    /// for as long as others may take to write.
    pub(super) async fn wait(&self) -> Option<Reserved> {
        let taking = Arc::clone(&self.bytes).acquire_many_owned(self.longest);
        Some(Reserved(tokio::time::timeout(self.wait_max, taking).await.ok()?.ok()?))
    }
}

/// Room for a response.
pub(super) struct Reserved(OwnedSemaphorePermit);

impl Reserved {
    /// The response, which keeps its room until the last of it is written or given up.
    pub(super) fn hold(mut self, response: Bytes) -> Bytes {
        let room = self.0.num_permits().min(response.len());
        match self.0.split(room) {
            Some(room) => Bytes::from_owner(Held { response, _room: room }),
            None => response,
        }
    }
}

struct Held {
    response: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.response
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const NEVER: Duration = Duration::from_secs(600);

    fn bounds(pause_ms: Option<u64>, write_ms: Option<u64>) -> GuestBounds {
        let of = |ms: Option<u64>| ms.map_or(NEVER, Duration::from_millis);
        GuestBounds { write_pause_max: of(pause_ms), write_max: of(write_ms), ..GuestBounds::default() }
    }

    #[tokio::test]
    async fn a_write_that_nobody_reads_ends_by_either_of_its_bounds() {
        for bounds in [bounds(Some(10), None), bounds(None, Some(10))] {
            let (ours, _theirs) = tokio::io::duplex(16);
            let written = Paced::new(ours, &bounds).write_all(&[7; 64]).await;
            assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
    }

    #[tokio::test]
    async fn a_reader_of_a_byte_at_a_time_has_the_time_for_all_and_no_more() {
        let (ours, mut theirs) = tokio::io::duplex(1);
        let reader = tokio::spawn(async move {
            while theirs.read_u8().await.is_ok() {
                tokio::task::yield_now().await;
            }
        });
        let mut paced = Paced::new(ours, &bounds(None, Some(20)));
        let written = loop {
            match paced.write_all(&[7; 64]).await {
                Ok(()) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(written.kind(), io::ErrorKind::TimedOut);
        drop(paced);
        reader.await.unwrap();
    }

    #[tokio::test]
    async fn a_response_has_its_room_until_it_is_gone_and_who_waits_too_long_is_told() {
        let bounds =
            GuestBounds { responses_bytes_max: 100, write_max: Duration::ZERO, ..bounds(None, None) };
        let room = Room::new(&bounds);
        let reserved = room.wait().await.unwrap();
        assert!(room.wait().await.is_none(), "the longest response takes all");
        let held = reserved.hold(Bytes::from(vec![7; 60]));
        assert_eq!(room.bytes.available_permits(), 40, "what is not needed is given back");
        let piece = held.slice(50..);
        drop(held);
        assert_eq!(room.bytes.available_permits(), 40);
        drop(piece);
        assert_eq!(room.bytes.available_permits(), 100);
        drop(room.wait().await.unwrap().hold(Bytes::from(vec![7; 500])));
        assert_eq!(room.bytes.available_permits(), 100);
    }
}
