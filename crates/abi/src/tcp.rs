//! `tcp.request`: bytes to an address that was judged, and what comes back. `tcp.connect`: a connection there, as bytes both
//! ways; asked by hosts only, so it travels as a value and has no encoding.

use drydock_contract::{Sink, Source};

use crate::{
    broker::OperationText,
    exchange::{exchange_input, exchange_output},
};

/// One request and its reply.
pub const REQUEST: &str = "tcp.request";
/// A connection.
pub const CONNECT: &str = "tcp.connect";

/// What programs and models are told of it.
pub const OPERATIONS: &[OperationText] = &[OperationText {
    name: REQUEST,
    title: "Send over TCP",
    description: "Connects to a host and port that were granted, sends bytes, and reads up to 1 MiB until the other side \
                  closes or 10 seconds are over. A reply is complete where `ended` is `closed`.",
    is_read: false,
    input: exchange_input,
    output: exchange_output,
}];

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
