//! How much one request may take. The default is what an extension gets (10 MiB each way, 30 seconds).

use std::time::Duration;

/// The bounds of one request with all its hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The body that is sent.
    pub request_bytes_max: u64,
    /// Headers that are sent, and headers of an answer: each.
    pub header_bytes_max: usize,
    /// How many headers an answer may have.
    pub headers_max: usize,
    /// The body of the answer: as it comes, and once more when it is decoded.
    pub response_bytes_max: u64,
    /// Addresses of one name.
    pub addresses_max: usize,
    /// Time for one look-up.
    pub resolve_max: Duration,
    /// Time to connect to one address, TLS included.
    pub connect_max: Duration,
    /// Time for everything, from the look-up to the last byte.
    pub total_max: Duration,
    /// Time in which nothing comes: before the head of an answer, and between two pieces of its body.
    pub idle_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_bytes_max: 10 << 20,
            header_bytes_max: 64 << 10,
            headers_max: 128,
            response_bytes_max: 10 << 20,
            addresses_max: 32,
            resolve_max: Duration::from_secs(5),
            connect_max: Duration::from_secs(10),
            total_max: Duration::from_secs(30),
            idle_max: Duration::from_secs(24 * 60 * 60),
        }
    }
}
