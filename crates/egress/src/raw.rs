//! A raw connection to an address that was judged: bytes both ways, and nothing of HTTP. Over TLS where the target's scheme
//! says so, and then with the host as the name that the server must prove.
//!
//! The same funnel as a request's: quota, rules, one look-up, a verdict about every address, a record, and then one of
//! those addresses is dialled. The place in the quota and the open record go with the connection.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use drydock_contract::{ByteSink, ByteSource};
use hyper::Method;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead as _, AsyncWrite as _, ReadBuf},
    time::{Instant, timeout_at},
};

use crate::{
    dial::Connection,
    egress::Egress,
    error::FetchError,
    limits::Limits,
    observe::{Observation, Watched},
    pin::{self, Findings, Pinned},
    quota::Place,
    request::Caller,
    rule::Rules,
    target::{Scheme, Target},
};

/// Nobody waits longer for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(60);

/// Both ends of a connection. It is closed when both are gone; letting the sink go says that nothing more is sent.
pub struct RawConnection {
    /// What comes.
    pub source: RawSource,
    /// What is sent.
    pub sink: RawSink,
}

/// A connection with what was counted and recorded for it.
pub(crate) struct Open {
    pub(crate) connection: Box<dyn Connection>,
    pub(crate) watched: Watched,
    pub(crate) place: Place,
}

/// What the other side sends.
pub struct RawSource(Arc<Mutex<Open>>);

/// What is sent to it.
pub struct RawSink(Arc<Mutex<Open>>);

impl Egress {
    /// Connects to the target's host and port in the caller's name, if the rules admit them.
    pub async fn connect_raw(
        &self,
        caller: &Caller,
        rules: &Rules,
        target: &Target,
        prefer_ipv6: bool,
        limits: &Limits,
    ) -> Result<RawConnection, FetchError> {
        let deadline = Instant::now() + limits.connect_max.min(CONNECT_MAX);
        let open = self.open_raw(caller, rules, target, prefer_ipv6, limits, deadline).await?;
        let open = Arc::new(Mutex::new(open));
        Ok(RawConnection { source: RawSource(Arc::clone(&open)), sink: RawSink(open) })
    }

    /// A connection to the first of the judged addresses that takes it.
    pub(crate) async fn open_raw(
        &self,
        caller: &Caller,
        rules: &Rules,
        target: &Target,
        prefer_ipv6: bool,
        limits: &Limits,
        deadline: Instant,
    ) -> Result<Open, FetchError> {
        let (place, mut pinned) = self.enter_raw(caller, rules, target, limits, deadline).await?;
        if prefer_ipv6 {
            // Stable: within a family they stay in the resolver's order.
            pinned.sort_by_key(|it| !it.address().is_ipv6());
        }
        let mut last = FetchError::Timeout;
        for to in &pinned {
            let mut watched = Watched::begin(&caller.observer, target, to.address().ip())?;
            let error = match timeout_at(deadline, self.secured(target, to)).await {
                Ok(Ok(connection)) => return Ok(Open { connection, watched, place }),
                // Nothing was sent, so another address may be tried: all of them were judged.
                Ok(Err(error @ FetchError::Connect { .. })) => {
                    watched.ends(error.code());
                    last = error;
                    continue;
                }
                Ok(Err(error)) => error,
                Err(_) => FetchError::Timeout,
            };
            watched.ends(error.code());
            return Err(error);
        }
        Err(last)
    }

    /// Everything that is decided before anything is sent: a place, and the addresses that may be dialled. A refusal is
    /// recorded.
    pub(crate) async fn enter_raw(
        &self,
        caller: &Caller,
        rules: &Rules,
        target: &Target,
        limits: &Limits,
        deadline: Instant,
    ) -> Result<(Place, Vec<Pinned>), FetchError> {
        let entering = async {
            let now = std::time::Instant::now();
            let place = self.quotas.enter(&caller.tenant, &caller.principal, now)?;
            place.count_request(now)?;
            let left = deadline.saturating_duration_since(Instant::now());
            let look_up = self.look_up(limits, limits.resolve_max.min(left));
            let pinned = pin::pin(rules, &Method::GET, target, look_up, &mut Findings::default()).await?;
            Ok((place, pinned))
        };
        entering.await.inspect_err(|error: &FetchError| {
            let (host, port, code) = (target.host().clone(), target.port(), error.code());
            // Nothing is done, so nothing hangs on the record.
            let _ = caller.observer.observe(&Observation::Refused { host, port, code });
        })
    }

    async fn secured(&self, target: &Target, to: &Pinned) -> Result<Box<dyn Connection>, FetchError> {
        let dialled = self.dialler.dial(to).await;
        let connection =
            dialled.map_err(|cause| FetchError::Connect { host: target.host().clone(), cause })?;
        match target.scheme() {
            Scheme::Http => Ok(connection),
            Scheme::Https => self.trust.connect_raw(target.host(), to, connection).await,
        }
    }
}

impl Open {
    /// Counts what was moved. Whoever has had its bytes of this window gets no more.
    pub(crate) fn count(&self, bytes: usize) -> Result<(), FetchError> {
        Ok(self.place.count_bytes(bytes as u64, std::time::Instant::now())?)
    }
}

impl ByteSource for RawSource {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut open = self.0.lock();
        let mut place = ReadBuf::new(buffer);
        let read = std::task::ready!(Pin::new(&mut open.connection).poll_read(cx, &mut place));
        let count = place.filled().len();
        open.watched.bytes_received += count as u64;
        open.watched.ends("ok");
        open.count(count).map_err(io::Error::other)?;
        Poll::Ready(read.map(|()| count))
    }
}

impl ByteSink for RawSink {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut open = self.0.lock();
        let wrote = std::task::ready!(Pin::new(&mut open.connection).poll_write(cx, bytes));
        if let Ok(count) = wrote {
            open.watched.bytes_sent += count as u64;
            open.count(count).map_err(io::Error::other)?;
        }
        Poll::Ready(wrote)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.lock().connection).poll_flush(cx)
    }
}

impl Drop for RawSink {
    /// Says that nothing more is sent. TCP does that at once; whoever cannot is closed with the source.
    fn drop(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        let _ = Pin::new(&mut self.0.lock().connection).poll_shutdown(&mut cx);
    }
}
