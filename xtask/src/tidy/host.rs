//! No file names the host of a package registry: which mirror serves packages is the business of
//! the machine's own configuration, also in built modules, where paths like to leave traces.

use super::{Finding, tree::Tree};

/// The hosts, in pieces so that this file does not name them either.
const HOSTS: &[&[&str]] = &[
    &["index", "crates", "io"],
    &["static", "crates", "io"],
    &["/crates", "io"],
    &["registry", "npmjs", "org"],
    &["registry", "yarnpkg", "com"],
    &["pypi", "org"],
    &["files", "pythonhosted", "org"],
    &["deb", "debian", "org"],
    &["security", "debian", "org"],
    &["archive", "ubuntu", "com"],
    &["proxy", "golang", "org"],
    &["rubygems", "org"],
];

/// How cargo writes the default registry into every lock file: a name, not where packages come from.
const NAME_IN_LOCK_FILES: &str = "/crates.io-index";

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let hosts: Vec<String> = HOSTS.iter().map(|parts| parts.join(".")).collect();
    let mut findings = Vec::new();
    for file in &tree.files {
        for host in &hosts {
            if names(&file.bytes, host.as_bytes()) {
                findings.push(Finding::new(
                    &file.path,
                    format!("names the registry host `{}`", host.trim_start_matches('/')),
                    "leave the choice of a mirror to the machine; in a built module, remap paths",
                ));
            }
        }
    }
    Ok(findings)
}

fn names(bytes: &[u8], host: &[u8]) -> bool {
    let Some(first) = host.first() else { return false };
    let starts = bytes.iter().enumerate().filter(|(_, byte)| *byte == first).map(|(at, _)| &bytes[at..]);
    starts.into_iter().any(|rest| rest.starts_with(host) && !rest.starts_with(NAME_IN_LOCK_FILES.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_found_in_text_and_in_modules_but_a_lock_file_is_fine() {
        let host = HOSTS[0].join(".");
        let (_folder, tree) = Tree::fixture(&[
            ("docs/a.md", &format!("see https://{host}/x")),
            ("guests/jq.wasm", &format!("\0asm/root/.cargo/registry/src/{host}-1949/x.rs\0")),
            (
                "Cargo.lock",
                &format!("source = \"registry+https://github.com/rust-lang{NAME_IN_LOCK_FILES}\""),
            ),
            ("b.md", "crates, indexes and io"),
        ]);
        let files: Vec<String> = check(&tree).unwrap().into_iter().map(|it| it.file).collect();
        assert_eq!(files, ["docs/a.md", "guests/jq.wasm"]);
    }
}
