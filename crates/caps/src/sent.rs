//! Where something is sent and what, read once: where it goes is what `egress` makes of the host, and nobody reads the text
//! again.

use core::net::IpAddr;

use drydock_abi::{
    broker::Blob,
    exchange::{DatagramRequest, ExchangeRequest},
    tcp::ConnectRequest,
};
use drydock_contract::{Denial, host::PRIVATE};
use drydock_egress::{Target, judge};

use crate::dialled::Wire;

/// Where something is sent, and what.
#[derive(Debug)]
pub struct Asked {
    pub(crate) target: Target,
    pub(crate) act: Act,
    /// What a grant names.
    pub(crate) subject: String,
    /// Subject and bounds, for the record's digest.
    pub(crate) digested: String,
}

#[derive(Debug)]
pub(crate) enum Act {
    Connect { prefer_ipv6: bool, timeout_ms: u64 },
    Exchange(Exchange),
}

#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) data: Vec<u8>,
    pub(crate) half_close: bool,
    /// The most that `data` may have.
    pub(crate) data_bytes_max: u64,
    pub(crate) reply_bytes_max: u64,
    pub(crate) timeout_ms: u64,
}

/// The most that a request may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) data_bytes_max: u64,
    pub(crate) reply_bytes_max: u64,
    pub(crate) time_ms_max: u64,
}

/// A request for a connection; nothing if it names no host.
pub(crate) fn connect(wire: Wire, request: ConnectRequest) -> Option<Asked> {
    let ConnectRequest { host, port, prefer_ipv6, timeout_ms } = request;
    let (target, subject) = place(wire, &host, port)?;
    let digested = subject.clone();
    Some(Asked { target, act: Act::Connect { prefer_ipv6, timeout_ms }, subject, digested })
}

/// A request over a connection.
pub(crate) fn exchange(wire: Wire, bounds: Bounds, request: ExchangeRequest) -> Result<Asked, Denial> {
    let ExchangeRequest { host, port, data, half_close, timeout_ms, reply_bytes_max } = request;
    let reply_bytes_max = reply_bytes_max.unwrap_or(bounds.reply_bytes_max);
    asked(wire, bounds, (&host, port), (data, half_close, reply_bytes_max, timeout_ms))
}

/// A request that is one datagram.
pub(crate) fn datagram(bounds: Bounds, request: DatagramRequest) -> Result<Asked, Denial> {
    let DatagramRequest { host, port, data, timeout_ms } = request;
    asked(Wire::Udp, bounds, (&host, port), (data, false, bounds.reply_bytes_max, timeout_ms))
}

fn asked(
    wire: Wire,
    bounds: Bounds,
    (host, port): (&str, u16),
    (Blob(data), half_close, reply_bytes_max, timeout_ms): (Blob, bool, u64, Option<u64>),
) -> Result<Asked, Denial> {
    let (target, subject) = place(wire, host, port)
        .ok_or_else(|| Denial::Malformed("the request names no host and port to send to".into()))?;
    let reply_bytes_max = reply_bytes_max.min(bounds.reply_bytes_max);
    let timeout_ms = timeout_ms.unwrap_or(bounds.time_ms_max).min(bounds.time_ms_max);
    let digested = format!("{subject} {half_close} {reply_bytes_max} {timeout_ms}");
    let data_bytes_max = bounds.data_bytes_max;
    let act = Act::Exchange(Exchange { data, half_close, data_bytes_max, reply_bytes_max, timeout_ms });
    Ok(Asked { target, act, subject, digested })
}

/// Where it goes, and what a grant calls that.
fn place(wire: Wire, host: &str, port: u16) -> Option<(Target, String)> {
    let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
    let place = match inner.parse::<IpAddr>().map(|it| it.to_canonical()) {
        Ok(IpAddr::V6(address)) => format!("[{address}]:{port}"),
        Ok(IpAddr::V4(address)) => format!("{address}:{port}"),
        // What could be more than a host is none.
        Err(_) if host.contains([':', '/', '@', '?', '#', '\\', '%']) => return None,
        Err(_) => format!("{host}:{port}"),
    };
    // The reader of URLs is the one that makes hosts out of text; nothing of HTTP is spoken.
    let scheme = match wire {
        Wire::Tcp | Wire::Udp => "http",
        Wire::Tls => "https",
    };
    let target: Target = format!("{scheme}://{place}/").parse().ok()?;
    let named = format!("{}:{}", target.host(), target.port());
    let subject = match target.literal().map(judge) {
        Some(Err(_)) => format!("{PRIVATE}{named}"),
        Some(Ok(())) | None => named,
    };
    Some((target, subject))
}
