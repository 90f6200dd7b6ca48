//! Every power is one folder with the same four files, and stands in the one list of powers.
//!
//! The list is `pub const ROOMS: &[&str]` in `crates/caps/src/lib.rs`. No list and no folder is
//! fine: then there is no power.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, tree::Tree};

const FOLDER: &str = "crates/caps/src";
const LIST: &str = "crates/caps/src/lib.rs";
const FILES: [&str; 4] = ["mod.rs", "policy.rs", "request.rs", "tests.rs"];

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, _) in tree.below(FOLDER) {
        if let Some((folder, file)) = path.split_once('/') {
            folders.entry(folder).or_default().insert(file);
        }
    }
    let listed: BTreeSet<&str> = list(tree.text(LIST).unwrap_or_default()).into_iter().collect();

    let mut findings = Vec::new();
    for (folder, files) in &folders {
        let place = format!("{FOLDER}/{folder}");
        for missing in FILES.iter().filter(|file| !files.contains(**file)) {
            findings.push(Finding::new(
                &place,
                format!("has no {missing}"),
                "every power has the same four files",
            ));
        }
        for extra in files.iter().filter(|file| !FILES.contains(file)) {
            findings.push(Finding::new(
                &place,
                format!("has a {extra}"),
                format!("a power is {}; move the rest into one of them", FILES.join(", ")),
            ));
        }
        if !listed.contains(folder) {
            findings.push(Finding::new(LIST, format!("does not list `{folder}`"), "add it to ROOMS"));
        }
    }
    for name in listed.iter().filter(|name| !folders.contains_key(**name)) {
        findings.push(Finding::new(
            LIST,
            format!("lists `{name}`, which has no folder"),
            "remove it from ROOMS",
        ));
    }
    Ok(findings)
}

/// The quoted names of the list.
fn list(source: &str) -> Vec<&str> {
    // A list that is long stands on the next line.
    let Some((_, after)) = source.split_once("const ROOMS: &[&str] =") else { return Vec::new() };
    let after = after.split_once('[').map_or("", |(_, inside)| inside);
    let inside = after.split_once(']').map_or(after, |(inside, _)| inside);
    inside.split('"').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let (_folder, tree) = Tree::fixture(files);
        check(&tree).unwrap().iter().map(|it| format!("{}: {}", it.file, it.problem)).collect()
    }

    #[test]
    fn an_empty_room_is_tidy() {
        assert!(found(&[(LIST, "//! Powers.\n")]).is_empty());
        assert!(found(&[("README.md", "")]).is_empty());
    }

    #[test]
    fn four_files_and_a_line_in_the_list_make_a_power() {
        let whole = |name: &str| FILES.map(|file| format!("{FOLDER}/{name}/{file}"));
        let (exec, kv) = (whole("exec"), whole("kv"));
        let mut files: Vec<(&str, &str)> = exec.iter().map(|path| (path.as_str(), "")).collect();
        files.push((LIST, "pub const ROOMS: &[&str] = &[\n    \"exec\",\n];\n"));
        assert!(found(&files).is_empty());

        files.extend(kv[..3].iter().map(|path| (path.as_str(), "")));
        files.push(("crates/caps/src/kv/helpers.rs", ""));
        files.push((LIST, "pub const ROOMS: &[&str] = &[\"exec\", \"queue\"];\n"));
        assert_eq!(
            found(&files),
            [
                "crates/caps/src/kv: has no tests.rs",
                "crates/caps/src/kv: has a helpers.rs",
                "crates/caps/src/lib.rs: does not list `kv`",
                "crates/caps/src/lib.rs: lists `queue`, which has no folder",
            ]
        );
    }
}
