//! The powers, one folder each, always the same four files: the spec and its act in `mod.rs`, the
//! request's decoder in `request.rs`, the decision in `policy.rs`, the proofs in `tests.rs`.
//!
//! A power does what its permit covers and nothing else. It knows no wasm and no other power.

pub mod commands;
pub mod exec;
mod launch;
mod program;
pub mod tool;

use drydock_gate::{CapSpec, Capability};

/// The folders of this room. A power that is not listed here does not exist.
pub const ROOMS: &[&str] = &["commands", "exec", "tool"];

/// What each of them is, for the reference.
pub const SPECS: &[&CapSpec] = &[&commands::Commands::SPEC, &exec::Exec::SPEC, &tool::Tool::SPEC];
