//! The lembeh dialect (seed 004): Hopper layouts, `_ctl` frames (ZCL1), frames of the async hub (ZAX1), and the
//! payloads that selectors carry. docs/specs/cap-exec.md says where each rule comes from.
//!
//! Both directions and both ends: what a host reads and a guest writes, and the other way round. Decoders are
//! strict: a payload is consumed exactly, a bit that nobody defined is malformed, and a count is compared with
//! the bytes that are left before anything loops over it. Nothing here decides: whether a well-formed request
//! is allowed is for the room `lembeh` to say.

pub mod config;
pub mod ctl;
mod envelope;
pub mod exec;
pub mod files;
mod handle;
mod hopper;
pub mod net;
pub mod run;
mod source;
mod trace;
pub mod zax;

pub use envelope::{Envelope, decode_envelope, decode_refusal, put_envelope, put_refusal};
pub use handle::{HFLAG_CTL_BACKED, HFLAG_ENDABLE, HFLAG_READABLE, HFLAG_SEEKABLE, HFLAG_WRITABLE, Opened};
pub use hopper::{Hopper, Malformed, Texts, TooLong, put_hbytes, put_hstr};
pub use source::{
    BadSource, CapSelector, SOURCE_CAP_SELECTOR, SOURCE_OPAQUE, Source, decode_source, encode_source,
};
pub use trace::Trace;
