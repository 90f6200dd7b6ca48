//! What is sent, within its time: who reads too slowly or not at all loses its connection and nobody else's. Reading has
//! bounds of its own, where it is read.
//!
//! Nothing here costs anything as long as what is written is taken: a timer is there from the moment that nothing can be
//! written any more, until enough was. What is written first lets others have the thread (decision 0134).

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

/// How slowly somebody may read what is sent to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Time in which so much must be taken, from the moment that nothing is.
    pub(crate) pause_max: Duration,
    /// How much: a byte a second is progress, too.
    pub(crate) pause_bytes_min: usize,
    /// Time until all is written, where there is an end to it.
    pub(crate) write_max: Option<Duration>,
}

/// A stream that fails as timed out where what is written to it is taken too slowly.
pub(crate) struct Paced<S> {
    stream: S,
    pace: Pace,
    /// When what is not yet all written was begun; only where there is an end to it.
    begun: Option<Instant>,
    slow: Option<Slow>,
    /// Whether what is to be written now has let others go first.
    waited: bool,
}

/// From the moment that nothing could be written, until enough was.
struct Slow {
    alarm: Pin<Box<Sleep>>,
    written: usize,
}

impl<S> Paced<S> {
    pub(crate) fn new(stream: S, pace: Pace) -> Self {
        Self { stream, pace, begun: None, slow: None, waited: false }
    }

    /// Waits for whoever reads, for as long as it may take.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let now = Instant::now();
        let pause_end = now + self.pace.pause_max;
        let end = self.begun.zip(self.pace.write_max).map(|(begun, most)| begun + most);
        let slow = self.slow.get_or_insert_with(|| {
            let until = end.map_or(pause_end, |it| it.min(pause_end));
            Slow { alarm: Box::pin(tokio::time::sleep_until(until)), written: 0 }
        });
        slow.alarm.as_mut().poll(cx).map(|()| io::ErrorKind::TimedOut.into())
    }
}

impl<S: AsyncWrite + Unpin> Paced<S> {
    fn write(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if !std::mem::replace(&mut self.waited, true) {
            // Those that are ready to compute do so first, and then all that they answered is written in a row. Whoever
            // waits for several of these answers is woken once for them, and not once for each.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(write_max) = self.pace.write_max {
            let now = Instant::now();
            if now >= *self.begun.get_or_insert(now) + write_max {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        let Poll::Ready(written) = write(Pin::new(&mut self.stream), cx) else {
            return self.wait(cx).map(Err);
        };
        if let (Some(slow), Ok(written)) = (&mut self.slow, &written) {
            slow.written += written;
            if slow.written >= self.pace.pause_bytes_min {
                self.slow = None;
            }
        }
        Poll::Ready(written)
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

    /// Whoever writes flushes once all is written: what comes then is another response, with its own time. Under TLS there
    /// may be something left to write.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Poll::Ready(flushed) = Pin::new(&mut self.stream).poll_flush(cx) else {
            return self.wait(cx).map(Err);
        };
        (self.begun, self.slow, self.waited) = (None, None, false);
        Poll::Ready(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Poll::Ready(ended) = Pin::new(&mut self.stream).poll_shutdown(cx) else {
            return self.wait(cx).map(Err);
        };
        Poll::Ready(ended)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;

    const NEVER: Duration = Duration::from_secs(600);

    fn pace(pause_ms: Option<u64>, write_ms: Option<u64>) -> Pace {
        let of = |ms: Option<u64>| ms.map_or(NEVER, Duration::from_millis);
        Pace { pause_max: of(pause_ms), pause_bytes_min: 1, write_max: Some(of(write_ms)) }
    }

    /// Reads so much, again and again, with as long a rest between.
    async fn reads(mut stream: DuplexStream, bytes: usize, rest: Duration) -> usize {
        let (mut all, mut piece) = (0, vec![0; bytes]);
        while let Ok(read) = stream.read(&mut piece).await
            && read > 0
        {
            all += read;
            tokio::time::sleep(rest).await;
        }
        all
    }

    #[tokio::test]
    async fn what_is_ready_to_be_answered_is_answered_before_anything_is_written() {
        let order = std::sync::Arc::new(parking_lot::Mutex::new(String::new()));
        let (mut theirs, mut tasks) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let (ours, other) = tokio::io::duplex(64);
            theirs.push(other);
            let mut paced = Paced::new(ours, pace(None, None));
            let order = std::sync::Arc::clone(&order);
            tasks.push(tokio::spawn(async move {
                for _ in 0..2 {
                    order.lock().push('a');
                    paced.write_all(b"answer").await.unwrap();
                    order.lock().push('w');
                    paced.flush().await.unwrap();
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        // Each of the second round begins when its own first one is written.
        assert_eq!(*order.lock(), "aaawawawawww");
        for mut other in theirs {
            let mut read = Vec::new();
            other.read_to_end(&mut read).await.unwrap();
            assert_eq!(read, b"answeranswer");
        }
    }

    #[tokio::test]
    async fn a_write_that_nobody_reads_ends_by_either_of_its_bounds() {
        for pace in [pace(Some(10), None), pace(None, Some(10))] {
            let (ours, _theirs) = tokio::io::duplex(16);
            let written = Paced::new(ours, pace).write_all(&[7; 64]).await;
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
        let mut paced = Paced::new(ours, pace(None, Some(20)));
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
    async fn who_reads_less_than_it_must_is_closed_and_who_reads_slowly_has_all_of_it() {
        let pace = Pace { pause_max: Duration::from_millis(400), pause_bytes_min: 32, write_max: None };
        for (bytes, rest_ms, whole) in [(1, 20, false), (8, 300, false), (8, 2, true), (1, 0, true)] {
            let (ours, theirs) = tokio::io::duplex(8);
            let reader = tokio::spawn(reads(theirs, bytes, Duration::from_millis(rest_ms)));
            let mut paced = Paced::new(ours, pace);
            let written = paced.write_all(&[7; 1024]).await;
            assert_eq!(written.is_ok(), whole, "{bytes} bytes each {rest_ms} ms");
            drop(paced);
            assert_eq!(reader.await.unwrap() == 1024, whole, "{bytes} bytes each {rest_ms} ms");
        }
    }

    #[tokio::test]
    async fn what_was_all_written_and_flushed_is_over_however_long_ago_it_was_slow() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let pace = Pace { pause_max: Duration::from_millis(400), pause_bytes_min: 32, write_max: None };
        let mut paced = Paced::new(ours, pace);
        for _ in 0..2 {
            let (sent, read) = tokio::join!(
                async {
                    paced.write_all(&[7; 12]).await?;
                    paced.flush().await
                },
                async {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    theirs.read_exact(&mut [0; 12]).await
                }
            );
            sent.unwrap();
            read.unwrap();
            tokio::time::sleep(pace.pause_max).await;
        }
    }
}
