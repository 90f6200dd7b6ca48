//! `kv`, `queue` and `tcp-send`: what the host keeps for a tenant and reaches for it, as commands. Each is a module of its
//! own that imports one power, so that a session without the others can run it.
//!
//! Nothing is decided here: the host judges each request, and its word is what a person reads.

mod host;
pub mod kv;
pub mod queue;
pub mod tcp;
mod value;
