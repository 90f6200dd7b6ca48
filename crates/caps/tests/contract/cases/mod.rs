//! The list of powers, and what each of them is asked.

mod browse;
mod code;
mod commands;
mod dialled;
mod exec;
mod instance;
mod kv;
mod llm;
mod net;
mod parallel;
mod process;
mod queue;
mod search;
mod secrets;
mod serve;
mod tool;

use drydock_caps::{tcp::TcpProtocol, tls::TlsProtocol, udp::UdpProtocol};
use drydock_contract::Cap;

use crate::suite::Case;

/// The case of a power; nothing for names that no power answers to. Whoever adds a name adds it here, or nothing compiles.
pub(crate) fn case_of(cap: Cap) -> Option<Box<dyn Case>> {
    Some(match cap {
        Cap::Browse => Box::new(browse::OfBrowse::default()),
        Cap::Code => Box::new(code::OfCode::default()),
        Cap::Commands => Box::new(commands::OfCommands),
        Cap::Exec => Box::new(exec::OfExec::default()),
        Cap::Instance => Box::new(instance::OfInstance::default()),
        Cap::Kv => Box::new(kv::OfKv::default()),
        Cap::Llm => Box::new(llm::OfLlm::default()),
        Cap::Net => Box::new(net::OfNet::default()),
        Cap::Parallel => Box::new(parallel::OfParallel::default()),
        Cap::Process => Box::new(process::OfProcess::default()),
        Cap::Queue => Box::new(queue::OfQueue::default()),
        Cap::Search => Box::new(search::OfSearch::default()),
        Cap::Secrets => Box::new(secrets::OfSecrets),
        Cap::Serve => Box::new(serve::OfServe::default()),
        Cap::Tcp => Box::new(dialled::OfDialled::<TcpProtocol>::default()),
        Cap::Tls => Box::new(dialled::OfDialled::<TlsProtocol>::default()),
        Cap::Tool => Box::new(tool::OfTool::default()),
        Cap::Udp => Box::new(dialled::OfDialled::<UdpProtocol>::default()),
        // Files and a way of running programs: nothing of them is asked at the gate.
        Cap::Vfs | Cap::Posix => return None,
    })
}

/// All of them.
pub(crate) fn every_case() -> impl Iterator<Item = Box<dyn Case>> {
    Cap::ALL.iter().filter_map(|it| case_of(*it))
}
