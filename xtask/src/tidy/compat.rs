//! COMPAT.md may claim only what a test shows.
//!
//! A row is `| feature | state | proof |`. In state `works` the proof holds `test: NAME`, or
//! several names with commas between, each a function or a file of this tree. In the states
//! `partial` and `not` it says what lacks; a name given there must exist all the same.

use std::collections::BTreeSet;

use super::{Finding, source, tree::Tree};

const PAGE: &str = "COMPAT.md";

struct Row<'a> {
    line: usize,
    feature: &'a str,
    state: &'a str,
    proof: &'a str,
}

pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let Some(text) = tree.text(PAGE) else {
        return Ok(vec![Finding::new(PAGE, "is missing", "write what works and what does not")]);
    };
    let known = functions(tree);
    let exists =
        |name: &str| known.contains(name.rsplit("::").next().unwrap_or(name)) || tree.file(name).is_some();
    let mut findings = Vec::new();
    for row in rows(text) {
        let place = format!("{PAGE}:{}", row.line);
        let tests = tests(row.proof);
        match row.state {
            "works" if tests.is_empty() => findings.push(Finding::new(
                &place,
                format!("`{}` works, says who", row.feature),
                "name a test: `test: the_name`",
            )),
            "partial" if row.proof.is_empty() => findings.push(Finding::new(
                &place,
                format!("`{}` is partial, and nothing says how", row.feature),
                "say what lacks",
            )),
            "works" | "partial" | "not" => {}
            other => findings.push(Finding::new(
                &place,
                format!("`{other}` is not a state"),
                "use works, partial or not",
            )),
        }
        for name in tests.into_iter().filter(|name| !exists(name)) {
            findings.push(Finding::new(
                &place,
                format!("`{}` names `{name}`, which is neither a function nor a file here", row.feature),
                "name a test that is there",
            ));
        }
    }
    Ok(findings)
}

/// The rows of every table whose head has the columns feature, state and proof.
fn rows(text: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut in_table = false;
    for (at, line) in text.lines().enumerate() {
        let Some(cells) = cells(line) else {
            in_table = false;
            continue;
        };
        match cells[..] {
            [feature, state, _] if feature == "feature" && state == "state" => in_table = true,
            [dashes, ..] if dashes.starts_with("---") => {}
            [feature, state, proof] if in_table => rows.push(Row { line: at + 1, feature, state, proof }),
            _ if in_table => {
                rows.push(Row { line: at + 1, feature: line, state: "a row with other columns", proof: "" })
            }
            _ => {}
        }
    }
    rows
}

/// The cells of a table row; `\|` is a character and not a border.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, _) in inside.match_indices('|') {
        if !inside[..at].ends_with('\\') {
            cells.push(inside[start..at].trim());
            start = at + 1;
        }
    }
    cells.push(inside[start..].trim());
    Some(cells)
}

/// The names after `test:`, up to the end of the sentence.
fn tests(proof: &str) -> Vec<&str> {
    let Some((_, names)) = proof.split_once("test:") else { return Vec::new() };
    let names = names.split(';').next().unwrap_or(names);
    names.split(',').map(|name| name.trim().trim_matches('`')).filter(|name| !name.is_empty()).collect()
}

/// Every function of the tree, in whatever crate.
fn functions(tree: &Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for text in tree.rust().filter_map(|file| file.text()) {
        let code = source::masked(text);
        let mut words =
            code.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
        while let Some(word) = words.next() {
            if word == "fn" {
                names.extend(words.next().map(str::to_owned));
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_needs_a_test_that_is_there() {
        let page = "\
# Compat

| other | table |
|---|---|
| works | nothing |

| feature | state | proof or what lacks |
|---|---|---|
| named | works | test: a_loop_dies_twice, `gate::tests::rungs` |
| a file | works | test: guests/loop.wat |
| pipe `a \\| b` | not | |
| unproven | works | looks fine |
| forged | works | test: no_such_test |
| vague | partial | |
| honest | partial | no colours |
| odd | maybe | |
";
        let (_folder, tree) = Tree::fixture(&[
            (PAGE, page),
            ("a.rs", "#[test]\nfn a_loop_dies_twice() {}\nasync fn rungs() {}\n// fn no_such_test()\n"),
            ("guests/loop.wat", "(module)"),
        ]);
        let found: Vec<String> = check(&tree).unwrap().iter().map(Finding::to_string).collect();
        assert_eq!(found.len(), 4, "{found:#?}");
        assert!(found[0].contains("`unproven` works, says who"), "{found:#?}");
        assert!(found[1].contains("`no_such_test`"), "{found:#?}");
        assert!(found[2].contains("`vague` is partial"), "{found:#?}");
        assert!(found[3].contains("`maybe` is not a state"), "{found:#?}");
    }

    #[test]
    fn a_missing_page_is_found() {
        let (_folder, tree) = Tree::fixture(&[("a.rs", "")]);
        assert_eq!(check(&tree).unwrap().len(), 1);
    }
}
