//! The imports that lead to powers. Each is linked only where its power was granted.

mod ambient;
mod broker;
mod call;
mod command;
mod commands;
mod dial;
mod exec;
pub(crate) mod http;
mod http_whole;
mod kv;
mod lent;
pub(crate) mod nobody;
mod open;
mod parallel;
mod queue;
mod reply;
mod request;
pub(crate) mod shell;
mod sign;
pub(crate) mod tool;
mod vfs;

use drydock_contract::{Cap, CapSet};
use wasmtime::Linker;

use crate::guest::Guest;

pub(crate) use call::KeptReply;
pub(crate) use http::Answers;
pub(crate) use reply::{REFUSED, code_for_guest, give, refuse};
pub(crate) use tool::ToolCalls;

type Link = fn(&mut Linker<Guest>) -> wasmtime::Result<()>;

/// Every import of this kind: module, name, power.
pub const IMPORTS: &[(&str, &str, Cap)] = &[
    ("env", "host_exec", Cap::Exec),
    ("env", "host_status", Cap::Exec),
    ("env", "host_command", Cap::Exec),
    ("env", "host_commands", Cap::Commands),
    ("env", "host_kv_put", Cap::Kv),
    ("env", "host_kv_get", Cap::Kv),
    ("env", "host_kv_call", Cap::Kv),
    ("env", "host_publish", Cap::Queue),
    ("env", "host_poll", Cap::Queue),
    ("env", "host_queue_call", Cap::Queue),
    ("env", "http_start", Cap::Net),
    ("env", "http_read", Cap::Net),
    ("env", "http_close", Cap::Net),
    ("env", "host_http_get", Cap::Net),
    ("env", "host_http", Cap::Net),
    ("env", "host_http_get_many", Cap::Net),
    ("env", "host_sign", Cap::Secrets),
    ("env", "host_tcp", Cap::Tcp),
    ("env", "host_udp", Cap::Udp),
    ("env", "host_tls", Cap::Tls),
    ("env", "host_parallel_map", Cap::Parallel),
    ("env", "host_parallel_status", Cap::Parallel),
    ("env", "host_llm_call", Cap::Llm),
    ("env", "host_browse_call", Cap::Browse),
    ("env", "tool_start", Cap::Tool),
    ("env", "tool_next", Cap::Tool),
    ("env", "tool_wait", Cap::Tool),
];

/// An import that leads to no power: module, name, type, and the power that it has to be granted with, if any.
pub type OwnImport = (&'static str, &'static str, &'static str, Option<Cap>);

/// Every import that is answered in the run itself, from what the run has: no call, and so no record.
pub const OWN_IMPORTS: &[OwnImport] = &[
    ("env", "host_now", "() -> i64", None),
    ("env", "host_log", "(ptr: i32, len: i32) -> i32", None),
    ("env", "host_error", "(out: i32, out_cap: i32) -> i32", None),
    ("env", "host_reply", "(out: i32, out_cap: i32) -> i32", None),
    ("env", "host_vfs_write", "(path: i32, path_len: i32, data: i32, data_len: i32) -> i32", Some(Cap::Vfs)),
    ("env", "host_vfs_read", "(path: i32, path_len: i32, out: i32, out_cap: i32) -> i32", Some(Cap::Vfs)),
];

const LINKS: &[(Cap, Link)] = &[
    (Cap::Exec, exec::link),
    (Cap::Exec, command::link),
    (Cap::Commands, commands::link),
    (Cap::Kv, kv::link),
    (Cap::Kv, call::link_kv),
    (Cap::Queue, queue::link),
    (Cap::Queue, call::link_queue),
    (Cap::Net, http::link),
    (Cap::Net, http_whole::link),
    (Cap::Secrets, sign::link),
    (Cap::Tcp, dial::link_tcp),
    (Cap::Udp, dial::link_udp),
    (Cap::Tls, dial::link_tls),
    (Cap::Parallel, parallel::link),
    (Cap::Llm, call::link_llm),
    (Cap::Browse, call::link_browse),
    (Cap::Tool, tool::link),
    (Cap::Vfs, vfs::link),
];

/// Links what the powers in `caps` offer; for a module with WASI also what none is needed for; and nothing else.
pub(crate) fn link(linker: &mut Linker<Guest>, caps: CapSet, wasi: bool) -> wasmtime::Result<()> {
    let granted = LINKS.iter().filter(|(cap, _)| caps.contains(*cap));
    let mut any = wasi;
    for (_, link) in granted {
        link(linker)?;
        any = true;
    }
    if wasi {
        ambient::link(linker)?;
    }
    if any {
        reply::link_host_error(linker)?;
        call::link_host_reply(linker)?;
    }
    Ok(())
}

/// The power an import would need.
pub(crate) fn cap_of(module: &str, name: &str) -> Option<Cap> {
    let of_powers = IMPORTS.iter().map(|it| (it.0, it.1, Some(it.2)));
    let own = OWN_IMPORTS.iter().map(|it| (it.0, it.1, it.3));
    of_powers.chain(own).find(|it| it.0 == module && it.1 == name)?.2
}
