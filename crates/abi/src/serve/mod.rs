//! Serving: the host listens, a guest answers. The names of the operations, what bounds them, and the text in which an HTTP
//! request and its response travel.

mod text;

use std::time::Duration;

pub use text::{BadHead, TextRequest, TextResponse, decode_response, encode_request};

/// Begins to listen. Asked by hosts only, so it has no encoding.
pub const LISTEN: &str = "serve.listen";
/// Takes one connection. Asked by hosts only, so it has no encoding.
pub const ACCEPT: &str = "serve.accept";
/// Hands one request to the guest. Asked by hosts only, so it has no encoding.
pub const REQUEST: &str = "serve.request";

/// The longest request: head and body, or all the bytes of a raw one.
pub const REQUEST_BYTES_MAX: u64 = 1 << 20;
/// The longest response.
pub const RESPONSE_BYTES_MAX: u64 = 4 << 20;
/// What a guest has for one request.
pub const DISPATCH_WALL_MAX: Duration = Duration::from_secs(10);
/// Connections of one principal; the others wait where the system keeps them.
pub const CONNECTIONS_MAX: u32 = 256;
/// Connections of one client of a listener: whoever holds them open leaves places for others.
pub const CLIENT_CONNECTIONS_MAX: u32 = 128;
/// The time of a raw connection, from its first moment to its last.
pub const CONNECTION_WALL_MAX: Duration = Duration::from_secs(30);
/// So long without a byte, and a raw request is whole.
pub const GAP: Duration = Duration::from_millis(300);
/// Requests of one client in a window.
pub const CLIENT_CALLS_MAX: u32 = 120_000;
/// The window.
pub const CLIENT_WINDOW_S: u32 = 60;

/// What is spoken at a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1, handed to the guest as text.
    Http,
    /// Bytes, up to a gap or to their end.
    Tcp,
}

impl Protocol {
    /// The word before the address in a grant.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Tcp => "tcp",
        }
    }
}
