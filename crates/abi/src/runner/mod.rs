//! The Runner guest ABI (seed 001) as bytes: what a caller sends, what the guest is shown, what it answers, and the
//! envelope that the caller gets. No memory, no time, no network: who moves these bytes is another room's affair.

mod answer;
mod body;
mod envelope;
mod invoke;
mod request;

pub use answer::{HttpAnswer, Malformed, parse_http_response, parse_response};
pub use envelope::{Code, Envelope, Failure, FailureKind};
pub use invoke::{Answered, ContextFrom, INVOKE, Invoke, Invoked, LogLine, SentRequest};
pub use request::{
    AskedLimits, BadRequest, Context, EffectiveLimits, ExecuteRequest, Http, HttpParts, Pairs,
    PreparedRequest, joined,
};

/// Time of a call where nobody asks for another.
pub const TIMEOUT_MS: u64 = 5_000;
/// Memory of a call where nobody asks for another.
pub const MEMORY_MB: u64 = 64;
/// The largest request body, decoded.
pub const REQUEST_BODY_BYTES_MAX: u64 = 10 << 20;
/// The largest response: the bytes that the guest points at.
pub const RESPONSE_BYTES_MAX: u64 = 10 << 20;
/// The largest request as JSON: a body in base64, and room for everything else.
pub const REQUEST_BYTES_MAX: u64 = 16 << 20;
