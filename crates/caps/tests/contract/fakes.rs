//! Stand-ins that can be asked to wait: a runner, tools, a network. What waits, waits until it is dropped, and is counted.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    pin::Pin,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use drydock_contract::{
    Artifact, BoxFuture, CallLimits, CapSet, Digest, Dispatch, Exchange, Fault, LembehEnd, LembehFault,
    LembehHost, LiveError, LiveReply, LiveSpec, Meter, Outcome, RunReport, RunRequest, SharedLembeh, Streams,
    Tenant, ToolAnswer, ToolRequest, Tools,
    port::{Clock, LiveInstance, Runner},
};
use drydock_egress::{
    Connection, Datagrams, Dial, Egress, HostName, Parts, Pending, Pinned, QuotaLimits, Resolve, Trust,
    WorldRoots,
};
use drydock_testkit::loopback::{Authority, TlsPeer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Commands, modules, tools and inputs of this name are at work until they are dropped.
pub(crate) const WAITS: &str = "waits";

/// How many are at work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Working(Arc<AtomicUsize>);

struct AtWork(Working);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Working {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn begin(&self) -> AtWork {
        self.0.fetch_add(1, Ordering::SeqCst);
        AtWork(self.clone())
    }

    /// Works until it is dropped.
    pub(crate) async fn for_ever<T>(&self) -> T {
        let _at_work = self.begin();
        std::future::pending().await
    }
}

/// Runs nothing. What is called `waits` it never comes to the end of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patient(pub(crate) Working);

fn report() -> RunReport {
    RunReport {
        outcome: Outcome::Exited(0),
        fuel: 0,
        memory_bytes: 0,
        duration: Duration::ZERO,
        stdin_bytes: 0,
        stdout_bytes: 0,
        stderr_bytes: 0,
        quota: None,
    }
}

/// Whether it is the module that waits.
fn waits(digest: Digest) -> bool {
    digest == Digest::of(WAITS.as_bytes())
}

impl Runner for Patient {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        Box::pin(async move {
            match request.argv.first().is_some_and(|it| it == WAITS.as_bytes()) {
                true => self.0.for_ever().await,
                false => Ok((report(), request.streams)),
            }
        })
    }

    fn run_lembeh(
        &self,
        request: RunRequest,
        _: SharedLembeh,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        Box::pin(async move {
            match waits(request.artifact.digest()) {
                true => self.0.for_ever().await,
                false => Ok((report(), request.streams)),
            }
        })
    }

    fn run_serving(
        &self,
        request: RunRequest,
        exchange: Arc<Exchange>,
    ) -> BoxFuture<'_, Result<(RunReport, Streams), Fault>> {
        Box::pin(async move {
            if exchange.request() == WAITS.as_bytes() {
                return self.0.for_ever().await;
            }
            exchange.answer(exchange.request().clone());
            Ok((report(), request.streams))
        })
    }

    fn check_serving(&self, artifact: &Artifact, _: CapSet, _: Tenant) -> BoxFuture<'_, Result<(), Fault>> {
        let never = waits(artifact.digest());
        Box::pin(async move { if never { self.0.for_ever().await } else { Ok(()) } })
    }

    fn open(&self, spec: LiveSpec) -> BoxFuture<'_, Result<Box<dyn LiveInstance>, LiveError>> {
        Box::pin(async move {
            match waits(spec.artifact.digest()) {
                true => self.0.for_ever().await,
                false => Ok(Box::new(Mirror(self.0.clone())) as _),
            }
        })
    }
}

/// Answers with what it was given.
#[derive(Debug)]
struct Mirror(Working);

impl LiveInstance for Mirror {
    fn call<'a>(&'a self, input: &'a [u8], _: CallLimits) -> BoxFuture<'a, Result<LiveReply, LiveError>> {
        Box::pin(async move {
            if input == WAITS.as_bytes() {
                return self.0.for_ever().await;
            }
            Ok(LiveReply { bytes: input.to_vec(), fuel: 0, memory_bytes: 0, duration: Duration::ZERO })
        })
    }

    fn opening_fuel(&self) -> u64 {
        0
    }

    fn close(&self) {}
}

/// A lembeh guest's host that has nothing.
pub(crate) struct NoHost;

impl LembehHost for NoHost {
    fn begin(&mut self, _: Arc<dyn Dispatch>, _: Arc<Meter>) {}

    fn ctl(&mut self, _: &mut Context<'_>, _: &[u8], _: usize) -> Result<Vec<u8>, LembehEnd> {
        Err(LembehEnd::Refused)
    }

    fn poll_read(&mut self, _: &mut Context<'_>, _: i32, _: &mut [u8]) -> Poll<Result<usize, LembehEnd>> {
        Poll::Ready(Err(LembehEnd::Refused))
    }

    fn poll_write(&mut self, _: &mut Context<'_>, _: i32, _: &[u8]) -> Poll<Result<usize, LembehEnd>> {
        Poll::Ready(Err(LembehEnd::Refused))
    }

    fn end(&mut self, _: &mut Context<'_>, _: i32) -> Result<(), LembehEnd> {
        Ok(())
    }

    fn log(&mut self, _: &[u8], _: &[u8]) -> Result<(), LembehEnd> {
        Ok(())
    }

    fn fault(&mut self, _: LembehFault) -> Result<(), LembehEnd> {
        Ok(())
    }

    fn finish(&mut self) {}
}

/// Tools that answer with their input.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mirrors(pub(crate) Working);

impl Tools for Mirrors {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        Box::pin(async move {
            match &*request.tool {
                WAITS => self.0.for_ever().await,
                _ => Ok(request.input.unwrap_or(Bytes::from_static(b"null"))),
            }
        })
    }
}

/// A network in which a host's name says where it is, and a port what is there.
#[derive(Debug, Clone, Default)]
pub(crate) struct World(pub(crate) Working);

/// Nobody takes a connection.
pub(crate) const CLOSED: u16 = 80;
/// A connection is taken, and bytes come back.
pub(crate) const OPEN: u16 = 82;
/// Nobody says whether a connection is taken.
pub(crate) const SILENT: u16 = 81;
/// A connection is taken, and a server proves to be [`INSIDE`].
pub(crate) const SECURE: u16 = 443;
/// A host whose address is not public.
pub(crate) const INSIDE: &str = "inside.test";
/// Where that is.
pub(crate) const INSIDE_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 7);

/// Who says that [`INSIDE`] is what it is.
static AUTHORITY: LazyLock<Authority> = LazyLock::new(Authority::new);

impl World {
    pub(crate) fn egress(&self) -> Arc<Egress> {
        Arc::new(Egress::new(Parts {
            resolver: Arc::new(Names),
            dialler: Arc::new(self.clone()),
            trust: Trust::new(WorldRoots::Nobody, vec![AUTHORITY.root.clone()]),
            quota: QuotaLimits::default(),
        }))
    }
}

#[derive(Debug)]
struct Names;

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a HostName, _: usize) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        let address = match host.to_string() == INSIDE {
            true => INSIDE_ADDRESS,
            false => Ipv4Addr::new(93, 184, 216, 34),
        };
        Box::pin(async move { Ok(vec![address.into()]) })
    }
}

impl Dial for World {
    fn dial<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Connection>>> {
        Box::pin(async move {
            match to.address().port() {
                SILENT => self.0.for_ever().await,
                OPEN => Ok(Box::new(Quiet(self.0.begin())) as Box<dyn Connection>),
                SECURE => {
                    let config = Arc::new(AUTHORITY.config(INSIDE, (2020, 2090)));
                    Ok(Box::new(Secure(TlsPeer::new(&config), Quiet(self.0.begin()))) as Box<dyn Connection>)
                }
                _ => Err(io::ErrorKind::ConnectionRefused.into()),
            }
        })
    }

    fn open<'a>(&'a self, to: &'a Pinned) -> Pending<'a, io::Result<Box<dyn Datagrams>>> {
        let port = to.address().port();
        Box::pin(async move { Ok(Box::new(Post(port, self.0.clone())) as Box<dyn Datagrams>) })
    }
}

/// Takes every datagram; what comes back is said by the port.
struct Post(u16, Working);

impl Datagrams for Post {
    fn send<'a>(&'a self, bytes: &'a [u8]) -> Pending<'a, io::Result<usize>> {
        Box::pin(async { Ok(bytes.len()) })
    }

    fn receive<'a>(&'a self, _: &'a mut [u8]) -> Pending<'a, io::Result<usize>> {
        Box::pin(async move {
            match self.0 {
                SILENT => self.1.for_ever().await,
                _ => Err(io::ErrorKind::ConnectionRefused.into()),
            }
        })
    }
}

/// A connection that takes everything and brings nothing. It is at work until it is dropped.
struct Quiet(#[expect(dead_code, reason = "counted while it lives")] AtWork);

impl AsyncRead for Quiet {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl AsyncWrite for Quiet {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A connection to a server that speaks TLS, and says nothing in it.
struct Secure(TlsPeer, Quiet);

impl AsyncRead for Secure {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.0.give(buffer.initialize_unfilled()) {
            0 => Pin::new(&mut self.1).poll_read(cx, buffer),
            count => {
                buffer.advance(count);
                Poll::Ready(Ok(()))
            }
        }
    }
}

impl AsyncWrite for Secure {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A clock as the powers ask for one.
pub(crate) fn clock(clock: &Arc<drydock_testkit::FixedClock>) -> Arc<dyn Clock> {
    Arc::clone(clock) as _
}
