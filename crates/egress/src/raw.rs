//! A raw TCP connection to an address that was judged: bytes both ways, and nothing of HTTP.
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
    pin::{self, Findings},
    quota::Place,
    request::Caller,
    rule::Rules,
    target::Target,
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

struct Open {
    connection: Box<dyn Connection>,
    watched: Watched,
    _place: Place,
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
        let refused = |error: FetchError| {
            let (host, port, code) = (target.host().clone(), target.port(), error.code());
            // Nothing is done, so nothing hangs on the record.
            let _ = caller.observer.observe(&Observation::Refused { host, port, code });
            error
        };
        let now = std::time::Instant::now();
        let entered = self.quotas.enter(&caller.tenant, &caller.principal, now);
        let place = entered.map_err(|error| refused(error.into()))?;
        place.count_request(now).map_err(|error| refused(error.into()))?;
        let look_up = self.look_up(limits, limits.resolve_max.min(limits.connect_max));
        let findings = &mut Findings::default();
        let judged = pin::pin(rules, &Method::GET, target, look_up, findings).await;
        let mut pinned = judged.map_err(|error| refused(error.into()))?;
        if prefer_ipv6 {
            // Stable: within a family they stay in the resolver's order.
            pinned.sort_by_key(|it| !it.address().is_ipv6());
        }
        let mut last = FetchError::Timeout;
        for to in &pinned {
            let mut watched = Watched::begin(&caller.observer, target, to.address().ip())?;
            match timeout_at(deadline, self.dialler.dial(to)).await {
                Ok(Ok(connection)) => {
                    return Ok(RawConnection::of(Open { connection, watched, _place: place }));
                }
                Ok(Err(cause)) => {
                    last = FetchError::Connect { host: target.host().clone(), cause };
                    watched.ends(last.code());
                }
                Err(_) => {
                    watched.ends(FetchError::Timeout.code());
                    return Err(FetchError::Timeout);
                }
            }
        }
        Err(last)
    }
}

impl RawConnection {
    fn of(open: Open) -> Self {
        let open = Arc::new(Mutex::new(open));
        Self { source: RawSource(Arc::clone(&open)), sink: RawSink(open) }
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
        Poll::Ready(read.map(|()| count))
    }
}

impl ByteSink for RawSink {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut open = self.0.lock();
        let wrote = std::task::ready!(Pin::new(&mut open.connection).poll_write(cx, bytes));
        if let Ok(count) = wrote {
            open.watched.bytes_sent += count as u64;
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
