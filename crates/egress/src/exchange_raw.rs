//! One request to an address that was judged, and what comes back: over a connection until the other side closes, or as
//! one datagram. Bounded in bytes and in time; the funnel is that of [`raw`](crate::raw).

use std::{io, pin::pin, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::{Instant, timeout_at},
};

use crate::{
    egress::Egress, error::FetchError, limits::Limits, observe::Watched, raw::Open, request::Caller,
    rule::Rules, target::Target,
};

/// Nobody waits longer, whatever the limits say.
const TOTAL_MAX: Duration = Duration::from_secs(600);
/// What is read at once.
const PIECE_BYTES: usize = 16 << 10;
/// More than any datagram has.
const DATAGRAM_BYTES: usize = 64 << 10;

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawReply {
    /// The bytes.
    pub data: Vec<u8>,
    /// Why there are no more.
    pub ended: RawEnd,
}

/// Why a reply is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawEnd {
    /// The other side said so.
    Closed,
    /// Time was up.
    TimedOut,
    /// It has as many bytes as it may.
    Full,
    /// The connection broke.
    Reset,
}

impl Egress {
    /// Sends `data` over a connection of its own, and reads until the other side closes, `limits.total_max` is over or
    /// the reply has `limits.response_bytes_max` bytes. What came before that is the reply; where nothing did, it is an
    /// error. With `half_close` the other side is told that nothing more is sent.
    pub async fn exchange_raw(
        &self,
        caller: &Caller,
        rules: &Rules,
        target: &Target,
        data: &[u8],
        half_close: bool,
        limits: &Limits,
    ) -> Result<RawReply, FetchError> {
        let deadline = Instant::now() + limits.total_max.min(TOTAL_MAX);
        sendable(data, limits)?;
        let connecting = deadline.min(Instant::now() + limits.connect_max);
        let mut open = self.open_raw(caller, rules, target, false, limits, connecting).await?;
        let exchanged = exchange(&mut open, data, half_close, limits.response_bytes_max, deadline).await;
        let exchanged = exchanged.map_err(|error| match error {
            Broken::Here(error) => error,
            Broken::There(cause) => FetchError::Receive { host: target.host().clone(), cause },
        });
        open.watched.ends(exchanged.as_ref().err().map_or("ok", FetchError::code));
        exchanged
    }

    /// Sends `data` as one datagram to the first of the judged addresses, and waits for one that comes from there.
    pub async fn exchange_datagram(
        &self,
        caller: &Caller,
        rules: &Rules,
        target: &Target,
        data: &[u8],
        limits: &Limits,
    ) -> Result<Vec<u8>, FetchError> {
        let deadline = Instant::now() + limits.total_max.min(TOTAL_MAX);
        sendable(data, limits)?;
        let (place, pinned) = self.enter_raw(caller, rules, target, limits, deadline).await?;
        // A name without addresses did not resolve.
        let to = pinned.first().ok_or(FetchError::Timeout)?;
        let host = || target.host().clone();
        let mut watched = Watched::begin(&caller.observer, target, to.address().ip())?;
        let exchanging = async {
            let opened = self.dialler.open(to).await;
            let socket = opened.map_err(|cause| FetchError::Open { host: host(), cause })?;
            let sent = socket.send(data).await;
            let sent = sent.map_err(|cause| FetchError::Send { host: host(), cause })?;
            watched.bytes_sent = sent as u64;
            place.count_bytes(sent as u64, std::time::Instant::now())?;
            let mut reply = vec![0; DATAGRAM_BYTES];
            let received = socket.receive(&mut reply).await;
            let received = received.map_err(|cause| FetchError::Receive { host: host(), cause })?;
            watched.bytes_received = received as u64;
            place.count_bytes(received as u64, std::time::Instant::now())?;
            reply.truncate(received);
            Ok(reply)
        };
        let exchanged = timeout_at(deadline, exchanging).await.unwrap_or(Err(FetchError::Timeout));
        watched.ends(exchanged.as_ref().err().map_or("ok", FetchError::code));
        exchanged
    }
}

fn sendable(data: &[u8], limits: &Limits) -> Result<(), FetchError> {
    match data.len() as u64 > limits.request_bytes_max {
        true => Err(FetchError::RequestTooLarge { what: "bytes", bytes_max: limits.request_bytes_max }),
        false => Ok(()),
    }
}

/// Who ended it.
enum Broken {
    Here(FetchError),
    There(io::Error),
}

/// Writes and reads at once: a server that answers before it has read everything fills both buffers otherwise, and
/// nobody goes on.
async fn exchange(
    open: &mut Open,
    data: &[u8],
    half_close: bool,
    bytes_max: u64,
    deadline: Instant,
) -> Result<RawReply, Broken> {
    open.count(data.len()).map_err(Broken::Here)?;
    let Open { connection, watched, place } = open;
    let (mut reading, mut writing) = tokio::io::split(connection);
    let bytes_sent = &mut watched.bytes_sent;
    let write = async move {
        let mut rest = data;
        while !rest.is_empty() {
            // Where writing fails, reading says why.
            let Ok(count @ 1..) = writing.write(rest).await else { return };
            *bytes_sent += count as u64;
            rest = rest.get(count..).unwrap_or_default();
        }
        if writing.flush().await.is_ok() && half_close {
            let _ = writing.shutdown().await;
        }
    };
    let bytes_received = &mut watched.bytes_received;
    let mut reply = Vec::new();
    let read = async {
        let reply = &mut reply;
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let room = usize::try_from(bytes_max).unwrap_or(usize::MAX).saturating_sub(reply.len());
            if room == 0 {
                return Ok(RawEnd::Full);
            }
            let room = room.min(PIECE_BYTES);
            let count = match timeout_at(deadline, reading.read(&mut piece[..room])).await {
                Ok(Ok(0)) => return Ok(RawEnd::Closed),
                Ok(Ok(count)) => count,
                Ok(Err(_)) if !reply.is_empty() => return Ok(RawEnd::Reset),
                Ok(Err(cause)) => return Err(Broken::There(cause)),
                Err(_) if !reply.is_empty() => return Ok(RawEnd::TimedOut),
                Err(_) => return Err(Broken::Here(FetchError::Timeout)),
            };
            *bytes_received += count as u64;
            let counted = place.count_bytes(count as u64, std::time::Instant::now());
            counted.map_err(|error| Broken::Here(error.into()))?;
            reply.extend_from_slice(&piece[..count]);
        }
    };
    let ended = while_it_reads(write, read).await?;
    Ok(RawReply { data: reply, ended })
}

/// What `read` ends with; `write` goes on meanwhile, and is dropped where it is not done then.
async fn while_it_reads<T>(write: impl Future<Output = ()>, read: impl Future<Output = T>) -> T {
    let (mut write, mut read) = (pin!(write), pin!(read));
    let mut wrote = false;
    std::future::poll_fn(|cx| {
        if !wrote {
            wrote = write.as_mut().poll(cx).is_ready();
        }
        read.as_mut().poll(cx)
    })
    .await
}
