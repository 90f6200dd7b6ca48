//! A room that has no hands names no module of std that would give it some.
//!
//! `clippy.toml` bans the same per call; this rule runs without clippy, inside `cargo test`, and
//! reads text: `std::fs` anywhere in code that is not a test, also inside `use std::{..}`.
//!
//! Of all rooms, few files start native programs, and each is named here with its reason.

use super::{Finding, layers, source, tree::Tree};

const MODULES: &[&str] = &["fs", "net", "env", "process"];

/// The files of the rooms that start native programs.
const STARTING: &[&str] = &[
    // Package clients, which fetch archives of the catalog.
    "crates/catalog/src/client.rs",
    // The compile worker, and its trial of its own confinement.
    "crates/embed/src/worker/mod.rs",
    "crates/embed/src/worker/probe.rs",
    // A runner of code mode that somebody asked for.
    "crates/embed/src/code/child.rs",
    // The trusted tools of an agent: git and a person's own program, without a word of the agent's in their arguments.
    "crates/embed/src/agent/tools/exec/native.rs",
];

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for room in layers::HANDLESS {
        let folder = format!("crates/{room}/src");
        for (_, file) in tree.below(&folder).filter(|(_, file)| file.is_rust() && !file.is_test()) {
            let Some(text) = file.text() else { continue };
            let code = source::without_tests(text);
            for module in MODULES.iter().filter(|module| names(&code, module)) {
                findings.push(Finding::new(
                    &file.path,
                    format!("names std::{module} in a room without hands"),
                    "take a port, or let the wiring pass the value in",
                ));
            }
        }
        let bans = format!("crates/{room}/clippy.toml");
        let manifest = format!("crates/{room}/Cargo.toml");
        if tree.file(&manifest).is_some() && tree.file(&bans).is_none() {
            findings.push(Finding::new(bans, "is missing", "copy it from a sibling: the room has no hands"));
        }
    }
    for file in tree.rust().filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/")) {
        let starts = file.text().is_some_and(|text| source::without_tests(text).contains("Command::new("));
        if starts && !file.is_test() && !STARTING.contains(&file.path.as_str()) {
            findings.push(Finding::new(
                &file.path,
                "starts a native program",
                "run a guest instead; the few places that may are listed in xtask/src/tidy/hands.rs",
            ));
        }
    }
    Ok(findings)
}

/// Whether the code reaches `std::<module>`, directly or by a grouped import.
fn names(code: &str, module: &str) -> bool {
    let direct = format!("std::{module}");
    if source::has_word(code, &direct) {
        return true;
    }
    code.split("std::{").skip(1).any(|group| {
        let group = group.split(';').next().unwrap_or(group);
        top_level(group).iter().any(|item| item.split("::").next().unwrap_or(item).trim() == module)
    })
}

/// The items of a `use` group, nested groups left whole.
fn top_level(group: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                items.push(&group[start..at]);
                return items;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hands_are_found_in_every_spelling_but_not_in_tests_or_other_rooms() {
        let (_folder, tree) = Tree::fixture(&[
            ("crates/gate/src/direct.rs", "fn a() { std::fs::read(\"x\"); }"),
            (
                "crates/gate/src/grouped.rs",
                "use std::{\n    collections::{BTreeMap, BTreeSet},\n    env,\n};",
            ),
            ("crates/gate/src/deep.rs", "use std::{io, net::{TcpStream, IpAddr}};"),
            (
                "crates/gate/src/fine.rs",
                "use std::{fmt, sync::Arc};\n//! std::fs\nconst A: &str = \"std::fs\";",
            ),
            ("crates/gate/src/tested.rs", "#[cfg(test)]\nmod tests { use std::fs; }\n"),
            ("crates/store/src/lib.rs", "use std::fs;"),
        ]);
        let found: Vec<String> =
            check(&tree).unwrap().iter().map(|it| format!("{}: {}", it.file, it.problem)).collect();
        assert_eq!(
            found,
            [
                "crates/gate/src/deep.rs: names std::net in a room without hands",
                "crates/gate/src/direct.rs: names std::fs in a room without hands",
                "crates/gate/src/grouped.rs: names std::env in a room without hands",
            ]
        );
    }

    #[test]
    fn a_native_program_is_started_where_the_list_says_and_nowhere_else() {
        let starts = "fn a() { std::process::Command::new(\"npm\"); }";
        let (_folder, tree) = Tree::fixture(&[
            ("crates/catalog/src/client.rs", starts),
            ("crates/catalog/src/install.rs", starts),
            ("crates/catalog/tests/a.rs", starts),
            ("crates/drydock/src/quiet.rs", "//! Command::new(\nfn a() {}"),
        ]);
        let files: Vec<String> = check(&tree).unwrap().into_iter().map(|it| it.file).collect();
        assert_eq!(files, ["crates/catalog/src/install.rs"]);
    }

    #[test]
    fn a_room_without_its_bans_is_found() {
        let (_folder, tree) = Tree::fixture(&[("crates/abi/Cargo.toml", "")]);
        assert_eq!(check(&tree).unwrap()[0].file, "crates/abi/clippy.toml");
    }
}
