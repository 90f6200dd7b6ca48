//! The powers, one folder each, always the same four files: the spec and its act in `mod.rs`, the
//! request's decoder in `request.rs`, the decision in `policy.rs`, the proofs in `tests.rs`.
//!
//! A power does what its permit covers and nothing else. It knows no wasm and no other power.

pub mod code;
pub mod commands;
mod cut;
pub mod exec;
mod fetch;
mod handler;
pub mod instance;
mod kernel;
mod launch;
mod lembeh;
pub mod net;
mod played;
pub mod process;
mod processes;
mod program;
mod reach;
mod rules;
mod shelf;
pub mod tcp;
pub mod tool;

use drydock_contract::{Cap, Terms};
use drydock_gate::{CapSpec, Capability};

/// The folders of this room. A power that is not listed here does not exist.
pub const ROOMS: &[&str] = &["code", "commands", "exec", "instance", "net", "process", "tcp", "tool"];

/// What each of them is, for the reference.
pub const SPECS: &[&CapSpec] = &[
    &code::Code::SPEC,
    &commands::Commands::SPEC,
    &exec::Exec::SPEC,
    &instance::Instance::SPEC,
    &net::Net::<drydock_egress::Egress>::SPEC,
    &process::Process::SPEC,
    &tcp::Tcp::SPEC,
    &tool::Tool::SPEC,
];

/// Whether a grant of the power with such patterns and rules means anything; if not, what is wrong with it. A power that
/// is not built yet takes patterns, and no rules: nobody knows what its arguments are.
pub fn judge_terms(cap: Cap, terms: &Terms) -> Result<(), String> {
    match cap {
        Cap::Code => code::Code::judge_terms(terms),
        Cap::Commands => commands::Commands::judge_terms(terms),
        Cap::Exec => exec::Exec::judge_terms(terms),
        Cap::Instance => instance::Instance::judge_terms(terms),
        Cap::Net => net::Net::<drydock_egress::Egress>::judge_terms(terms),
        Cap::Process => process::Process::judge_terms(terms),
        Cap::Tcp => tcp::Tcp::judge_terms(terms),
        Cap::Tool => tool::Tool::judge_terms(terms),
        // Files are what the session was given, whole: patterns would look like a bound and be none.
        Cap::Vfs if terms.subjects.is_some() => {
            Err("field `subjects`: files are not granted by name; give the session fewer of them (--dir)"
                .into())
        }
        _ if terms.rules.is_empty() => Ok(()),
        _ => Err(format!("field `rules`: a request of `{cap}` has no arguments to have rules about")),
    }
}
