//! `http.fetch` as bytes: one HTTP request as JSON (seed 001, `alga.http.fetch`), and what comes of it.
//!
//! Whoever reads the answer as it comes gets it in frames ([`frame`]); whoever wants it whole gets a [`FetchAnswer`] or
//! its JSON. Where a request goes is not read here: that is for whoever judges it.

mod answer;
mod frame;
mod request;
mod text;
mod whole;

pub use answer::{FailureKind, FetchAnswer, FetchFailure, Fetched, answer_json, failure_of};
pub use frame::{BODY, END, FAILURE, FRAME_HEAD_BYTES, HEAD, frame_head, frame_of, head_json};
pub use request::{BadFetch, FetchRequest};
pub use text::OPERATIONS;
pub use whole::{Follow, HOPS_MAX, WholeRequest};

/// The operation.
pub const FETCH: &str = "http.fetch";
/// The largest body that is sent.
pub const FETCH_BODY_BYTES_MAX: u64 = 10 << 20;
/// The largest request that is read: a body in base64, and room for everything else.
pub const FETCH_REQUEST_BYTES_MAX: u64 = 16 << 20;
/// The largest body of an answer that is handed over whole.
pub const FETCHED_BYTES_MAX: u64 = 10 << 20;
/// The largest body of an answer that is read as it comes.
pub const STREAMED_BYTES_MAX: u64 = 1 << 30;
/// Fetches of one call of an extension.
pub const FETCHES_MAX: u32 = 32;
