//! `tcp.connect`: a connection to an address that was judged, as bytes both ways. Asked by hosts only, so it travels as a
//! value and has no encoding.

use drydock_contract::{Sink, Source};

/// The operation.
pub const CONNECT: &str = "tcp.connect";

/// Where to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectRequest {
    /// An address or a name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Of several addresses, those of IPv6 first.
    pub prefer_ipv6: bool,
    /// How long it may take.
    pub timeout_ms: u64,
}

/// A connection. It is closed when both are dropped; dropping the sink alone says that nothing more is sent.
pub struct Connected {
    /// What the other side sends.
    pub source: Source,
    /// What is sent to it.
    pub sink: Sink,
}

/// Why there is none, where policy did not refuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectFailure {
    /// Nobody took it.
    Unreachable,
    /// It took too long.
    TimedOut,
    /// The principal has as many as it may.
    Quota,
}

/// What comes of it.
pub type ConnectAnswer = Result<Connected, ConnectFailure>;
