//! A file that one cannot read in one sitting is two files.
//!
//! Counted are lines of code: no blanks, no comments, no tests. `xtask/tidy-exemptions.txt` lists
//! what may be longer, one `path: reason` a line; an exemption nobody needs is a finding too.

use std::collections::BTreeMap;

use super::{Finding, source, tree::Tree};

const LINES_MAX: usize = 400;
const EXEMPTIONS: &str = "xtask/tidy-exemptions.txt";

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut exempt = exemptions(tree, &mut findings);
    for file in tree.rust().filter(|file| !file.is_test()) {
        let Some(text) = file.text() else { continue };
        let lines = source::lines_of_code(&source::without_tests(text));
        let excused = exempt.remove(file.path.as_str()).is_some();
        match (lines > LINES_MAX, excused) {
            (true, false) => findings.push(Finding::new(
                &file.path,
                format!("{lines} lines of code, at most {LINES_MAX} are readable in one sitting"),
                format!("split it, or add `{}: reason` to {EXEMPTIONS}", file.path),
            )),
            (false, true) => findings.push(stale(&file.path, &format!("has only {lines} lines of code"))),
            _ => {}
        }
    }
    findings.extend(exempt.keys().map(|path| stale(path, "is not there")));
    Ok(findings)
}

fn exemptions<'a>(tree: &'a Tree, findings: &mut Vec<Finding>) -> BTreeMap<&'a str, &'a str> {
    let mut exempt = BTreeMap::new();
    let text = tree.text(EXEMPTIONS).unwrap_or_default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once(':').map(|(path, reason)| (path.trim(), reason.trim())) {
            Some((path, reason)) if !reason.is_empty() => {
                exempt.insert(path, reason);
            }
            _ => findings.push(Finding::new(
                EXEMPTIONS,
                format!("`{line}` gives no reason"),
                "write `path: reason`",
            )),
        }
    }
    exempt
}

fn stale(path: &str, why: &str) -> Finding {
    Finding::new(EXEMPTIONS, format!("`{path}` {why}"), "remove its line")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_needs_a_reason_and_a_short_one_needs_none() {
        let long = "let a = 1;\n".repeat(LINES_MAX + 1);
        let tests = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{long}}}\n");
        let (_folder, tree) = Tree::fixture(&[
            ("a/long.rs", &long),
            ("a/excused.rs", &long),
            ("a/short.rs", "fn a() {}\n"),
            ("a/tests.rs", &long),
            ("a/mostly_tests.rs", &tests),
            (
                EXEMPTIONS,
                "# list\na/excused.rs: one table\na/short.rs: was long once\na/gone.rs: x\na/mute.rs:\n",
            ),
        ]);
        let mut found: Vec<String> = check(&tree).unwrap().iter().map(Finding::to_string).collect();
        found.sort();
        assert_eq!(found.len(), 4, "{found:#?}");
        assert!(found[0].starts_with("a/long.rs: 401 lines"), "{found:#?}");
        assert!(found[1].contains("`a/gone.rs` is not there"), "{found:#?}");
        assert!(found[2].contains("`a/mute.rs:` gives no reason"), "{found:#?}");
        assert!(found[3].contains("`a/short.rs` has only 1 lines"), "{found:#?}");
    }
}
