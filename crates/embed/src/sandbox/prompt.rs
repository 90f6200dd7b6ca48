//! What a model should know of a sandbox before it uses it.

use drydock_contract::{Cap, port::Registry as _};

use super::Sandbox;

pub(super) fn prompt(sandbox: &Sandbox) -> String {
    let limits = sandbox.setup.limits.unwrap_or_else(|| sandbox.setup.profile.limits());
    let commit = match sandbox.allow_commit {
        true => "`commit` writes them into the mounted directories",
        false => "nobody's directory is written to",
    };
    let granted = |cap| {
        let setup = &sandbox.setup;
        setup.grants.iter().chain(&setup.stored).chain(&setup.network.grants()).any(|it| it.cap() == cap)
    };
    let network = match [Cap::Net, Cap::Tcp, Cap::Tls, Cap::Udp, Cap::Browse].into_iter().any(granted) {
        true => "It reaches the hosts that were granted, and no others.",
        false => "There is no network.",
    };
    let names: Vec<String> = match &sandbox.setup.allow {
        Some(names) => names.iter().map(|it| it.as_str().to_owned()).collect(),
        None => sandbox.dock.registry.names().iter().map(|it| it.as_str().to_owned()).collect(),
    };
    format!(
        "A sandbox of WebAssembly commands: a bash that starts no process, JavaScript, Python where it is installed, and files. {network} \
         Relative paths start at {}. A line has {} s, and its output {} bytes. Changes of files stay in the \
         sandbox; {commit}. Commands: {}.",
        sandbox.shell.cwd,
        limits.wall_max.as_secs_f64(),
        limits.stdout_bytes_max,
        names.join(" "),
    )
}
