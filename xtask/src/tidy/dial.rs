//! One room dials out, and in it one file connects and one looks names up.
//!
//! Everything that could open a connection or ask a resolver is known by its name in std, tokio, rustix, libc or socket2; a
//! file that names one is on the list here, with its reason. Foreign clients are kept out by the table of rooms (`OWNED`).

use super::{Finding, source, tree::Tree};

/// What connects, sends or resolves.
const CONNECTING: &[&str] = &[
    "TcpStream",
    "TcpSocket",
    "UdpSocket",
    "UnixDatagram",
    "UnixStream",
    "ToSocketAddrs",
    "to_socket_addrs",
    "lookup_host",
    "getaddrinfo",
    "libc::connect",
    "libc::send",
    "libc::sendmsg",
    "libc::sendto",
    "libc::socket",
    "rustix::net",
    "socket2",
];

/// Modules of a crate that is used for more: in a list of what is imported, too.
const MODULES: &[(&str, &str)] =
    &[("libc", "connect"), ("libc", "sendmsg"), ("libc", "sendto"), ("libc", "socket"), ("rustix", "net")];

/// The files that may.
const FILES: &[&str] = &[
    // Takes only addresses that were judged.
    "crates/egress/src/dial.rs",
    // Binds and listens, with a queue and a bound of unsent output of its own; it connects nowhere.
    "crates/drydock/src/listen.rs",
    // Asks once; what it hears is judged before anything is dialled.
    "crates/egress/src/resolve.rs",
    // The command line to the server of its own data directory, by a socket in that directory.
    "crates/drydock/src/local.rs",
    // The compile worker's trial of its own confinement: it binds, and must fail.
    "crates/embed/src/worker/probe.rs",
    // Servers of tests, which take connections and make none.
    "crates/testkit/src/loopback.rs",
];

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let sources = tree.rust().filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/"));
    for file in sources.filter(|file| !file.is_test() && !FILES.contains(&file.path.as_str())) {
        let Some(text) = file.text() else { continue };
        let code = source::without_tests(text);
        let named = CONNECTING.iter().filter(|word| source::has_word(&code, word));
        let imported = MODULES.iter().filter(|(of, module)| imports(&code, of, module));
        let named = named.map(ToString::to_string);
        for word in named.chain(imported.map(|(of, module)| format!("{of}::{{{module}}}"))) {
            findings.push(Finding::new(
                &file.path,
                format!("names {word}, which can reach the network"),
                "ask `drydock-egress`: it judges every address; the few files that may are listed in xtask/src/tidy/dial.rs",
            ));
        }
    }
    Ok(findings)
}

/// Whether a list of imports from a crate has this name.
fn imports(code: &str, of: &str, name: &str) -> bool {
    code.split(&format!("use {of}::{{")).skip(1).any(|rest| {
        let list = rest.split(';').next().unwrap_or_default();
        source::has_word(list, name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_could_dial_is_found_outside_of_the_named_files_and_tests() {
        let dials = "fn a() { tokio::net::TcpStream::connect(x); }";
        let (_folder, tree) = Tree::fixture(&[
            ("crates/egress/src/dial.rs", dials),
            ("crates/egress/src/exchange.rs", dials),
            ("crates/mcp/src/lib.rs", "use std::net::{IpAddr, ToSocketAddrs};"),
            ("crates/mcp/src/quiet.rs", "//! TcpStream\nconst A: &str = \"UdpSocket\";"),
            ("crates/mcp/src/tested.rs", "#[cfg(test)]\nmod tests { use std::net::TcpStream; }\n"),
            ("crates/mcp/src/raw.rs", "use rustix::{\n    fs::open,\n    net::{connect, socket},\n};"),
            (
                "crates/mcp/src/rawer.rs",
                "fn a() { libc::connect(0, x, 1); socket2::Socket::new(); rustix::fs::net(); }",
            ),
            ("crates/mcp/tests/a.rs", dials),
        ]);
        let found: Vec<String> =
            check(&tree).unwrap().iter().map(|it| format!("{}: {}", it.file, it.problem)).collect();
        assert_eq!(
            found,
            [
                "crates/egress/src/exchange.rs: names TcpStream, which can reach the network",
                "crates/mcp/src/lib.rs: names ToSocketAddrs, which can reach the network",
                "crates/mcp/src/raw.rs: names rustix::{net}, which can reach the network",
                "crates/mcp/src/rawer.rs: names libc::connect, which can reach the network",
                "crates/mcp/src/rawer.rs: names socket2, which can reach the network",
            ]
        );
    }
}
