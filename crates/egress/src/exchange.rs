//! One request and the head of its answer over one connection: HTTP/1.1, one request a connection.
//!
//! Connections are not kept for the next request: it may be another principal's, and its address has to be judged again.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, StatusCode, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::JoinHandle,
};

use crate::{dial::Connection, error::FetchError, host::Host, limits::Limits};

/// The smallest buffer that hyper works with.
const BUFFER_BYTES_MIN: usize = 8 << 10;
/// How much framing may come with a body: chunks of one byte take six.
const FRAMING_MAX: u64 = 8;

/// Whoever moves the bytes of one connection. Dropping it closes the connection.
pub(crate) struct Driver(JoinHandle<()>);

impl Driver {
    pub(crate) fn stop(&self) {
        self.0.abort();
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Sends the request, and reads the head of the answer.
pub(crate) async fn send(
    connection: Box<dyn Connection>,
    host: &Host,
    request: Request<Full<Bytes>>,
    limits: &Limits,
) -> Result<(Response<Incoming>, Driver), FetchError> {
    let failed = |cause: hyper::Error| {
        if cause.is_parse_too_large() {
            return FetchError::HeadersTooLarge { bytes_max: limits.header_bytes_max };
        }
        let host = host.clone();
        if cause.is_incomplete_message() {
            return FetchError::NoAnswer { host };
        }
        FetchError::Protocol { host, cause }
    };
    let framing = limits.response_bytes_max.saturating_mul(FRAMING_MAX);
    let left = framing.saturating_add((limits.header_bytes_max as u64).saturating_mul(2));
    let connection = TokioIo::new(Bounded { connection, left });
    let mut builder = http1::Builder::new();
    builder
        .max_headers(limits.headers_max)
        .max_header_size(limits.header_bytes_max)
        .max_buf_size(limits.header_bytes_max.max(BUFFER_BYTES_MIN));
    let (mut sender, connection) = builder.handshake(connection).await.map_err(failed)?;
    let driver = Driver(tokio::spawn(async move {
        // What goes wrong is told to whoever reads the answer.
        let _ = connection.await;
    }));
    let response = sender.send_request(request).await.map_err(failed)?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(FetchError::Upgrade { host: host.clone() });
    }
    Ok((response, driver))
}

/// A connection from which no more is read than an answer with its framing can have: an endless row of interim answers, or of
/// chunks with nothing in them, ends too.
struct Bounded {
    connection: Box<dyn Connection>,
    left: u64,
}

impl AsyncRead for Bounded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.connection).poll_read(cx, buffer);
        let count = (buffer.filled().len() - before) as u64;
        if count > self.left {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        self.left -= count;
        read
    }
}

impl AsyncWrite for Bounded {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(cx)
    }
}
