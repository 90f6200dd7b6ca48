//! The powers, one folder each, always the same four files: the spec and its act in `mod.rs`, the
//! request's decoder in `request.rs`, the decision in `policy.rs`, the proofs in `tests.rs`.
//!
//! A power does what its permit covers and nothing else. It knows no wasm and no other power.

mod beside;
pub mod broker;
pub mod browse;
mod charge;
mod clients;
pub mod code;
pub mod commands;
mod completion;
mod cut;
pub mod dialled;
pub mod exec;
mod fetch;
mod handler;
pub mod instance;
mod kernel;
pub mod kv;
mod launch;
mod leased;
mod lembeh;
pub mod llm;
mod models;
pub mod net;
pub mod parallel;
mod played;
pub mod process;
mod processes;
mod program;
mod provider;
pub mod queue;
mod reach;
mod reader;
mod rules;
pub mod search;
pub mod secrets;
mod sent;
pub mod serve;
mod serving;
mod shelf;
pub mod tcp;
pub mod tls;
pub mod tool;
pub mod udp;

use drydock_contract::{Cap, Terms};
use drydock_gate::{CapSpec, Capability};

use crate::broker::Broker;

/// The folders of this room. A power that is not listed here does not exist.
pub const ROOMS: &[&str] = &[
    "browse", "code", "commands", "exec", "instance", "kv", "llm", "net", "parallel", "process", "queue",
    "search", "secrets", "serve", "tcp", "tls", "tool", "udp",
];

/// What each of them is, for the reference.
pub const SPECS: &[&CapSpec] = &[
    &browse::Browse::SPEC,
    &code::Code::SPEC,
    &commands::Commands::SPEC,
    &exec::Exec::SPEC,
    &instance::Instance::SPEC,
    &<kv::Kv as Broker>::SPEC,
    &llm::Llm::SPEC,
    &net::Net::<drydock_egress::Egress>::SPEC,
    &parallel::Parallel::SPEC,
    &process::Process::SPEC,
    &<queue::Queue as Broker>::SPEC,
    &<search::Search as Broker>::SPEC,
    &<secrets::Secrets as broker::Broker>::SPEC,
    &<tcp::TcpProtocol as dialled::Protocol>::SPEC,
    &<tls::TlsProtocol as dialled::Protocol>::SPEC,
    &serve::Serve::SPEC,
    &tool::Tool::SPEC,
    &<udp::UdpProtocol as dialled::Protocol>::SPEC,
];

/// Whether a grant of the power with such patterns and rules means anything; if not, what is wrong with it. A power that
/// is not built yet takes patterns, and no rules: nobody knows what its arguments are.
pub fn judge_terms(cap: Cap, terms: &Terms) -> Result<(), String> {
    match cap {
        Cap::Browse => browse::Browse::judge_terms(terms),
        Cap::Code => code::Code::judge_terms(terms),
        Cap::Commands => commands::Commands::judge_terms(terms),
        Cap::Exec => exec::Exec::judge_terms(terms),
        Cap::Instance => instance::Instance::judge_terms(terms),
        Cap::Kv => <kv::Kv as Broker>::judge_terms(terms),
        Cap::Net => net::Net::<drydock_egress::Egress>::judge_terms(terms),
        Cap::Parallel => parallel::Parallel::judge_terms(terms),
        Cap::Process => process::Process::judge_terms(terms),
        Cap::Queue => <queue::Queue as Broker>::judge_terms(terms),
        Cap::Search => <search::Search as Broker>::judge_terms(terms),
        Cap::Secrets => <secrets::Secrets as broker::Broker>::judge_terms(terms),
        Cap::Tcp => <tcp::Tcp>::judge_terms(terms),
        Cap::Tls => <tls::Tls>::judge_terms(terms),
        Cap::Serve => serve::Serve::judge_terms(terms),
        Cap::Tool => tool::Tool::judge_terms(terms),
        Cap::Udp => <udp::Udp>::judge_terms(terms),
        // Files are what the session was given, whole: patterns would look like a bound and be none.
        Cap::Vfs if terms.subjects.is_some() => {
            Err("field `subjects`: files are not granted by name; give the session fewer of them (--dir)"
                .into())
        }
        _ if terms.rules.is_empty() => Ok(()),
        _ => Err(format!("field `rules`: a request of `{cap}` has no arguments to have rules about")),
    }
}
