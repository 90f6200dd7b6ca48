//! The imports that lead to powers. Each is linked only where its power was granted.

mod command;
mod commands;
mod exec;
mod http;
mod lent;
pub(crate) mod nobody;
mod open;
mod reply;
mod request;
pub(crate) mod shell;
pub(crate) mod tool;

use drydock_contract::{Cap, CapSet};
use wasmtime::Linker;

use crate::guest::Guest;

pub(crate) use http::Answers;
pub(crate) use tool::ToolCalls;

type Link = fn(&mut Linker<Guest>) -> wasmtime::Result<()>;

/// Every import of this kind: module, name, power.
pub const IMPORTS: &[(&str, &str, Cap)] = &[
    ("env", "host_exec", Cap::Exec),
    ("env", "host_status", Cap::Exec),
    ("env", "host_command", Cap::Exec),
    ("env", "host_commands", Cap::Commands),
    ("env", "http_start", Cap::Net),
    ("env", "http_read", Cap::Net),
    ("env", "http_close", Cap::Net),
    ("env", "tool_start", Cap::Tool),
    ("env", "tool_next", Cap::Tool),
    ("env", "tool_wait", Cap::Tool),
];

const LINKS: &[(Cap, Link)] = &[
    (Cap::Exec, exec::link),
    (Cap::Exec, command::link),
    (Cap::Commands, commands::link),
    (Cap::Net, http::link),
    (Cap::Tool, tool::link),
];

/// Links what the powers in `caps` offer, and nothing else.
pub(crate) fn link(linker: &mut Linker<Guest>, caps: CapSet) -> wasmtime::Result<()> {
    let granted = LINKS.iter().filter(|(cap, _)| caps.contains(*cap));
    let mut any = false;
    for (_, link) in granted {
        link(linker)?;
        any = true;
    }
    if any {
        reply::link_host_error(linker)?;
    }
    Ok(())
}

/// The power an import would need.
pub(crate) fn cap_of(module: &str, name: &str) -> Option<Cap> {
    IMPORTS.iter().find(|it| it.0 == module && it.1 == name).map(|it| it.2)
}
