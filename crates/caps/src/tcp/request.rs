//! A request for a connection, read once: where it goes is what `egress` makes of the host, and nobody reads the text again.

use core::net::IpAddr;

use drydock_abi::tcp::ConnectRequest;
use drydock_contract::host::PRIVATE;
use drydock_egress::{Target, judge};

/// Where to connect to.
#[derive(Debug)]
pub struct Connect {
    pub(super) target: Target,
    pub(super) prefer_ipv6: bool,
    pub(super) timeout_ms: u64,
    /// What a grant names.
    pub(super) subject: String,
}

/// Nothing if it names no host.
pub(super) fn decode(request: ConnectRequest) -> Option<Connect> {
    let ConnectRequest { host, port, prefer_ipv6, timeout_ms } = request;
    let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(&host);
    let place = match inner.parse::<IpAddr>().map(|it| it.to_canonical()) {
        Ok(IpAddr::V6(address)) => format!("[{address}]:{port}"),
        Ok(IpAddr::V4(address)) => format!("{address}:{port}"),
        // What could be more than a host is none.
        Err(_) if host.contains([':', '/', '@', '?', '#', '\\', '%']) => return None,
        Err(_) => format!("{host}:{port}"),
    };
    // The reader of URLs is the one that makes hosts out of text; nothing of HTTP is spoken.
    let target: Target = format!("http://{place}/").parse().ok()?;
    let named = format!("{}:{}", target.host(), target.port());
    let subject = match target.literal().map(judge) {
        Some(Err(_)) => format!("{PRIVATE}{named}"),
        Some(Ok(())) | None => named,
    };
    Some(Connect { target, prefer_ipv6, timeout_ms, subject })
}
